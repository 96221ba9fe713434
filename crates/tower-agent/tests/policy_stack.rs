//! The layers that decide, shorten, mask and report, in the order that their docs recommend.

#![cfg(feature = "full")]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::time::Duration;

use tower::{ServiceBuilder, ServiceExt, timeout::TimeoutLayer};
use tower_agent::{
    AllowListLayer, Error, ErrorKind, Outcome, RedactLayer, ReportErrorsLayer, Tool, ToolCall,
    ToolOutput, ToolSet, ToolSpec, TruncateLayer, check,
};

fn key() -> String {
    ["AK", "IAQ3EGRXZ7PL2MVTK5"].concat()
}

fn tools() -> ToolSet {
    let long = Tool::raw(ToolSpec::new("read", "Reads"), |_| async {
        format!("{}{}{}", "x ".repeat(25), key(), " y".repeat(250))
    });
    let failing = Tool::raw(ToolSpec::new("fail", "Fails"), |_| async {
        let text = format!("no access for {}", key());
        Err::<ToolOutput, _>(Error::new(ErrorKind::Tool, text.clone()).with_model_text(text))
    });
    let hanging = Tool::raw(ToolSpec::new("hang", "Hangs"), |_| async {
        std::future::pending::<ToolOutput>().await
    });
    let shell = Tool::raw(ToolSpec::new("shell", "Runs anything"), |_| async { "ran" });
    let stack = ServiceBuilder::new()
        .layer(AllowListLayer::exact(["read", "fail", "hang"]))
        .layer(TruncateLayer::bytes(120))
        .layer(RedactLayer::default())
        .layer(ReportErrorsLayer::new())
        .layer(TimeoutLayer::new(Duration::from_secs(1)));
    ToolSet::builder()
        .tool(long)
        .tool(failing)
        .tool(hanging)
        .tool(shell)
        .layer(stack)
        .build()
        .unwrap()
}

async fn call(name: &str) -> ToolOutput {
    tools().oneshot(ToolCall::new(name, "{}")).await.unwrap()
}

#[test]
fn the_recommended_order_has_no_known_fault_and_can_be_shared_by_threads() {
    fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    let tools = tools();
    shared(&tools);
    let names = tools.description().to_string();
    assert!(
        names.starts_with("allow_list > truncate > redact > report_errors > timeout"),
        "{names}"
    );
    assert!(check(tools.description()).is_empty());
}

#[tokio::test]
async fn a_long_result_is_masked_before_it_is_cut() {
    let output = call("read").await;
    let text = output.joined_text();
    assert!(text.len() <= 120 && text.contains("[cut: "), "{text}");
    assert!(!text.contains("AKIA"), "{text}");
    let layers: Vec<_> = output.provenance.marks.iter().map(|mark| &*mark.layer).collect();
    assert_eq!(layers, ["redact", "truncate"]);
}

#[tokio::test]
async fn the_text_of_an_error_is_masked_after_it_was_reported() {
    let output = call("fail").await;
    assert!(output.outcome.is_failed());
    let text = output.joined_text();
    assert!(text.contains("no access for [REDACTED:aws-access-key-id]"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_time_out_of_towers_own_layer_is_a_readable_failure() {
    let output = call("hang").await;
    assert!(
        matches!(&output.outcome, Outcome::Failed(failure) if failure.kind == ErrorKind::Timeout)
    );
}

#[tokio::test]
async fn a_tool_that_is_not_listed_does_not_run() {
    let output = call("shell").await;
    assert!(output.outcome.is_denied());
    assert_ne!(output.joined_text(), "ran");
}
