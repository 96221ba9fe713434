//! Provider dialects as codecs without I/O: bytes on one side, the vocabulary of [`tower_agent_core`] on the other.
//!
//! Nothing here opens a socket, reads a clock or waits. A client of a provider encodes requests and decodes
//! replies, a host of a model does the reverse, and both use the same functions.
//!
//! | module | dialect | flag |
//! | --- | --- | --- |
//! | [`anthropic_messages`] | Anthropic's messages | `anthropic-messages` |
//! | [`gemini`] | Gemini's `generateContent` | `gemini` |
//! | [`openai_chat`] | OpenAI's chat completions | `openai-chat` (default) |
//! | [`openai_responses`] | OpenAI's Responses | `openai-responses` |
//! | [`sse`] | server-sent events, which streamed dialects are made of | always |
//!
//! # What comes back unchanged
//!
//! Fields that the vocabulary has no name for live in `extra`, as the text they came in, and are written back.
//! Decoding a body and encoding the result gives the same JSON, apart from spaces and the order of keys. Two rules
//! make that possible without private keys:
//!
//! - A value that the vocabulary would leave out (an empty text, a `null`) stays in `extra` as it was.
//! - A `null` in `extra` beside a value in the vocabulary marks the less usual of two spellings, such as
//!   `max_tokens` for `max_completion_tokens`.
//!
//! Where both have a value, that of the vocabulary counts: an edit by a layer always shows.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(
    feature = "anthropic-messages",
    feature = "gemini",
    feature = "openai-chat",
    feature = "openai-responses"
))]
mod caller;
#[cfg(any(
    feature = "anthropic-messages",
    feature = "gemini",
    feature = "openai-chat",
    feature = "openai-responses"
))]
mod codec;
mod loss;
#[cfg(any(feature = "openai-chat", feature = "openai-responses"))]
mod openai_error;
pub mod sse;

#[cfg(feature = "anthropic-messages")]
pub mod anthropic_messages;
#[cfg(feature = "gemini")]
pub mod gemini;
#[cfg(feature = "openai-chat")]
pub mod openai_chat;
#[cfg(feature = "openai-responses")]
pub mod openai_responses;

pub use self::loss::{Encoded, Loss, LossRule};
#[cfg(any(
    feature = "anthropic-messages",
    feature = "gemini",
    feature = "openai-chat",
    feature = "openai-responses"
))]
pub use self::{
    caller::CallerHeaders,
    codec::{ApiError, Stamp},
};
