//! OpenAI's Responses: `POST /v1/responses`, whole and streamed, both directions.
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
//! use tower_agent_wire::openai_responses::{self, Stamp};
//!
//! let body = br#"{"model": "demo", "instructions": "Be brief.", "input": "Hello", "truncation": "auto"}"#;
//! let request = openai_responses::decode_request(body)?;
//! assert_eq!(request.messages[0].text(), "Hello");
//! assert_eq!(request.instructions.as_deref(), Some("Be brief."));
//!
//! let reply = Reply::new(Message::assistant("Hi")).with_usage(Usage::new(9, 2));
//! let answer = openai_responses::encode_reply(&reply, &Stamp::new("resp_1", "demo", 1_700_000_000));
//! assert!(answer.losses.is_empty());
//! assert_eq!(openai_responses::decode_reply(&answer.bytes)?.message.text(), "Hi");
//!
//! // The field without a name in the vocabulary is kept, and a provider gets it.
//! let sent = openai_responses::encode_request(&request)?;
//! assert!(std::str::from_utf8(&sent.bytes).unwrap().contains(r#""truncation":"auto""#));
//! # Ok::<(), tower_agent_core::Error>(())
//! ```
//!
//! A client feeds whatever bytes arrive and takes the events out:
//!
//! ```
//! use tower_agent_core::Collector;
//! use tower_agent_wire::openai_responses::Decoder;
//!
//! let mut decoder = Decoder::new();
//! let mut collector = Collector::new();
//! let body = br#"data: {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"}
//!
//! data: {"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}}
//!
//! "#;
//! for piece in body.chunks(7) {
//!     decoder.push(piece);
//!     while let Some(event) = decoder.next_event() {
//!         collector.push(event?)?;
//!     }
//! }
//! decoder.finish();
//! assert!(decoder.is_complete());
//! assert_eq!(collector.finish()?.message.text(), "Hi");
//! # Ok::<(), tower_agent_core::Error>(())
//! ```
//!
//! # How the dialect maps
//!
//! | items | parts |
//! | --- | --- |
//! | a message | a text for each entry of its content; a refusal is a text whose `type` in [`extra`] says so |
//! | reasoning | a [`Reasoning`] for each summary, then for each thought; one without text where all is encrypted |
//! | a function call, a custom tool's call | a [`ToolCall`], whose id is `call_id` |
//! | what came of one | a [`ToolResult`] in a message of its own, with texts, pictures and opaque blocks |
//! | any other | an [`Opaque`] part |
//!
//! - All that the model says in a row is one message, in a request as in a reply. The first part of an item has the item's
//!   own fields under `item` in its `extra`, so the same items are written again, whatever stands between them. Of several parts, the
//!   last has what a stream says with the item's end (`status`, `encrypted_content`), under `item_end`.
//! - [`ModelRequest::instructions`] are `instructions`; messages of the system and of developers stay messages.
//! - A request's `previous_response_id`, `conversation`, `store`, `include` and the like have no name in the vocabulary and are
//!   kept. A host that stores nothing must refuse what refers to stored things: [`refuse_stored`].
//! - Reasoning goes back only to the dialect that it came from: without an item it has nothing that a provider could check.
//! - A tool is strict only if it says so, as in other dialects; without a word the provider would decide.
//! - Clients get all that they read without asking: an id and a status of each item, `annotations`, the details of the usage. A
//!   reply whose own server left such a field out comes back with it.
//! - In streams, what the last events say beyond those before them is told then. A stream that is read and written again has the same
//!   events in the same order, with the same ids, but for three things: logarithms of probabilities are in the end of a text and not in
//!   its pieces, `obfuscation`, which pads pieces, is dropped, and reasoning without a word begins where it ends.
//! - An item of another kind comes at once with its end. That it has begun is an event without a name, as are those of its progress.
//! - Fields that only this dialect knows stand under `openai_responses` in an [`extra`]; those that chat completions have as well
//!   (`metadata`, `user`, `service_tier`, ..) stand where these look for them, and so do the effort of reasoning and the verbosity.
//!
//! [`ModelRequest::instructions`]: tower_agent_core::ModelRequest::instructions
//! [`extra`]: tower_agent_core::TextPart::extra
//! [`Reasoning`]: tower_agent_core::Part::Reasoning
//! [`ToolCall`]: tower_agent_core::Part::ToolCall
//! [`ToolResult`]: tower_agent_core::Part::ToolResult
//! [`Opaque`]: tower_agent_core::Part::Opaque
//!
//! # Errors
//!
//! What a client sent wrongly is [`InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) and names the
//! field; what a provider sent wrongly is [`Protocol`](tower_agent_core::ErrorKind::Protocol). A stream that ends with
//! none of `response.completed`, `response.incomplete` and `response.failed` is an error, whatever `[DONE]` says; so is a reply that
//! failed, is queued or goes on.

mod call;
mod content;
mod decoder;
mod encoder;
mod extra;
mod finish;
mod form;
mod frames;
mod growing;
mod input;
mod item;
mod media;
mod message;
mod output;
mod parts;
mod place;
mod reasoning;
mod reply;
mod request;
mod result;
mod stored;
mod tool;
mod usage;

pub use self::{
    decoder::Decoder,
    encoder::Encoder,
    reply::{decode_reply, encode_reply},
    request::{decode_request, encode_request, store_nothing},
    stored::refuse_stored,
};
pub use crate::{
    codec::{ApiError, Stamp},
    openai_error::{decode_error, encode_error},
};
