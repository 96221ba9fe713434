//! Tool stacks and agents as MCP servers.

mod builder;
mod caller;
mod calls;
mod gate;
mod handler;
mod identity;
mod progress;

pub use self::{
    builder::{BuildError, McpServerBuilder},
    caller::Caller,
    handler::McpServer,
    identity::Identity,
    progress::Progress,
};
