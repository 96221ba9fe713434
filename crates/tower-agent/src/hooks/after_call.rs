use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use tower_agent_core::{Error, Operation};
use tower_service::Service;

use super::layer::Settings;
use crate::{FailMode, IntoHookResult, enforce::run_after};

/// As [`after`](super::after()), for a closure that sees the request as well.
///
/// # When
/// As for [`after`](super::after()).
///
/// # What is available
/// The request as it was when it came to this layer: edits of layers further in do not show, so a key that was made
/// of it before the call is the same key after it. And the answer, for an edit in place.
///
/// # What an error does
/// As for [`after`](super::after()).
///
/// # What may be returned
/// Nothing, or a `Result` of nothing.
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Content, Error, ToolCall, ToolOutput, hooks::after_call};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(after_call(|call: &ToolCall, output: &mut ToolOutput| {
///         output.content.insert(0, Content::text(format!("Output of `{}`:", call.name)));
///     }))
///     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("noon")) }));
///
/// let output = stack.oneshot(ToolCall::new("clock", "{}")).await?;
/// assert_eq!(output.joined_text(), "Output of `clock`:\nnoon");
/// # Ok(())
/// # }
/// ```
///
/// What a run's model calls used, counted in the run's own state:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{
///     Error, Message, ModelBody, ModelRequest, ModelResponse, Reply, Usage, hooks::after_call,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let count = after_call(|request: &ModelRequest, response: &mut ModelResponse| {
///     if let ModelBody::Full(reply) = &response.body {
///         let usage = reply.usage.unwrap_or_default();
///         request.ctx.state().update("tokens", |sum| sum.unwrap_or(0) + usage.input + usage.output);
///     }
/// });
/// let stack = ServiceBuilder::new().layer(count.named("cost")).service(service_fn(
///     |_: ModelRequest| async {
///         let usage = Usage { input: 10, output: 5, ..Usage::default() };
///         Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant("Hi.")).with_usage(usage)))
///     },
/// ));
///
/// let request = ModelRequest::new("demo", vec![Message::user("Hello!")]);
/// let ctx = request.ctx.clone();
/// stack.oneshot(request).await?;
/// assert_eq!(ctx.state().get::<u64>("tokens"), Some(15));
/// # Ok(())
/// # }
/// ```
pub const fn after_call<O, F, R>(hook: F) -> AfterCallLayer<F>
where
    O: Operation,
    F: Fn(&O, &mut O::Output) -> R,
    R: IntoHookResult,
{
    AfterCallLayer::new(hook)
}

hook_layer! {
    /// The layer of [`after_call`].
    AfterCallLayer,
    /// The service of [`after_call`]. Call-through: it allocates nothing, and keeps a handle of the request.
    AfterCall,
    "after_call"
}
fail_mode!(AfterCallLayer);

impl<O, S, F, R> Service<O> for AfterCall<S, F>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
    F: Fn(&O, &mut O::Output) -> R + Clone,
    R: IntoHookResult,
{
    type Response = O::Output;
    type Error = Error;
    type Future = AfterCallFuture<S::Future, F, O>;

    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline]
    fn call(&mut self, request: O) -> Self::Future {
        AfterCallFuture {
            request: request.clone(),
            inner: self.inner.call(request),
            hook: self.hook.clone(),
            settings: self.settings.clone(),
        }
    }
}

pin_project! {
    /// The future of [`after_call`].
    pub struct AfterCallFuture<F, H, O> {
        #[pin]
        inner: F,
        hook: H,
        settings: Settings,
        request: O,
    }
}

impl<F, H, O, R, E> Future for AfterCallFuture<F, H, O>
where
    O: Operation,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
    H: Fn(&O, &mut O::Output) -> R,
    R: IntoHookResult,
{
    type Output = Result<O::Output, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let request = &*this.request;
        let withhold = (this.settings.mode == FailMode::Closed).then_some(request);
        let mut polled = this.inner.poll(cx);
        if let Poll::Ready(Ok(output)) = &mut polled {
            run_after(&this.settings.name, withhold, output, |output| (this.hook)(request, output));
        }
        polled.map_err(Into::into)
    }
}

impl<F, H, O> fmt::Debug for AfterCallFuture<F, H, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AfterCallFuture").field("settings", &self.settings).finish_non_exhaustive()
    }
}
