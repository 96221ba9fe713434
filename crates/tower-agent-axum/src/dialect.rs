//! A request in whatever dialect, answered by an agent or a model stack.

mod stream;

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::{MethodRouter, post},
};
use bytes::Bytes;
use http::{HeaderName, StatusCode, header};
use serde_json::Value;
use tower::util::MapResponseLayer;
use tower_agent_core::{
    Error, ErrorKind, FinishReason, ModelBody, ModelEvent, ModelRequest, ModelResponse, Reply,
};
use tower_agent_wire::{Encoded, Loss, ProviderHeaders, Stamp};
use uuid::Uuid;

use self::stream::Frames;
use crate::{
    ApiError, body,
    models::{Models, Target},
    options::{Lease, Options, RUN_ID, unix_seconds, with_run_id},
    proxy::{self, Passing},
    report::{method_not_allowed, report},
    sse,
};

/// What a route needs to know of a dialect: the codec, and the form of errors.
pub(crate) trait Dialect: 'static {
    /// Writes a streamed reply.
    type Encoder: Encode;

    /// What ids of replies begin with.
    const ID: &'static str;
    /// The header in which clients look for the id of a request, beside that of the run.
    const REQUEST_ID: Option<HeaderName> = None;
    /// What a stream is made of.
    const FORM: sse::Form = sse::Form::Events;

    fn parse(body: &[u8]) -> Result<ModelRequest, ApiError>;

    /// Refuses what an agent cannot do, where silence would mislead the client.
    fn check_for_agent(request: &ModelRequest) -> Result<(), Error>;

    fn encoder(stamp: Stamp, request: &ModelRequest) -> Self::Encoder;

    fn encode_reply(reply: &Reply, stamp: &Stamp) -> Encoded;

    /// The answer for a name that nothing goes by.
    fn unknown_model(model: &str) -> ApiError {
        let text = format!("there is no model `{model}`");
        ApiError::new(StatusCode::NOT_FOUND, "model_not_found", text).with_param("model")
    }

    /// The body of an error's answer, where it is not the usual one.
    fn error_body(_: &ApiError, _run: &str) -> Option<Bytes> {
        None
    }

    /// The error of a provider as the provider would have said it.
    fn pass_on(error: &Error) -> http::Response<Bytes>;

    /// The end of a stream that failed.
    fn error_event(error: &ApiError, run: &str) -> Bytes;
}

/// A codec's encoder of streams.
pub(crate) trait Encode: Send + 'static {
    fn encode(&mut self, event: &ModelEvent) -> Option<Bytes>;

    /// What is held back for fields that may follow, once nothing more is there for now.
    fn flush(&mut self) -> Option<Bytes> {
        None
    }

    /// The end of a stream that failed, where it depends on what was written before.
    fn fail(&mut self, _: &ApiError) -> Option<Bytes> {
        None
    }

    /// The end of a stream that failed, in the provider's words.
    fn pass_on(&mut self, error: &Error) -> Bytes;

    fn finish(&mut self) -> Bytes;
    fn losses(&self) -> &[Loss];
}

/// Lends a codec's encoder its own methods under the trait: of those that not every encoder has, the ones that are named, and
/// how the body of an error of ours is written where its end needs one.
macro_rules! encode {
    ($encoder:ty $(, $flush:ident $(, fail: $body:expr)?)?) => {
        impl $crate::dialect::Encode for $encoder {
            fn encode(&mut self, event: &tower_agent_core::ModelEvent) -> Option<bytes::Bytes> {
                Self::encode(self, event)
            }

            $(
                fn $flush(&mut self) -> Option<bytes::Bytes> {
                    Self::$flush(self)
                }

                $(
                    fn fail(&mut self, error: &$crate::ApiError) -> Option<bytes::Bytes> {
                        let body = $body;
                        Some(self.fail_with(&body(error)))
                    }
                )?
            )?

            fn pass_on(&mut self, error: &tower_agent_core::Error) -> bytes::Bytes {
                self.fail(error)
            }

            fn finish(&mut self) -> bytes::Bytes {
                Self::finish(self)
            }

            fn losses(&self) -> &[tower_agent_wire::Loss] {
                Self::losses(self)
            }
        }
    };
}

