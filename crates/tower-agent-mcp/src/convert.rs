//! Between the types of MCP and ours, through raw JSON, so that what neither names survives.

#[cfg(any(feature = "client", feature = "server"))]
pub(crate) mod fields;
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) mod from_mcp;
#[cfg(feature = "server")]
pub(crate) mod to_mcp;
