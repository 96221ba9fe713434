//! OpenAI's chat completions: `POST /v1/chat/completions`, whole and streamed, both directions.
//!
//! | | a client of a provider | a host of a model |
//! | --- | --- | --- |
//! | request | [`encode_request`] | [`decode_request`] |
//! | whole reply | [`decode_reply`] | [`encode_reply`] |
//! | streamed reply | [`Decoder`] | [`Encoder`] |
//! | error | [`decode_error`] | [`encode_error`] |
//!
//! A host reads a request and answers whole:
//!
//! ```
//! use tower_agent_core::{Message, Reply, Usage};
//! use tower_agent_wire::openai_chat::{self, Stamp};
//!
//! let body = br#"{"model": "demo", "messages": [{"role": "user", "content": "Hello"}], "user": "u-1"}"#;
//! let request = openai_chat::decode_request(body)?;
//! assert_eq!(request.messages[0].text(), "Hello");
//!
//! let reply = Reply::new(Message::assistant("Hi")).with_usage(Usage::new(9, 2));
//! let answer = openai_chat::encode_reply(&reply, &Stamp::new("chatcmpl-1", "demo", 1_700_000_000));
//! assert!(answer.losses.is_empty());
//! assert_eq!(openai_chat::decode_reply(&answer.bytes)?.message.text(), "Hi");
//!
//! // The field without a name in the vocabulary is kept, and a provider gets it.
//! assert_eq!(request.extra.as_ref().unwrap().as_str(), r#"{"user":"u-1"}"#);
//! # Ok::<(), tower_agent_core::Error>(())
//! ```
//!
//! A client feeds whatever bytes arrive and takes the events out:
//!
//! ```
//! use tower_agent_core::Collector;
//! use tower_agent_wire::openai_chat::Decoder;
//!
//! let mut decoder = Decoder::new();
//! let mut collector = Collector::new();
//! for piece in [&b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi"[..], b"\"},\"finish_reason\":\"stop\"}]}\n\n"] {
//!     decoder.push(piece);
//!     while let Some(event) = decoder.next_event() {
//!         collector.push(event?)?;
//!     }
//! }
//! decoder.finish();
//! while let Some(event) = decoder.next_event() {
//!     collector.push(event?)?;
//! }
//! assert_eq!(collector.finish()?.message.text(), "Hi");
//! # Ok::<(), tower_agent_core::Error>(())
//! ```
//!
//! # How the dialect maps
//!
//! - System and developer messages stay messages, where they stood. [`ModelRequest::instructions`] are sent as a
//!   system message before all others.
//! - A message has one text, one reasoning and a list of calls, in this order. `reasoning_content`, or `reasoning`
//!   where a server calls it so, is a part [`Reasoning`](tower_agent_core::Part::Reasoning).
//! - Each [`ToolResult`](tower_agent_core::Part::ToolResult) is a message of its own, before the rest of its message.
//!   It carries only text; the flag [`is_error`](tower_agent_core::ToolResultPart::is_error) has no place, which is
//!   noted, so the text must say that the call failed.
//! - Of a tool's spec the model gets name, description, input schema and `extra`; the rest is for layers and hosts.
//! - A reply is its first choice. Further ones stay in [`Reply::extra`](tower_agent_core::Reply::extra) under `choices`.
//! - The superseded `functions` and `function_call` stay in `extra`; they are no tools here.
//! - In streams a tool call is known by its `index`. Some servers leave the index out, or use one index for
//!   several calls; then ids, names and complete arguments tell them apart, so that two calls never become one.
//! - A refusal, an audio answer and other fields of a streamed message are put together and come as one
//!   [`MessageExtra`](tower_agent_core::ModelEvent::MessageExtra) before the end.
//! - `obfuscation`, which pads single chunks of a stream, is dropped.
//!
//! [`ModelRequest::instructions`]: tower_agent_core::ModelRequest::instructions
//!
//! # Errors
//!
//! What a client sent wrongly is [`InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) and names the
//! field; what a provider sent wrongly is [`Protocol`](tower_agent_core::ErrorKind::Protocol). A stream that ends with
//! neither a finish reason nor `[DONE]` is an error, and so are a malformed chunk and an error object inside the stream.

mod calls;
mod content;
mod decoder;
mod encoder;
mod media;
mod merge;
mod message;
mod reply;
mod request;
mod tool;
mod tool_call;
mod usage;

pub use crate::{
    codec::{ApiError, Stamp},
    openai_error::{decode_error, encode_error},
};

pub use self::{
    decoder::Decoder,
    encoder::Encoder,
    reply::{decode_reply, encode_reply},
    request::{ask_for_usage, asks_for_usage, decode_request, encode_request},
};
