use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_agent_core::{
    Error, ModelEvent, ModelRequest, ModelResponse, Operation, RunEvent, RunRequest, RunResponse,
};
use tower_service::Service;

use super::edit::{Editor, edit_model, edit_run};
use crate::{FailMode, IntoKeep};

/// Runs a closure on each event of a model's reply, whether it is whole or comes in pieces.
///
/// # When
/// On each event as the reader asks for it. A whole reply is taken to its events at once, edited, and put together
/// again, so that one closure serves both.
///
/// # What is available
/// The event, for an edit in place. A text comes in deltas of any length: what spans two of them is seen by neither.
///
/// # What an error does
/// A hook fails by returning an `Err`, by a panic, which is contained, or by edits that fit no reply. The event (the
/// reply, if it is whole) goes on, and a warning names the hook ([`Split`](FailMode::Split),
/// [`Open`](FailMode::Open)). Or it is withheld: a stream ends with an error of kind
/// [`Hook`](crate::ErrorKind::Hook), and a fixed text takes the place of a whole reply
/// ([`Closed`](FailMode::Closed)).
///
/// # What may be returned
/// Nothing, whether the event goes on (`false` drops it), or a `Result` of either. The
/// [`Finish`](ModelEvent::Finish) of a reply cannot be dropped: half a reply would be left.
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{
///     Error, Message, ModelEvent, ModelRequest, ModelResponse, PartDelta, Reply, hooks::on_model_event,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(on_model_event(|event: &mut ModelEvent| {
///         if let ModelEvent::PartDelta { delta: PartDelta::Text(text), .. } = event {
///             *text = text.to_uppercase().into();
///         }
///     }))
///     .service(service_fn(|_: ModelRequest| async {
///         Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant("hello"))))
///     }));
///
/// let response = stack.oneshot(ModelRequest::new("demo", vec![])).await?;
/// assert_eq!(response.body.collect().await?.message.text(), "HELLO");
/// # Ok(())
/// # }
/// ```
///
/// Reasoning is nobody's business; in a stream it is dropped event by event:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{
///     Error, FinishReason, ModelEvent, ModelRequest, ModelResponse, PartDelta, hooks::on_model_event,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let private = on_model_event(|event: &mut ModelEvent| {
///     !matches!(event, ModelEvent::PartDelta { delta: PartDelta::Reasoning(_), .. })
/// });
/// let stack = ServiceBuilder::new().layer(private.named("private")).service(service_fn(
///     |_: ModelRequest| async {
///         let events = vec![
///             Ok(ModelEvent::PartDelta { index: 0, delta: PartDelta::Reasoning("hm".into()) }),
///             Ok(ModelEvent::PartDelta { index: 1, delta: PartDelta::Text("Yes.".into()) }),
///             Ok(ModelEvent::Finish { reason: FinishReason::Stop }),
///         ];
///         Ok::<_, Error>(ModelResponse::stream(futures_util::stream::iter(events)))
///     },
/// ));
///
/// let response = stack.oneshot(ModelRequest::new("demo", vec![])).await?;
/// assert_eq!(response.body.collect().await?.message.parts().len(), 1);
/// # Ok(())
/// # }
/// ```
pub const fn on_model_event<F, K>(hook: F) -> OnModelEventLayer<F>
where
    F: Fn(&mut ModelEvent) -> K,
    K: IntoKeep,
{
    OnModelEventLayer::new(hook)
}

/// Runs a closure on each event of an agent's run.
///
/// # When
/// On each event as the reader asks for it, the pieces of streamed replies included.
///
/// # What is available
/// The event, for an edit in place. Readers further out see the edit; the agent itself, which is inside, does not.
///
/// # What an error does
/// As for [`on_model_event`] of a stream.
///
/// # What may be returned
/// As for [`on_model_event`]. The [`Finished`](RunEvent::Finished) of a run cannot be dropped.
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{
///     Error, RunEvent, RunFinish, RunRequest, RunResponse, Usage, hooks::on_run_event,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(on_run_event(|event: &mut RunEvent| {
///         if let RunEvent::Finished { usage, .. } = event {
///             *usage = Usage::default();
///         }
///     }))
///     .service(service_fn(|_: RunRequest| async {
///         let usage = Usage { input: 10, ..Usage::default() };
///         let end = RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage };
///         Ok::<_, Error>(RunResponse::new(futures_util::stream::iter(vec![Ok(end)])))
///     }));
///
/// let run = stack.oneshot(RunRequest::user("Hello!")).await?;
/// assert_eq!(run.collect().await?.usage.input, 0);
/// # Ok(())
/// # }
/// ```
///
/// A reader who wants whole messages only:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{
///     Error, FinishReason, ModelEvent, RunEvent, RunFinish, RunRequest, RunResponse, Usage,
///     hooks::on_run_event,
/// };
/// use futures_util::StreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let whole = on_run_event(|event: &mut RunEvent| !matches!(event, RunEvent::Model { .. }));
/// let stack = ServiceBuilder::new().layer(whole.named("whole")).service(service_fn(
///     |_: RunRequest| async {
///         let event = ModelEvent::Finish { reason: FinishReason::Stop };
///         let usage = Usage::default();
///         let events = vec![
///             Ok(RunEvent::Model { turn: 1, event }),
///             Ok(RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage }),
///         ];
///         Ok::<_, Error>(RunResponse::new(futures_util::stream::iter(events)))
///     },
/// ));
///
/// let run = stack.oneshot(RunRequest::user("Hello!")).await?;
/// assert_eq!(run.body.count().await, 1);
/// # Ok(())
/// # }
/// ```
pub const fn on_run_event<F, K>(hook: F) -> OnRunEventLayer<F>
where
    F: Fn(&mut RunEvent) -> K,
    K: IntoKeep,
{
    OnRunEventLayer::new(hook)
}

hook_layer! {
    /// The layer of [`on_model_event`].
    OnModelEventLayer,
    /// The service of [`on_model_event`]. Call-through; a stream costs one box.
    OnModelEvent,
    "on_model_event"
}
fail_mode!(OnModelEventLayer);

hook_layer! {
    /// The layer of [`on_run_event`].
    OnRunEventLayer,
    /// The service of [`on_run_event`]. Call-through; a run costs one box.
    OnRunEvent,
    "on_run_event"
}
fail_mode!(OnRunEventLayer);

impl<S, F, K> Service<ModelRequest> for OnModelEvent<S, F>
where
    S: Service<ModelRequest, Response = ModelResponse>,
    S::Error: Into<Error>,
    F: Fn(&mut ModelEvent) -> K + Clone + Send + 'static,
    K: IntoKeep,
{
    type Response = ModelResponse;
    type Error = Error;
    type Future = OnEventFuture<S::Future, F, ModelRequest>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: ModelRequest) -> Self::Future {
        let editor = Editor { hook: self.hook.clone(), settings: self.settings.clone() };
        let withhold = (self.settings.mode == FailMode::Closed).then(|| request.clone());
        OnEventFuture {
            inner: self.inner.call(request),
            editor: Some((editor, withhold)),
            edit: edit_model,
        }
    }
}

impl<S, F, K> Service<RunRequest> for OnRunEvent<S, F>
where
    S: Service<RunRequest, Response = RunResponse>,
    S::Error: Into<Error>,
    F: Fn(&mut RunEvent) -> K + Clone + Send + 'static,
    K: IntoKeep,
{
    type Response = RunResponse;
    type Error = Error;
    type Future = OnEventFuture<S::Future, F, RunRequest>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: RunRequest) -> Self::Future {
        let editor = Editor { hook: self.hook.clone(), settings: self.settings.clone() };
        OnEventFuture {
            inner: self.inner.call(request),
            editor: Some((editor, None)),
            edit: edit_run,
        }
    }
}

type Edit<H, O> = fn(<O as Operation>::Output, Editor<H>, Option<&O>) -> <O as Operation>::Output;

pin_project! {
    /// The future of [`on_model_event`] and [`on_run_event`].
    pub struct OnEventFuture<F, H, O: Operation> {
        #[pin]
        inner: F,
        editor: Option<(Editor<H>, Option<O>)>,
        edit: Edit<H, O>,
    }
}

impl<F, H, O, E> Future for OnEventFuture<F, H, O>
where
    O: Operation,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
{
    type Output = Result<O::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let output = ready!(this.inner.poll(cx)).map_err(Into::into)?;
        let Some((editor, request)) = this.editor.take() else { return Poll::Pending };
        Poll::Ready(Ok((this.edit)(output, editor, request.as_ref())))
    }
}

impl<F, H, O: Operation> fmt::Debug for OnEventFuture<F, H, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnEventFuture").finish_non_exhaustive()
    }
}
