//! What the codecs of all dialects have in common.

mod error;
mod flaw;
mod frame;
mod losses;
pub(crate) mod number;
pub(crate) mod raw;
mod schema;
mod stamp;

#[cfg(feature = "anthropic-messages")]
pub(crate) use self::losses::is_gemini_tool;
pub use self::{error::ApiError, stamp::Stamp};
pub(crate) use self::{
    error::{broke, cut, header_text, refused, respond},
    flaw::{Flaw, cut_off},
    frame::frame,
    losses::{Losses, is_foreign_alone, is_foreign_tool, is_spelling},
    schema::schema_text,
};
