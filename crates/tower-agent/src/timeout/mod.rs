//! Stops what takes too long: the wait for an answer, the gaps in its stream, or the whole of it.
//!
//! tower's own `timeout` ends where a stream begins. This one covers the stream as well, and knows the
//! deadline of the run.
//!
//! | limit | from | to |
//! | --- | --- | --- |
//! | [`head`](Limits::head) | the call | the answer, or the beginning of its stream |
//! | [`idle`](Limits::idle) | the moment somebody waits for an event | that event |
//! | [`total`](Limits::total) | the call | the end of the stream |
//! | the context's deadline | | the end of the stream |
//!
//! Whichever comes first wins. `idle` measures only while the reader waits: what a slow reader takes for itself
//! is not held against the provider. `total` and the deadline measure everything.
//!
//! ```
//! use std::time::Duration;
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{BoxError, ErrorKind, ToolCall, ToolOutput, timeout::TimeoutLayer};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let tool = ServiceBuilder::new().layer(TimeoutLayer::new(Duration::from_secs(30))).service(
//!     service_fn(|_: ToolCall| std::future::pending::<Result<ToolOutput, BoxError>>()),
//! );
//! let error = tool.oneshot(ToolCall::new("search", "{}")).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Timeout);
//! # }
//! ```
//!
//! A model whose stream may take its time but must not stall, and one tool that may take longer than others:
//!
//! ```
//! use std::time::Duration;
//! use tower_agent::timeout::{Limits, TimeoutLayer};
//!
//! let seconds = Duration::from_secs;
//! let model = TimeoutLayer::limits(Limits::new().head(seconds(60)).idle(seconds(20)));
//! let tools = TimeoutLayer::new(seconds(30)).for_name("crawl", Limits::new().total(seconds(600)));
//! # let _ = (model, tools);
//! ```
//!
//! # Placement
//!
//! Innermost, around one attempt, so that a retry outside it gives each attempt its own time. The wait for
//! readiness is not covered. It needs tokio's timer. With a `total`, the request's own deadline is drawn in to it, so that what is nested in
//! the call knows it too.
//!
//! # Errors
//!
//! [`Timeout`](tower_agent_core::ErrorKind::Timeout) with the effect [`Unknown`](tower_agent_core::Effect::Unknown); a call
//! that comes after its deadline is not made, and its error has the effect
//! [`NotStarted`](tower_agent_core::Effect::NotStarted). In a stream the error is the last item, after all events that came in time.
//!
//! # Cancellation
//!
//! When the time is up the call or its stream is dropped, which cancels it. A run knows its deadline and ends by itself; it
//! is dropped a second later if it does not, so that every open call can still be answered.

mod future;
mod layer;
mod limits;
mod service;
mod stream;

pub use self::{future::ResponseFuture, layer::TimeoutLayer, limits::Limits, service::Timeout};
