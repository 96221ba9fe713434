//! What only a server that stores replies can answer.

use tower_agent_core::{Error, ErrorKind, ModelRequest, Part};

use super::{extra, item};
use crate::codec::{
    ApiError,
    raw::{Fields, NULL},
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

/// Refuses a request that would be answered wrongly without what it refers to, for a host that stores nothing.
///
/// ```
/// use tower_agent_wire::openai_responses::{decode_request, refuse_stored};
///
/// let body = br#"{"model": "m", "input": "And then?", "previous_response_id": "resp_1"}"#;
/// let error = refuse_stored(&decode_request(body)?).unwrap_err();
/// assert_eq!(error.to_string(), "`previous_response_id` needs a store");
/// assert!(error.model_text().contains("send the whole conversation"));
/// # Ok::<(), tower_agent_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidArguments`] when the request goes on from a stored reply, conversation, prompt or item, or wants to be answered
/// later. Its text tells the client what to send instead, and an [`ApiError`] names the field with the code `not_stored`.
pub fn refuse_stored(request: &ModelRequest) -> Result<(), Error> {
    let own = extra::peek(request.extra.as_ref());
    let beside = Fields::of(request.extra.as_ref()).unwrap_or_default();
    let is_meant = |field: &str| {
        let raw = own.get(field).or_else(|| beside.get(field));
        raw.is_some_and(|raw| ![NULL, "false"].contains(&raw))
    };
    let stored = STORED.iter().find(|(field, _)| is_meant(field));
    let (field, text) = match stored {
        Some(stored) => *stored,
        None if has_reference(request) => ("input", REFERENCE),
        None => return Ok(()),
    };
    let code = Some("not_stored".into());
    let said = ApiError { param: Some(field.into()), code, ..ApiError::default() };
    let error = Error::new(ErrorKind::InvalidArguments, format!("`{field}` needs a store"));
    Err(error.with_model_text(text).with_extension(said))
}

fn has_reference(request: &ModelRequest) -> bool {
    let is_reference = |part: &Part| match part {
        Part::Opaque { json } => item::kind_of(json).is_some_and(|kind| kind == "item_reference"),
        _ => false,
    };
    request.messages.iter().flat_map(|message| message.parts()).any(is_reference)
}
