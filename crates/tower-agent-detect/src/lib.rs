//! Finds secrets and personal data in text, whole or streamed, and masks them.

mod assign;
mod filter;
mod judge;
mod pii;
mod text;
