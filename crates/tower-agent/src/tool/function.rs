use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    task::{self, Poll, ready},
};

use pin_project_lite::pin_project;
use serde::de::DeserializeOwned;
use tower_agent_core::{Context, Error, ErrorKind, JsonError, Operation, ToolCall, ToolOutput};
use tower_service::Service;

use super::IntoToolOutput;

/// A function of parsed arguments as a service.
pub struct ToolFn<T, F> {
    function: F,
    arguments: PhantomData<fn() -> T>,
}

impl<T, F> ToolFn<T, F> {
    /// Wraps a function. [`tool_fn`](crate::tool_fn) adds a spec with the schema of `T`.
    pub const fn new(function: F) -> Self {
        Self { function, arguments: PhantomData }
    }
}

impl<T, F: Clone> Clone for ToolFn<T, F> {
    fn clone(&self) -> Self {
        Self::new(self.function.clone())
    }
}

impl<T, F> fmt::Debug for ToolFn<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolFn")
            .field("arguments", &std::any::type_name::<T>())
            .finish_non_exhaustive()
    }
}

impl<T, F, Fut> Service<ToolCall> for ToolFn<T, F>
where
    T: DeserializeOwned,
    F: Fn(T, Context) -> Fut,
    Fut: Future,
    Fut::Output: IntoToolOutput,
{
    type Response = ToolOutput;
    type Error = Error;
    type Future = ToolFnFuture<Fut>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        match read(&call) {
            Ok(arguments) => ToolFnFuture::running((self.function)(arguments, call.ctx)),
            Err(refusal) => ToolFnFuture::refused(*refusal),
        }
    }
}

/// Reads the arguments, or says to the model why that cannot be done.
pub(crate) fn read<T: DeserializeOwned>(call: &ToolCall) -> Result<T, Box<ToolOutput>> {
    // serde would take an array for a struct, so the object comes first.
    if !call.arguments.is_object()
        && let Some(refusal) = refusal(call)
    {
        return Err(Box::new(refusal));
    }
    let misfit = |fault| Box::new(refusal(call).unwrap_or_else(|| misfit(call, &fault)));
    call.arguments.read().map_err(misfit)
}

/// The answer to arguments that are no JSON object.
pub(super) fn refusal(call: &ToolCall) -> Option<ToolOutput> {
    let tool = &call.name;
    let text = match call.arguments.check() {
        Ok(()) if call.arguments.is_object() => return None,
        Ok(()) => format!(
            "The arguments for the tool \"{tool}\" are not a JSON object. The tool did not run. \
             Send them as an object and call it again."
        ),
        Err(fault) if fault.is_cut_off() => format!(
            "The arguments for the tool \"{tool}\" are cut off ({fault}). The tool did not run. \
             Send the whole call again."
        ),
        Err(fault) => format!(
            "The arguments for the tool \"{tool}\" are not valid JSON: {fault}. The tool did not run. \
             Correct them and call it again."
        ),
    };
    Some(refused(call, text))
}

fn misfit(call: &ToolCall, fault: &JsonError) -> ToolOutput {
    let tool = &call.name;
    refused(
        call,
        format!(
            "The arguments do not fit the tool \"{tool}\": {fault}. The tool did not run. \
             Correct them and call it again."
        ),
    )
}

fn refused(call: &ToolCall, text: String) -> ToolOutput {
    call.failed(&Error::new(ErrorKind::InvalidArguments, text.clone()).with_model_text(text))
}

/// A function of the whole call as a service, for tools that bring their own schema.
#[derive(Clone)]
pub struct RawToolFn<F> {
    function: F,
}

impl<F> RawToolFn<F> {
    /// Wraps a function. [`Tool::raw`](crate::Tool::raw) adds a spec.
    pub const fn new(function: F) -> Self {
        Self { function }
    }
}

impl<F> fmt::Debug for RawToolFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawToolFn").finish_non_exhaustive()
    }
}

impl<F, Fut> Service<ToolCall> for RawToolFn<F>
where
    F: Fn(ToolCall) -> Fut,
    Fut: Future,
    Fut::Output: IntoToolOutput,
{
    type Response = ToolOutput;
    type Error = Error;
    type Future = ToolFnFuture<Fut>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        ToolFnFuture::running((self.function)(call))
    }
}

pin_project! {
    /// What a tool's function will return.
    pub struct ToolFnFuture<Fut> {
        #[pin]
        state: State<Fut>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<Fut> {
        Running { #[pin] future: Fut },
        Refused { output: Option<Box<ToolOutput>> },
    }
}

impl<Fut> ToolFnFuture<Fut> {
    const fn running(future: Fut) -> Self {
        Self { state: State::Running { future } }
    }

    fn refused(output: ToolOutput) -> Self {
        Self { state: State::Refused { output: Some(Box::new(output)) } }
    }
}

impl<Fut> fmt::Debug for ToolFnFuture<Fut> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolFnFuture").finish_non_exhaustive()
    }
}

impl<Fut> Future for ToolFnFuture<Fut>
where
    Fut: Future,
    Fut::Output: IntoToolOutput,
{
    type Output = Result<ToolOutput, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProj::Running { future } => {
                Poll::Ready(ready!(future.poll(cx)).into_tool_output())
            }
            // Polled again after completion, there is nothing left to say.
            StateProj::Refused { output } => {
                Poll::Ready(Ok(output.take().map(|output| *output).unwrap_or_default()))
            }
        }
    }
}
