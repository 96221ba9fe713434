//! Gemini's `generateContent` and `streamGenerateContent`, both directions.
//!
//! | | a client of a provider | a host of a model |
//! | --- | --- | --- |
//! | request | [`encode_request`], [`path`] | [`decode_request`] |
//! | whole reply | [`decode_reply`] | [`encode_reply`] |
//! | streamed reply | [`Decoder`] | [`Encoder`] |
//! | error | [`decode_error`] | [`encode_error`] |
//!
//! A host reads a request and answers whole. The model's name and whether to stream stand in the URL, so the host sets them:
//!
//! ```
//! use tower_agent_core::{Message, Reply, Usage};
//! use tower_agent_wire::{Stamp, gemini};
//!
//! let body = br#"{"contents": [{"role": "user", "parts": [{"text": "Hello"}]}], "safetySettings": []}"#;
//! let mut request = gemini::decode_request(body)?;
//! request.model = "gemini-demo".into();
//! assert_eq!(request.messages[0].text(), "Hello");
//!
//! let reply = Reply::new(Message::assistant("Hi")).with_usage(Usage::new(9, 2));
//! let answer = gemini::encode_reply(&reply, &Stamp::new("r-1", "gemini-demo", 0));
//! assert!(answer.losses.is_empty());
//! assert_eq!(gemini::decode_reply(&answer.bytes)?.message.text(), "Hi");
//!
//! // The field without a name in the vocabulary is kept under the dialect's key, and only this dialect gets it.
//! assert_eq!(request.extra.as_ref().unwrap().as_str(), r#"{"gemini":{"safetySettings":[]}}"#);
//! # Ok::<(), tower_agent_core::Error>(())
//! ```
//!
//! # How the dialect maps
//!
//! - `systemInstruction` of one text is [`ModelRequest::instructions`]; else it is a system message before all others.
//!   System and developer messages are sent there, wherever they stood.
//! - Thoughts are parts [`Reasoning`](tower_agent_core::Part::Reasoning). A `thoughtSignature` stays in the `extra` of the part
//!   that it came with, a call of a function for one, and goes back with it. Another model's reasoning is not sent.
//! - `inlineData` and `fileData` are pictures, sound or files, by their media type.
//! - A function's call is whole. Where the model gives it no id, a stable one is made, which is not sent back; the
//!   response without an id belongs to the first open call of its name.
//! - A function's response `{"output": text}`, `{"result": text}` or `{"error": text}` is that text. Any other object is a
//!   structured result, whose text is the JSON.
//! - A user's content of nothing but responses is a message of the role [`Tool`](tower_agent_core::Role::Tool). Responses that
//!   stand in consecutive messages of that role are sent as one content, as the dialect asks.
//! - Each function is a tool; `parameters`, an OpenAPI schema with types in capitals, are read as the JSON Schema that they mean.
//!   A tool of the provider's own, such as `googleSearch`, is a tool of that name. All functions are sent in one object.
//! - `STOP` with calls of functions is [`ToolCalls`](tower_agent_core::FinishReason::ToolCalls). A prompt that was blocked is a
//!   reply without parts that a filter stopped. Reasons without a name stay what they are.
//! - The tokens of the prompt include those of tools' results, the tokens of the answer those of thoughts.
//! - A reply is its first candidate. Further ones stay in [`Reply::extra`](tower_agent_core::Reply::extra) under `candidates`.
//! - Parts of other kinds (code that ran, for one) are parts [`Opaque`](tower_agent_core::Part::Opaque), and so are calls whose
//!   arguments come in pieces (`partialArgs`), which only Vertex AI sends, and only if asked to.
//! - Names in `snake_case`, which the dialect takes as well, are read, and written in `camelCase`.
//!
//! [`ModelRequest::instructions`]: tower_agent_core::ModelRequest::instructions
//!
//! # Fields of the dialect
//!
//! The provider refuses fields that it does not know. So its own are kept under `gemini` in each `extra`:
//! `{"gemini": {"generationConfig": {"topK": 40}}}`. What stands there is sent whatever it is. Of the fields beside it, those
//! that the provider is known to take are sent (`safetySettings` and `cachedContent`, for two), and the rest is dropped by the
//! rule [`Foreign`](crate::LossRule::Foreign).
//!
//! # Errors
//!
//! What a client sent wrongly is [`InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) and names the
//! field; what a provider sent wrongly is [`Protocol`](tower_agent_core::ErrorKind::Protocol). A stream that ends without
//! any `finishReason` was cut, which is an error, and so are a malformed event and an error object inside the stream.

mod call;
mod candidate;
mod config;
mod content;
mod decoder;
mod encoder;
mod error;
mod extra;
mod finish;
mod ids;
mod media;
mod part;
mod reply;
mod request;
mod response;
mod schema;
mod spelling;
mod system;
mod tool;
mod usage;

pub use crate::codec::{ApiError, Stamp};

pub use self::{
    decoder::Decoder,
    encoder::Encoder,
    error::{decode_error, encode_error, error_body, error_status},
    reply::{decode_reply, encode_reply},
    request::{decode_request, encode_request, path},
};