/// What the routes of one router share.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) models: Models,
    pub(crate) options: Options,
}

/// The route of a dialect; all its errors have the dialect's form.
pub(crate) fn route<D: Dialect>(host: Arc<Host>) -> MethodRouter {
    let route = post(handle::<D>).fallback(method_not_allowed).with_state(host);
    route.layer(MapResponseLayer::new(in_form::<D>))
}

/// Gives an error of ours, whoever answered with it, the dialect's form.
pub(crate) fn in_form<D: Dialect>(mut response: Response) -> Response {
    if let (Some(name), Some(id)) = (D::REQUEST_ID, response.headers().get(RUN_ID).cloned()) {
        // In a proxy, the provider's own id may stand there.
        response.headers_mut().entry(name).or_insert(id);
    }
    let Some(error) = response.extensions().get::<ApiError>() else { return response };
    let run = response.headers().get(RUN_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    match D::error_body(error, run) {
        Some(body) => response.map(|_| body.into()),
        None => response,
    }
}

async fn handle<D: Dialect>(State(host): State<Arc<Host>>, request: Request) -> Response {
    answer_to::<D>(host, request, |_| {}).await
}

/// Answers a request whose path says a part of it.
pub(crate) async fn answer_to<D: Dialect>(
    host: Arc<Host>,
    request: Request,
    complete: impl FnOnce(&mut ModelRequest),
) -> Response {
    with_run_id(request, |request, id| answer::<D>(host, request, id, complete)).await
}

async fn answer<D: Dialect>(
    host: Arc<Host>,
    request: Request,
    id: Uuid,
    complete: impl FnOnce(&mut ModelRequest),
) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let proxy = host.options.proxy.clone();
    let caller = proxy.as_ref().and_then(|proxy| proxy.headers_of(&parts));
    let received = host.options.receive(parts, body).await?;
    let mut asked = D::parse(&received.body).map_err(IntoResponse::into_response)?;
    complete(&mut asked);
    let target = host.models.find(&asked.model);
    let target = target.ok_or_else(|| D::unknown_model(&asked.model).into_response())?;
    let agent = target.agent_name(&asked.model);
    let (ctx, lease) = host.options.open(id, received.identity, received.permit, agent);
    asked.ctx = ctx;
    if let Some(caller) = caller {
        asked.ctx.extensions.insert(caller);
    }
    let reply_id = format!("{}{}", D::ID, id.simple());
    let stamp = Stamp::new(reply_id, asked.model.clone(), unix_seconds(id));
    let encoder = asked.stream.then(|| D::encoder(stamp.clone(), &asked));
    let call = Call { id, target: target.clone(), proxy, lease };
    if target.is_agent() {
        D::check_for_agent(&asked).map_err(|error| call.refuse::<D>(&error))?;
    }
    let answer = target.ask(asked).await;
    let provider = call.of_answer(&answer);
    let response = match (answer, encoder) {
        (Err(error), _) => Err(call.refuse::<D>(&error)),
        (Ok(reply), Some(encoder)) => {
            let frames = Frames::<D>::new(reply.body, encoder, call);
            Ok(sse::response_in(D::FORM, frames, host.options.keep_alive))
        }
        (Ok(reply), None) => whole::<D>(reply.body, &stamp, call).await,
    };
    let mut response = response.unwrap_or_else(|refusal| refusal);
    provider.iter().for_each(|headers| proxy::hand_back(&mut response, headers));
    Ok(response)
}

/// A call whose token is cancelled when this is dropped before it is complete.
struct Call {
    id: Uuid,
    target: Target,
    proxy: Option<Passing>,
    lease: Lease,
}

