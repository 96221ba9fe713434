//! What `POST /v1/chat/completions` takes.

use serde_json::Value;
use tower_agent_core::{Error, ErrorKind, ModelRequest};
use tower_agent_wire::openai_chat;

use crate::{ApiError, body};

pub(super) fn parse(bytes: &[u8]) -> Result<ModelRequest, ApiError> {
    let request = openai_chat::decode_request(bytes).map_err(|error| {
        // The codec knows fields; what is no JSON at all is told with its place, as on every other route.
        match body::parse::<Value>(bytes) {
            Err(no_json) => no_json,
            Ok(_) => ApiError::from(&error),
        }
    })?;
    if request.messages.is_empty() {
        return Err(invalid("messages", "must have at least one message"));
    }
    // The codec keeps what it cannot read for the provider; this one decides the form of our own answer.
    match extra(&request, "stream") {
        Some(Value::Null | Value::Bool(_)) | None => Ok(request),
        Some(_) => Err(invalid("stream", "must be a boolean")),
    }
}

fn invalid(field: &'static str, reason: &str) -> ApiError {
    ApiError::bad_request("invalid_value", format!("`{field}` {reason}")).with_param(field)
}

/// A field that the vocabulary has no name for.
fn extra<'a>(request: &'a ModelRequest, field: &str) -> Option<&'a Value> {
    request.extra.as_ref()?.value().ok()?.get(field)
}

/// Refuses what an agent cannot do, where silence would mislead the client.
pub(super) fn check_for_agent(request: &ModelRequest) -> Result<(), Error> {
    let (field, text) = if !request.tools.is_empty() {
        ("tools", "This agent runs its own tools and takes none of the client's. Nothing ran.")
    } else if extra(request, "n").is_some_and(|n| !n.is_null() && *n != 1) {
        ("n", "This agent gives one answer at a time. Nothing ran.")
    } else {
        return Ok(());
    };
    let mut said = openai_chat::ApiError::default();
    said.param = Some(field.into());
    said.code = Some("not_supported".into());
    let error = Error::new(ErrorKind::InvalidArguments, format!("`{field}` sent to an agent"));
    Err(error.with_model_text(text).with_extension(said))
}
