//! Tool stacks and agents as MCP servers.

mod agent;
mod builder;
mod caller;
pub(crate) mod calls;
pub(crate) mod gate;
mod handler;
mod http;
pub(crate) mod identity;
mod log;
pub(crate) mod options;
mod progress;
pub(crate) mod respond;
mod serve;
pub(crate) mod shelf;

pub use self::{
    agent::agent_tool,
    builder::{BuildError, McpServerBuilder},
    caller::Caller,
    handler::McpServer,
    http::{http_config, http_service},
    identity::Identity,
    progress::Progress,
    serve::{Serve, serve, serve_stdio},
};
