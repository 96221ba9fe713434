//! What goes wrong between us and a server, as our error.

use std::{error::Error as StdError, time::Duration};

use rmcp::{
    ErrorData, ServiceError,
    model::ErrorCode,
    service::ClientInitializeError,
    transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError,
    },
};
use tower_agent_core::{Effect, Error, ErrorKind};

use super::Ask;

const LAYER: &str = "mcp";
/// As much of a server's own words as a model is shown.
const MODEL_TEXT: usize = 1024;

pub(crate) fn error(kind: ErrorKind, message: impl Into<String>) -> Error {
    Error::new(kind, message.into()).with_layer(LAYER)
}

/// The connection ended while a call was open.
pub(crate) fn gone(server: &str) -> Error {
    error(ErrorKind::Unavailable, format!("server `{server}` went away during the call"))
        .with_effect(Effect::Unknown)
        .with_model_text(
            "The server of the tool went away during the call. Whether it ran is not known.",
        )
}

/// There is no connection, so nothing was sent.
pub(crate) fn away(server: &str, reason: &str) -> Error {
    error(ErrorKind::Unavailable, format!("server `{server}` is not available: {reason}"))
}

pub(crate) fn timeout(what: &str, after: Duration) -> Error {
    error(ErrorKind::Timeout, format!("{what} after {after:?}"))
}

pub(crate) fn malformed(server: &str, flaw: &str) -> Error {
    error(ErrorKind::Protocol, format!("server `{server}` sent a malformed reply: {flaw}"))
}

/// What a request came to.
pub(crate) fn request(server: &str, fault: ServiceError) -> Error {
    match fault {
        ServiceError::McpError(data) => refusal(server, data),
        ServiceError::TransportClosed => gone(server),
        ServiceError::Cancelled { .. } => {
            error(ErrorKind::Cancelled, format!("a call to server `{server}` was cancelled"))
        }
        ServiceError::TransportSend(fault) => sending(server, &fault).with_source(fault),
        fault => malformed(server, &fault.to_string()).with_source(fault),
    }
}

/// The server answered with an error of the protocol.
fn refusal(server: &str, data: ErrorData) -> Error {
    let message =
        format!("server `{server}` answered with error {}: {}", data.code.0, data.message);
    let kind = match data.code {
        ErrorCode::INVALID_PARAMS => ErrorKind::InvalidArguments,
        ErrorCode::METHOD_NOT_FOUND => ErrorKind::NotFound,
        _ => ErrorKind::Upstream { status: None },
    };
    let fault = error(kind, message);
    let fault = if kind == ErrorKind::InvalidArguments {
        let words: String = data.message.chars().take(MODEL_TEXT).collect();
        fault.with_model_text(format!(
            "The server refused the call, and the tool did not run: {words}"
        ))
    } else {
        fault
    };
    fault.with_source(data)
}

/// Nobody answers what a server asks.
pub(crate) fn unasked(ask: Ask) -> Error {
    error(ErrorKind::NotFound, format!("nobody answers `{}`", ask.method()))
        .with_source(undeclared(ask))
}

/// What a server is told that asks what it may not.
pub(crate) fn undeclared(ask: Ask) -> ErrorData {
    let what = format!("this client does not take {}", ask.method());
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None)
}

/// What a server is told of an answer that failed: the protocol's own error, if there is one, and nothing that is meant for
/// operators.
pub(crate) fn unanswered(error: &Error) -> ErrorData {
    tracing::debug!(%error, "a question of a server was not answered");
    if let Some(data) = find::<ErrorData>(error) {
        return data.clone();
    }
    let code = match error.kind() {
        ErrorKind::NotFound => ErrorCode::METHOD_NOT_FOUND,
        ErrorKind::InvalidArguments => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    ErrorData::new(code, error.model_text().to_owned(), None)
}

fn sending(server: &str, fault: &(dyn StdError + 'static)) -> Error {
    let message = format!("server `{server}` cannot be reached: {}", innermost(fault));
    if let Some(status) = find::<HttpStatusError>(fault) {
        return error(of_status(status), message);
    }
    if find::<AuthRequiredError>(fault).is_some() || find::<InsufficientScopeError>(fault).is_some()
    {
        return error(ErrorKind::Unauthorized, message);
    }
    let never_sent = find::<reqwest::Error>(fault).is_some_and(reqwest::Error::is_connect);
    if never_sent {
        return error(ErrorKind::Unavailable, message);
    }
    gone(server).with_message(message)
}

fn of_status(status: &HttpStatusError) -> ErrorKind {
    if status.status == 429 {
        let seconds = status.retry_after.as_ref().and_then(|text| text.trim().parse().ok());
        return ErrorKind::RateLimited { retry_after: seconds.map(Duration::from_secs) };
    }
    ErrorKind::Upstream { status: Some(status.status) }
}

/// The server could not be greeted.
pub(crate) fn greeting(
    server: &str,
    fault: ClientInitializeError,
    last_words: Option<String>,
) -> Error {
    let kind = if fault.is_authorization_required() {
        ErrorKind::Unauthorized
    } else {
        match &fault {
            ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::TransportError { .. }
            | ClientInitializeError::Cancelled => ErrorKind::Unavailable,
            _ => ErrorKind::Protocol,
        }
    };
    let words = last_words.map(|words| format!("; it said last: {words}")).unwrap_or_default();
    error(kind, format!("server `{server}` could not be greeted: {fault}{words}"))
        .with_effect(Effect::NotStarted)
        .with_source(fault)
}

fn chain<'a>(
    fault: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(fault), |&fault| fault.source())
}

fn find<'a, T: StdError + 'static>(fault: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    chain(fault).find_map(|fault| fault.downcast_ref())
}

fn innermost(fault: &(dyn StdError + 'static)) -> String {
    chain(fault).last().map_or_else(String::new, ToString::to_string)
}
