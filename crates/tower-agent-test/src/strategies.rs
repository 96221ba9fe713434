//! Strategies that make any value of the vocabulary, for property tests (feature `proptest`).
//!
//! They make what is rare on purpose: text with control characters, arguments that are no JSON, integers beyond
//! 2^53, empty lists, calls without an id.
//!
//! ```
//! use proptest::prelude::*;
//! use tower_agent_core::Conversation;
//! use tower_agent_test::strategies;
//!
//! proptest!(|(conversation in strategies::conversation())| {
//!     let stored = serde_json::to_string(&conversation).unwrap();
//!     prop_assert_eq!(serde_json::from_str::<Conversation>(&stored).unwrap(), conversation);
//! });
//! ```

mod event;
mod json;
mod message;
mod request;
mod response;

pub use self::{
    event::{finish_reason, model_event, rechunked, run_event, usage},
    json::{json, json_text, json_value, text},
    message::{call_id, content, conversation, media, message, part, role, tool_call_part},
    request::{model_request, run_request, tool_call, tool_spec, tools},
    response::{outcome, provenance, reply, suspension, tool_output, tool_record, transcript},
};
