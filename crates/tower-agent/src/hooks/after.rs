use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use tower_agent_core::{Error, Operation, Output};
use tower_service::Service;

use super::layer::Settings;
use crate::{FailMode, IntoHookResult, enforce::run_after};

/// Runs a closure on each answer, which may edit it.
///
/// # When
/// Once the service inside has answered with `Ok`, on the way up the stack; also for an answer that a layer
/// inside gave in the service's place, a denial say. Not for an error: that is for [`on_error`](super::on_error()).
///
/// # What is available
/// The answer, for an edit in place: of a tool its content blocks, value, outcome and provenance. The answer of a
/// model or an agent is seen at its head, before any of its stream; [`on_model_event`](super::on_model_event) and
/// [`on_run_event`](super::on_run_event) see what is in it. [`after_call`](super::after_call()) sees the request too.
///
/// # What an error does
/// A hook fails by returning an `Err` or by a panic, which is contained. The answer is kept, with what the hook had
/// changed until then, and a warning names the hook ([`Split`](FailMode::Split), [`Open`](FailMode::Open)); or it is
/// withheld: a fixed text takes its place, and nothing of it is left but its provenance
/// ([`Closed`](FailMode::Closed)). [`fail_mode`](AfterLayer::fail_mode) decides. Layers further out see what is left.
///
/// # What may be returned
/// Nothing, or a `Result` of nothing.
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Content, Error, ToolCall, ToolOutput, hooks::after};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(after(|output: &mut ToolOutput| output.content.push(Content::text("(from memory)"))))
///     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("noon")) }));
///
/// let output = stack.oneshot(ToolCall::new("clock", "{}")).await?;
/// assert_eq!(output.joined_text(), "noon\n(from memory)");
/// # Ok(())
/// # }
/// ```
///
/// A guard whose failure must not let the answer through:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Error, FailMode, ToolCall, ToolOutput, hooks::after};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let classify = |_: &mut ToolOutput| Err("the classifier is down");
/// let stack = ServiceBuilder::new()
///     .layer(after(classify).named("classify").fail_mode(FailMode::Closed))
///     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("the launch code")) }));
///
/// let output = stack.oneshot(ToolCall::new("read", "{}")).await?;
/// assert!(output.outcome.is_failed());
/// assert!(output.joined_text().starts_with("The call ran, but its result is withheld"));
/// # Ok(())
/// # }
/// ```
pub const fn after<T, F, R>(hook: F) -> AfterLayer<F>
where
    T: Output,
    F: Fn(&mut T) -> R,
    R: IntoHookResult,
{
    AfterLayer::new(hook)
}

hook_layer! {
    /// The layer of [`after`].
    AfterLayer,
    /// The service of [`after`]. Call-through: it allocates nothing.
    After,
    "after"
}
fail_mode!(AfterLayer);

impl<O, S, F, R> Service<O> for After<S, F>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
    F: Fn(&mut O::Output) -> R + Clone,
    R: IntoHookResult,
{
    type Response = O::Output;
    type Error = Error;
    type Future = AfterFuture<S::Future, F, O>;

    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline]
    fn call(&mut self, request: O) -> Self::Future {
        let withhold = (self.settings.mode == FailMode::Closed).then(|| request.clone());
        AfterFuture {
            inner: self.inner.call(request),
            hook: self.hook.clone(),
            settings: self.settings.clone(),
            withhold,
        }
    }
}

pin_project! {
    /// The future of [`after`].
    pub struct AfterFuture<F, H, O> {
        #[pin]
        inner: F,
        hook: H,
        settings: Settings,
        // A withheld answer still has to answer something.
        withhold: Option<O>,
    }
}

impl<F, H, O, R, E> Future for AfterFuture<F, H, O>
where
    O: Operation,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
    H: Fn(&mut O::Output) -> R,
    R: IntoHookResult,
{
    type Output = Result<O::Output, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // Edited where it is: moving an output costs more than a hook.
        let mut polled = this.inner.poll(cx);
        if let Poll::Ready(Ok(output)) = &mut polled {
            run_after(&this.settings.name, this.withhold.as_ref(), output, &*this.hook);
        }
        polled.map_err(Into::into)
    }
}

impl<F, H, O> fmt::Debug for AfterFuture<F, H, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AfterFuture").field("settings", &self.settings).finish_non_exhaustive()
    }
}
