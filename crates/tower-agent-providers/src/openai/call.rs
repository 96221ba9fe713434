use std::sync::Arc;

use http::{HeaderMap, Response, header};
use tower_agent_core::{Error, Mark, ModelBody, ModelRequest, ModelResponse, Secret, Str};
use tower_agent_wire::{
    Loss,
    openai_chat::{ask_for_usage, decode_error, decode_reply, encode_request},
};

use super::{Inner, NAME, body, fault, stream::Events};

/// More of an error's body is not read.
const ERROR_LIMIT: usize = 64 << 10;

pub(super) async fn run(
    inner: Arc<Inner>,
    mut request: ModelRequest,
) -> Result<ModelResponse, Error> {
    let wants_stream = request.stream;
    if inner.stream_usage {
        ask_for_usage(&mut request);
    }
    let encoded = encode_request(&request).map_err(|error| error.with_layer(NAME))?;
    let sent = inner.post(encoded.bytes).send().await.map_err(fault::of_send)?;
    let (parts, body) = Response::from(sent).into_parts();
    if !parts.status.is_success() {
        let (bytes, _) = body::read(body, ERROR_LIMIT).await;
        let bytes = without_key(bytes, inner.key.as_ref());
        return Err(decode_error(parts.status, &parts.headers, &bytes).with_layer(NAME));
    }
    let id = request_id(&parts.headers);
    let body = if is_stream(&parts.headers, wants_stream) {
        ModelBody::stream(Events::new(body, id.clone(), inner.reply_limit))
    } else {
        let with_id = |error| fault::with_request_id(error, id.as_ref());
        let (bytes, end) = body::read(body, inner.reply_limit).await;
        end.map_err(with_id)?;
        ModelBody::full(decode_reply(&bytes).map_err(|error| with_id(error.with_layer(NAME)))?)
    };
    Ok(respond(body, id, request.model, &encoded.losses))
}

/// A server that repeats what it was sent must not bring the key into logs.
fn without_key(bytes: Vec<u8>, key: Option<&Secret>) -> Vec<u8> {
    let key = key.map(Secret::expose).filter(|key| !key.is_empty());
    match (key, std::str::from_utf8(&bytes)) {
        (Some(key), Ok(text)) if text.contains(key) => text.replace(key, "[secret]").into_bytes(),
        _ => bytes,
    }
}

fn request_id(headers: &HeaderMap) -> Option<Str> {
    headers.get("x-request-id")?.to_str().ok().map(Into::into)
}

/// A server may answer whole where a stream was asked for; it says so by the content type, which not every server of
/// streams sets.
fn is_stream(headers: &HeaderMap, wants_stream: bool) -> bool {
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.starts_with("text/event-stream") || (wants_stream && !kind.starts_with("application/json"))
}

fn respond(body: ModelBody, id: Option<Str>, model: Str, losses: &[Loss]) -> ModelResponse {
    let mut response = ModelResponse::default().map_body(|_| body);
    response.head.request_id = id;
    response.head.model = model;
    for loss in losses {
        let mark = Mark::new(NAME, "dropped").detail(loss.to_string());
        response.head.provenance.mark(mark);
    }
    response
}
