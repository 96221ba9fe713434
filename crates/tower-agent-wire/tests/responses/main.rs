//! OpenAI's Responses.
#![cfg(all(
    test,
    feature = "anthropic-messages",
    feature = "openai-chat",
    feature = "openai-responses"
))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a helper of a test fails the test"
)]
#![allow(clippy::needless_pass_by_value, reason = "reads better where it is called with `json!`")]

mod crossing;
#[path = "../support/dialect.rs"]
mod dialect;
mod errors;
mod passing_on;
mod properties;
mod round_trip;
mod stream;
mod support;
