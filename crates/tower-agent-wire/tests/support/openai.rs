//! Shared by the tests of OpenAI's streams.

use serde_json::Value;
use tower_agent_core::{Error, Reply};
use tower_agent_wire::openai_chat::Decoder;

use super::dialect::{collect, streams};

streams!(Decoder);

/// Chunks as frames, without the terminator.
pub(crate) fn chunks(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

/// The reply that a body collects to.
pub(crate) fn reply_of(body: &str) -> Result<Reply, Error> {
    collect(decode(body))
}
