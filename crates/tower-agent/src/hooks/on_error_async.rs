use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_agent_core::{Error, Operation};
use tower_service::Service;

use super::layer::Settings;
use crate::{
    contain::{Contained, contain_async},
    enforce::settle_on_error,
};

/// As [`on_error`](super::on_error()), for a closure that has to wait for something.
///
/// # When
/// As for [`on_error`](super::on_error()).
///
/// # What is available
/// A handle of the request as it was when it came to this layer, and one of the error.
///
/// # What an error does
/// As for [`on_error`](super::on_error()).
///
/// # What may be returned
/// As for [`on_error`](super::on_error()).
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Error, ErrorKind, ToolCall, ToolOutput, hooks::on_error_async};
///
/// async fn similar(_: &str) -> Vec<&'static str> {
///     vec!["notes.md"]
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(on_error_async(|call: ToolCall, error: Error| async move {
///         let near = similar(call.arguments.as_str()).await.join(", ");
///         Some(ToolOutput::failure(format!("{error}. There is: {near}.")))
///     }))
///     .service(service_fn(|_: ToolCall| async {
///         Err::<ToolOutput, _>(Error::new(ErrorKind::NotFound, "no such file"))
///     }));
///
/// let output = stack.oneshot(ToolCall::new("read", r#"{"path":"note.md"}"#)).await?;
/// assert_eq!(output.joined_text(), "no such file. There is: notes.md.");
/// # Ok(())
/// # }
/// ```
///
/// One that only watches:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Error, ErrorKind, ToolCall, ToolOutput, hooks::on_error_async};
///
/// async fn page_somebody(_: Error) {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let pager = on_error_async(|_: ToolCall, error: Error| async {
///     page_somebody(error).await;
///     None
/// });
/// let stack = ServiceBuilder::new().layer(pager.named("pager")).service(service_fn(
///     |_: ToolCall| async { Err::<ToolOutput, _>(Error::new(ErrorKind::Protocol, "half a message")) },
/// ));
/// let error = stack.oneshot(ToolCall::new("read", "{}")).await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Protocol);
/// # }
/// ```
pub const fn on_error_async<O, F, Fut>(hook: F) -> OnErrorAsyncLayer<F>
where
    O: Operation,
    F: Fn(O, Error) -> Fut,
    Fut: Future<Output = Option<O::Output>>,
{
    OnErrorAsyncLayer::new(hook)
}

hook_layer! {
    /// The layer of [`on_error_async`].
    OnErrorAsyncLayer,
    /// The service of [`on_error_async`]. It clones no service, and keeps a handle of the request.
    OnErrorAsync,
    "on_error_async"
}

impl<O, S, F, Fut> Service<O> for OnErrorAsync<S, F>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
    F: Fn(O, Error) -> Fut + Clone,
    Fut: Future<Output = Option<O::Output>>,
{
    type Response = O::Output;
    type Error = Error;
    type Future = OnErrorAsyncFuture<S::Future, F, Fut, O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: O) -> Self::Future {
        OnErrorAsyncFuture {
            request: request.clone(),
            state: State::Call { call: self.inner.call(request) },
            hook: self.hook.clone(),
            settings: self.settings.clone(),
        }
    }
}

pin_project! {
    /// The future of [`on_error_async`].
    pub struct OnErrorAsyncFuture<F, H, Fut, O> {
        #[pin]
        state: State<F, Fut>,
        hook: H,
        settings: Settings,
        request: O,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<F, Fut> {
        Call { #[pin] call: F },
        Hook { #[pin] hook: Contained<Fut>, error: Option<Error> },
    }
}

impl<F, H, Fut, O, E> Future for OnErrorAsyncFuture<F, H, Fut, O>
where
    O: Operation,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
    H: Fn(O, Error) -> Fut,
    Fut: Future<Output = Option<O::Output>>,
{
    type Output = Result<O::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let name = &this.settings.name;
        loop {
            let (handled, error) = match this.state.as_mut().project() {
                StateProj::Call { call } => {
                    let error = match ready!(call.poll(cx)) {
                        Ok(output) => return Poll::Ready(Ok(output)),
                        Err(error) => error.into(),
                    };
                    let (request, asked) = (this.request.clone(), error.clone());
                    match contain_async(name, "on_error_async", || (this.hook)(request, asked)) {
                        Ok(hook) => {
                            this.state.set(State::Hook { hook, error: Some(error) });
                            continue;
                        }
                        Err(failure) => (Err(failure), Some(error)),
                    }
                }
                StateProj::Hook { hook, error } => (ready!(hook.poll(cx)), error.take()),
            };
            return match (settle_on_error(name, handled), error) {
                (Some(output), _) => Poll::Ready(Ok(output)),
                (None, Some(error)) => Poll::Ready(Err(error)),
                (None, None) => Poll::Pending,
            };
        }
    }
}

impl<F, H, Fut, O> fmt::Debug for OnErrorAsyncFuture<F, H, Fut, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnErrorAsyncFuture")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
