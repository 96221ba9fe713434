//! Gemini's requests, replies, streams and errors.
#![cfg(all(test, feature = "gemini"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a helper of a test fails the test"
)]

mod crossing;
#[path = "../support/dialect.rs"]
mod dialect;
mod errors;
mod properties;
mod round_trip;
mod stream;
