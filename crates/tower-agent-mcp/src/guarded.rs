//! Tool stacks around other people's MCP servers.
//!
//! [`Guarded`] wraps any rmcp `ServerHandler` and leaves its handlers alone: calls of its tools go through a stack, the
//! list of its tools through the policies of that stack, and everything else straight to it.
//!
//! # Example
//!
//! ```
//! use rmcp::{
//!     ErrorData, RoleServer, ServerHandler, ServiceExt,
//!     model::*, service::RequestContext,
//! };
//! use tower::ServiceBuilder;
//! use tower_agent::{AllowListLayer, BoxError, RedactLayer, TruncateLayer};
//! use tower_agent_mcp::{guarded::Guarded, server::serve};
//!
//! /// A server that knows nothing of stacks.
//! struct Files;
//!
//! impl ServerHandler for Files {
//!     fn get_info(&self) -> ServerConfig {
//!         ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
//!     }
//!
//!     async fn call_tool(
//!         &self,
//!         request: CallToolRequestParams,
//!         _: RequestContext<RoleServer>,
//!     ) -> Result<CallToolResponse, ErrorData> {
//!         let text = format!("{}: password = hunter22", request.name);
//!         Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let layers = ServiceBuilder::new().layer(TruncateLayer::default()).layer(RedactLayer::default());
//! let server = Guarded::builder(Files)
//!     .layer(layers)
//!     .policy(AllowListLayer::new(["read_*"])?) // what it denies it also hides
//!     .build();
//!
//! let (ours, theirs) = tokio::io::duplex(4096);
//! let client = async {
//!     let client = ().serve(theirs).await?;
//!     let result = client.call_tool(CallToolRequestParams::new("read_file")).await?;
//!     let text = &result.content[0].as_text().ok_or("no text")?.text;
//!     assert_eq!(text, "read_file: password = [REDACTED:generic-password]");
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
//! # What passes as it is
//!
//! A result that no layer touched arrives value for value: annotations, `_meta`, icons, a `structuredContent` of `null`,
//! an `isError` of `false` or none. So does what a tool says of itself, unless a policy changes it, and an error of the
//! protocol, unless a layer such as `ReportErrorsLayer` makes an answer of it.
//!
//! # What a layer sees
//!
//! The call's spec is what the handler's `get_tool` says; a server without that method has calls without one, and a
//! policy that goes by annotations should refuse those. A question of the handler (`input_required`) and a task are outputs that
//! [wait](tower_agent_core::Suspension). What is later fetched by `tasks/get` does not pass the stack, and neither do
//! prompts and resources.
//!
//! # Cancellation
//!
//! When the client cancels a call or goes away, or a layer gives it up, the handler's future is dropped at once and its
//! `ct` is cancelled.

mod builder;
mod handler;
mod leaf;
mod output;

pub use self::{builder::GuardedBuilder, handler::Guarded};
