//! What the operator reads when a hook fails. A binary of its own: tests that run beside each other can keep `tracing` from
//! asking a subscriber at all.
#![cfg(test)]
#![cfg(feature = "hooks")]

use std::sync::{Arc, Mutex};

use tower::{ServiceBuilder, ServiceExt};
use tower_agent::{FailMode, ToolCall, ToolOutput, hooks::after};

#[path = "support/echo.rs"]
mod echo;

use echo::{Echo, NoSuchFile, crash};

#[tokio::test]
async fn whoever_reads_the_log_learns_which_hook_failed_why_and_what_that_led_to() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .without_time()
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let tool = Echo::default();
    let observer = after(|_: &mut ToolOutput| Err::<(), _>(NoSuchFile)).named("metrics");
    let guard = after(|_: &mut ToolOutput| crash::<()>()).named("redact");
    let stack = ServiceBuilder::new()
        .layer(guard.fail_mode(FailMode::Closed))
        .layer(observer)
        .service(tool.clone());
    stack.oneshot(ToolCall::new("search", "{}")).await.unwrap();
    assert_eq!(tool.runs(), 1);

    let lines = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let [metrics, redact] = &*lines.lines().collect::<Vec<_>>() else { panic!("{lines}") };
    assert!(metrics.contains("WARN") && metrics.contains("a hook failed; the result is kept"));
    assert!(metrics.contains(r#"hook="metrics""#) && metrics.contains("cause=no such file"));
    assert!(redact.contains("WARN") && redact.contains("a hook failed; the result is withheld"));
    assert!(redact.contains(r#"hook="redact""#) && redact.contains("panicked: boom"));
}

/// What is written in a test.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
