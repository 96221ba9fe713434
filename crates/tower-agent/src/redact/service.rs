use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_service::Service;

use super::{
    RedactLayer,
    call::{Call, mark},
    policy::{Policy, Request},
    run::RunMask,
    stream::{Masked, ReplyMask},
};
use crate::{
    Error, ModelBody, ModelRequest, ModelResponse, OperationKind, Output, RunBody, RunRequest,
    RunResponse, ToolCall, ToolOutput,
};

/// What [`RedactLayer`] makes of a service.
#[derive(Clone, Debug)]
pub struct Redact<S> {
    inner: S,
    policy: Arc<Policy>,
}

impl<S> Redact<S> {
    /// Masks credentials wherever the [layer](RedactLayer::secrets) does unless told otherwise.
    pub fn new(inner: S) -> Self {
        Self { inner, policy: RedactLayer::secrets().policy }
    }

    pub(super) const fn with(inner: S, policy: Arc<Policy>) -> Self {
        Self { inner, policy }
    }

    /// The layer for credentials.
    #[must_use]
    pub fn layer() -> RedactLayer {
        RedactLayer::secrets()
    }

    inner_accessors!();

    /// Calls the service with a masked request, or answers in its place if the request may not go on.
    fn masked<O: Request>(
        &mut self,
        mut request: O,
        mask: fn(Call, O::Output) -> O::Output,
    ) -> ResponseFuture<S::Future, O::Output>
    where
        S: Service<O>,
    {
        let (call, refused) = self.policy.begin(&mut request);
        let state = match refused {
            None => State::Called { future: self.inner.call(request) },
            Some(denial) => {
                let mut output = request.denied(denial);
                call.report.attach(output.extensions_mut());
                State::Refused { output: Some(output) }
            }
        };
        ResponseFuture { state, call: Some(call), mask }
    }
}

macro_rules! redacts {
    ($request:ty, $response:ty, $kind:expr, $mask:path) => {
        impl<S: Service<$request, Response = $response>> Service<$request> for Redact<S>
        where
            S::Error: Into<Error>,
        {
            type Response = $response;
            type Error = Error;
            type Future = ResponseFuture<S::Future, $response>;

            fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
                let ready = ready!(self.inner.poll_ready(cx));
                Poll::Ready(ready.map_err(|error| {
                    Call::new(Arc::clone(&self.policy), $kind, None).error(error.into())
                }))
            }

            fn call(&mut self, request: $request) -> Self::Future {
                self.masked(request, $mask)
            }
        }
    };
}

redacts!(ToolCall, ToolOutput, OperationKind::Tool, tool_output);
redacts!(ModelRequest, ModelResponse, OperationKind::Model, model_response);
redacts!(RunRequest, RunResponse, OperationKind::Run, run_response);

fn tool_output(mut call: Call, mut output: ToolOutput) -> ToolOutput {
    call.tool_output(&mut output);
    call.report.attach(&mut output.extensions);
    output
}

fn model_response(mut call: Call, mut response: ModelResponse) -> ModelResponse {
    let made_up = !response.head.outcome.is_success();
    call.outcome(&mut response.head.outcome);
    if let ModelBody::Full(reply) = &mut response.body {
        let tally = call.reply(reply, made_up);
        mark(&mut response, &tally);
        call.report.attach(response.extensions_mut());
        return response;
    }
    call.report.attach_early(response.extensions_mut());
    let mask = ReplyMask::new(call);
    response.map_body(|body| ModelBody::stream(Masked::new(body.into_stream(), mask)))
}

fn run_response(mut call: Call, mut response: RunResponse) -> RunResponse {
    call.outcome(&mut response.head.outcome);
    call.report.attach_early(response.extensions_mut());
    let mask = RunMask::new(call);
    response.map_body(|body| RunBody::new(Masked::new(body.into_stream(), mask)))
}

pin_project! {
    /// The inner answer, masked.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F, T> {
        #[pin]
        state: State<F, T>,
        call: Option<Call>,
        mask: fn(Call, T) -> T,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F, T> {
        Called { #[pin] future: F },
        Refused { output: Option<T> },
    }
}

impl<F, T, E> Future for ResponseFuture<F, T>
where
    F: Future<Output = Result<T, E>>,
    T: Output,
    E: Into<Error>,
{
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let answer = match this.state.project() {
            StateProjection::Called { future } => ready!(future.poll(cx)).map_err(Into::into),
            StateProjection::Refused { output } => match output.take() {
                Some(output) => return Poll::Ready(Ok(output)),
                None => return Poll::Pending,
            },
        };
        Poll::Ready(match (answer, this.call.take()) {
            (Ok(output), Some(call)) => Ok((this.mask)(call, output)),
            (Err(error), Some(mut call)) => Err(call.error(error)),
            // Nobody looks at what a future that is over may still give.
            (_, None) => return Poll::Pending,
        })
    }
}

impl<F, T> fmt::Debug for ResponseFuture<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
