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
//!
//! # From one dialect to another
//!
//! What came in one dialect can go out in any other. Messages, tools, calls, results, pictures, sampling and the form of
//! the answer cross over as they are; what the other cannot say is dropped or made poorer by a rule, and [`Encoded::losses`]
//! (in streams, the encoder's `losses`) names rule and place. Marks that only tell one spelling from another are no loss.
//!
//! | [`LossRule`] | to `openai_chat` | to `openai_responses` | to `anthropic_messages` |
//! | --- | --- | --- | --- |
//! | `foreign` | all under `anthropic` or `openai_responses` in an `extra` (cache marks, signatures, encrypted reasoning, citations, thinking budget, `truncation`, ..); server tools and their blocks; items; documents that are text | all under `anthropic`; fields of chat completions (`n`, `logit_bias`, `audio`, ..); built-in tools and parts of others; events of others | fields of OpenAI's in an `extra` (`user`, `logit_bias`, `n`, `detail`, `strict`, ..); custom and built-in tools; refusals, videos and other parts |
//! | `unsigned_reasoning` | never: reasoning is sent | in a request, reasoning of another dialect; clients get all | reasoning without a signature, which another model did |
//! | `parameter` | never | `seed` and `stop` | `seed`; a temperature above 1, which is sent as 1 |
//! | `max_tokens` | never | never | no token limit: 8192 is sent |
//! | `output_format` | never | never | any JSON object without a schema |
//! | `moved` | never: operators' messages stay where they stood | the same | an operator's message between others is sent before them |
//! | `call_id` | never | never | ids of calls with other characters than letters, digits, `_` and `-`, which are replaced |
//! | `name` | never | the name of a speaker | the name of a speaker |
//! | `arguments` | never: arguments are text | the same | arguments that are no JSON object are sent inside one |
//! | `error_flag` | the flag that a call failed | the same | never |
//! | `media` | never | never | sound; a note is sent in its place |
//! | `media_source` | pictures and sound by a provider's id, sound by URL; a note is sent in their place | sound by URL or id; a note is sent in its place | never |
//! | `media_in_tool_result` | pictures and documents in results; a note is sent in their place | sound and documents in results; a note is sent in their place | sound and parts of OpenAI's in results; a note is sent in their place |
//! | `finish_reason` | never | a reason without a name, which becomes `completed` | never |
//! | `part_in_reply` | pictures, sound, files and results in a reply | pictures, sound and files in a reply | as `openai_chat` |
//! | `extra` | fields of reasoning, events without a name in a whole reply | events without a name in a whole reply | fields that come after their block, events without a name in a whole reply |
//! | `not_json` | an `extra` or an opaque part that is no JSON | the same | the same |
//!
//! Three things cross over and mean less on the other side: ids of files, since another provider has not got the file;
//! a schema's name and whether it is strict, which `anthropic_messages` does not have (the two of OpenAI tell each other, along with effort, verbosity,
//! metadata and the other fields that both have); and a picture's kind where nobody
//! said it, which is taken for PNG.

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
#[macro_use]
mod codec;
mod loss;
#[cfg(any(feature = "openai-chat", feature = "openai-responses"))]
mod openai_error;
#[cfg(any(
    feature = "anthropic-messages",
    feature = "gemini",
    feature = "openai-chat",
    feature = "openai-responses"
))]
mod provider;
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
    provider::ProviderHeaders,
};
