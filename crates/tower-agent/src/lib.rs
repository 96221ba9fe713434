//! Middleware for AI agents: tool calls, model calls and runs as tower services.
//!
//! What tower-http is to HTTP, this is to agents. A tool call is a `Service<`[`ToolCall`]`>`, a model call a
//! `Service<`[`ModelRequest`]`>`, an agent run a `Service<`[`RunRequest`]`>`, and each hook is a layer. They are
//! composed with `ServiceBuilder`: the first layer is the outermost, and tower's own layers stand anywhere between.
//!
//! ```
//! use std::time::Duration;
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let metrics = MetricsLayer::new();
//! let read = Tool::raw(ToolSpec::new("read_file", "Reads a file"), |_| async { "password = hunter22" });
//! let tools = ToolSet::builder()
//!     .tool(read)
//!     .layer(
//!         ServiceBuilder::new()
//!             .layer(metrics.clone())
//!             .layer(AllowListLayer::new(["read_*"])?)
//!             .layer(TruncateLayer::default())
//!             .layer(RedactLayer::default())
//!             .layer(ReportErrorsLayer::new())
//!             .layer(TimeoutLayer::new(Duration::from_secs(30))),
//!     )
//!     .build()?;
//!
//! # let model = service_fn(|request: ModelRequest| async move {
//! #     let last = request.messages.last().cloned().unwrap_or_else(|| Message::user(""));
//! #     let message = match last.parts() {
//! #         [Part::ToolResult(result)] => Message::assistant(result.text()),
//! #         _ => Message::new(Role::Assistant, vec![Part::ToolCall(ToolCallPart::new("1", "read_file", "{}"))]),
//! #     };
//! #     Ok::<_, Error>(ModelResponse::full(Reply::new(message)))
//! # });
//! // Any `Service<ModelRequest>`: tower-agent-providers has some over HTTP.
//! let model = ServiceBuilder::new().layer(metrics.clone()).concurrency_limit(4).service(model);
//! let agent = Agent::builder("reader", model).tools(tools).build();
//!
//! let run = agent.oneshot(RunRequest::user("What is the password?")).await?;
//! assert_eq!(run.collect().await?.text(), "password = [REDACTED:generic-password]");
//! # Ok(())
//! # }
//! ```
//!
//! # Modules and flags
//!
//! Each layer has a flag of its own, and all flags but `metrics-facade` are on by default: a library that needs only some
//! switches the default off.
//!
//! | flag | has | around |
//! | --- | --- | --- |
//! | `agent` | [`Agent`]: the loop of model and tools | |
//! | `schema` | [`tool_fn`]: tools with the schema of their arguments' type | |
//! | `names` | [`Names`]: exact names and globs | |
//! | `allow-list` | [`AllowListLayer`], [`DenyListLayer`] | tools, models |
//! | `redact` | [`RedactLayer`] | tools, models, runs |
//! | `truncate` | [`TruncateLayer`] | tools |
//! | `report-errors` | [`ReportErrorsLayer`] | all |
//! | `catch-panic` | [`CatchPanicLayer`] | all |
//! | `timeout` | [`TimeoutLayer`] | all |
//! | `concurrency-limit` | [`ConcurrencyLimitLayer`] | all |
//! | `metrics`, `metrics-facade` | [`MetricsLayer`] | all |
//! | `log` | [`LogLayer`] | all |
//! | `reload` | [`ReloadLayer`] | all |
//! | `hooks` | [`hooks`]: closures before and after, lists of hooks | all |
//! | `plugin` | [`Plugin`], [`PluginLayer`] | all |
//!
//! [`ToolSet`], [`Tool`], [`Boxed`], [`describe()`] and the vocabulary of [`tower_agent_core`] are always there. The [guides](guide)
//! tell what stands [where](guide::order) in a stack, what is an [error](guide::errors), how [streams](guide::streams) go, what is
//! [masked](guide::redaction) where, and have [recipes](guide::recipes).

#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod macros;

#[cfg(any(feature = "hooks", feature = "plugin"))]
mod blame;
mod boxed;
mod builder;
#[cfg(feature = "hooks")]
mod contain;
mod describe;
#[cfg(feature = "hooks")]
mod enforce;
#[cfg(any(feature = "redact", feature = "truncate"))]
mod json_text;
#[cfg(feature = "names")]
mod names;
#[cfg(any(feature = "agent", feature = "catch-panic", feature = "hooks", feature = "plugin"))]
mod panic_text;
mod tool;
#[cfg(any(feature = "hooks", feature = "plugin"))]
mod trail;
mod verdict;

#[cfg(feature = "full")]
pub mod guide;

#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "allow-list")]
pub mod allow_list;
#[cfg(feature = "catch-panic")]
pub mod catch_panic;
#[cfg(feature = "concurrency-limit")]
pub mod concurrency_limit;
#[cfg(feature = "hooks")]
pub mod hooks;
#[cfg(feature = "log")]
pub mod log;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "plugin")]
pub mod plugin;
#[cfg(feature = "redact")]
pub mod redact;
#[cfg(feature = "reload")]
pub mod reload;
#[cfg(feature = "report-errors")]
pub mod report_errors;
#[cfg(feature = "timeout")]
pub mod timeout;
#[cfg(feature = "truncate")]
pub mod truncate;

#[cfg(feature = "agent")]
pub use self::agent::Agent;
#[cfg(feature = "allow-list")]
pub use self::allow_list::{AllowListLayer, DenyListLayer};
#[cfg(feature = "catch-panic")]
pub use self::catch_panic::CatchPanicLayer;
#[cfg(feature = "concurrency-limit")]
pub use self::concurrency_limit::ConcurrencyLimitLayer;
#[cfg(feature = "hooks")]
pub use self::hooks::{Hook, HookList, Next};
#[cfg(feature = "log")]
pub use self::log::LogLayer;
#[cfg(feature = "metrics")]
pub use self::metrics::MetricsLayer;
#[cfg(feature = "names")]
pub use self::names::{Names, NamesError};
#[cfg(feature = "plugin")]
pub use self::plugin::{Plugin, PluginLayer};
#[cfg(feature = "redact")]
pub use self::redact::RedactLayer;
#[cfg(feature = "reload")]
pub use self::reload::{ReloadHandle, ReloadLayer};
#[cfg(feature = "report-errors")]
pub use self::report_errors::ReportErrorsLayer;
#[cfg(feature = "timeout")]
pub use self::timeout::TimeoutLayer;
#[cfg(feature = "schema")]
pub use self::tool::tool_fn;
#[cfg(feature = "truncate")]
pub use self::truncate::TruncateLayer;
pub use self::{
    boxed::{BoxModelService, BoxRunService, BoxToolService, Boxed},
    builder::ServiceBuilderExt,
    describe::{Description, Warning, check, describe},
    tool::{
        BuildError, IntoToolOutput, RawToolFn, Tool, ToolFn, ToolFnFuture, ToolRouter,
        ToolRouterFuture, ToolSet, ToolSetBuilder,
    },
    verdict::{FailMode, IntoEdited, IntoHookResult, IntoKeep, IntoVerdict, Verdict},
};

pub use tower_agent_core::*;
