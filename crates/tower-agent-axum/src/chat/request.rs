//! What `POST /v1/chat/completions` takes.

use tower_agent_core::{Error, ModelRequest};
use tower_agent_wire::openai_chat;

use crate::{
    ApiError,
    dialect::{NO_TOOLS, decode, extra, invalid, not_for_agents},
};

pub(super) fn parse(bytes: &[u8]) -> Result<ModelRequest, ApiError> {
    let request = decode(bytes, openai_chat::decode_request)?;
    if request.messages.is_empty() {
        return Err(invalid("messages", "must have at least one message"));
    }
    Ok(request)
}

pub(super) fn check_for_agent(request: &ModelRequest) -> Result<(), Error> {
    if !request.tools.is_empty() {
        Err(not_for_agents("tools", NO_TOOLS))
    } else if extra(request, "n").is_some_and(|n| !n.is_null() && *n != 1) {
        Err(not_for_agents("n", "This agent gives one answer at a time. Nothing ran."))
    } else {
        Ok(())
    }
}