impl Call {
    /// What a caller reads of an error.
    fn report(&self, error: &Error) -> ApiError {
        let answer = report(self.id, error);
        // A model can be asked again; tools may have done something already.
        if self.target.is_agent() { answer.with_effect(error.effect()) } else { answer }
    }

    fn refuse<D: Dialect>(&self, error: &Error) -> Response {
        let ours = self.report(error);
        let mut response = match self.of_provider(error) {
            Some(error) => proxy::response(&error, D::pass_on(&error)),
            None => ours.into_response(),
        };
        response.extensions_mut().insert(error.clone());
        response
    }

    /// The headers of a provider, where they are passed on.
    fn of_answer(&self, answer: &Result<ModelResponse, Error>) -> Option<Arc<ProviderHeaders>> {
        self.proxy.as_ref()?.of_answer(answer)
    }

    /// The error in the words of a provider, where they are passed on.
    fn of_provider(&self, error: &Error) -> Option<Error> {
        self.proxy.as_ref()?.words_of_provider(error)
    }
}

async fn whole<D: Dialect>(
    body: ModelBody,
    stamp: &Stamp,
    mut call: Call,
) -> Result<Response, Response> {
    let mut reply = body.collect().await.map_err(|error| call.refuse::<D>(&error))?;
    call.lease.complete();
    reply.finish = finish_for_clients(reply.finish);
    let answer = D::encode_reply(&reply, stamp);
    tell(&answer.losses);
    Ok(([(header::CONTENT_TYPE, "application/json")], answer.bytes).into_response())
}

fn tell(losses: &[Loss]) {
    for loss in losses {
        tracing::debug!(%loss, "the dialect has no place for a part of the reply");
    }
}

/// No dialect has a word for an error that was answered in words.
fn finish_for_clients(reason: FinishReason) -> FinishReason {
    match reason {
        FinishReason::Error => FinishReason::Stop,
        reason => reason,
    }
}

/// Reads a request with a codec that keeps what it cannot read for the provider.
pub(crate) fn decode(
    bytes: &[u8],
    codec: fn(&[u8]) -> Result<ModelRequest, Error>,
) -> Result<ModelRequest, ApiError> {
    let request = codec(bytes).map_err(|error| {
        // The codec knows fields; what is no JSON at all is told with its place, as on every other route.
        match body::parse::<Value>(bytes) {
            Err(no_json) => no_json,
            Ok(_) => ApiError::from(&error),
        }
    })?;
    // This one decides the form of our own answer.
    match extra(&request, "stream") {
        Some(Value::Null | Value::Bool(_)) | None => Ok(request),
        Some(_) => Err(invalid("stream", "must be a boolean")),
    }
}

pub(crate) fn invalid(field: &'static str, reason: &str) -> ApiError {
    ApiError::bad_request("invalid_value", format!("`{field}` {reason}")).with_param(field)
}

/// A field that the vocabulary has no name for; some dialects keep theirs one level deeper, under their name.
pub(crate) fn extra<'a>(request: &'a ModelRequest, field: &str) -> Option<&'a Value> {
    let extra = request.extra.as_ref()?.value().ok()?;
    let inner =
        || ["anthropic", "openai_responses"].iter().find_map(|space| extra.get(space)?.get(field));
    extra.get(field).or_else(inner)
}

/// The refusal of a field that an agent cannot obey.
pub(crate) fn not_for_agents(field: &'static str, text: &'static str) -> Error {
    let mut said = tower_agent_wire::ApiError::default();
    said.param = Some(field.into());
    said.code = Some("not_supported".into());
    let error = Error::new(ErrorKind::InvalidArguments, format!("`{field}` sent to an agent"));
    error.with_model_text(text).with_extension(said)
}

pub(crate) const NO_TOOLS: &str =
    "This agent runs its own tools and takes none of the client's. Nothing ran.";
