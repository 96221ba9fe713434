//! Tool stacks and agents as MCP servers.
//!
//! [`McpServer`] is rmcp's `ServerHandler` over a [`ToolSet`](tower_agent::ToolSet): whatever stands in its stack is on
//! the only path of every call. It speaks both generations of the protocol, with sessions (2025-11-25) and without
//! (2026-07-28), over [standard input and output](serve_stdio), [any other connection](serve()) and
//! [streamable HTTP](http_service).
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use rmcp::{ServiceExt, model::CallToolRequestParams};
//! use tower::ServiceBuilder;
//! use tower_agent::*;
//! use tower_agent_mcp::server::{McpServer, serve};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let read = Tool::raw(ToolSpec::new("read_file", "Reads a file"), |_| async { "password = hunter22" });
//! let delete = Tool::raw(ToolSpec::new("delete_file", "Deletes a file"), |_| async { "deleted" });
//! let layers = ServiceBuilder::new()
//!     .layer(RedactLayer::default())
//!     .layer(ReportErrorsLayer::new())
//!     .layer(TimeoutLayer::new(Duration::from_secs(30)));
//! let tools = ToolSet::builder().tool(read).tool(delete).layer(layers).build()?;
//!
//! let server = McpServer::builder(tools)
//!     .name("files", "1.0.0")
//!     .policy(AllowListLayer::new(["read_*"])?) // what it denies it also hides
//!     .build()?;
//!
//! // `serve_stdio(server).await` serves the client that started this process; here, it is at the end of a pipe.
//! let (ours, theirs) = tokio::io::duplex(4096);
//! let client = async {
//!     let client = ().serve(theirs).await?;
//!     let tools = client.list_all_tools().await?;
//!     assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["read_file"]);
//!
//!     let result = client.call_tool(CallToolRequestParams::new("read_file")).await?;
//!     let text = &result.content[0].as_text().ok_or("no text")?.text;
//!     assert_eq!(text, "password = [REDACTED:generic-password]");
//!
//!     let denied = client.call_tool(CallToolRequestParams::new("delete_file")).await?;
//!     assert_eq!(denied.is_error, Some(true));
//!     client.cancel().await?;
//!     Ok::<_, BoxError>(())
//! };
//! let (served, asked) = tokio::join!(serve(server, ours), client);
//! served?;
//! asked?;
//! # Ok(())
//! # }
//! ```
//!
//! An agent is [one tool](agent_tool), which reports the steps of its run as progress.
//!
//! # Policies
//!
//! A layer of the tool set denies calls. A [`policy`](McpServerBuilder::policy) denies calls and hides tools: it is a
//! layer around tools *and* models, as `AllowListLayer` and
//! `PluginLayer` are, and each list of tools goes through it as a request to a model that
//! offers them all. What it takes out of that request is not listed. The request carries the
//! [identity](McpServerBuilder::identity) of the caller, so everybody sees what they may call.
//!
//! # What a tool knows
//!
//! Each call is a run of its own: its [`Context`](tower_agent_core::Context) has the user and the tenant that the host
//! found out, the session, a cancellation token, and in its extensions the [`Caller`], which leads to the client, to
//! `_meta`, to the head of the HTTP request, and back: by [`Progress`], by [log messages](Caller::log), by
//! [questions](Caller::ask), or by rmcp's own peer.
//!
//! # What a client reads
//!
//! | what happened | answer |
//! | --- | --- |
//! | success | the blocks, the structured output and `meta`, as they are |
//! | a failure, a denial, an error, a panic, a call too many | a result with `isError` and a text for the model; errors are logged, and their text for operators goes nowhere else |
//! | a name that no tool has, parameters that cannot be read | an error of the protocol, -32602 |
//! | a call that [waits](tower_agent_core::Suspension) | `input_required` with the suspension's id as request state, and its request if that is a map of MCP's input requests; a result with `isError` for older clients and for those that cannot be asked |
//!
//! # Cancellation
//!
//! When the client cancels a call, gives it up or goes away, the call's future is dropped at once and its token is
//! cancelled, whatever rmcp's own handler does.
//!
//! # Limits
//!
//! [64 calls](McpServerBuilder::max_calls) at a time. A message has at most 16 MiB over pipes, where a longer one is dropped, and 4 MiB
//! over HTTP, where it is refused. Arguments reach the stack as the client wrote them over standard input and output,
//! [lines](serve_lines) and HTTP, unless a key stands in them twice. Over other transports, and in results, JSON is held as values:
//! integers that fit into 64 bits stay exact, but key order is the alphabet's.

mod agent;
mod ask;
mod builder;
mod caller;
pub(crate) mod calls;
mod copied;
pub(crate) mod gate;
mod handler;
mod http;
pub(crate) mod identity;
mod log;
pub(crate) mod options;
mod progress;
mod raw;
pub(crate) mod respond;
mod serve;
pub(crate) mod shelf;

pub use self::{
    agent::agent_tool,
    builder::{BuildError, McpServerBuilder},
    caller::Caller,
    handler::McpServer,
    http::{HttpService, http_config, http_service},
    log::{LogLevel, SharedLogLevel},
    progress::Progress,
    serve::{Serve, serve, serve_lines, serve_stdio},
};
/// Who calls; see [`identity`](McpServerBuilder::identity).
pub use tower_agent_core::Identity;
