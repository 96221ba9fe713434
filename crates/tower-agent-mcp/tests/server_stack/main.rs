//! A tool stack as an MCP server, seen by rmcp's own client.
#![cfg(test)]

mod calls;
mod support;
