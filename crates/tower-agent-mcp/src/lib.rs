//! MCP for tower-agent, on [`rmcp`].
//!
//! | module | what it does | flag |
//! | --- | --- | --- |
//! | `client` | a server's tools as services of [`ToolCall`](tower_agent_core::ToolCall)s | `client` (default), `tls` (default) for https |
//! | `pins` | keeps out tools that changed what they say of themselves | `client` |
//! | `server` | tool stacks and agents as MCP servers | `server` (default) |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod convert;

#[cfg(feature = "client")]
#[cfg_attr(docsrs, doc(cfg(feature = "client")))]
pub mod client;
#[cfg(feature = "client")]
#[cfg_attr(docsrs, doc(cfg(feature = "client")))]
pub mod pins;
