//! Finds secrets and personal data in text, whole or streamed, and masks them.

mod assign;
#[cfg(feature = "__bench")]
#[doc(hidden)]
pub mod bench;
mod buffer;
mod check;
mod decode;
mod detector;
mod engine;
mod filter;
mod json;
mod judge;
mod key_block;
mod keyed;
mod mask;
mod matcher;
mod personal;
mod pii;
mod recogniser;
mod rule;
mod search;
mod span;
mod stream;
mod tail;
mod text;
mod tree;
mod vault;
mod view;

pub use self::{
    detector::{Builder, Detector, Finding},
    mask::{Mask, Masked},
    rule::{Confidence, Rule, RuleError, Set},
    stream::StreamRedactor,
    vault::{UnknownPlaceholder, Vault},
};
