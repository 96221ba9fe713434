//! Writes one record for the beginning and one for the end of each call, with [`tracing`].
//!
//! Each call has a span, `tool_call`, `model_call` or `agent_run`, with `name`, `id`, `run`, `agent`, `turn` and
//! `attempt`, so that two calls of one tool at the same time can be told apart. Everything inside the call, and inside
//! its stream, happens in that span. The records of target `tower_agent::log` are
//!
//! | record | level | fields |
//! | --- | --- | --- |
//! | `started` | debug | `size`, and `arguments` on request |
//! | `finished` | info; warn if it failed or took too long | `outcome`, `took_ms`, `reason`, `size`, `input_tokens`, `output_tokens`, and `result` on request |
//!
//! `outcome` is a [`Class`](tower_agent_core::Class). The size of a tool call is the length of its arguments in bytes, and of its text at the end;
//! that of a model call or a run is the number of its messages. A stream is finished when it ended, failed or was dropped.
//!
//! Arguments and results are confidential until somebody says otherwise:
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Error, ToolCall, ToolOutput, log::LogLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let tool = ServiceBuilder::new().layer(LogLayer::new()).service(service_fn(
//!     |_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("3 hits")) },
//! ));
//! tool.oneshot(ToolCall::new("search", r#"{"query": "tower"}"#).with_id("c1")).await?;
//! # Ok(())
//! # }
//! ```
//!
//! With what the closures leave of them:
//!
//! ```
//! use tower_agent::{Json, ToolOutput, log::LogLayer};
//!
//! let log = LogLayer::new()
//!     .arguments(|arguments: &Json| match arguments.value() {
//!         Ok(value) => format!("path={}", value["path"]),
//!         Err(error) => error.to_string(),
//!     })
//!     .results(|output: &ToolOutput| output.joined_text().chars().take(80).collect());
//! # let _ = log;
//! ```
//!
//! # Placement
//!
//! Outside all layers whose doings should be in the log, refusals and answers from a cache above all.
//!
//! # Cost
//!
//! Where no subscriber wants warnings of this target, a call costs a comparison. Otherwise it costs what
//! the subscriber does; a streamed answer is boxed twice more.
//!
//! # Errors
//!
//! None of its own. A closure that panics is contained, and the record says so.
//!
//! # Cancellation
//!
//! A dropped call or stream is logged as `cancelled`.

mod entry;
mod future;
mod layer;
mod service;

pub use self::{future::ResponseFuture, layer::LogLayer, service::Log};
