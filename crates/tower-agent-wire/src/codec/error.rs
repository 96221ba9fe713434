use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use tower_agent_core::{Effect, Error, ErrorKind, Str};

/// What a provider said about an error, attached to the [`Error`] as an extension.
///
/// ```
/// use http::{HeaderMap, StatusCode};
/// use tower_agent_wire::{ApiError, openai_chat::decode_error};
///
/// let body = br#"{"error": {"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"}}"#;
/// let error = decode_error(StatusCode::BAD_REQUEST, &HeaderMap::new(), body);
/// let said = error.extensions().get::<ApiError>().unwrap();
/// assert_eq!(said.code.as_deref(), Some("context_length_exceeded"));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ApiError {
    /// The provider's text, for operators.
    pub message: Option<Str>,
    /// Its kind, such as `invalid_request_error`.
    pub kind: Option<Str>,
    /// The field of the request that it is about.
    pub param: Option<Str>,
    /// Its stable code, such as `context_length_exceeded`.
    pub code: Option<Str>,
    /// The provider's id of the request, for its support.
    pub request_id: Option<Str>,
    /// The HTTP status.
    pub status: Option<u16>,
}
/// Longer texts of providers are cut.
const MAX_MESSAGE: usize = 1_000;

/// The error of an answer whose status is no success; `is_used_up` says that no waiting helps.
pub(crate) fn refused(
    status: StatusCode,
    headers: &HeaderMap,
    mut said: ApiError,
    is_used_up: bool,
) -> Error {
    said.status = Some(status.as_u16());
    let kind = match kind_of(status, retry_after(headers)) {
        ErrorKind::RateLimited { .. } if is_used_up => {
            ErrorKind::Upstream { status: Some(status.as_u16()) }
        }
        kind => kind,
    };
    let error = Error::new(kind, message(Some(status), &said)).with_effect(effect_of(status));
    with_said(error, said, is_fault_of_request(status))
}

/// The error that came inside an answer which began as a success.
pub(crate) fn broke(kind: ErrorKind, said: ApiError) -> Error {
    let error = Error::new(kind, message(None, &said)).with_effect(Effect::Unknown);
    with_said(error, said, false)
}

fn with_said(error: Error, said: ApiError, is_readable: bool) -> Error {
    let error = match &said.message {
        Some(message) if is_readable => error.with_model_text(message.to_string()),
        _ => error,
    };
    error.with_extension(said)
}

/// What a provider said, at a length that fits a log.
pub(crate) fn cut(text: &str) -> Str {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

fn message(status: Option<StatusCode>, said: &ApiError) -> String {
    let mut text = String::from("the provider answered with an error");
    let status = status.map(|status| status.as_str().into());
    for detail in [status, said.code.clone(), said.message.clone()].into_iter().flatten() {
        text.push_str(": ");
        text.push_str(&detail);
    }
    text
}

fn kind_of(status: StatusCode, retry_after: Option<Duration>) -> ErrorKind {
    match status.as_u16() {
        429 | 529 => ErrorKind::RateLimited { retry_after },
        401 | 403 => ErrorKind::Unauthorized,
        404 => ErrorKind::NotFound,
        // Whoever names a time asks for another try, and is not to be asked earlier.
        408 | 409 | 425 | 500.. if retry_after.is_some() => ErrorKind::RateLimited { retry_after },
        408 | 504 => ErrorKind::Timeout,
        status => ErrorKind::Upstream { status: Some(status) },
    }
}

fn effect_of(status: StatusCode) -> Effect {
    match status.as_u16() {
        400 | 401 | 403 | 404 | 405 | 413 | 415 | 422 | 429 => Effect::NotStarted,
        _ => Effect::Unknown,
    }
}

/// Statuses whose text tells the caller what to change, and nothing about the operator's account.
fn is_fault_of_request(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 404 | 413 | 415 | 422)
}

pub(crate) fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let millis = header_text(headers, "retry-after-ms").and_then(|text| text.trim().parse().ok());
    if let Some(wait) = millis.and_then(seconds) {
        return Some(wait / 1_000);
    }
    let text = header_text(headers, "retry-after")?.trim();
    if let Ok(number) = text.parse() {
        return seconds(number);
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let now = httpdate::parse_http_date(header_text(headers, "date")?).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

/// A whole HTTP response for a client, around the body of its dialect.
pub(crate) fn respond(error: &Error, body: Vec<u8>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status_of(error);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(wait) = error.retry_after() {
        // Rounded up: coming back too early is what the header is there to prevent.
        let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn status_of(error: &Error) -> StatusCode {
    let said = error.extensions().get::<ApiError>().and_then(|said| said.status);
    match error.kind() {
        ErrorKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        // nginx's status for a client that went away, which http has no name for.
        ErrorKind::Cancelled => StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST),
        ErrorKind::Overloaded | ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        // The limit of a provider that is overloaded is not the client's.
        ErrorKind::RateLimited { .. } if said.is_some_and(|status| status != 429) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ErrorKind::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::InvalidArguments => StatusCode::BAD_REQUEST,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorKind::Upstream { status: Some(status @ 400..=499) } => {
            StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY)
        }
        ErrorKind::Upstream { .. } | ErrorKind::Protocol => StatusCode::BAD_GATEWAY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
