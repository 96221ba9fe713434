//! Errors of the connection, without the URL, which may hold credentials.

use std::error::Error as StdError;

use tower_agent_core::{Effect, Error, ErrorKind, Str};
use tower_agent_wire::ApiError;

/// An error before there was an answer.
pub(super) fn of_send(error: reqwest::Error) -> Error {
    let is_unsent = error.is_connect() || error.is_builder();
    let (kind, what) = match (error.is_timeout(), error.is_connect()) {
        (true, true) => (ErrorKind::Timeout, "connecting to the provider took too long"),
        (true, false) => (ErrorKind::Timeout, "the provider was silent for too long"),
        (false, true) => (ErrorKind::Unavailable, "the provider could not be reached"),
        (false, false) => {
            (ErrorKind::Upstream { status: None }, "the request to the provider failed")
        }
    };
    let effect = if is_unsent { Effect::NotStarted } else { Effect::Unknown };
    with_cause(kind, what, error).with_effect(effect)
}

/// An error inside the answer.
pub(super) fn of_body(error: reqwest::Error) -> Error {
    let (kind, what) = if error.is_timeout() {
        (ErrorKind::Timeout, "the provider was silent for too long")
    } else {
        (ErrorKind::Upstream { status: None }, "the connection to the provider broke")
    };
    with_cause(kind, what, error)
        .with_effect(Effect::Unknown)
        .with_model_text("The connection to the model broke before its reply was complete.")
}

pub(super) fn too_large(limit: usize) -> Error {
    Error::new(ErrorKind::Protocol, format!("the provider's reply has more than {limit} bytes"))
}

fn with_cause(kind: ErrorKind, what: &str, error: reqwest::Error) -> Error {
    let error = error.without_url();
    let text = format!("{what}: {}", root(&error));
    Error::new(kind, text).with_source(error)
}

/// The innermost cause says what happened; those around it say who passed it on.
fn root<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    std::iter::successors(Some(error), |&error| error.source()).last().unwrap_or(error)
}

/// Adds the provider's id of the request to what it said.
pub(super) fn with_request_id(error: Error, id: Option<&Str>) -> Error {
    let Some(id) = id else { return error };
    let mut said = error.extensions().get::<ApiError>().cloned().unwrap_or_default();
    said.request_id = Some(id.clone());
    error.with_extension(said)
}
