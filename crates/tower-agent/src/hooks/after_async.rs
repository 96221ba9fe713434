use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_agent_core::{Error, Operation, Output};
use tower_service::Service;

use super::layer::Settings;
use crate::{
    FailMode, IntoEdited,
    blame::after_failed,
    contain::{Contained, contain_async},
    enforce::{failed_after, flatten},
};

/// As [`after_call`](super::after_call()), for a closure that has to wait for something.
///
/// # When
/// As for [`after`](super::after()). The service inside has been called by then, so the wait holds up no other call.
///
/// # What is available
/// A handle of the request as it was when it came to this layer, and the answer, owned.
///
/// # What an error does
/// As for [`after`](super::after()), with one exception. A hook that fails has lost the answer which it was given, and
/// what is kept is the answer as it was before the hook. There is no second handle of a stream, so there the
/// call ends with an error of kind [`Hook`](crate::ErrorKind::Hook) instead, which says that the call ran
/// ([`Split`](FailMode::Split), [`Open`](FailMode::Open)).
///
/// # What may be returned
/// The answer, edited or not, or another one, or a `Result` of it.
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Content, Error, ToolCall, ToolOutput, hooks::after_async};
///
/// async fn translate(text: String) -> String {
///     text.replace("noon", "midi")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(after_async(|_: ToolCall, mut output: ToolOutput| async move {
///         output.content = vec![Content::text(translate(output.joined_text()).await)];
///         output
///     }))
///     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("noon")) }));
///
/// let output = stack.oneshot(ToolCall::new("clock", "{}")).await?;
/// assert_eq!(output.joined_text(), "midi");
/// # Ok(())
/// # }
/// ```
///
/// A hook that may fail, and without which no answer should get out:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Error, FailMode, ToolCall, ToolOutput, hooks::after_async};
///
/// async fn scan(_: &ToolOutput) -> std::io::Result<()> {
///     Err(std::io::Error::other("no scanner"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let guard = after_async(|_: ToolCall, output: ToolOutput| async move {
///     scan(&output).await?;
///     Ok::<_, std::io::Error>(output)
/// });
/// let stack = ServiceBuilder::new()
///     .layer(guard.named("scan").fail_mode(FailMode::Closed))
///     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("a download")) }));
///
/// let output = stack.oneshot(ToolCall::new("fetch", "{}")).await?;
/// assert!(output.outcome.is_failed());
/// assert!(!output.joined_text().contains("download"));
/// # Ok(())
/// # }
/// ```
pub const fn after_async<O, F, Fut>(hook: F) -> AfterAsyncLayer<F>
where
    O: Operation,
    F: Fn(O, O::Output) -> Fut,
    Fut: Future,
    Fut::Output: IntoEdited<O::Output>,
{
    AfterAsyncLayer::new(hook)
}

hook_layer! {
    /// The layer of [`after_async`].
    AfterAsyncLayer,
    /// The service of [`after_async`]. It clones no service, and keeps a handle of the request.
    AfterAsync,
    "after_async"
}
fail_mode!(AfterAsyncLayer);

impl<O, S, F, Fut> Service<O> for AfterAsync<S, F>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
    F: Fn(O, O::Output) -> Fut + Clone,
    Fut: Future,
    Fut::Output: IntoEdited<O::Output>,
{
    type Response = O::Output;
    type Error = Error;
    type Future = AfterAsyncFuture<S::Future, F, Fut, O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: O) -> Self::Future {
        AfterAsyncFuture {
            request: request.clone(),
            state: State::Call { call: self.inner.call(request) },
            hook: self.hook.clone(),
            settings: self.settings.clone(),
        }
    }
}

pin_project! {
    /// The future of [`after_async`].
    pub struct AfterAsyncFuture<F, H, Fut, O>
    where
        O: Operation,
    {
        #[pin]
        state: State<F, Fut, O::Output>,
        hook: H,
        settings: Settings,
        request: O,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<F, Fut, T> {
        Call { #[pin] call: F },
        Hook { #[pin] hook: Contained<Fut>, kept: Option<T> },
    }
}

impl<F, H, Fut, O, E> Future for AfterAsyncFuture<F, H, Fut, O>
where
    O: Operation,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
    H: Fn(O, O::Output) -> Fut,
    Fut: Future,
    Fut::Output: IntoEdited<O::Output>,
{
    type Output = Result<O::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let name = &this.settings.name;
        loop {
            let (failure, kept) = match this.state.as_mut().project() {
                StateProj::Call { call } => {
                    let output = ready!(call.poll(cx)).map_err(Into::into)?;
                    let kept = output.try_clone();
                    let request = this.request.clone();
                    match contain_async(name, "after_async", || (this.hook)(request, output)) {
                        Ok(hook) => {
                            this.state.set(State::Hook { hook, kept });
                            continue;
                        }
                        Err(failure) => (failure, kept),
                    }
                }
                StateProj::Hook { hook, kept } => {
                    let edited = ready!(hook.poll(cx)).map(IntoEdited::into_edited);
                    match flatten(name, "after_async", edited) {
                        Ok(output) => return Poll::Ready(Ok(output)),
                        Err(failure) => (failure, kept.take()),
                    }
                }
            };
            return Poll::Ready(recover(this.settings, &*this.request, kept, failure));
        }
    }
}

/// The answer that is left when the hook has lost the one that it was given.
fn recover<O: Operation>(
    settings: &Settings,
    request: &O,
    kept: Option<O::Output>,
    failure: Error,
) -> Result<O::Output, Error> {
    let Settings { name, mode } = settings;
    let withhold = (*mode == FailMode::Closed).then_some(request);
    let failure = after_failed(name, failure);
    let mut output = match (kept, withhold) {
        (Some(output), _) => output,
        (None, Some(request)) => request.failed(&failure),
        (None, None) => return Err(failure),
    };
    failed_after(name, withhold, &mut output, failure);
    Ok(output)
}

impl<F, H, Fut, O: Operation> fmt::Debug for AfterAsyncFuture<F, H, Fut, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AfterAsyncFuture").field("settings", &self.settings).finish_non_exhaustive()
    }
}
