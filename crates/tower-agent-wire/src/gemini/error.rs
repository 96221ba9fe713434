use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use tower_agent_core::{Error, ErrorKind};

use super::spelling::in_camel_case;
use crate::codec::{
    ApiError, broke, cut, header_text,
    raw::{self, Fields, NULL, Object, items, string, write_array},
    refused, respond,
};

/// What the types of details begin with.
const DETAIL: &str = "type.googleapis.com/google.rpc.";

/// Reads the answer of a provider whose status is no success.
///
/// 429 is rate-limited, and so are 408, 409, 425 and all from 500 on with a time to wait, which stands in a `Retry-After`
/// or in the details as `RetryInfo`. A key that is none is 400 here, and [`Unauthorized`](ErrorKind::Unauthorized) all the
/// same. A status that says that the request was refused did not start; of the rest the effect is unknown.
#[must_use]
pub fn decode_error(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let text = raw::check(body).unwrap_or_default();
    // Streams without `alt=sse` are a list, also of the one error.
    let text = items(text).and_then(|list| list.first().copied()).unwrap_or(text);
    let inner = Fields::parse(text).as_ref().map(error_of);
    let mut said = inner.as_ref().map(|(said, _)| said.clone()).unwrap_or_default();
    said.request_id = header_text(headers, "x-request-id").map(Into::into);
    let wait = inner.and_then(|(_, wait)| wait);
    let is_key = said.code.as_deref() == Some("API_KEY_INVALID");
    let error = refused(status, headers, said, false);
    match (error.kind(), wait) {
        _ if is_key => error.with_kind(ErrorKind::Unauthorized),
        (ErrorKind::RateLimited { retry_after: None }, Some(_)) => {
            error.with_kind(ErrorKind::RateLimited { retry_after: wait })
        }
        (ErrorKind::Upstream { status: Some(408 | 409 | 425 | 500..=599) }, Some(_)) => {
            error.with_kind(ErrorKind::RateLimited { retry_after: wait })
        }
        _ => error,
    }
}

/// The error inside a body or an event that has one in place of candidates.
pub(super) fn in_body(fields: &Fields<'_>) -> Option<Error> {
    if matches!(fields.get("error"), None | Some(NULL)) {
        return None;
    }
    let (said, wait) = error_of(fields);
    let kind = match said.status {
        Some(429) => ErrorKind::RateLimited { retry_after: wait },
        Some(401 | 403) => ErrorKind::Unauthorized,
        Some(404) => ErrorKind::NotFound,
        Some(504) => ErrorKind::Timeout,
        status => ErrorKind::Upstream { status },
    };
    Some(broke(kind, said))
}

/// What an error object says, and how long to wait.
fn error_of(fields: &Fields<'_>) -> (ApiError, Option<Duration>) {
    let error = fields.get("error").and_then(Fields::parse).unwrap_or_default();
    let said = |key: &str| error.get(key).and_then(string).map(|text| cut(&text));
    let mut api =
        ApiError { message: said("message"), kind: said("status"), ..ApiError::default() };
    api.status = error.get("code").and_then(|raw| raw.parse().ok());
    let mut wait = None;
    for raw in error.get("details").and_then(items).unwrap_or_default() {
        let mut detail = Fields::parse(raw).unwrap_or_default();
        in_camel_case(&mut detail, &["retryDelay", "fieldViolations"]);
        let text = |key: &str| detail.get(key).and_then(string);
        api.code = text("reason").or(api.code);
        api.param = violated(&detail).or(api.param);
        wait = text("retryDelay").and_then(|text| seconds(&text)).or(wait);
    }
    api.code = api.code.or_else(|| api.kind.clone());
    (api, wait)
}

/// The field that a detail is about.
fn violated(detail: &Fields<'_>) -> Option<tower_agent_core::Str> {
    let list = detail.get("fieldViolations").and_then(items)?;
    Fields::parse(list.first()?)?.get("field").and_then(string)
}

/// A duration as protocol buffers write it, such as `34.07s`.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

/// The dialect's name of an error with a status.
///
/// ```
/// assert_eq!(tower_agent_wire::gemini::error_status(429), "RESOURCE_EXHAUSTED");
/// ```
#[must_use]
pub const fn error_status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        400..=498 => "INVALID_ARGUMENT",
        501 => "UNIMPLEMENTED",
        502 | 503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "INTERNAL",
    }
}

/// Writes an error for a client, as a whole HTTP response: status, `content-type`, `retry-after` and body.
///
/// The message is the error's [text for models](Error::model_text), so nothing internal leaves the host; the dialect's name of
/// it is that of an attached [`ApiError`], if there is one, else by the status.
#[must_use]
pub fn encode_error(error: &Error) -> Response<Bytes> {
    let mut response = respond(error, Vec::new());
    *response.body_mut() = body(error, response.status().as_u16());
    response
}

pub(super) fn body(error: &Error, status: u16) -> Bytes {
    let mut said = error.extensions().get::<ApiError>().cloned().unwrap_or_default();
    said.message = Some(error.model_text().into());
    said.kind = said.kind.filter(|kind| kind.bytes().all(|byte| !byte.is_ascii_lowercase()));
    said.status = said.status.or(Some(status));
    error_body(&said, error.retry_after())
}

/// The body of an error as this dialect has it. Its code, the field that it is about and the time to wait are details.
///
/// ```
/// use tower_agent_wire::gemini::{ApiError, error_body};
///
/// let mut error = ApiError::default();
/// error.status = Some(404);
/// error.message = Some("no such model".into());
/// assert_eq!(error_body(&error, None), r#"{"error":{"code":404,"message":"no such model","status":"NOT_FOUND"}}"#);
/// ```
#[must_use]
pub fn error_body(said: &ApiError, wait: Option<Duration>) -> Bytes {
    let status = said.status.unwrap_or(500);
    let mut out = Vec::new();
    let mut object = Object::new(&mut out, Fields::default());
    let mut inner = Object::new(object.field("error"), Fields::default());
    inner.number("code", status);
    inner.str("message", said.message.as_deref().unwrap_or_default());
    inner.str("status", said.kind.as_deref().unwrap_or(error_status(status)));
    let details = details(said, wait);
    if !details.is_empty() {
        write_array(inner.field("details"), details, |out, detail| {
            out.extend_from_slice(&detail);
        });
    }
    inner.end();
    object.end();
    out.into()
}

fn details(said: &ApiError, wait: Option<Duration>) -> Vec<Vec<u8>> {
    let reason = said.code.as_ref().filter(|code| Some(*code) != said.kind.as_ref());
    let reason = reason.map(|code| detail("ErrorInfo", |detail| detail.str("reason", code)));
    let field = said.param.as_ref().map(|param| {
        detail("BadRequest", |detail| {
            write_array(detail.field("fieldViolations"), [param], |out, param| {
                let mut violation = Object::new(out, Fields::default());
                violation.str("field", param);
                violation.end();
            });
        })
    });
    let wait = wait.map(|wait| {
        detail("RetryInfo", |detail| detail.str("retryDelay", &format!("{}s", wait.as_secs_f64())))
    });
    [reason, field, wait].into_iter().flatten().collect()
}

fn detail(kind: &str, write: impl FnOnce(&mut Object<'_, '_>)) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Object::new(&mut out, Fields::default());
    object.str("@type", &format!("{DETAIL}{kind}"));
    write(&mut object);
    object.end();
    out
}
