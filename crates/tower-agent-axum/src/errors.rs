//! Answers to what went wrong, the same on every route.

use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, Uri};
use tower_agent_core::Error;

use crate::ApiError;

/// What a caller reads of an error; operators read the rest in the log.
pub(crate) fn report(run: &str, error: &Error) -> ApiError {
    let answer = ApiError::from(error).with_effect(error.effect());
    let code = answer.code();
    if answer.status().is_server_error() {
        tracing::error!(run, code, error = error as &dyn std::error::Error, "run failed");
    } else {
        tracing::debug!(run, code, error = error as &dyn std::error::Error, "run refused");
    }
    answer
}

/// The answer to an error at the head. The error itself goes along for layers around the router.
pub(crate) fn refuse(run: &str, error: &Error) -> Response {
    let mut response = report(run, error).into_response();
    response.extensions_mut().insert(error.clone());
    response
}

pub(crate) async fn method_not_allowed(method: Method, uri: Uri) -> ApiError {
    let text = format!("{} does not take {method}", uri.path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", text)
}
