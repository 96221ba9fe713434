//! `POST /v1/chat/completions` and `GET /v1/models`: agents and model stacks for any client of OpenAI's API.

mod agent;
mod models;
mod request;
mod stream;
mod target;

use std::{fmt, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use http::{StatusCode, Uri, header};
use tokio_util::sync::DropGuard;
use tower::Service;
use tower_agent_core::{
    Error, ModelBody, ModelRequest, ModelResponse, RunRequest, RunResponse, Str,
};
use tower_agent_wire::openai_chat::{self, Stamp};
use uuid::Uuid;

use self::{stream::ChatFrames, target::Target};
use crate::{
    ApiError,
    options::{Options, unix_seconds, with_run_id},
    report::{method_not_allowed, report},
    sse,
};

/// Serves OpenAI's chat completions, whole and streamed, and the list of models.
///
/// What answers is chosen by the request's `model`: an [agent](ChatRouter::agent), whose tools run here and do not show,
/// or a [model stack](ChatRouter::model), whose calls of tools are the client's to make.
///
/// ```
/// use axum::{Router, body::{Body, to_bytes}, http::Request};
/// use tower::{ServiceExt, service_fn};
/// use tower_agent_axum::chat_router;
/// use tower_agent_core::{Error, Message, ModelRequest, ModelResponse, Reply};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A stack of layers over a provider; this one repeats what it hears.
/// let parrot = service_fn(|request: ModelRequest| async move {
///     let heard = request.messages.last().map(Message::text).unwrap_or_default();
///     Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant(heard))))
/// });
/// let app: Router = Router::new().merge(chat_router().model("parrot", parrot));
///
/// let request = Request::post("/v1/chat/completions")
///     .header("content-type", "application/json")
///     .body(Body::from(r#"{"model": "parrot", "messages": [{"role": "user", "content": "Hello"}]}"#))?;
/// let response = app.oneshot(request).await?;
/// let body = to_bytes(response.into_body(), 1 << 20).await?;
/// assert!(std::str::from_utf8(&body)?.contains(r#""content":"Hello""#));
/// # Ok(())
/// # }
/// ```
///
/// # What is sent
///
/// A model stack gets the request as [`decode_request`](openai_chat::decode_request) reads it, fields without a name in
/// the vocabulary included.
///
/// An agent gets the messages, the form of the answer and whether to stream. Its model, instructions and sampling
/// parameters are the host's to choose, so those of the request are ignored; `tools` are refused, because a client that
/// sends some expects to run them, and so is `n` above 1.
///
/// # What comes back
///
/// `stream` decides the form. Of an agent, the texts of all its turns, with an empty line between turns; never its tool
/// calls or its reasoning. The finish reason of a denied reply or run is `content_filter`.
///
/// # Errors
///
/// All are [`ApiError`]s, also for paths under `/v1` that there are not: those are answered with 404, so that a client
/// finds JSON where it looks for it; see [`without_catch_all`](ChatRouter::without_catch_all). In a stream that has begun, the error is the last event and there is no `[DONE]`.
///
/// # Cancellation
///
/// As for [`run_router`](crate::run_router): the body is the call, a slow reader slows it down, and one that goes away
/// drops it and cancels the token in its context.
pub fn chat_router() -> ChatRouter {
    ChatRouter {
        targets: Vec::new(),
        rest: None,
        catch_all: true,
        created: unix_seconds(Uuid::now_v7()),
        options: Options::default(),
    }
}

/// The routes of [`chat_router`], to be merged into a router.
#[derive(Clone)]
#[must_use = "it serves nothing until it is merged into a router"]
pub struct ChatRouter {
    targets: Vec<(Str, Target)>,
    rest: Option<Target>,
    catch_all: bool,
    created: u64,
    options: Options,
}

impl ChatRouter {
    options!();

    /// Serves an agent under a model's name. Of two things under one name, the first answers.
    pub fn agent<A>(mut self, id: impl Into<Str>, agent: A) -> Self
    where
        A: Service<RunRequest, Response = RunResponse> + Clone + Send + Sync + 'static,
        A::Error: Into<Error>,
        A::Future: Send,
    {
        self.targets.push((id.into(), Target::agent(agent)));
        self
    }

    /// Serves a model stack under a name. Of two things under one name, the first answers.
    pub fn model<M>(mut self, id: impl Into<Str>, stack: M) -> Self
    where
        M: Service<ModelRequest, Response = ModelResponse> + Clone + Send + Sync + 'static,
        M::Error: Into<Error>,
        M::Future: Send,
    {
        self.targets.push((id.into(), Target::model(stack)));
        self
    }

    /// Sends requests for all other names to a model stack, with the name as it came.
    ///
    /// Without it, they are answered with 404. Such names do not appear in the list of models.
    pub fn any_model<M>(mut self, stack: M) -> Self
    where
        M: Service<ModelRequest, Response = ModelResponse> + Clone + Send + Sync + 'static,
        M::Error: Into<Error>,
        M::Future: Send,
    {
        self.rest = Some(Target::model(stack));
        self
    }

    /// Leaves the other paths under `/v1` to the app.
    ///
    /// An app with a route that has a parameter right after `/v1` needs this: axum panics when a catch-all is merged
    /// beside it.
    pub const fn without_catch_all(mut self) -> Self {
        self.catch_all = false;
        self
    }

    fn target(&self, model: &str) -> Result<Target, ApiError> {
        let named = self.targets.iter().find(|(id, _)| id == model).map(|(_, target)| target);
        named.or(self.rest.as_ref()).cloned().ok_or_else(|| models::unknown(model))
    }
}

impl<S: Clone + Send + Sync + 'static> From<ChatRouter> for Router<S> {
    fn from(router: ChatRouter) -> Self {
        let catch_all = router.catch_all;
        let router = Arc::new(router);
        let chat = post(handle).fallback(method_not_allowed).with_state(Arc::clone(&router));
        let list = get(models::list).fallback(method_not_allowed).with_state(Arc::clone(&router));
        let one = get(models::one).fallback(method_not_allowed).with_state(router);
        let routes = Self::new()
            .route("/v1/chat/completions", chat)
            .route("/v1/models", list)
            .route("/v1/models/{*id}", one);
        if catch_all { routes.route("/v1/{*path}", any(no_such_path)) } else { routes }
    }
}

