//! Between the types of MCP and ours, through raw JSON, so that what neither names survives.

#[cfg(feature = "client")]
pub(crate) mod fields;
#[cfg(feature = "client")]
pub(crate) mod from_mcp;
#[cfg(feature = "server")]
pub(crate) mod to_mcp;
