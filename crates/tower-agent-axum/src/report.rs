//! Answers to what went wrong, the same on every route.

use http::{Method, StatusCode, Uri};
use tower_agent_core::Error;
use uuid::Uuid;

use crate::ApiError;

/// What a caller reads of an error; operators read the rest in the log.
pub(crate) fn report(run: Uuid, error: &Error) -> ApiError {
    let answer = ApiError::from(error);
    let code = answer.code();
    if answer.status().is_server_error() {
        tracing::error!(%run, code, error = error as &dyn std::error::Error, "run failed");
    } else {
        tracing::debug!(%run, code, error = error as &dyn std::error::Error, "run refused");
    }
    answer
}

pub(crate) async fn method_not_allowed(method: Method, uri: Uri) -> ApiError {
    let text = format!("{} does not take {method}", uri.path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", text)
}
