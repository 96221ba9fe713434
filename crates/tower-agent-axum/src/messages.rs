//! `POST /v1/messages`: agents and model stacks for any client of Anthropic's API.

use std::{fmt, sync::Arc};

use axum::{Router, routing::post};
use bytes::Bytes;
use http::{HeaderName, StatusCode};
use tower::util::MapResponseLayer;
use tower_agent_core::{Error, ModelRequest, Reply, Role};
use tower_agent_wire::{
    Encoded, Stamp,
    anthropic_messages::{self, Encoder},
};

use crate::{
    ApiError,
    dialect::{Dialect, Host, NO_TOOLS, decode, extra, in_form, invalid, not_for_agents, route},
    models::Models,
    options::Options,
    report::method_not_allowed,
    sse,
};

/// Serves Anthropic's messages, whole and streamed.
///
/// What answers is chosen by the request's `model`: an [agent](MessagesRouter::agent), whose tools run here and do not show,
/// or a [model stack](MessagesRouter::model), whose calls of tools are the client's to make. It is at home beside a
/// [`chat_router`](crate::chat_router) with the same [`Models`]:
///
/// ```
/// use axum::{Router, body::{Body, to_bytes}, http::Request};
/// use tower::{ServiceExt, service_fn};
/// use tower_agent_axum::{Models, chat_router, messages_router};
/// use tower_agent_core::{Error, Message, ModelRequest, ModelResponse, Reply};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A stack of layers over a provider; this one repeats what it hears.
/// let parrot = service_fn(|request: ModelRequest| async move {
///     let heard = request.messages.last().map(Message::text).unwrap_or_default();
///     Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant(heard))))
/// });
/// let models = Models::new().model("parrot", parrot);
/// let app: Router = Router::new()
///     .merge(chat_router().models(models.clone()))
///     .merge(messages_router().models(models));
///
/// let request = Request::post("/v1/messages")
///     .header("content-type", "application/json")
///     .body(Body::from(r#"{"model": "parrot", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello"}]}"#))?;
/// let response = app.oneshot(request).await?;
/// let body = to_bytes(response.into_body(), 1 << 20).await?;
/// assert!(std::str::from_utf8(&body)?.contains(r#"{"type":"text","text":"Hello"}"#));
/// # Ok(())
/// # }
/// ```
///
/// # What is sent
///
/// A model stack gets the request as [`decode_request`](anthropic_messages::decode_request) reads it, fields without a name in
/// the vocabulary included. The host asks for no `anthropic-version`, no `anthropic-beta` and no key: who may ask is for
/// [`identity`](MessagesRouter::identity) to say, which finds `x-api-key` or `Authorization` among the headers.
///
/// An agent gets the system text and the messages, the form of the answer and whether to stream. Its model, instructions and
/// sampling parameters are the host's to choose, so those of the request are ignored; `tools` are refused, because a client that
/// sends some expects to run them.
///
/// # What comes back
///
/// `stream` decides the form. Of an agent, the texts of all its turns, with an empty line between turns; never its tool
/// calls or its reasoning. The stop reason of a denied reply or run is `refusal`.
///
/// # Errors
///
/// All are [`ApiError`]s in this dialect's form, `{"type": "error", "error": {"type", "message", "details"}, "request_id"}`,
/// whose `details` have the code and whose `request_id` is the run's id, as is the header `request-id`. A conversation that
/// the server should hold (`thread`) is refused with the code at which clients send it whole. In a stream that has begun, it is an `error` event, and no `message_stop` follows.
/// Tokens cannot be counted here: `POST /v1/messages/count_tokens` is answered with 404.
///
/// # Cancellation
///
/// As for [`run_router`](crate::run_router): the body is the call, a slow reader slows it down, and one that goes away
/// drops it and cancels the token in its context.
pub fn messages_router() -> MessagesRouter {
    MessagesRouter { models: Models::new(), options: Options::default() }
}

/// The routes of [`messages_router`], to be merged into a router.
#[derive(Clone)]
#[must_use = "it serves nothing until it is merged into a router"]
pub struct MessagesRouter {
    models: Models,
    options: Options,
}

impl MessagesRouter {
    models!();

    options!();
}

impl MessagesRouter {
    /// The routes of a proxy.
    pub(crate) fn of_proxy(models: Models, options: Options) -> Self {
        Self { models, options }
    }
}

impl<S: Clone + Send + Sync + 'static> From<MessagesRouter> for Router<S> {
    fn from(router: MessagesRouter) -> Self {
        let host = Arc::new(Host { models: router.models, options: router.options });
        let count = post(no_count)
            .fallback(method_not_allowed)
            .layer(MapResponseLayer::new(in_form::<Messages>));
        Router::new()
            .route("/v1/messages", route::<Messages>(host))
            .route("/v1/messages/count_tokens", count)
            .with_state(())
    }
}

impl fmt::Debug for MessagesRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessagesRouter")
            .field("models", &self.models)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

async fn no_count() -> ApiError {
    let text = "this host does not count tokens; the usage of each reply tells them";
    ApiError::new(StatusCode::NOT_FOUND, "not_supported", text)
}

/// Half a conversation must not be answered as if it were a whole one. Clients know the code, and send it whole.
fn no_thread() -> ApiError {
    let text = "this host keeps no conversation: send it whole, without `thread`";
    ApiError::bad_request("thread_unsupported_request", text).with_param("thread")
}

struct Messages;

impl Dialect for Messages {
    type Encoder = Encoder;

    const ID: &'static str = "msg_";
    const REQUEST_ID: Option<HeaderName> = Some(HeaderName::from_static("request-id"));

    fn parse(body: &[u8]) -> Result<ModelRequest, ApiError> {
        let request = decode(body, anthropic_messages::decode_request)?;
        // The operator's text may be among them.
        if request.messages.iter().all(|message| *message.role() == Role::System) {
            return Err(invalid("messages", "must have at least one message"));
        }
        if extra(&request, "thread").is_some_and(|thread| !thread.is_null()) {
            return Err(no_thread());
        }
        Ok(request)
    }

    fn check_for_agent(request: &ModelRequest) -> Result<(), Error> {
        if request.tools.is_empty() { Ok(()) } else { Err(not_for_agents("tools", NO_TOOLS)) }
    }

    fn encoder(stamp: Stamp, _: &ModelRequest) -> Encoder {
        Encoder::new(stamp)
    }

    fn encode_reply(reply: &Reply, stamp: &Stamp) -> Encoded {
        anthropic_messages::encode_reply(reply, stamp)
    }

    fn error_body(error: &ApiError, run: &str) -> Option<Bytes> {
        let mut said = anthropic_messages::ApiError::default();
        said.kind = Some(anthropic_messages::error_type(error.status().as_u16()).into());
        said.message = Some(error.message().into());
        said.code = Some(error.code().into());
        said.request_id = (!run.is_empty()).then(|| run.into());
        Some(anthropic_messages::error_body(&said))
    }

    fn pass_on(error: &Error) -> http::Response<Bytes> {
        anthropic_messages::encode_error(error)
    }

    fn error_event(error: &ApiError, run: &str) -> Bytes {
        let body = Self::error_body(error, run).unwrap_or_default();
        sse::named("error", &body)
    }
}

encode!(Encoder, flush);
