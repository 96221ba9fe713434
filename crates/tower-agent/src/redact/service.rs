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
    policy::Policy,
    stream::{Masked, ReplyMask, RunMask},
};
use crate::{
    Denial, Error, ModelBody, ModelRequest, ModelResponse, Operation, Output, RunBody, RunRequest,
    RunResponse, ToolCall, ToolOutput,
};

/// What [`RedactLayer`] makes of a service.
#[derive(Clone, Debug)]
pub struct Redact<S> {
    inner: S,
    policy: Arc<Policy>,
}

impl<S> Redact<S> {
    /// Masks the common secrets in what a service answers.
    pub fn new(inner: S) -> Self {
        Self { inner, policy: RedactLayer::common().policy }
    }

    pub(super) const fn with(inner: S, policy: Arc<Policy>) -> Self {
        Self { inner, policy }
    }

    /// The layer for the common secrets.
    #[must_use]
    pub fn layer() -> RedactLayer {
        RedactLayer::common()
    }

    inner_accessors!();

    /// Calls the service with a masked request, or answers in its place if the request cannot be checked.
    fn masked<O: Operation>(
        &mut self,
        mut request: O,
        mask_request: fn(&Policy, &mut O) -> Result<(), Denial>,
        mask_response: fn(&Arc<Policy>, O::Output) -> O::Output,
    ) -> ResponseFuture<S::Future, O::Output>
    where
        S: Service<O>,
    {
        let state = match mask_request(&self.policy, &mut request) {
            Ok(()) => State::Called { future: self.inner.call(request) },
            Err(denial) => State::Refused { output: Some(request.denied(denial)) },
        };
        ResponseFuture { state, policy: Arc::clone(&self.policy), mask: mask_response }
    }
}

macro_rules! redacts {
    ($request:ty, $response:ty, $mask_request:path, $mask_response:path) => {
        impl<S: Service<$request, Response = $response>> Service<$request> for Redact<S>
        where
            S::Error: Into<Error>,
        {
            type Response = $response;
            type Error = Error;
            type Future = ResponseFuture<S::Future, $response>;

            fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
                let ready = ready!(self.inner.poll_ready(cx));
                Poll::Ready(ready.map_err(|error| self.policy.error(error.into())))
            }

            fn call(&mut self, request: $request) -> Self::Future {
                self.masked(request, $mask_request, $mask_response)
            }
        }
    };
}

redacts!(ToolCall, ToolOutput, Policy::tool_call, tool_output);
redacts!(ModelRequest, ModelResponse, Policy::model_request, model_response);
redacts!(RunRequest, RunResponse, Policy::run_request, run_response);

fn tool_output(policy: &Arc<Policy>, mut output: ToolOutput) -> ToolOutput {
    policy.tool_output(&mut output);
    output
}

fn model_response(policy: &Arc<Policy>, mut response: ModelResponse) -> ModelResponse {
    let made_up = !response.head.outcome.is_success();
    policy.outcome(&mut response.head.outcome);
    if let ModelBody::Full(reply) = &mut response.body {
        let tally = policy.reply(reply, made_up);
        policy.mark(&mut response, &tally);
        return response;
    }
    let mask = ReplyMask::new(Arc::clone(policy));
    response.map_body(|body| ModelBody::stream(Masked::new(body.into_stream(), mask)))
}

fn run_response(policy: &Arc<Policy>, mut response: RunResponse) -> RunResponse {
    policy.outcome(&mut response.head.outcome);
    let mask = RunMask::new(Arc::clone(policy));
    response.map_body(|body| RunBody::new(Masked::new(body.into_stream(), mask)))
}

pin_project! {
    /// The inner answer, masked.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F, T> {
        #[pin]
        state: State<F, T>,
        policy: Arc<Policy>,
        mask: fn(&Arc<Policy>, T) -> T,
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
        match this.state.project() {
            StateProjection::Called { future } => Poll::Ready(match ready!(future.poll(cx)) {
                Ok(output) => Ok((this.mask)(this.policy, output)),
                Err(error) => Err(this.policy.error(error.into())),
            }),
            StateProjection::Refused { output } => match output.take() {
                Some(output) => Poll::Ready(Ok(output)),
                None => Poll::Pending,
            },
        }
    }
}

impl<F, T> fmt::Debug for ResponseFuture<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
