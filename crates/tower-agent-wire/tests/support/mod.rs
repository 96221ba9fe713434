//! Shared by the tests of streams.
#![allow(dead_code, unused_imports, reason = "each test target uses a part of it")]

#[cfg(feature = "anthropic-messages")]
pub(crate) mod anthropic;
pub(crate) mod dialect;
#[cfg(feature = "openai-chat")]
pub(crate) mod openai;

#[cfg(feature = "openai-chat")]
pub(crate) use openai::{chunks, decode, decode_in, reply_of};
