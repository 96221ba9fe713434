//! `POST /v1/chat/completions` and `GET /v1/models`: agents and model stacks for any client of OpenAI's API.

mod list;
mod request;

use std::{fmt, sync::Arc};

use axum::{
    Router,
    routing::{any, get},
};
use bytes::Bytes;
use http::{StatusCode, Uri};
use tower_agent_core::{Error, ModelRequest, Reply};
use tower_agent_wire::{
    Encoded, Stamp,
    openai_chat::{self, Encoder},
};
use uuid::Uuid;

use crate::{
    ApiError,
    dialect::{Dialect, Host, route},
    models::Models,
    options::{Options, unix_seconds},
    report::method_not_allowed,
    sse,
};

/// Serves OpenAI's chat completions, whole and streamed, and the list of models, which clients of Anthropic's API can read, too.
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
    ChatRouter { models: Models::new(), catch_all: true, lists: true, options: Options::default() }
}

/// The routes of [`chat_router`], to be merged into a router.
#[derive(Clone)]
#[must_use = "it serves nothing until it is merged into a router"]
pub struct ChatRouter {
    models: Models,
    catch_all: bool,
    lists: bool,
    options: Options,
}

impl ChatRouter {
    models!();

    options!();

    /// Leaves the other paths under `/v1` to the app.
    ///
    /// An app with a route that has a parameter right after `/v1` needs this: axum panics when a catch-all is merged
    /// beside it.
    pub const fn without_catch_all(mut self) -> Self {
        self.catch_all = false;
        self
    }
}

impl ChatRouter {
    /// The routes of a proxy, which leaves lists and unknown paths to its upstream where there is nothing to list.
    pub(crate) fn of_proxy(models: Models, options: Options, lists: bool) -> Self {
        Self { models, catch_all: lists, lists, options }
    }
}

/// What is listed, and since when.
struct Catalogue {
    host: Arc<Host>,
    created: u64,
}

impl<S: Clone + Send + Sync + 'static> From<ChatRouter> for Router<S> {
    fn from(router: ChatRouter) -> Self {
        let host = Arc::new(Host { models: router.models, options: router.options });
        let created = unix_seconds(Uuid::now_v7());
        let catalogue = Arc::new(Catalogue { host: Arc::clone(&host), created });
        let list = get(list::list).fallback(method_not_allowed).with_state(Arc::clone(&catalogue));
        let one = get(list::one).fallback(method_not_allowed).with_state(catalogue);
        let routes = Router::new().route("/v1/chat/completions", route::<Chat>(host));
        let routes = if router.lists {
            routes.route("/v1/models", list).route("/v1/models/{*id}", one)
        } else {
            routes
        };
        let routes =
            if router.catch_all { routes.route("/v1/{*path}", any(no_such_path)) } else { routes };
        routes.with_state(())
    }
}

impl fmt::Debug for ChatRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatRouter")
            .field("models", &self.models)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

async fn no_such_path(uri: Uri) -> ApiError {
    let text = format!("there is no {}", uri.path());
    ApiError::new(StatusCode::NOT_FOUND, "unknown_url", text)
}

struct Chat;

impl Dialect for Chat {
    type Encoder = Encoder;

    const ID: &'static str = "chatcmpl-";

    fn parse(body: &[u8]) -> Result<ModelRequest, ApiError> {
        request::parse(body)
    }

    fn check_for_agent(request: &ModelRequest) -> Result<(), Error> {
        request::check_for_agent(request)
    }

    fn encoder(stamp: Stamp, request: &ModelRequest) -> Encoder {
        Encoder::new(stamp).include_usage(openai_chat::asks_for_usage(request))
    }

    fn encode_reply(reply: &Reply, stamp: &Stamp) -> Encoded {
        openai_chat::encode_reply(reply, stamp)
    }

    fn unknown_model(model: &str) -> ApiError {
        list::unknown(model)
    }

    fn pass_on(error: &Error) -> http::Response<Bytes> {
        openai_chat::encode_error(error)
    }

    fn error_event(error: &ApiError, _: &str) -> Bytes {
        sse::data(&error.to_json())
    }
}

encode!(Encoder);
