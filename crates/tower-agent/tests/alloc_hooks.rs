#![cfg(test)]
//! Hooks that need not wait cost no allocation.

use std::{
    future::{Ready, ready},
    task::{Context, Poll},
};

use tower::{Layer, Service, ServiceBuilder};
use tower_agent::{
    Denial, Error, ErrorKind, FailMode, ModelRequest, ModelResponse, Operation, ToolCall,
    ToolOutput, Verdict,
    hooks::{Hook, HookList, after, after_call, before, on_error, on_error_async},
};

#[path = "support/allocations.rs"]
mod allocations;

use allocations::{allocations, allocations_per_call};

/// A tool that answers at once, with nothing or with the same error again.
#[derive(Clone)]
struct Leaf(Result<(), Error>);

impl Service<ToolCall> for Leaf {
    type Response = ToolOutput;
    type Error = Error;
    type Future = Ready<Result<ToolOutput, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: ToolCall) -> Self::Future {
        ready(self.0.clone().map(|()| ToolOutput::default()))
    }
}

fn count<L>(layer: L) -> u64
where
    L: Layer<Leaf, Service: Service<ToolCall, Error = Error>>,
{
    count_over(layer, Leaf(Ok(())))
}

fn count_over<L>(layer: L, leaf: Leaf) -> u64
where
    L: Layer<Leaf, Service: Service<ToolCall, Error = Error>>,
{
    let call = ToolCall::new("search", r#"{"query":"tower"}"#).with_id("1");
    allocations_per_call(&mut layer.layer(leaf), &call)
}

struct Watch(&'static str);

impl<O: Operation> Hook<O> for Watch {
    fn name(&self) -> &str {
        self.0
    }

    fn before(&self, request: &mut O) -> Verdict<O> {
        request.context_mut().turn += u32::from(request.name().is_empty());
        Verdict::Allow
    }
}

#[test]
fn the_count_sees_an_allocation() {
    assert_eq!(allocations(|| Box::new(1)), 1);
    assert_eq!(count(before(|_: &mut ToolCall| drop(Box::new(1)))), 1);
}

#[test]
fn a_before_hook_allocates_nothing() {
    assert_eq!(count(before(|call: &mut ToolCall| call.ctx.attempt += 1)), 0);
    assert_eq!(
        count(before(|_: &mut ToolCall| None::<Denial>).named("guard").fail_mode(FailMode::Closed)),
        0
    );
    assert_eq!(count(before(|_: &mut ToolCall| ()).named(String::from("made at run time"))), 0);
    assert_eq!(count(before(|_: &mut ToolCall| ()).fail_mode(FailMode::Open)), 0);
}

#[test]
fn an_after_hook_allocates_nothing() {
    assert_eq!(count(after(|output: &mut ToolOutput| output.content.clear())), 0);
    assert_eq!(count(after(|_: &mut ToolOutput| ()).fail_mode(FailMode::Closed)), 0);
    assert_eq!(count(after(|_: &mut ToolOutput| ()).named(String::from("made at run time"))), 0);
    assert_eq!(
        count(after_call(|_: &ToolCall, output: &mut ToolOutput| output.content.clear())),
        0
    );
}

#[test]
fn an_error_hook_allocates_nothing_whether_or_not_there_is_an_error() {
    let pass = || on_error(|_: &ToolCall, _: &Error| None);
    let failing = Leaf(Err(Error::new(ErrorKind::Tool, "no")));
    assert_eq!(count(pass()), 0);
    assert_eq!(count_over(pass(), failing.clone()), 0);
    assert_eq!(count_over(on_error_async(|_: ToolCall, _: Error| async { None }), failing), 0);
}

#[test]
fn ten_hooks_in_ten_layers_allocate_nothing() {
    let pair = || {
        ServiceBuilder::new()
            .layer(before(|_: &mut ToolCall| ()))
            .layer(after(|_: &mut ToolOutput| ()))
            .into_inner()
    };
    let layers =
        ServiceBuilder::new().layer(pair()).layer(pair()).layer(pair()).layer(pair()).layer(pair());
    assert_eq!(count(layers.into_inner()), 0);
}

#[test]
fn a_list_of_hooks_allocates_nothing_however_long_it_is() {
    let names: [&'static str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    for length in 0..=names.len() {
        let boxed = |name: &&'static str| Box::new(Watch(name)) as Box<dyn Hook<ToolCall>>;
        let hooks = HookList::new(names.iter().take(length).map(boxed)).unwrap();
        assert_eq!(count(hooks), 0, "of {length} hooks");
    }
}

#[test]
fn hooks_of_a_model_allocate_nothing_however_large_the_request_is() {
    #[derive(Clone)]
    struct Refuse(Error);

    impl Service<ModelRequest> for Refuse {
        type Response = ModelResponse;
        type Error = Error;
        type Future = Ready<Result<ModelResponse, Error>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: ModelRequest) -> Self::Future {
            ready(Err(self.0.clone()))
        }
    }

    let text = "x".repeat(1 << 20);
    let request = ModelRequest::new("demo", vec![tower_agent::Message::user(text)]);
    let mut stack = ServiceBuilder::new()
        .layer(before(|request: &mut ModelRequest| request.stream = true))
        .layer(after(|_: &mut ModelResponse| ()))
        .layer(on_error(|_: &ModelRequest, _: &Error| None))
        .service(Refuse(Error::new(ErrorKind::Overloaded, "no")));
    assert_eq!(allocations_per_call(&mut stack, &request), 0);
}
