//! MCP for tower-agent, on [`rmcp`].
//!
//! | module | what it does | flag |
//! | --- | --- | --- |
//! | `client` | a server's tools as services of [`ToolCall`](tower_agent_core::ToolCall)s | `client` (default), `tls` (default) for https |
//! | `pins` | keeps out tools that changed what they say of themselves | `client` |
//! | `server` | tool stacks and agents as MCP servers | `server` (default) |
//! | `guarded` | tool stacks around other people's servers | `server` (default) |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod convert;

#[cfg(feature = "client")]
#[cfg_attr(docsrs, doc(cfg(feature = "client")))]
pub mod client;
#[cfg(feature = "server")]
#[cfg_attr(docsrs, doc(cfg(feature = "server")))]
pub mod guarded;
#[cfg(feature = "client")]
#[cfg_attr(docsrs, doc(cfg(feature = "client")))]
pub mod pins;
#[cfg(feature = "server")]
#[cfg_attr(docsrs, doc(cfg(feature = "server")))]
pub mod server;
