//! Each layer alone.

use std::{fmt::Debug, time::Duration};

use tower::{Layer, Service, layer::util::Identity};
use tower_agent::{
    AllowListLayer, CatchPanicLayer, ConcurrencyLimitLayer, DenyListLayer, LogLayer, MetricsLayer,
    RedactLayer, ReloadLayer, ReportErrorsLayer, TimeoutLayer, ToolCall, ToolOutput, TruncateLayer,
};

use crate::{
    payload,
    stack::{Free, ToolCase, case},
};

/// The layers that decide at once and read nothing of the payload.
pub const SYNC: [&str; 9] = [
    "allow_list",
    "deny_list with a glob",
    "truncate, nothing cut",
    "report_errors",
    "catch_panic",
    "metrics",
    "log, nobody listening",
    "timeout",
    "concurrency_limit",
];

/// Each layer around the free tool, set so that it lets the call and its result pass.
pub fn alone(size: usize) -> Vec<(&'static str, ToolCase)> {
    let allow = AllowListLayer::new(["list_files", payload::TOOL, "search"]);
    let deny = DenyListLayer::new(["write_*", "shell"]);
    vec![
        ("allow_list", around(size, allow.expect("the names are sound"))),
        ("deny_list with a glob", around(size, deny.expect("the glob is sound"))),
        ("truncate, nothing cut", around(size, TruncateLayer::bytes(2 * payload::HUGE))),
        ("report_errors", around(size, ReportErrorsLayer::new())),
        ("catch_panic", around(size, CatchPanicLayer::new())),
        ("metrics", around(size, MetricsLayer::new())),
        ("log, nobody listening", around(size, LogLayer::new())),
        ("timeout", around(size, TimeoutLayer::new(Duration::from_secs(30)))),
        ("concurrency_limit", around(size, ConcurrencyLimitLayer::new(8))),
        ("redact, nothing found", around(size, RedactLayer::secrets())),
        ("reload", around(size, ReloadLayer::<ToolCall>::new(Identity::new()))),
    ]
}

fn around<L>(size: usize, layer: L) -> ToolCase
where
    L: Layer<Free>,
    L::Service: Service<ToolCall, Response = ToolOutput, Error: Debug> + 'static,
{
    case(size, layer.layer(Free::new(size)))
}
