//! Finds secrets and personal data in text, whole or streamed, and masks them.

mod assign;
#[cfg(feature = "__bench")]
#[doc(hidden)]
pub mod bench;
mod filter;
mod pii;
mod text;
