//! `POST /v1/runs`: runs of an agent, event by event.

mod request;
mod resume;
mod store;
mod stream;

use std::{fmt, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::post,
};
use http::header;
use tower::{Service, ServiceExt};
use tower_agent_core::{Error, ErrorKind, RunRequest, RunResponse, Str, Transcript};
use uuid::Uuid;

pub use self::store::RunStore;
use self::stream::RunFrames;
use crate::{
    ApiError,
    body::Form,
    options::{Lease, Options, with_run_id},
    report::{method_not_allowed, report},
    sse,
};

/// Serves `POST /v1/runs` for an agent, which is any `Service<RunRequest>`.
///
/// ```
/// use axum::{Router, body::{Body, to_bytes}, http::{Request, header}};
/// use tower::{ServiceExt, service_fn};
/// use tower_agent_axum::{Identity, run_router};
/// use tower_agent_core::{Error, Message, RunBody, RunEvent, RunFinish, RunRequest, RunResponse};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Any agent will do; this one greets.
/// let agent = service_fn(|request: RunRequest| async move {
///     let user = request.ctx.run().user().cloned().unwrap_or_default();
///     let events = vec![
///         RunEvent::Message { turn: 1, message: Message::assistant(format!("Hello, {user}!")) },
///         RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage: Default::default() },
///     ];
///     Ok::<_, Error>(RunResponse::new(RunBody::from_events(events)))
/// });
/// let app: Router = Router::new().merge(run_router(agent).identity(|parts| {
///     let user = parts.headers.get("x-user").and_then(|user| user.to_str().ok());
///     let user = user.ok_or(tower_agent_axum::ApiError::unauthorized("who are you?"))?;
///     Ok::<_, tower_agent_axum::ApiError>(Identity::default().with_user(user))
/// }));
///
/// let request = Request::post("/v1/runs")
///     .header(header::CONTENT_TYPE, "application/json")
///     .header("x-user", "Ada")
///     .body(Body::from(r#"{"text": "Hi"}"#))?;
/// let response = app.oneshot(request).await?;
/// assert!(response.headers().contains_key("x-run-id"));
/// let text = String::from_utf8(to_bytes(response.into_body(), usize::MAX).await?.into())?;
/// assert!(text.starts_with("event: message\nid: 1\ndata: {"));
/// assert!(text.contains("Hello, Ada!"));
/// # Ok(())
/// # }
/// ```
///
/// # What is sent
///
/// JSON: a [`RunRequest`] as serde writes it, or one of the short forms `{"text": ".."}` and `{"input": ".."}`.
/// `stream` says whether the *model* is asked to stream, so that events carry the answer as it is made; left out, it
/// is asked to when the answer is a stream of events.
///
/// `instructions`, `model`, `sampling` and `extra` are the host's to choose. A request that sets one is refused unless
/// [`allow_overrides`](RunRouter::allow_overrides) was called. The messages, and so what the model is told
/// was said before, are always the caller's.
///
/// # What comes back
///
/// The form goes by `Accept`. By default, server-sent events, one for each [`RunEvent`](tower_agent_core::RunEvent):
/// its name, a number from 1, its JSON. With `Accept: application/json`, the whole [`Transcript`].
/// The response header `x-run-id` names the run, whatever came of it.
///
/// # Errors
///
/// [`ApiError`] says how an [`Error`] is answered. In a stream that has begun, it is the last event, named `error`,
/// with the same JSON; a stream without `finished` and without `error` was cut. A whole answer that failed midway has
/// the transcript so far beside the error.
///
/// # Cancellation
///
/// A run is driven by its reader: nothing is read ahead, and a caller that goes away drops the run and cancels its
/// token; [`resumable`](RunRouter::resumable) has it otherwise. Each request calls a fresh clone of the agent once that is ready.
pub fn run_router<A>(agent: A) -> RunRouter<A> {
    let (name, options) = (Str::default(), Options::default());
    RunRouter { agent, name, overrides: false, store: None, options }
}

/// The route of [`run_router`], to be merged into a router.
#[derive(Clone)]
#[must_use = "it serves nothing until it is merged into a router"]
pub struct RunRouter<A> {
    agent: A,
    name: Str,
    overrides: bool,
    store: Option<RunStore>,
    options: Options,
}

impl<A> RunRouter<A> {
    options!();

    /// Names the agent for the layers around it, such as metrics; inside, the agent's own name holds.
    pub fn name(mut self, name: impl Into<Str>) -> Self {
        self.name = name.into();
        self
    }

    /// Lets callers replace the agent's instructions, model, sampling parameters and the model's extra fields.
    pub const fn allow_overrides(mut self) -> Self {
        self.overrides = true;
        self
    }

