//! What the operator reads when a hook fails.
#![cfg(test)]
#![cfg(feature = "hooks")]

use tower::{ServiceBuilder, ServiceExt};
use tower_agent::{FailMode, ToolCall, ToolOutput, hooks::after};
use tracing::Level;

#[path = "support/echo.rs"]
mod echo;
#[path = "support/log.rs"]
mod lines;

use echo::{Echo, NoSuchFile, crash};
use lines::Lines;

#[tokio::test]
async fn whoever_reads_the_log_learns_which_hook_failed_why_and_what_that_led_to() {
    let (lines, _logging) = Lines::from(Level::WARN);
    let tool = Echo::default();
    let observer = after(|_: &mut ToolOutput| Err::<(), _>(NoSuchFile)).named("metrics");
    let guard = after(|_: &mut ToolOutput| crash::<()>()).named("redact");
    let stack = ServiceBuilder::new()
        .layer(guard.fail_mode(FailMode::Closed))
        .layer(observer)
        .service(tool.clone());
    stack.oneshot(ToolCall::new("search", "{}")).await.unwrap();
    assert_eq!(tool.runs(), 1);

    let lines = lines.text();
    let [metrics, redact] = &*lines.lines().collect::<Vec<_>>() else { panic!("{lines}") };
    assert!(metrics.contains("WARN") && metrics.contains("a hook failed; the result is kept"));
    assert!(metrics.contains(r#"hook="metrics""#) && metrics.contains("cause=no such file"));
    assert!(redact.contains("WARN") && redact.contains("a hook failed; the result is withheld"));
    assert!(redact.contains(r#"hook="redact""#) && redact.contains("panicked: boom"));
}
