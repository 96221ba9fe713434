//! One error for every route, and the one table from an error's kind to a status.

use std::{borrow::Cow, time::Duration};

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use tower_agent_core::{Effect, Error, ErrorKind};

/// A header that OpenAI's clients obey over their own rule of what to repeat.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// An error as the routes of this crate answer it: in OpenAI's shape, which its clients map to their exceptions. The routes of
/// another dialect give it the shape of that dialect, also where [`identity`](crate::MessagesRouter::identity) answered with it.
///
/// ```
/// use axum::response::IntoResponse;
/// use tower_agent_axum::ApiError;
/// use tower_agent_core::{Error, ErrorKind};
///
/// let inside = Error::new(ErrorKind::Overloaded, "queue of 512 is full on db-7");
/// let outside = ApiError::from(&inside);
/// assert_eq!(outside.status(), 503);
/// assert!(!outside.message().contains("db-7"));
///
/// let refused = ApiError::unauthorized("send a key as a bearer token");
/// assert_eq!(refused.into_response().status(), 401);
/// ```
///
/// # What a caller gets to read
///
/// Of an [`Error`], only its [`model_text`](Error::model_text). The operator's text, the layer and the sources
/// stay inside. Where the request is at fault, also the field and the code that a codec or the provider named.
///
/// | kind | status | type | code |
/// | --- | --- | --- | --- |
/// | `InvalidArguments` | 400 | `invalid_request_error` | `invalid_arguments` |
/// | `NotFound` | 404 | `invalid_request_error` | `not_found` |
/// | `RateLimited` | 429, `Retry-After` | `rate_limit_error` | `rate_limit_exceeded` |
/// | `Overloaded` | 503, `Retry-After` | `server_error` | `overloaded` |
/// | `Unavailable` | 503 | `server_error` | `unavailable` |
/// | `Cancelled` | 503 | `server_error` | `cancelled` |
/// | `Timeout` | 504 | `timeout_error` | `timeout` |
/// | `Unauthorized` (of the host, at a provider) | 502 | `upstream_error` | `upstream_unauthorized` |
/// | `Upstream` with 400, 413 or 422 | 400 | `invalid_request_error` | `upstream_rejected` |
/// | `Upstream` | 502 | `upstream_error` | `upstream_failed` |
/// | `Protocol` | 502 | `upstream_error` | `upstream_broken` |
/// | all others | 500 | `server_error` | `internal_error` |
///
/// # Repeating a request
///
/// Clients repeat what failed with 429 or 5xx by themselves. Of a run whose tools may have done something already
/// (its [`effect`](Error::effect) is not [`NotStarted`](Effect::NotStarted)), the answer says `x-should-retry: false`,
/// which OpenAI's clients obey.
#[derive(Clone, Debug)]
pub struct ApiError {
    status: StatusCode,
    body: Body,
    retry_after: Option<Duration>,
    keep_from_repeating: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Body {
    message: Cow<'static, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    param: Option<Cow<'static, str>>,
    code: Cow<'static, str>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    error: &'a Body,
}

/// What a caller may do when it was not told how long to wait.
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);

const INVALID: &str = "invalid_request_error";
const SERVER: &str = "server_error";
const UPSTREAM: &str = "upstream_error";

/// The table: status, type and code of an error's kind.
fn row(kind: ErrorKind) -> (StatusCode, &'static str, &'static str) {
    match kind {
        ErrorKind::InvalidArguments => (StatusCode::BAD_REQUEST, INVALID, "invalid_arguments"),
        ErrorKind::NotFound => (StatusCode::NOT_FOUND, INVALID, "not_found"),
        ErrorKind::RateLimited { .. } => {
            (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", "rate_limit_exceeded")
        }
        ErrorKind::Overloaded => (StatusCode::SERVICE_UNAVAILABLE, SERVER, "overloaded"),
        ErrorKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, SERVER, "unavailable"),
        ErrorKind::Cancelled => (StatusCode::SERVICE_UNAVAILABLE, SERVER, "cancelled"),
        ErrorKind::Timeout => (StatusCode::GATEWAY_TIMEOUT, "timeout_error", "timeout"),
        // These are the host's credentials, not the caller's: a 401 would blame the wrong key.
        ErrorKind::Unauthorized => (StatusCode::BAD_GATEWAY, UPSTREAM, "upstream_unauthorized"),
        // The provider refused what the caller wrote, and would refuse it again.
        ErrorKind::Upstream { status: Some(400 | 413 | 422) } => {
            (StatusCode::BAD_REQUEST, INVALID, "upstream_rejected")
        }
        ErrorKind::Upstream { .. } => (StatusCode::BAD_GATEWAY, UPSTREAM, "upstream_failed"),
        ErrorKind::Protocol => (StatusCode::BAD_GATEWAY, UPSTREAM, "upstream_broken"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, SERVER, "internal_error"),
    }
}

