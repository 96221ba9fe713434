//! OpenAI's Responses: `POST /v1/responses`, whole and streamed, both directions.
//!
//! | | a client of a provider | a host of a model |
//! | --- | --- | --- |
//! | request | [`encode_request`] | [`decode_request`] |
//! | whole reply | [`decode_reply`] | [`encode_reply`] |
//! | streamed reply | [`Decoder`] | [`Encoder`] |
//! | error | [`decode_error`] | [`encode_error`] |

mod call;
mod content;
mod decoder;
mod encoder;
mod finish;
mod form;
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
mod tool;
mod usage;

pub use self::{
    decoder::Decoder,
    encoder::Encoder,
    reply::{decode_reply, encode_reply},
    request::{decode_request, encode_request, store_nothing},
};
pub use crate::{
    codec::{ApiError, Stamp},
    openai_error::{decode_error, encode_error},
};
