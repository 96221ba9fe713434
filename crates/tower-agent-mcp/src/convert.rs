//! Between the protocol's types and the vocabulary.

#[cfg(feature = "server")]
pub(crate) mod to_mcp;
