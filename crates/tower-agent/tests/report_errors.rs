//! What a model reads when a call fails.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]
#![cfg(feature = "report-errors")]

use std::{convert::Infallible, time::Duration};

use tokio_test::{assert_pending, assert_ready, assert_ready_ok};
use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    BoxError, CancellationToken, Effect, Error, ErrorKind, FinishReason, Message, ModelRequest,
    ModelResponse, Outcome, Output, ReportErrorsLayer, Run, RunFinish, RunRequest, RunResponse,
    ToolCall, ToolOutput,
};
use tower_test::mock;

async fn report(layer: ReportErrorsLayer, error: impl Into<BoxError>) -> ToolOutput {
    report_call(layer, ToolCall::new("rows", "{}"), error.into()).await
}

async fn report_call(layer: ReportErrorsLayer, call: ToolCall, error: BoxError) -> ToolOutput {
    let mut error = Some(error);
    let service = service_fn(move |_: ToolCall| {
        std::future::ready(Err::<ToolOutput, _>(error.take().unwrap()))
    });
    let Ok(output) = layer.layer(service).oneshot(call).await;
    output
}

fn failure(outcome: &Outcome) -> (ErrorKind, Effect, Option<&str>) {
    let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
    (failure.kind, failure.effect, failure.layer.as_deref())
}

#[tokio::test]
async fn the_text_names_the_tool_and_the_cause_and_suggests_another_approach() {
    let error = Error::new(ErrorKind::Tool, "host db-7 refused").with_model_text("It is closed.");
    let text = report(ReportErrorsLayer::new(), error).await.joined_text();
    assert_eq!(
        text,
        "The tool \"rows\" failed: It is closed. It may have taken effect all the same; check before you repeat it. Try other arguments or another approach."
    );
}

#[tokio::test]
async fn the_text_keeps_the_operators_words_from_the_model() {
    let text = report(ReportErrorsLayer::new(), "/etc/shadow: denied for root").await.joined_text();
    assert!(!text.contains("shadow"), "{text}");
    assert!(text.contains("rows"), "{text}");
}

#[tokio::test]
async fn kind_effect_and_layer_of_the_error_are_those_of_the_failure() {
    let error = Error::new(ErrorKind::Timeout, "slow").with_layer("timeout");
    let output = report(ReportErrorsLayer::new(), error).await;
    assert_eq!(failure(output.outcome()), (ErrorKind::Timeout, Effect::Unknown, Some("timeout")));
    let output = report(ReportErrorsLayer::new(), tower::load_shed::error::Overloaded::new()).await;
    assert_eq!(failure(output.outcome()), (ErrorKind::Overloaded, Effect::NotStarted, None));
}

#[tokio::test]
async fn the_text_says_whether_it_ran_once_and_not_twice() {
    let table = [
        (Effect::NotStarted, ErrorKind::Tool, "It did not run."),
        (Effect::Unknown, ErrorKind::Tool, "It may have taken effect"),
        (Effect::Completed, ErrorKind::Tool, "It ran to its end"),
        (Effect::NotStarted, ErrorKind::Overloaded, "the call did not run"),
        (Effect::NotStarted, ErrorKind::InvalidArguments, "Correct the arguments"),
    ];
    for (effect, kind, part) in table {
        let error = Error::new(kind, "x").with_effect(effect);
        let text = report(ReportErrorsLayer::new(), error).await.joined_text();
        assert_eq!(text.matches(part).count(), 1, "{text}");
        assert!(text.matches("did not run").count() <= 1, "{text}");
    }
}

#[tokio::test]
async fn a_time_out_of_the_tool_alone_is_reported() {
    tokio::time::pause();
    let service = ServiceBuilder::new()
        .layer(ReportErrorsLayer::new())
        .timeout(Duration::from_secs(1))
        .service(service_fn(|_: ToolCall| std::future::pending::<Result<ToolOutput, BoxError>>()));
    let Ok(output) = service.oneshot(ToolCall::new("rows", "{}")).await;
    assert_eq!(failure(output.outcome()).0, ErrorKind::Timeout);
    assert!(output.joined_text().contains("took too long"), "{}", output.joined_text());
}

