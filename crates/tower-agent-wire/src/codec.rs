//! What the codecs of all dialects have in common.

mod error;
mod flaw;
mod frame;
mod losses;
pub(crate) mod raw;
mod stamp;

pub use self::{error::ApiError, stamp::Stamp};
pub(crate) use self::{
    error::{broke, cut, header_text, refused, respond},
    flaw::{Flaw, cut_off},
    frame::frame,
    losses::Losses,
};
