use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use tower_agent_core::{Error, Operation};
use tower_service::Service;

use super::answer::OrAnswer;
use crate::{IntoVerdict, enforce::run_before};

/// Runs a closure before each call, which may edit the request, refuse it or answer in the service's place.
///
/// # When
/// Right before the service inside is called, on its way down the stack. A hook further out that refuses comes
/// first, so this one does not see the call.
///
/// # What is available
/// The request, for an edit in place: for a tool call its id, name, arguments, spec and
/// [`Context`](crate::Context) (run, turn, attempt, state).
///
/// # What an error does
/// A hook fails by returning an `Err`, by a panic, which is contained, or by leaving a tool call with arguments
/// that are no JSON object. The [`fail_mode`](BeforeLayer::fail_mode) decides: the call ends with an error of kind
/// [`Hook`](crate::ErrorKind::Hook) that names the hook and says that nothing ran
/// ([`Split`](crate::FailMode::Split)); it goes on with the request as it was before ([`Open`](crate::FailMode::Open));
/// or it is denied with the code `hook_failed` ([`Closed`](crate::FailMode::Closed)). Layers further out see either.
///
/// # What may be returned
/// Nothing (go on), a [`Denial`](crate::Denial) or `Option<Denial>`, a [`Verdict`](crate::Verdict), or a `Result` of
/// these. A refusal and an answer in the service's place are `Ok`: the service does not run, and the
/// provenance names the hook. A denial without a message gets one.
///
/// # Examples
///
/// An argument that is missing gets a default:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Error, ToolCall, ToolOutput, hooks::before};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(before(|call: &mut ToolCall| -> Result<(), Error> {
///         if let Some(arguments) = call.arguments.make_mut()?.as_object_mut() {
///             arguments.entry("limit").or_insert(10.into());
///         }
///         Ok(())
///     }))
///     .service(service_fn(|call: ToolCall| async move {
///         Ok::<_, Error>(ToolOutput::text(call.arguments.as_str()))
///     }));
///
/// let output = stack.oneshot(ToolCall::new("search", r#"{"query":"tower"}"#)).await?;
/// assert_eq!(output.joined_text(), r#"{"limit":10,"query":"tower"}"#);
/// # Ok(())
/// # }
/// ```
///
/// A guard that refuses, and that refuses as well when it breaks:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Denial, Error, FailMode, ToolCall, ToolOutput, hooks::before};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let guard = before(|call: &mut ToolCall| {
///     let user = call.ctx.run().user();
///     user.is_none().then(|| Denial::new("Nobody is signed in, so nothing ran. Ask the user to sign in."))
/// });
/// let stack = ServiceBuilder::new()
///     .layer(guard.named("auth").fail_mode(FailMode::Closed))
///     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("done")) }));
///
/// let output = stack.oneshot(ToolCall::new("pay", "{}")).await?;
/// assert!(output.outcome.is_denied());
/// assert_eq!(output.provenance.by.as_deref(), Some("auth"));
/// # Ok(())
/// # }
/// ```
pub const fn before<O, F, V>(hook: F) -> BeforeLayer<F>
where
    O: Operation,
    F: Fn(&mut O) -> V,
    V: IntoVerdict<O>,
{
    BeforeLayer::new(hook)
}

hook_layer! {
    /// The layer of [`before`].
    BeforeLayer,
    /// The service of [`before`]. Call-through: it allocates nothing.
    Before,
    "before"
}
fail_mode!(BeforeLayer);

impl<O, S, F, V> Service<O> for Before<S, F>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
    F: Fn(&mut O) -> V,
    V: IntoVerdict<O>,
{
    type Response = O::Output;
    type Error = Error;
    type Future = BeforeFuture<S::Future, O::Output>;

    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline]
    fn call(&mut self, mut request: O) -> Self::Future {
        let stop = run_before(&self.settings.name, self.settings.mode, &mut request, &self.hook);
        let state = match stop {
            None => OrAnswer::inner(self.inner.call(request)),
            Some(answer) => OrAnswer::answer(answer),
        };
        BeforeFuture { state }
    }
}

pin_project! {
    /// The future of [`before`].
    pub struct BeforeFuture<F, T> {
        #[pin]
        state: OrAnswer<F, T>,
    }
}

impl<F, T, E> Future for BeforeFuture<F, T>
where
    F: Future<Output = Result<T, E>>,
    E: Into<Error>,
{
    type Output = Result<T, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().state.poll(cx)
    }
}

impl<F, T> fmt::Debug for BeforeFuture<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BeforeFuture").finish_non_exhaustive()
    }
}
