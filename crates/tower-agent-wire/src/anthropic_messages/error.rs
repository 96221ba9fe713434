use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use tower_agent_core::{Error, ErrorKind};

use crate::codec::{
    ApiError, broke, cut, header_text,
    raw::{self, Fields, NULL, Object, string},
    refused, respond,
};

/// Reads the answer of a provider whose status is no success.
///
/// 429 and 529 (overloaded) are rate-limited, and so are 408, 409, 425 and every status from 500 on with a `Retry-After`.
/// A status that says that the request was refused did not start; of the rest the effect is unknown.
#[must_use]
pub fn decode_error(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let text = raw::check(body).unwrap_or_default();
    let mut said = Fields::parse(text).map(|fields| said_in(&fields)).unwrap_or_default();
    said.request_id = header_text(headers, "request-id").map(Into::into).or(said.request_id);
    refused(status, headers, said, false)
}

/// The error that a body or an event is, if it is one.
pub(super) fn in_body(fields: &Fields<'_>) -> Option<Error> {
    let has_error = !matches!(fields.get("error"), None | Some(NULL));
    let is_error = fields.get("type") == Some("\"error\"");
    (is_error || (has_error && fields.get("content").is_none())).then(|| broken(fields))
}

/// The error of an event that is one.
pub(super) fn broken(fields: &Fields<'_>) -> Error {
    let said = said_in(fields);
    broke(kind_of(said.kind.as_deref()), said)
}

fn said_in(fields: &Fields<'_>) -> ApiError {
    let inner = fields.get("error").and_then(Fields::parse).unwrap_or_default();
    let said = |key: &str| inner.get(key).and_then(string).map(|text| cut(&text));
    let details = inner.get("details").and_then(Fields::parse).unwrap_or_default();
    ApiError {
        message: said("message"),
        kind: said("type"),
        code: details.get("error_code").and_then(string),
        request_id: fields.get("request_id").and_then(string),
        ..ApiError::default()
    }
}

/// The kind that a type means where no status says it.
fn kind_of(kind: Option<&str>) -> ErrorKind {
    match kind {
        Some("overloaded_error" | "rate_limit_error") => {
            ErrorKind::RateLimited { retry_after: None }
        }
        Some("authentication_error" | "permission_error" | "billing_error") => {
            ErrorKind::Unauthorized
        }
        Some("not_found_error") => ErrorKind::NotFound,
        Some("timeout_error") => ErrorKind::Timeout,
        Some("invalid_request_error") => ErrorKind::Upstream { status: Some(400) },
        Some("api_error") => ErrorKind::Upstream { status: Some(500) },
        _ => ErrorKind::Upstream { status: None },
    }
}

/// The dialect's name of an error with a status.
///
/// ```
/// assert_eq!(tower_agent_wire::anthropic_messages::error_type(429), "rate_limit_error");
/// ```
#[must_use]
pub const fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        408 | 504 => "timeout_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}

/// Writes an error for a client, as a whole HTTP response: status, `content-type`, `retry-after` and body.
///
/// The message is the error's [text for models](Error::model_text), so nothing internal leaves the host; the type is
/// that of an attached [`ApiError`], if there is one, else by the status.
#[must_use]
pub fn encode_error(error: &Error) -> Response<Bytes> {
    let mut response = respond(error, Vec::new());
    *response.body_mut() = body(error, response.status().as_u16()).into();
    response
}

pub(super) fn body(error: &Error, status: u16) -> Vec<u8> {
    let mut said = error.extensions().get::<ApiError>().cloned().unwrap_or_default();
    said.message = Some(error.model_text().into());
    said.kind.get_or_insert_with(|| error_type(status).into());
    error_body(&said).into()
}

/// The body of an error as this dialect has it.
///
/// ```
/// use tower_agent_wire::anthropic_messages::{ApiError, error_body};
///
/// let mut error = ApiError::default();
/// error.kind = Some("not_found_error".into());
/// error.message = Some("no such model".into());
/// error.code = Some("model_not_found".into());
/// assert_eq!(
///     error_body(&error),
///     r#"{"type":"error","error":{"type":"not_found_error","message":"no such model","details":{"error_code":"model_not_found"}},"request_id":null}"#,
/// );
/// ```
#[must_use]
pub fn error_body(said: &ApiError) -> Bytes {
    let mut out = Vec::new();
    let mut object = Object::new(&mut out, Fields::default());
    object.str("type", "error");
    let mut inner = Object::new(object.field("error"), Fields::default());
    inner.str("type", said.kind.as_deref().unwrap_or("api_error"));
    inner.str("message", said.message.as_deref().unwrap_or_default());
    if let Some(code) = &said.code {
        let mut details = Object::new(inner.field("details"), Fields::default());
        details.str("error_code", code);
        details.end();
    }
    inner.end();
    match &said.request_id {
        Some(id) => object.str("request_id", id),
        None => object.raw("request_id", NULL),
    }
    object.end();
    out.into()
}
