use std::sync::Arc;

use http::{HeaderMap, Response, header, response::Parts};
use tower_agent_core::{Error, Mark, ModelBody, ModelRequest, ModelResponse, Secret, Str};
use tower_agent_wire::{CallerHeaders, Loss};

use super::{Dialect, Inner, body, caller, fault, stream::Events};

/// More of an error's body is not read.
const ERROR_LIMIT: usize = 64 << 10;

pub(super) async fn run<D: Dialect>(
    inner: Arc<Inner<D>>,
    request: ModelRequest,
) -> Result<ModelResponse, Error> {
    ask(&inner, request).await.map_err(|error| error.with_layer(D::NAME))
}

async fn ask<D: Dialect>(inner: &Inner<D>, request: ModelRequest) -> Result<ModelResponse, Error> {
    let (wants_stream, model) = (request.stream, request.model.clone());
    let caller = inner.caller_headers.then(|| request.ctx.extensions.get_arc::<CallerHeaders>());
    let caller = caller.flatten();
    let url = inner.dialect.url(&inner.url, &request)?;
    let encoded = inner.dialect.encode(request)?;
    let sent =
        inner.post(url, caller.as_deref(), encoded.bytes).send().await.map_err(fault::of_send)?;
    let (parts, body) = Response::from(sent).into_parts();
    let own = inner.key.as_ref().map(Secret::expose);
    let keys: Vec<_> = caller::keys(caller.as_deref()).chain(own).collect();
    let kept = inner.kept.of(&parts.headers, &keys);
    match read(inner, &parts, body, wants_stream, &keys).await {
        Ok(body) => {
            let mut response = respond::<D>(body, &parts.headers, model, &encoded.losses);
            kept.into_iter().for_each(|kept| drop(response.head.extensions.insert(kept)));
            Ok(response)
        }
        Err(error) => Err(kept.into_iter().fold(error, Error::with_extension)),
    }
}

async fn read<D: Dialect>(
    inner: &Inner<D>,
    parts: &Parts,
    body: reqwest::Body,
    wants_stream: bool,
    keys: &[&str],
) -> Result<ModelBody, Error> {
    if !parts.status.is_success() {
        let (bytes, _) = body::read(body, ERROR_LIMIT).await;
        let bytes = keys.iter().fold(bytes, |bytes, key| without_key(bytes, key));
        return Err(D::decode_error(parts.status, &parts.headers, &bytes));
    }
    let id = request_id::<D>(&parts.headers);
    if is_stream(&parts.headers, wants_stream) {
        return Ok(ModelBody::stream(Events::<D>::new(body, id, inner.reply_limit)));
    }
    let with_id = |error| fault::with_request_id(error, id.as_ref());
    let (bytes, end) = body::read(body, inner.reply_limit).await;
    end.map_err(with_id)?;
    D::decode_reply(&bytes).map(ModelBody::full).map_err(with_id)
}

/// A server that repeats what it was sent must not bring the key into logs.
fn without_key(bytes: Vec<u8>, key: &str) -> Vec<u8> {
    match std::str::from_utf8(&bytes) {
        Ok(text) if !key.is_empty() && text.contains(key) => {
            text.replace(key, "[secret]").into_bytes()
        }
        _ => bytes,
    }
}

fn request_id<D: Dialect>(headers: &HeaderMap) -> Option<Str> {
    headers.get(D::REQUEST_ID)?.to_str().ok().map(Into::into)
}

/// A server may answer whole where a stream was asked for; it says so by the content type, which not every server of
/// streams sets.
fn is_stream(headers: &HeaderMap, wants_stream: bool) -> bool {
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.starts_with("text/event-stream") || (wants_stream && !kind.starts_with("application/json"))
}

fn respond<D: Dialect>(
    body: ModelBody,
    headers: &HeaderMap,
    model: Str,
    losses: &[Loss],
) -> ModelResponse {
    let mut response = ModelResponse::default().map_body(|_| body);
    response.head.request_id = request_id::<D>(headers);
    response.head.model = model;
    for loss in losses {
        let mark = Mark::new(D::NAME, "dropped").detail(loss.to_string());
        response.head.provenance.mark(mark);
    }
    response
}