impl fmt::Debug for ChatRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.targets.iter().map(|(id, _)| id).collect();
        f.debug_struct("ChatRouter")
            .field("models", &ids)
            .field("any_model", &self.rest.is_some())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

async fn no_such_path(uri: Uri) -> ApiError {
    let text = format!("there is no {}", uri.path());
    ApiError::new(StatusCode::NOT_FOUND, "unknown_url", text)
}

async fn handle(State(router): State<Arc<ChatRouter>>, request: Request) -> Response {
    with_run_id(request, |request, id| answer(router, request, id)).await
}

async fn answer(router: Arc<ChatRouter>, request: Request, id: Uuid) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let received = router.options.receive(parts, body).await?;
    let mut asked = request::parse(&received.body).map_err(IntoResponse::into_response)?;
    let target = router.target(&asked.model).map_err(IntoResponse::into_response)?;
    let agent = target.agent_name(&asked.model);
    let (ctx, guard) = router.options.open(id, received.identity, agent);
    asked.ctx = ctx;
    let stamp =
        Stamp::new(format!("chatcmpl-{}", id.simple()), asked.model.clone(), unix_seconds(id));
    let (stream, usage) = (asked.stream, openai_chat::asks_for_usage(&asked));
    let call = Call { id, target: target.clone(), guard: Some(guard) };
    match target.ask(asked).await {
        Err(error) => Err(call.refuse(&error)),
        Ok(reply) if stream => {
            let frames = ChatFrames::new(reply.body, stamp, usage, call);
            Ok(sse::response(frames, router.options.keep_alive))
        }
        Ok(reply) => whole(reply.body, &stamp, call).await,
    }
}

/// A call whose token is cancelled when this is dropped before it is complete.
struct Call {
    id: Uuid,
    target: Target,
    guard: Option<DropGuard>,
}

impl Call {
    /// What a caller reads of an error.
    fn report(&self, error: &Error) -> ApiError {
        let answer = report(self.id, error);
        // A model can be asked again; tools may have done something already.
        if self.target.is_agent() { answer.with_effect(error.effect()) } else { answer }
    }

    fn refuse(&self, error: &Error) -> Response {
        let mut response = self.report(error).into_response();
        response.extensions_mut().insert(error.clone());
        response
    }

    fn complete(&mut self) {
        self.guard.take().map(DropGuard::disarm);
    }

    const fn is_complete(&self) -> bool {
        self.guard.is_none()
    }
}

async fn whole(body: ModelBody, stamp: &Stamp, mut call: Call) -> Result<Response, Response> {
    let mut reply = body.collect().await.map_err(|error| call.refuse(&error))?;
    call.complete();
    reply.finish = stream::finish_for_clients(reply.finish);
    let answer = openai_chat::encode_reply(&reply, stamp);
    for loss in &answer.losses {
        tracing::debug!(%loss, "the dialect has no place for a part of the reply");
    }
    Ok(([(header::CONTENT_TYPE, "application/json")], answer.bytes).into_response())
}