#[tokio::test]
async fn a_cancelled_run_gets_a_cancelled_failure_and_no_advice() {
    let token = CancellationToken::new();
    let ctx = Run::builder("r1").cancellation(token.clone()).build();
    token.cancel();
    let call = ToolCall::new("rows", "{}").with_context(ctx);
    let layer = ReportErrorsLayer::new().format(|_| "advice");
    let output = report_call(layer.clone(), call, "connection reset".into()).await;
    assert_eq!(failure(output.outcome()).0, ErrorKind::Cancelled);
    assert_eq!(output.joined_text(), "The call was cancelled.");

    let output = report(layer, Error::new(ErrorKind::Cancelled, "gone")).await;
    assert_eq!(failure(output.outcome()).0, ErrorKind::Cancelled);
    assert_eq!(output.joined_text(), "The call was cancelled.");
}

#[tokio::test]
async fn ones_own_words_replace_the_text_and_nothing_else() {
    let layer = ReportErrorsLayer::new().format(|report| {
        format!("{} {}: {}", report.operation(), report.name(), report.error().kind().as_str())
    });
    let output = report(layer, Error::new(ErrorKind::NotFound, "gone")).await;
    assert_eq!(output.joined_text(), "tool rows: not_found");
    assert_eq!(failure(output.outcome()).0, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_good_output_passes_untouched() {
    let service = ReportErrorsLayer::new()
        .layer(service_fn(|_: ToolCall| async { Ok::<_, BoxError>(ToolOutput::text("fine")) }));
    let Ok(output) = service.oneshot(ToolCall::new("rows", "{}")).await;
    assert_eq!(output, ToolOutput::text("fine"));
}

#[tokio::test]
async fn a_failed_model_call_is_a_reply_that_says_so() {
    let service = ReportErrorsLayer::new().layer(service_fn(|_: ModelRequest| async {
        Err::<ModelResponse, _>(Error::new(ErrorKind::Upstream { status: Some(500) }, "oops"))
    }));
    let request = ModelRequest::new("demo", vec![Message::user("hello")]);
    let Ok(response) = service.oneshot(request).await;
    assert_eq!(failure(response.outcome()).0, ErrorKind::Upstream { status: Some(500) });
    let reply = response.body.collect().await.unwrap();
    assert_eq!(reply.finish, FinishReason::Error);
    assert_eq!(
        reply.message.text(),
        "The model \"demo\" failed: The service behind it answered with an error."
    );
}

#[tokio::test]
async fn a_failed_run_is_a_transcript_that_says_so() {
    let service = ReportErrorsLayer::new().layer(service_fn(|_: RunRequest| async {
        Err::<RunResponse, _>(Error::new(ErrorKind::Other, "oops"))
    }));
    let Ok(response) = service.oneshot(RunRequest::user("hello")).await;
    let transcript = response.collect().await.unwrap();
    assert_eq!(transcript.finish, Some(RunFinish::Failed));
    assert!(transcript.text().starts_with("The agent failed: "), "{}", transcript.text());
}

#[test]
fn the_service_waits_until_the_inner_one_is_ready() {
    let (mut service, mut tool) =
        mock::spawn_layer::<ToolCall, ToolOutput, _>(ReportErrorsLayer::new());
    tool.allow(0);
    assert_pending!(service.poll_ready());
    tool.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut answer = tokio_test::task::spawn(service.call(ToolCall::new("rows", "{}")));
    assert_pending!(answer.poll());
    let (_, respond) = assert_ready!(tokio_test::task::spawn(tool.next_request()).poll()).unwrap();
    respond.send_error("broken");
    let Ok(output) = assert_ready!(answer.poll());
    assert!(output.outcome.is_failed());
}

#[test]
fn an_error_of_readiness_is_reported_by_the_next_call_which_does_not_reach_the_service() {
    let (mut service, mut tool) =
        mock::spawn_layer::<ToolCall, ToolOutput, _>(ReportErrorsLayer::new());
    tool.send_error("closed");
    assert_ready_ok!(service.poll_ready());
    assert_ready_ok!(service.poll_ready());
    let mut answer = tokio_test::task::spawn(service.call(ToolCall::new("rows", "{}")));
    let Ok::<_, Infallible>(output) = assert_ready!(answer.poll());
    assert!(output.outcome.is_failed());
    assert_pending!(tokio_test::task::spawn(tool.next_request()).poll());
}
