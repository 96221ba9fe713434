//! What `POST /v1/responses` takes.

use serde_json::Value;
use tower_agent_core::{Error, ErrorKind, ModelRequest, Part};
use tower_agent_wire::openai_responses;

use crate::{
    ApiError,
    dialect::{NO_TOOLS, decode, extra, invalid, not_for_agents},
};

/// What needs a store, and what to do instead.
const STORED: [(&str, &str); 4] = [
    (
        "previous_response_id",
        "This host stores no responses: send the whole conversation as `input`, and no `previous_response_id`. Nothing ran.",
    ),
    (
        "conversation",
        "This host stores no conversations: send the whole conversation as `input`. Nothing ran.",
    ),
    ("prompt", "This host stores no prompts: send `instructions` and `input`. Nothing ran."),
    (
        "background",
        "This host stores no responses that could be asked for later: send `background: false`. Nothing ran.",
    ),
];
const REFERENCE: &str = "This host stores no items: send the items themselves instead of an `item_reference`; \
                         clients do so when they are told `store: false`. Nothing ran.";

pub(super) fn parse(bytes: &[u8], provider_stores: bool) -> Result<ModelRequest, ApiError> {
    let request = decode(bytes, openai_responses::decode_request)?;
    if !provider_stores {
        check_stored(&request).map_err(|error| ApiError::from(&error))?;
        if request.messages.is_empty() {
            return Err(invalid("input", "must be a text or have at least one item"));
        }
    }
    Ok(request)
}

pub(super) fn check_for_agent(request: &ModelRequest) -> Result<(), Error> {
    check_stored(request)?;
    if request.messages.is_empty() {
        return Err(not_for_agents("input", "An agent needs some input. Nothing ran."));
    }
    if request.tools.is_empty() { Ok(()) } else { Err(not_for_agents("tools", NO_TOOLS)) }
}

/// Refuses what would be answered wrongly without what it refers to.
fn check_stored(request: &ModelRequest) -> Result<(), Error> {
    let is_meant = |field: &str| {
        !matches!(extra(request, field), None | Some(Value::Null | Value::Bool(false)))
    };
    let stored = STORED.iter().find(|(field, _)| is_meant(field));
    let (field, text) = match stored {
        Some(stored) => *stored,
        None if has_reference(request) => ("input", REFERENCE),
        None => return Ok(()),
    };
    let mut said = tower_agent_wire::ApiError::default();
    said.param = Some(field.into());
    said.code = Some("not_stored".into());
    let error = Error::new(ErrorKind::InvalidArguments, format!("`{field}` needs a store"));
    Err(error.with_model_text(text).with_extension(said))
}

fn has_reference(request: &ModelRequest) -> bool {
    let is_reference = |part: &Part| match part {
        Part::Opaque { json } => {
            json.value().is_ok_and(|item| item.get("type") == Some(&"item_reference".into()))
        }
        _ => false,
    };
    request.messages.iter().flat_map(|message| message.parts()).any(is_reference)
}