    /// Lets runs go on while their readers are away, and adds the routes by which those come back.
    ///
    /// It is for runs that are answered with events. `GET /v1/runs/{id}/events`, with the id from the header
    /// `x-run-id`, goes on after the event that `Last-Event-ID` or else `?after=` names, or begins at the first one; what
    /// it sends is what the first answer would have sent. The latest reader counts: one that still reads gets an `error`
    /// event with the code `taken_over`. Where nothing is left to read the answer is 204, which stops an `EventSource`.
    /// `DELETE /v1/runs/{id}` drops a run; without this, closing the connection does.
    ///
    /// Only who began a run, by the user and the tenant of its [identity](Self::identity), gets to it. Callers without a
    /// name are all the same one, and then the id alone is the key.
    ///
    /// | answer | code | when |
    /// | --- | --- | --- |
    /// | 400 | `invalid_event_id` | the event is no number |
    /// | 400 | `unknown_event` | no such event was made yet |
    /// | 404 | `run_not_found` | there is no such run, it is somebody else's, or nobody read it for too long |
    /// | 410 | `events_gone` | events that would come first are no longer kept |
    /// | 429, 503 | | a new run, where the store has no room |
    ///
    /// ```
    /// use axum::{Router, body::{Body, to_bytes}, http::Request};
    /// use futures_util::StreamExt;
    /// use tower::{ServiceExt, service_fn};
    /// use tower_agent_axum::{RunStore, run_router};
    /// use tower_agent_core::{Error, Message, RunBody, RunEvent, RunFinish, RunRequest, RunResponse};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = service_fn(|_: RunRequest| async {
    ///     Ok::<_, Error>(RunResponse::new(RunBody::from_events(vec![
    ///         RunEvent::Message { turn: 1, message: Message::assistant("Hello!") },
    ///         RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage: Default::default() },
    ///     ])))
    /// });
    /// let app: Router = run_router(agent).resumable(RunStore::new()).into();
    ///
    /// let request = Request::post("/v1/runs")
    ///     .header("content-type", "application/json")
    ///     .body(Body::from(r#"{"text": "Hi"}"#))?;
    /// let first = app.clone().oneshot(request).await?;
    /// let id = first.headers()["x-run-id"].to_str()?.to_owned();
    /// // The connection breaks after the first event.
    /// first.into_body().into_data_stream().next().await;
    ///
    /// let again = Request::get(format!("/v1/runs/{id}/events"))
    ///     .header("last-event-id", "1")
    ///     .body(Body::empty())?;
    /// let rest = to_bytes(app.oneshot(again).await?.into_body(), 1 << 20).await?;
    /// assert!(rest.starts_with(b"event: finished\nid: 2\n"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn resumable(mut self, runs: RunStore) -> Self {
        self.store = Some(runs);
        self
    }
}

impl<A, S> From<RunRouter<A>> for Router<S>
where
    A: Service<RunRequest, Response = RunResponse> + Clone + Send + Sync + 'static,
    A::Error: Into<Error>,
    A::Future: Send,
    S: Clone + Send + Sync + 'static,
{
    fn from(router: RunRouter<A>) -> Self {
        let resume = router.store.clone().map(|store| resume::routes(store, &router.options));
        let route = post(handle::<A>).fallback(method_not_allowed);
        let routes = Self::new().route("/v1/runs", route.with_state(Arc::new(router)));
        resume.into_iter().fold(routes, Self::merge)
    }
}

impl<A> fmt::Debug for RunRouter<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRouter")
            .field("name", &self.name)
            .field("overrides", &self.overrides)
            .field("store", &self.store)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

async fn handle<A>(State(router): State<Arc<RunRouter<A>>>, request: Request) -> Response
where
    A: Service<RunRequest, Response = RunResponse> + Clone + Send + Sync + 'static,
    A::Error: Into<Error>,
    A::Future: Send,
{
    with_run_id(request, |request, id| answer(router, request, id)).await
}

async fn answer<A>(
    router: Arc<RunRouter<A>>,
    request: Request,
    id: Uuid,
) -> Result<Response, Response>
where
    A: Service<RunRequest, Response = RunResponse> + Clone,
    A::Error: Into<Error>,
{
    let (parts, body) = request.into_parts();
    let form = Form::accepted(&parts.headers).map_err(IntoResponse::into_response)?;
    let received = router.options.receive(parts, body).await?;
    let run = request::parse(&received.body, form == Form::Sse, router.overrides)
        .map_err(IntoResponse::into_response)?;
    // Whole answers have nothing to go on with.
    let store = router.store.as_ref().filter(|_| form == Form::Sse);
    let slot = store.map(|store| store.reserve((&received.identity).into()));
    let slot = slot.transpose().map_err(IntoResponse::into_response)?;
    let (identity, permit) = (received.identity, received.permit);
    let (ctx, lease) = router.options.open(id, identity, permit, router.name.clone());
    let run = router.agent.clone().oneshot(run.with_context(ctx)).await;
    let run = run.map_err(|error| refuse(id, &error.into()))?;
    if form == Form::Json {
        return whole(run, lease, id).await;
    }
    let (events, keep_alive) = (RunFrames::new(run, lease, id), router.options.keep_alive);
    let Some((store, slot)) = store.zip(slot) else {
        return Ok(sse::response(events, keep_alive));
    };
    let reader = store.keep(slot, id, events).map_err(IntoResponse::into_response)?;
    Ok(sse::response(reader.into_stream(), keep_alive))
}

async fn whole(run: RunResponse, mut lease: Lease, id: Uuid) -> Result<Response, Response> {
    let error = match run.collect().await {
        Ok(transcript) => {
            lease.complete();
            return Ok(json(&transcript));
        }
        Err(error) => error,
    };
    let answer = run_report(id, &error);
    match Transcript::of_error(&error) {
        Some(so_far) => Err(answer.response_with(answer.to_json_with("transcript", &*so_far))),
        None => Err(answer.into_response()),
    }
}

/// What a caller reads of an error; that of a run may come after tools have done something.
fn run_report(id: Uuid, error: &Error) -> ApiError {
    report(id, error).with_effect(error.effect())
}

/// The answer to an error at the head. The error itself goes along for layers around the router.
fn refuse(id: Uuid, error: &Error) -> Response {
    let mut response = run_report(id, error).into_response();
    response.extensions_mut().insert(error.clone());
    response
}

fn json(transcript: &Transcript) -> Response {
    match serde_json::to_string(transcript) {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => no_json(error).into_response(),
    }
}

/// What cannot be written as JSON, which no value of the vocabulary is.
fn no_json(error: serde_json::Error) -> ApiError {
    let error = Error::new(ErrorKind::Other, "the answer has no JSON form").with_source(error);
    ApiError::from(&error)
}
