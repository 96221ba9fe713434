//! `POST /v1beta/models/{model}:generateContent`: agents and model stacks for any client of Gemini's API.

mod list;

use std::{fmt, sync::Arc};

use axum::{
    Router,
    extract::{Path, RawQuery, Request, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use bytes::Bytes;
use http::StatusCode;
use tower::util::MapResponseLayer;
use tower_agent_core::{Error, ModelRequest, Reply, Role};
use tower_agent_wire::{
    Encoded, Stamp,
    gemini::{self, Encoder},
};

use crate::{
    ApiError,
    dialect::{Dialect, Host, NO_TOOLS, answer_to, decode, in_form, invalid, not_for_agents},
    models::Models,
    options::Options,
    proxy::Rest,
    report::method_not_allowed,
    sse,
};

/// Serves Gemini's `generateContent` and `streamGenerateContent`, under `/v1beta` and `/v1`, and the list of models.
///
/// What answers is chosen by the model in the path: an [agent](GeminiRouter::agent), whose tools run here and do not show,
/// or a [model stack](GeminiRouter::model), whose calls of functions are the client's to make. It is at home beside a
/// [`chat_router`](crate::chat_router) with the same [`Models`]:
///
/// ```
/// use axum::{Router, body::{Body, to_bytes}, http::Request};
/// use tower::{ServiceExt, service_fn};
/// use tower_agent_axum::{Models, chat_router, gemini_router};
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
///     .merge(gemini_router().models(models));
///
/// let request = Request::post("/v1beta/models/parrot:generateContent")
///     .header("content-type", "application/json")
///     .body(Body::from(r#"{"contents": [{"parts": [{"text": "Hello"}]}]}"#))?;
/// let response = app.oneshot(request).await?;
/// let body = to_bytes(response.into_body(), 1 << 20).await?;
/// assert!(std::str::from_utf8(&body)?.contains(r#""parts":[{"text":"Hello"}]"#));
/// # Ok(())
/// # }
/// ```
///
/// # What is sent
///
/// A model stack gets the request as [`decode_request`](gemini::decode_request) reads it, fields without a name in
/// the vocabulary included. The host asks for no key: who may ask is for [`identity`](GeminiRouter::identity) to say, which
/// finds `x-goog-api-key` among the headers. A key in the URL (`?key=`) is read by nobody here.
///
/// An agent gets the system instruction and the contents, the form of the answer and whether to stream. Its model, instructions
/// and sampling parameters are the host's to choose, so those of the request are ignored; `tools` are refused, because a client
/// that sends some expects to run them.
///
/// # What comes back
///
/// The path decides: `:streamGenerateContent?alt=sse` is answered with events, and without `alt=sse` with one JSON array that
/// comes in pieces. Of an agent, the texts of all its turns, with an empty line between turns; never its tool
/// calls or its reasoning. The reason of a denied reply or run is `SAFETY`.
///
/// # Errors
///
/// All are [`ApiError`]s in this dialect's form, `{"error": {"code", "message", "status", "details"}}`; the details name the code
/// of [`ApiError`], the field at fault and how long to wait. In a stream that has begun, it is the last event and no
/// `finishReason` was sent. Other methods, such as `:countTokens`, are answered with 404.
///
/// # Cancellation
///
/// As for [`run_router`](crate::run_router): the body is the call, a slow reader slows it down, and one that goes away
/// drops it and cancels the token in its context.
pub fn gemini_router() -> GeminiRouter {
    GeminiRouter { models: Models::new(), rest: Others::default(), options: Options::default() }
}

/// The routes of [`gemini_router`], to be merged into a router.
#[derive(Clone)]
#[must_use = "it serves nothing until it is merged into a router"]
pub struct GeminiRouter {
    models: Models,
    rest: Others,
    options: Options,
}

/// What answers other methods of the same paths, where that is not this router.
#[derive(Clone, Default)]
pub(crate) struct Others {
    pub(crate) v1: Option<Rest>,
    pub(crate) v1beta: Option<Rest>,
}

impl GeminiRouter {
    models!();

    options!();
}

impl GeminiRouter {
    /// The routes of a proxy, which leaves lists to its upstream where there is nothing to list.
    pub(crate) fn of_proxy(models: Models, options: Options, rest: Others) -> Self {
        Self { models, rest, options }
    }
}

impl<S: Clone + Send + Sync + 'static> From<GeminiRouter> for Router<S> {
    fn from(router: GeminiRouter) -> Self {
        let host = Arc::new(Host { models: router.models, options: router.options });
        let form = || MapResponseLayer::new(in_form::<Gemini<false>>);
        let ask = |rest: Option<Rest>| {
            let ask = post(generate).layer(form());
            match rest {
                Some(rest) => ask.fallback_service(rest),
                None => ask,
            }
        };
        // Under `/v1` the list is that of OpenAI's API, and so is the answer to other methods.
        let routes = Router::new().route("/v1/models/{*id}", ask(router.rest.v1));
        let routes = match router.rest.v1beta {
            rest @ Some(_) => routes.route("/v1beta/models/{*id}", ask(rest)),
            None => {
                let list = get(list::list).fallback(method_not_allowed).layer(form());
                let one = get(list::one).post(generate).fallback(method_not_allowed).layer(form());
                routes.route("/v1beta/models", list).route("/v1beta/models/{*id}", one)
            }
        };
        routes.with_state(host).with_state(())
    }
}

impl fmt::Debug for GeminiRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeminiRouter")
            .field("models", &self.models)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

async fn generate(
    State(host): State<Arc<Host>>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Response {
    let (model, method) = id.rsplit_once(':').unwrap_or((&id, ""));
    let complete = |stream| {
        let model = model.to_owned();
        move |request: &mut ModelRequest| {
            request.model = model.into();
            request.stream = stream;
        }
    };
    match method {
        "generateContent" => answer_to::<Gemini<false>>(host, request, complete(false)).await,
        "streamGenerateContent" if wants_events(query.as_deref()) => {
            answer_to::<Gemini<false>>(host, request, complete(true)).await
        }
        "streamGenerateContent" => answer_to::<Gemini<true>>(host, request, complete(true)).await,
        _ => not_supported(method).into_response(),
    }
}

fn wants_events(query: Option<&str>) -> bool {
    query.unwrap_or_default().split('&').any(|pair| matches!(pair, "alt=sse" | "$alt=sse"))
}

fn not_supported(method: &str) -> ApiError {
    let text =
        format!("models here take `generateContent` and `streamGenerateContent`, not `{method}`");
    ApiError::new(StatusCode::NOT_FOUND, "not_supported", text)
}

struct Gemini<const ARRAY: bool>;

impl<const ARRAY: bool> Dialect for Gemini<ARRAY> {
    type Encoder = Encoder;

    const ID: &'static str = "";
    const FORM: sse::Form = if ARRAY { sse::Form::Array } else { sse::Form::Events };

    fn parse(body: &[u8]) -> Result<ModelRequest, ApiError> {
        let request = decode(body, gemini::decode_request)?;
        // The operator's text may be among them.
        if request.messages.iter().all(|message| *message.role() == Role::System) {
            return Err(invalid("contents", "must have at least one content"));
        }
        Ok(request)
    }

    fn check_for_agent(request: &ModelRequest) -> Result<(), Error> {
        if request.tools.is_empty() { Ok(()) } else { Err(not_for_agents("tools", NO_TOOLS)) }
    }

    fn encoder(stamp: Stamp, _: &ModelRequest) -> Encoder {
        Encoder::new(stamp).array(ARRAY)
    }

    fn encode_reply(reply: &Reply, stamp: &Stamp) -> Encoded {
        gemini::encode_reply(reply, stamp)
    }

    fn error_body(error: &ApiError, _: &str) -> Option<Bytes> {
        Some(body_of(error))
    }

    fn pass_on(error: &Error) -> http::Response<Bytes> {
        gemini::encode_error(error)
    }

    fn error_event(error: &ApiError, _: &str) -> Bytes {
        body_of(error)
    }
}

fn body_of(error: &ApiError) -> Bytes {
    let mut said = gemini::ApiError::default();
    said.status = Some(error.status().as_u16());
    said.message = Some(error.message().into());
    said.code = Some(error.code().into());
    said.param = error.param().map(Into::into);
    gemini::error_body(&said, error.retry_after())
}

encode!(Encoder, flush, fail: body_of);
