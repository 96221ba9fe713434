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
use crate::enforce::run_on_error;

/// Runs a closure on each error, which may put an answer in its place.
///
/// # When
/// Once the service inside has ended in an `Err`, on the way up the stack: of the tool, the provider or any layer
/// inside. Not for an answer that tells of a failure: that is `Ok`, for [`after`](super::after()). Not for an
/// error inside a stream either, nor for one before the service was ready.
///
/// # What is available
/// The request as it was when it came to this layer, and the error: its [kind](Error::kind), whether anything
/// may have happened ([`Error::effect`]), its source chain.
///
/// # What an error does
/// A hook that panics has not handled the error, which goes on as it is; a warning names the hook.
///
/// # What may be returned
/// `Some` answer: the call succeeds with it, and layers further out see it as any other. `None`: the error goes on,
/// the very same.
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Error, ErrorKind, ToolCall, ToolOutput, hooks::on_error};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(on_error(|call: &ToolCall, error: &Error| {
///         Some(ToolOutput::failure(format!("`{}` failed: {error}. Try other arguments.", call.name)))
///     }))
///     .service(service_fn(|_: ToolCall| async {
///         Err::<ToolOutput, _>(Error::new(ErrorKind::Tool, "no such file"))
///     }));
///
/// let output = stack.oneshot(ToolCall::new("read", "{}")).await?;
/// assert_eq!(output.joined_text(), "`read` failed: no such file. Try other arguments.");
/// # Ok(())
/// # }
/// ```
///
/// One kind only; any other error stays what it is:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Error, ErrorKind, Message, ModelRequest, ModelResponse, Reply, hooks::on_error};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let apologise = on_error(|_: &ModelRequest, error: &Error| {
///     let reply = Reply::new(Message::assistant("I am busy. Please ask again in a minute."));
///     (error.kind() == ErrorKind::Overloaded).then(|| ModelResponse::full(reply))
/// });
/// let mut stack = ServiceBuilder::new().layer(apologise.named("apologise")).service(service_fn(
///     |request: ModelRequest| async move {
///         let kind = if request.stream { ErrorKind::Protocol } else { ErrorKind::Overloaded };
///         Err::<ModelResponse, _>(Error::new(kind, "sorry"))
///     },
/// ));
///
/// let mut request = ModelRequest::new("demo", vec![Message::user("Hello!")]);
/// assert!(stack.ready().await.is_ok());
/// # let _ = tower::Service::call(&mut stack, request.clone()).await;
/// request.stream = true;
/// assert_eq!(stack.oneshot(request).await.unwrap_err().kind(), ErrorKind::Protocol);
/// # }
/// ```
pub const fn on_error<O, F>(hook: F) -> OnErrorLayer<F>
where
    O: Operation,
    F: Fn(&O, &Error) -> Option<O::Output>,
{
    OnErrorLayer::new(hook)
}

hook_layer! {
    /// The layer of [`on_error`].
    OnErrorLayer,
    /// The service of [`on_error`]. Call-through: it allocates nothing, and keeps a handle of the request.
    OnError,
    "on_error"
}

impl<O, S, F> Service<O> for OnError<S, F>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
    F: Fn(&O, &Error) -> Option<O::Output> + Clone,
{
    type Response = O::Output;
    type Error = Error;
    type Future = OnErrorFuture<S::Future, F, O>;

    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline]
    fn call(&mut self, request: O) -> Self::Future {
        OnErrorFuture {
            request: request.clone(),
            inner: self.inner.call(request),
            hook: self.hook.clone(),
            settings: self.settings.clone(),
        }
    }
}

pin_project! {
    /// The future of [`on_error`].
    pub struct OnErrorFuture<F, H, O> {
        #[pin]
        inner: F,
        hook: H,
        settings: Settings,
        request: O,
    }
}

impl<F, H, O, E> Future for OnErrorFuture<F, H, O>
where
    O: Operation,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
    H: Fn(&O, &Error) -> Option<O::Output>,
{
    type Output = Result<O::Output, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut polled = this.inner.poll(cx).map_err(Into::into);
        if let Poll::Ready(Err(error)) = &polled {
            let hook = || (this.hook)(this.request, error);
            if let Some(output) = run_on_error(&this.settings.name, hook) {
                polled = Poll::Ready(Ok(output));
            }
        }
        polled
    }
}

impl<F, H, O> fmt::Debug for OnErrorFuture<F, H, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnErrorFuture").field("settings", &self.settings).finish_non_exhaustive()
    }
}
