//! `POST /v1/responses`: agents and model stacks for clients of OpenAI's Responses.

mod request;

use std::{fmt, sync::Arc};

use axum::Router;
use bytes::Bytes;
use http::HeaderName;
use tower_agent_core::{Error, ModelRequest, Reply};
use tower_agent_wire::{
    Encoded, Stamp,
    openai_responses::{self, Encoder},
};

use crate::{
    ApiError,
    dialect::{Dialect, Host, route},
    models::Models,
    options::Options,
    sse,
};

/// Serves OpenAI's Responses, whole and streamed.
///
/// What answers is chosen by the request's `model`: an [agent](ResponsesRouter::agent), whose tools run here and do not
/// show, or a [model stack](ResponsesRouter::model), whose calls of tools are the client's to make. It stands beside
/// [`chat_router`](crate::chat_router), which also lists the models:
///
/// ```
/// use axum::{Router, body::{Body, to_bytes}, http::Request};
/// use tower::{ServiceExt, service_fn};
/// use tower_agent_axum::{Models, chat_router, responses_router};
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
///     .merge(responses_router().models(models));
///
/// let request = Request::post("/v1/responses")
///     .header("content-type", "application/json")
///     .body(Body::from(r#"{"model": "parrot", "input": "Hello"}"#))?;
/// let response = app.oneshot(request).await?;
/// let body = to_bytes(response.into_body(), 1 << 20).await?;
/// assert!(std::str::from_utf8(&body)?.contains(r#""text":"Hello""#));
/// # Ok(())
/// # }
/// ```
///
/// # What is sent
///
/// A model stack gets the request as [`decode_request`](openai_responses::decode_request) reads it, fields without a name
/// in the vocabulary included.
///
/// An agent gets the input, the form of the answer and whether to stream; the request's `instructions` come before the
/// input as a system message. Its model and sampling parameters are the host's to choose, so those of the request are
/// ignored; `tools` are refused, because a client that sends some expects to run them.
///
/// # What is stored
///
/// Nothing. A request that goes on from a stored reply (`previous_response_id`, `conversation`, an `item_reference` in the
/// input) or that wants to be answered later (`background`) is refused with a text that says so: clients send the whole
/// conversation instead, some of them once they are told `store: false`. `store: true`, which is what clients send unasked, is no reason to
/// refuse. Before a provider that stores, [`provider_stores`](ResponsesRouter::provider_stores) lets model stacks have them all.
///
/// # What comes back
///
/// `stream` decides the form. Of an agent, the texts of all its turns, with an empty line between turns; never its tool
/// calls or its reasoning. A denied reply or run is incomplete, with `content_filter` as its reason.
///
/// # Errors
///
/// All are [`ApiError`]s. In a stream that has begun, the error is the last event, and no `response.completed` comes.
///
/// # Cancellation
///
/// As for [`run_router`](crate::run_router): the body is the call, a slow reader slows it down, and one that goes away
/// drops it and cancels the token in its context.
pub fn responses_router() -> ResponsesRouter {
    ResponsesRouter { models: Models::new(), provider_stores: false, options: Options::default() }
}

/// The route of [`responses_router`], to be merged into a router.
#[derive(Clone)]
#[must_use = "it serves nothing until it is merged into a router"]
pub struct ResponsesRouter {
    models: Models,
    provider_stores: bool,
    options: Options,
}

impl ResponsesRouter {
    models!();

    options!();

    /// Lets model stacks have what only a provider that stores replies can answer. Agents still refuse it.
    pub const fn provider_stores(mut self) -> Self {
        self.provider_stores = true;
        self
    }
}

impl ResponsesRouter {
    /// The routes of a proxy.
    pub(crate) fn of_proxy(models: Models, options: Options) -> Self {
        Self { models, provider_stores: true, options }
    }
}

impl<S: Clone + Send + Sync + 'static> From<ResponsesRouter> for Router<S> {
    fn from(router: ResponsesRouter) -> Self {
        let host = Arc::new(Host { models: router.models, options: router.options });
        let route = if router.provider_stores {
            route::<Responses<true>>(host)
        } else {
            route::<Responses<false>>(host)
        };
        Router::new().route("/v1/responses", route).with_state(())
    }
}

impl fmt::Debug for ResponsesRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponsesRouter")
            .field("models", &self.models)
            .field("provider_stores", &self.provider_stores)
            .field("options", &self.options)
            .finish()
    }
}

struct Responses<const PROVIDER_STORES: bool>;

impl<const PROVIDER_STORES: bool> Dialect for Responses<PROVIDER_STORES> {
    type Encoder = Encoder;

    const ID: &'static str = "resp_";
    const REQUEST_ID: Option<HeaderName> = Some(HeaderName::from_static("x-request-id"));

    fn parse(body: &[u8]) -> Result<ModelRequest, ApiError> {
        request::parse(body, PROVIDER_STORES)
    }

    fn check_for_agent(request: &ModelRequest) -> Result<(), Error> {
        request::check_for_agent(request)
    }

    fn encoder(stamp: Stamp, _: &ModelRequest) -> Encoder {
        Encoder::new(stamp)
    }

    fn encode_reply(reply: &Reply, stamp: &Stamp) -> Encoded {
        openai_responses::encode_reply(reply, stamp)
    }

    fn pass_on(error: &Error) -> http::Response<Bytes> {
        openai_responses::encode_error(error)
    }

    fn error_event(error: &ApiError, _: &str) -> Bytes {
        sse::data(&error.to_json())
    }
}

encode!(Encoder, flush, fail: ApiError::to_json);