impl ApiError {
    /// An error with a status, a stable code and a text for the caller.
    ///
    /// Its type is `invalid_request_error` below 500 and `server_error` above; see [`with_type`](Self::with_type).
    pub fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let kind = if status.is_server_error() { SERVER } else { INVALID };
        let body = Body { message: message.into(), kind, param: None, code: code.into() };
        Self { status, body, retry_after: None, keep_from_repeating: false }
    }

    /// A caller who did not say who it is, or did so in vain: 401.
    pub fn unauthorized(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
            .with_type("authentication_error")
    }

    /// A request that cannot be understood: 400.
    pub(crate) fn bad_request(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// A caller that asks for more than its share: 429.
    pub(crate) fn rate_limited(message: impl Into<Cow<'static, str>>) -> Self {
        let (status, kind, code) = row(ErrorKind::RateLimited { retry_after: None });
        Self::new(status, code, message).with_type(kind).with_retry_after(DEFAULT_RETRY_AFTER)
    }

    /// A host that has no room for anybody: 503.
    pub(crate) fn overloaded(message: impl Into<Cow<'static, str>>) -> Self {
        let (status, kind, code) = row(ErrorKind::Overloaded);
        Self::new(status, code, message).with_type(kind).with_retry_after(DEFAULT_RETRY_AFTER)
    }

    /// Sets the type, which groups codes.
    #[must_use]
    pub const fn with_type(mut self, kind: &'static str) -> Self {
        self.body.kind = kind;
        self
    }

    /// Names the field that is at fault.
    #[must_use]
    pub fn with_param(mut self, param: impl Into<Cow<'static, str>>) -> Self {
        self.body.param = Some(param.into());
        self
    }

    /// Says how long to wait before the next try.
    #[must_use]
    pub const fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Keeps clients from sending the request again by themselves, where tools may have run already.
    pub(crate) fn with_effect(mut self, effect: Effect) -> Self {
        self.keep_from_repeating = effect != Effect::NotStarted;
        self
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The text for the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.body.message
    }

    /// The stable code for programs.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.body.code
    }

    /// `{"error": {..}}`, for a stream that can no longer change its status.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&Envelope { error: &self.body }).unwrap_or_default()
    }

    /// The error with another value beside it.
    pub(crate) fn to_json_with(&self, name: &str, value: &impl Serialize) -> String {
        let whole = serde_json::json!({ "error": self.body, name: value });
        whole.to_string()
    }

    /// The response with a body of its own.
    pub(crate) fn response_with(&self, json: String) -> Response {
        let mut response = (self.status, json).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(wait) = self.retry_after {
            // A whole number of seconds; rounded up, as too early is refused again.
            let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.keep_from_repeating {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        response
    }
}

impl ApiError {
    /// What a codec or a provider said about the request: which field, and a code such as `context_length_exceeded`.
    fn name_the_fault(&mut self, error: &Error) {
        let Some(said) = error.extensions().get::<tower_agent_wire::ApiError>() else { return };
        self.body.param = said.param.as_ref().map(|param| param.to_string().into());
        if let Some(code) = &said.code {
            self.body.code = code.to_string().into();
        }
    }
}

impl From<&Error> for ApiError {
    fn from(error: &Error) -> Self {
        let (status, kind, code) = row(error.kind());
        let busy = matches!(error.kind(), ErrorKind::RateLimited { .. } | ErrorKind::Overloaded);
        let wait = error.retry_after().or(busy.then_some(DEFAULT_RETRY_AFTER));
        let message = error.model_text().to_owned();
        let mut answer = Self::new(status, code, message).with_type(kind);
        answer.retry_after = wait;
        if kind == INVALID {
            answer.name_the_fault(error);
        }
        answer
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.response_with(self.to_json());
        // A route whose dialect has another form of errors finds the error here.
        response.extensions_mut().insert(self);
        response
    }
}
