//! Stacks around a tool that does next to nothing.

use std::{
    fmt::Debug,
    future::{Future, Ready, poll_fn, ready},
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use tower::{Layer, Service};
use tower_agent::{BoxToolService, Error, Str, ToolCall, ToolOutput};

use crate::{
    case::{Case, now},
    payload,
};

/// The stack that all others are compared with.
pub const BARE: &str = "bare";
/// The bare stack in a box.
pub const BOXED: &str = "bare, boxed";
/// One layer that does nothing.
pub const ONE: &str = "1 pass-through layer";
/// Ten such layers.
pub const TEN: &str = "10 pass-through layers";

/// A tool call from outside.
pub type ToolCase = Case<ToolCall, ToolOutput>;

/// Hands out a text that is there already: one allocation, for the list of its one block.
#[derive(Clone, Debug)]
pub struct Free {
    text: Str,
}

impl Free {
    /// A tool whose results have this size.
    pub fn new(size: usize) -> Self {
        Self { text: payload::text(size).into() }
    }
}

impl Service<ToolCall> for Free {
    type Response = ToolOutput;
    type Error = Error;
    type Future = Ready<Result<ToolOutput, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: ToolCall) -> Self::Future {
        ready(Ok(ToolOutput::text(self.text.clone())))
    }
}

/// Calls through and does nothing, in the shape that a real layer has.
#[derive(Clone, Debug)]
pub struct Pass<S> {
    inner: S,
}

/// Makes a [`Pass`].
#[derive(Clone, Copy, Debug)]
pub struct PassLayer;

impl<S> Layer<S> for PassLayer {
    type Service = Pass<S>;

    fn layer(&self, inner: S) -> Pass<S> {
        Pass { inner }
    }
}

impl<S: Service<ToolCall, Response = ToolOutput>> Service<ToolCall> for Pass<S> {
    type Response = ToolOutput;
    type Error = S::Error;
    type Future = Passing<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        Passing { future: self.inner.call(call) }
    }
}

pin_project! {
    /// What a [`Pass`] returns.
    pub struct Passing<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Passing<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}

/// Wraps a service in five of the same layer.
macro_rules! five {
    ($layer:expr, $inner:expr) => {
        $layer.layer($layer.layer($layer.layer($layer.layer($layer.layer($inner)))))
    };
}
pub(crate) use five;

/// Measures one call of a stack, which is made ready first.
pub fn case<S>(size: usize, mut stack: S) -> ToolCase
where
    S: Service<ToolCall, Response = ToolOutput> + 'static,
    S::Error: Debug,
{
    let call = payload::call(size);
    Case::new(
        move || call.clone(),
        move |call| {
            now(poll_fn(|cx| stack.poll_ready(cx))).expect("the stack is ready");
            now(stack.call(call)).expect("the tool answers")
        },
    )
}

/// The same by a clone for each call, as a router does it that shares a stack.
pub fn cloned<S>(size: usize, stack: S) -> ToolCase
where
    S: Service<ToolCall, Response = ToolOutput> + Clone + 'static,
    S::Error: Debug,
{
    let call = payload::call(size);
    Case::new(
        move || call.clone(),
        move |call| {
            let mut stack = stack.clone();
            now(poll_fn(|cx| stack.poll_ready(cx))).expect("the stack is ready");
            now(stack.call(call)).expect("the tool answers")
        },
    )
}

/// Nothing but layers that pass through.
pub fn passing(size: usize) -> Vec<(&'static str, ToolCase)> {
    let ten = || five!(PassLayer, five!(PassLayer, Free::new(size)));
    vec![
        (BARE, case(size, Free::new(size))),
        (ONE, case(size, PassLayer.layer(Free::new(size)))),
        ("5 pass-through layers", case(size, five!(PassLayer, Free::new(size)))),
        (TEN, case(size, ten())),
        (BOXED, case(size, BoxToolService::new(Free::new(size)))),
        ("10 pass-through layers, boxed", case(size, BoxToolService::new(ten()))),
        (
            "10 pass-through layers, boxed, a clone per call",
            cloned(size, BoxToolService::new(ten())),
        ),
    ]
}
