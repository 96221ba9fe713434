//! Tool stacks as MCP servers, seen by rmcp's own client.
#![cfg(test)]

mod agents;
mod asking;
mod calls;
mod content;
mod http;
mod lifecycle;
mod policies;
mod support;
mod waiting;
