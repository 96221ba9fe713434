use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use tower_agent_core::{Effect, Error, ErrorKind, Str};

use crate::raw::{self, Fields, NULL, Object, string, write_str};

/// What a provider said about an error, attached to the [`Error`] as an extension.
///
/// ```
/// use http::{HeaderMap, StatusCode};
/// use tower_agent_wire::openai_chat::{ApiError, decode_error};
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

/// Reads the answer of a provider whose status is no success.
///
/// 429 is rate-limited, unless the quota is used up, which no waiting helps; so is any other status with a
/// `Retry-After`, which is read as seconds, as milliseconds (`retry-after-ms`) or as a date against the answer's own
/// `Date`. A status that says that the request was refused did not start; of the rest the effect is unknown.
#[must_use]
pub fn decode_error(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let text = raw::check(body).unwrap_or_default();
    let mut said = Fields::parse(text).map(|fields| said_in(&fields)).unwrap_or_default();
    said.request_id = header_text(headers, "x-request-id").map(Into::into);
    said.status = Some(status.as_u16());
    let kind = kind_of(status, retry_after(headers), said.code.as_deref());
    let error = Error::new(kind, message(Some(status), &said)).with_effect(effect_of(status));
    with_said(error, said, is_fault_of_request(status))
}

/// The error inside a body or a chunk that has one in place of choices.
pub(super) fn in_body(fields: &Fields<'_>) -> Option<Error> {
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
    let kind = match status {
        Some(429) => ErrorKind::RateLimited { retry_after: None },
        status => ErrorKind::Upstream { status },
    };
    let error = Error::new(kind, message(None, &said)).with_effect(Effect::Unknown);
    with_said(error, said, false)
}

/// The error that a chunk is; a server may also say so by the name of the event.
pub(super) fn in_chunk(fields: &Fields<'_>, name: Option<&str>) -> Option<Error> {
    let by_name = || (name == Some("error")).then(|| error_of(said_in(fields)));
    in_body(fields).or_else(by_name)
}

fn with_said(error: Error, said: ApiError, is_readable: bool) -> Error {
    let error = match &said.message {
        Some(message) if is_readable => error.with_model_text(message.to_string()),
        _ => error,
    };
    error.with_extension(said)
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

fn cut(text: &str) -> Str {
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

fn kind_of(status: StatusCode, retry_after: Option<Duration>, code: Option<&str>) -> ErrorKind {
    let upstream = ErrorKind::Upstream { status: Some(status.as_u16()) };
    match status.as_u16() {
        429 if code == Some("insufficient_quota") => upstream,
        429 | 529 => ErrorKind::RateLimited { retry_after },
        401 | 403 => ErrorKind::Unauthorized,
        404 => ErrorKind::NotFound,
        408 | 504 => ErrorKind::Timeout,
        503 if retry_after.is_some() => ErrorKind::RateLimited { retry_after },
        _ => upstream,
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

fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    if let Some(millis) =
        header_text(headers, "retry-after-ms").and_then(|text| text.trim().parse().ok())
    {
        return seconds(millis).map(|duration| duration / 1_000);
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

/// Writes an error for a client, as a whole HTTP response: status, `content-type`, `retry-after` and body.
///
/// A provider's own status and names are passed on, as a proxy would; a host that speaks for itself, such as
/// tower-agent-axum, has a table of its own.
///
/// The message is the error's [text for models](Error::model_text), so nothing internal leaves the host; code, kind
/// and field are those of an attached [`ApiError`], if there is one.
#[must_use]
pub fn encode_error(error: &Error) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body(error)));
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

/// The error object of the dialect.
pub(super) fn body(error: &Error) -> Vec<u8> {
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

fn status_of(error: &Error) -> StatusCode {
    let said = error.extensions().get::<ApiError>().and_then(|said| said.status);
    match error.kind() {
        ErrorKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        // nginx's status for a client that went away, which http has no name for.
        ErrorKind::Cancelled => StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST),
        ErrorKind::Overloaded | ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::RateLimited { .. } if matches!(said, Some(503 | 529)) => {
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
