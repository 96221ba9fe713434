//! Counts every call by what became of it, and how long it took, to the end of its stream.
//!
//! A call is counted exactly once, when it is over, as one [`Class`]: so the sum over all classes is the number of
//! calls, wherever the layer stands. A stream is over when it ended, failed or was dropped, and until then its
//! call is in flight. A call that is dropped counts as [`Cancelled`](tower_agent_core::Class::Cancelled), one that panics as
//! [`Failed`](tower_agent_core::Class::Failed).
//!
//! The numbers live in a [`Registry`], which the layer's services and clones share.
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Class, Error, OperationKind, ToolCall, ToolOutput, metrics::MetricsLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let metrics = MetricsLayer::new();
//! let tool = ServiceBuilder::new().layer(&metrics).service(service_fn(|call: ToolCall| async move {
//!     Ok::<_, Error>(match call.name.as_str() {
//!         "search" => ToolOutput::text("3 hits"),
//!         _ => ToolOutput::failure("no such file"),
//!     })
//! }));
//! tool.clone().oneshot(ToolCall::new("search", "{}")).await?;
//! tool.oneshot(ToolCall::new("read", "{}")).await?;
//!
//! let registry = metrics.registry();
//! assert_eq!(registry.calls()["search"], 1);
//! assert_eq!(registry.failures()["read"], 1);
//!
//! let snapshot = registry.snapshot();
//! let read = snapshot.find(OperationKind::Tool, "read").unwrap();
//! assert_eq!((read.count(tower_agent_core::Class::Failed), read.in_flight, read.duration.count()), (1, 0, 1));
//! assert!(snapshot.to_prometheus().contains(r#"tower_agent_calls_total{operation="tool",name="read",outcome="failed"} 1"#));
//! # Ok(())
//! # }
//! ```
//!
//! One registry for the tools and the model of an agent, and another view of what a failure is:
//!
//! ```
//! use tower_agent::{
//!     Class, Classify, Error, Output, ToolCall, ToolOutput,
//!     metrics::{MetricsLayer, Registry},
//! };
//!
//! /// Empty answers are failures.
//! #[derive(Clone)]
//! struct NoEmptyAnswers;
//!
//! impl Classify<ToolCall> for NoEmptyAnswers {
//!     fn classify(&self, result: Result<&ToolOutput, &Error>) -> Class {
//!         match result {
//!             Ok(output) if output.content.is_empty() => Class::Failed,
//!             Ok(output) => output.outcome().into(),
//!             Err(error) => error.kind().into(),
//!         }
//!     }
//! }
//!
//! let registry = Registry::with_max_names(100);
//! let tools = MetricsLayer::new().with_registry(&registry).classify(NoEmptyAnswers);
//! let model = MetricsLayer::new().with_registry(&registry);
//! # let _ = (tools, model);
//! ```
//!
//! # Placement
//!
//! Outside all layers whose doings should be counted: what is refused or answered further out is not seen.
//!
//! # Cost
//!
//! The first call of a name allocates its numbers; every other one allocates nothing, takes no lock but a
//! shared one for a look-up, and clones one `Arc`. A streamed answer is boxed once more.
//! At most [so many](Registry::with_max_names) names are counted apart, the rest as `other`.
//!
//! # Errors
//!
//! None of its own. Errors of readiness are nobody's call and not counted.
//!
//! # The `metrics` facade
//!
//! With the feature `metrics-facade`, the same goes to the recorder of the [`metrics`](https://docs.rs/metrics) crate under the
//! names of OpenTelemetry's GenAI conventions: `gen_ai.execute_tool.duration`, `gen_ai.client.inference.duration`,
//! `gen_ai.invoke_agent.duration`, `gen_ai.client.inference.usage.input_tokens` and its kin. Install the recorder before the
//! first call.
//!
//! [`Class`]: tower_agent_core::Class

mod call;
#[cfg(feature = "metrics-facade")]
mod facade;
mod future;
mod histogram;
mod layer;
mod prometheus;
mod registry;
mod series;
mod service;
mod snapshot;

pub use self::{
    future::ResponseFuture,
    histogram::Histogram,
    layer::MetricsLayer,
    registry::Registry,
    service::Metrics,
    snapshot::{SeriesSnapshot, Snapshot},
};
