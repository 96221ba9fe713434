//! What `POST /v1/responses` takes.

use tower_agent_core::{Error, ModelRequest};
use tower_agent_wire::openai_responses::{decode_request, refuse_stored};

use crate::{
    ApiError,
    dialect::{NO_TOOLS, decode, invalid, not_for_agents},
};

pub(super) fn parse(bytes: &[u8], provider_stores: bool) -> Result<ModelRequest, ApiError> {
    let request = decode(bytes, decode_request)?;
    if !provider_stores {
        refuse_stored(&request).map_err(|error| ApiError::from(&error))?;
        if request.messages.is_empty() {
            return Err(invalid("input", "must be a text or have at least one item"));
        }
    }
    Ok(request)
}

pub(super) fn check_for_agent(request: &ModelRequest) -> Result<(), Error> {
    refuse_stored(request)?;
    if request.messages.is_empty() {
        return Err(not_for_agents("input", "An agent needs some input. Nothing ran."));
    }
    if request.tools.is_empty() { Ok(()) } else { Err(not_for_agents("tools", NO_TOOLS)) }
}
