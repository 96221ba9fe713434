//! Errors as OpenAI says them, in each of its dialects.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use tower_agent_core::{Error, ErrorKind};

use crate::codec::{
    ApiError, broke, cut, header_text,
    raw::{self, Fields, NULL, Object, string, write_str},
    refused, respond,
};

/// Reads the answer of a provider whose status is no success.
///
/// 429 and 529 are rate-limited, unless the quota is used up, which no waiting helps. So are 408, 409, 425 and every status
/// from 500 on with a `Retry-After`, which is read as seconds, as milliseconds (`retry-after-ms`) or as a date against the
/// answer's own `Date`. A status that says that the request was refused did not start; of the rest the effect is unknown.
#[must_use]
pub fn decode_error(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let text = raw::check(body).unwrap_or_default();
    let mut said = Fields::parse(text).map(|fields| said_in(&fields)).unwrap_or_default();
    said.request_id = header_text(headers, "x-request-id").map(Into::into);
    let is_used_up = said.code.as_deref() == Some("insufficient_quota");
    refused(status, headers, said, is_used_up)
}

/// The error inside a body or a chunk that has one in place of choices.
pub(crate) fn in_body(fields: &Fields<'_>) -> Option<Error> {
    if matches!(fields.get("error"), None | Some(NULL)) {
        return None;
    }
    Some(error_of(said_in(fields)))
}

fn error_of(said: ApiError) -> Error {
    let status = said
        .code
        .as_ref()
        .and_then(|code| code.parse().ok())
        .filter(|status| (400..600).contains(status));
    let is_limited = said.code.as_deref() == Some("rate_limit_exceeded");
    let kind = match status {
        Some(429) => ErrorKind::RateLimited { retry_after: None },
        None if is_limited => ErrorKind::RateLimited { retry_after: None },
        status => ErrorKind::Upstream { status },
    };
    broke(kind, said)
}

/// The error that a chunk is; a server may also say so by the name of the event.
pub(crate) fn in_chunk(fields: &Fields<'_>, name: Option<&str>) -> Option<Error> {
    let by_name = || (name == Some("error")).then(|| error_of(said_in(fields)));
    in_body(fields).or_else(by_name)
}

/// Some servers send only a text, or put the fields beside each other instead of into `error`.
fn said_in(fields: &Fields<'_>) -> ApiError {
    let text = |raw: &str| string(raw).or_else(|| (raw != NULL).then(|| raw.into()));
    let error = fields.get("error");
    if let Some(message) = error.and_then(string) {
        return ApiError { message: Some(cut(&message)), ..ApiError::default() };
    }
    let inner = error.and_then(Fields::parse);
    let fields = inner.as_ref().unwrap_or(fields);
    let said = |key: &str| fields.get(key).and_then(text).map(|text| cut(&text));
    ApiError {
        message: said("message").or_else(|| said("detail")),
        kind: said("type"),
        param: said("param"),
        code: said("code"),
        ..ApiError::default()
    }
}

/// Writes an error for a client, as a whole HTTP response: status, `content-type`, `retry-after` and body.
///
/// A provider's own status and names are passed on, as a proxy would; a host that speaks for itself, such as
/// tower-agent-axum, has a table of its own.
///
/// The message is the error's [text for models](Error::model_text), so nothing internal leaves the host; code, kind
/// and field are those of an attached [`ApiError`], if there is one.
#[must_use]
pub fn encode_error(error: &Error) -> Response<Bytes> {
    respond(error, body(error))
}

/// The error object of the dialect.
pub(crate) fn body(error: &Error) -> Vec<u8> {
    let said = error.extensions().get::<ApiError>();
    let (kind, code) = names_of(error.kind());
    let mut out = Vec::new();
    let mut object = Object::new(&mut out, Fields::default());
    let mut inner = Object::new(object.field("error"), Fields::default());
    inner.str("message", error.model_text());
    inner.str("type", said.and_then(|said| said.kind.as_deref()).unwrap_or(kind));
    match said.and_then(|said| said.param.as_deref()) {
        Some(param) => inner.str("param", param),
        None => inner.raw("param", NULL),
    }
    write_str(inner.field("code"), said.and_then(|said| said.code.as_deref()).unwrap_or(code));
    inner.end();
    object.end();
    out
}

/// The dialect's type and code of a kind.
fn names_of(kind: ErrorKind) -> (&'static str, &'static str) {
    match kind {
        ErrorKind::RateLimited { .. } => ("rate_limit_error", "rate_limit_exceeded"),
        ErrorKind::Unauthorized => ("authentication_error", "invalid_api_key"),
        ErrorKind::InvalidArguments => ("invalid_request_error", "invalid_request"),
        ErrorKind::NotFound => ("invalid_request_error", "not_found"),
        ErrorKind::Upstream { status: Some(400..=499) } => ("invalid_request_error", "upstream"),
        other => ("server_error", other.as_str()),
    }
}
