//! What the codecs of all dialects have in common.
#![cfg_attr(
    not(all(
        feature = "anthropic-messages",
        feature = "openai-chat",
        feature = "openai-responses"
    )),
    allow(dead_code, unused_imports, reason = "each dialect needs a part of it")
)]

#[macro_use]
mod decoding;
mod error;
mod extra;
mod flaw;
mod frame;
mod losses;
pub(crate) mod number;
pub(crate) mod raw;
mod schema;
mod stamp;
mod tools;

pub(crate) use self::{
    decoding::{Decoding, Reading, Told},
    error::{broke, cut, header_text, refused, respond},
    extra::Space,
    flaw::{Flaw, cut_off},
    frame::frame,
    losses::{Losses, is_foreign_alone, is_foreign_tool, is_spelling},
    schema::schema_text,
    tools::{choice_word, take_schema, write_tools},
};
pub use self::{error::ApiError, stamp::Stamp};
