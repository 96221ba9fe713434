//! Finds secrets and personal data in text, whole or streamed, and masks them.

mod assign;
mod filter;
mod json;
mod keyed;
mod mask;
mod pii;
mod text;
mod vault;

pub use mask::{Mask, Masked};
pub use vault::{UnknownPlaceholder, Vault};
