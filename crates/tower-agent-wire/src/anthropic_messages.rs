//! Anthropic's messages: `POST /v1/messages`, whole and streamed, both directions.
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
//! use tower_agent_wire::{Stamp, anthropic_messages};
//!
//! let body = br#"{"model": "demo", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello"}], "top_k": 5}"#;
//! let request = anthropic_messages::decode_request(body)?;
//! assert_eq!(request.messages[0].text(), "Hello");
//!
//! let reply = Reply::new(Message::assistant("Hi")).with_usage(Usage::new(9, 2));
//! let answer = anthropic_messages::encode_reply(&reply, &Stamp::new("msg_1", "demo", 0));
//! assert!(answer.losses.is_empty());
//! assert_eq!(anthropic_messages::decode_reply(&answer.bytes)?.message.text(), "Hi");
//!
//! // The field without a name in the vocabulary is kept under the dialect's key, and only this dialect gets it.
//! assert_eq!(request.extra.as_ref().unwrap().as_str(), r#"{"anthropic":{"top_k":5}}"#);
//! # Ok::<(), tower_agent_core::Error>(())
//! ```
//!
//! # How the dialect maps
//!
//! - `system` as a text is [`ModelRequest::instructions`]; as blocks, it is a system message before all others, which
//!   keeps cache marks. System and developer messages are sent there, wherever they stood.
//! - Reasoning is a part [`Reasoning`](tower_agent_core::Part::Reasoning) with its signature in `extra`. Redacted thinking is
//!   such a part without text. Reasoning without a signature, which another model did, is not sent to a provider.
//! - A user's message of nothing but results is a message of the role [`Tool`](tower_agent_core::Role::Tool). Results that
//!   stand in consecutive messages of that role are sent as one message.
//! - Blocks of other kinds (server tools and their results, for one) are parts
//!   [`Opaque`](tower_agent_core::Part::Opaque), in streams as soon as they are whole.
//! - The tokens of a prompt include those of the cache, as everywhere in the vocabulary; on the wire they stand apart.
//! - `pause_turn` and reasons without a name stay what they are, as [`Other`](tower_agent_core::FinishReason::Other).
//! - Ids of calls have the characters that the provider takes; others are replaced, in a call and its result alike.
//! - `ping` is dropped, and so are fields beside `delta` in the deltas of a stream, of which there are none so far.
//!
//! [`ModelRequest::instructions`]: tower_agent_core::ModelRequest::instructions
//!
//! # Fields of the dialect
//!
//! The provider refuses fields that it does not know, and other providers refuse those of this one. So they are kept under
//! `anthropic` in each `extra`: `{"anthropic": {"cache_control": {"type": "ephemeral"}}}`. What stands there is sent
//! whatever it is. Of the fields beside it, those that the provider is known to take are sent (`thinking`, `top_k` and
//! `cache_control`, for some), and the rest is dropped by the rule [`Foreign`](crate::LossRule::Foreign).
//!
//! A prompt whose beginning is cached, and a model that thinks before it answers:
//!
//! ```
//! use tower_agent_core::{Json, Message, ModelRequest, Part, Role, TextPart};
//! use tower_agent_wire::anthropic_messages::encode_request;
//!
//! let mark = Json::from_text(r#"{"anthropic":{"cache_control":{"type":"ephemeral"}}}"#);
//! let rules = Part::Text(TextPart { text: "A long text.".into(), extra: Some(mark) });
//! let messages = vec![Message::new(Role::System, vec![rules]), Message::user("Hello")];
//! let mut request = ModelRequest::new("claude-sonnet-4-5", messages);
//! request.sampling.max_output_tokens = Some(4096);
//! request.extra = Some(Json::from_text(r#"{"anthropic":{"thinking":{"type":"enabled","budget_tokens":2048}}}"#));
//!
//! let body = encode_request(&request)?;
//! assert!(body.losses.is_empty());
//! let text = std::str::from_utf8(&body.bytes)?;
//! assert!(text.contains(r#"[{"type":"text","text":"A long text.","cache_control":{"type":"ephemeral"}}]"#));
//! assert!(text.contains(r#""thinking":{"type":"enabled","budget_tokens":2048}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! What a client sent wrongly is [`InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) and names the
//! field; what a provider sent wrongly is [`Protocol`](tower_agent_core::ErrorKind::Protocol). A stream that ends without
//! `message_stop` is an error, and so are a malformed event and an `error` event.

mod block;
mod building;
mod decoder;
mod encoder;
mod error;
mod extra;
mod finish;
mod media;
mod message;
mod open_block;
mod reply;
mod request;
mod tool;
mod tool_result;
mod usage;

pub use crate::codec::{ApiError, Stamp};

pub use self::{
    decoder::Decoder,
    encoder::Encoder,
    error::{decode_error, encode_error, error_body, error_type},
    reply::{decode_reply, encode_reply},
    request::{DEFAULT_MAX_TOKENS, decode_request, encode_request},
};
