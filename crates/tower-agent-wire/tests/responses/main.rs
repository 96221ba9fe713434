//! OpenAI's Responses.
#![cfg(all(test, feature = "openai-responses"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a helper of a test fails the test"
)]

mod errors;
mod properties;
mod round_trip;
mod stream;
mod support;
