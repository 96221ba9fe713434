//! Tool stacks around other people's MCP servers.

mod builder;
mod handler;
mod leaf;
mod output;

pub use self::{builder::GuardedBuilder, handler::Guarded, leaf::HandlerService};
