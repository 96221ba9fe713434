//! Middleware for AI agents: tool calls, model calls and runs as tower services.

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
