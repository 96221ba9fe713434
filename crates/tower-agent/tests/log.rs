//! Each call has a beginning and an end in the log, and nothing confidential in between.

use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use tokio::time::sleep;
use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    BoxToolService, Context, Denial, Error, ErrorKind, Json, Message, ModelEvent, ModelRequest,
    ModelResponse, Operation, Run, RunRequest, RunResponse, ToolCall, ToolOutput, Usage,
    log::LogLayer,
};
use tracing::Level;

#[path = "support/log.rs"]
mod lines;

use lines::Lines;

fn leaf() -> BoxToolService {
    BoxToolService::new(service_fn(|call: ToolCall| async move {
        tracing::info!("working");
        match call.name.as_str() {
            "error" => {
                Err(Error::new(ErrorKind::Upstream { status: Some(500) }, "no").with_layer("http"))
            }
            "failure" => Ok(ToolOutput::failure("no")),
            "refusal" => Ok(call.denied(Denial::new("not for you").by("allow_list"))),
            "crash" => std::panic::resume_unwind(Box::new("boom")),
            _ => {
                sleep(Duration::from_millis(30)).await;
                Ok(ToolOutput::text("the secret"))
            }
        }
    }))
}

fn call(name: &str) -> ToolCall {
    let mut ctx: Context = Run::builder("r1").agent("clerk").build();
    (ctx.turn, ctx.attempt) = (3, 2);
    ToolCall::new(name, r#"{"password":"hunter2"}"#).with_id("c1").with_context(ctx)
}

#[tokio::test(start_paused = true)]
async fn a_call_is_logged_with_what_tells_it_apart_and_without_its_contents() {
    let (lines, _guard) = Lines::from(Level::DEBUG);
    LogLayer::new().layer(leaf()).oneshot(call("read")).await.unwrap();
    let span = r#"tool_call{name="read" id="c1" run="r1" agent="clerk" turn=3 attempt=2}"#;
    assert_eq!(
        lines.text(),
        format!(
            "DEBUG {span}: tower_agent::log: started size=22\n\
             INFO {span}: log: working\n\
             INFO {span}: tower_agent::log: finished outcome=\"ok\" took_ms=30 size=10\n"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn arguments_and_results_show_as_much_as_the_closures_leave() {
    let (lines, _guard) = Lines::from(Level::DEBUG);
    let log = LogLayer::new()
        .arguments(|arguments: &Json| format!("{} bytes of JSON", arguments.as_str().len()))
        .results(|output: &ToolOutput| output.joined_text().replace("secret", "***"));
    log.layer(leaf()).oneshot(call("read")).await.unwrap();
    let text = lines.text();
    assert!(text.contains(r#"arguments="22 bytes of JSON""#), "{text}");
    assert!(text.contains(r#"result="the ***""#), "{text}");
    assert!(!text.contains("hunter2") && !text.contains("the secret"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_closure_that_panics_costs_the_call_nothing() {
    let (lines, _guard) = Lines::from(Level::DEBUG);
    let log = LogLayer::new()
        .arguments(|_: &Json| std::panic::resume_unwind(Box::new("boom")))
        .results(|_: &ToolOutput| std::panic::resume_unwind(Box::new("boom")));
    assert!(log.layer(leaf()).oneshot(call("read")).await.is_ok());
    assert_eq!(lines.text().matches("(what should show it panicked)").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn failures_are_warnings_and_refusals_are_not() {
    for (name, level, end) in [
        ("error", "WARN", r#"outcome="failed" took_ms=0 reason="http: no""#),
        ("failure", "WARN", r#"outcome="failed" took_ms=0 reason="tool" size=2"#),
        ("refusal", "INFO", r#"outcome="denied" took_ms=0 reason="allow_list: denied" size=11"#),
    ] {
        let (lines, _guard) = Lines::from(Level::INFO);
        let _ = LogLayer::new().layer(leaf()).oneshot(call(name)).await;
        let last = lines.text().lines().last().unwrap().to_owned();
        assert!(last.starts_with(level) && last.ends_with(end), "{last}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_wants_warnings_only_still_learns_which_call_failed() {
    let (lines, _guard) = Lines::from(Level::WARN);
    let tool = LogLayer::new().layer(leaf());
    tool.clone().oneshot(call("read")).await.unwrap();
    let _ = tool.oneshot(call("error")).await;
    let text = lines.text();
    assert!(text.starts_with(r#"WARN tool_call{name="error" id="c1""#), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_wants_errors_only_gets_nothing() {
    let (lines, _guard) = Lines::from(Level::ERROR);
    let tool = LogLayer::new().layer(leaf());
    tool.clone().oneshot(call("read")).await.unwrap();
    let _ = tool.oneshot(call("error")).await;
    assert_eq!(lines.text(), "");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_and_a_panic_have_an_end_too() {
    let (lines, _guard) = Lines::from(Level::INFO);
    let tool = LogLayer::new().layer(leaf());
    assert!(tool.clone().oneshot(call("read")).now_or_never().is_none());
    assert!(lines.text().ends_with("finished outcome=\"cancelled\" took_ms=0\n"));
    let crash = std::panic::AssertUnwindSafe(tool.oneshot(call("crash"))).catch_unwind().await;
    assert!(crash.is_err());
    assert!(lines.text().ends_with("finished outcome=\"failed\" took_ms=0\n"), "{}", lines.text());
}

fn reply(events: Vec<Result<ModelEvent, Error>>) -> ModelResponse {
    ModelResponse::stream(stream::iter(events).map(|event| {
        tracing::info!("event");
        event
    }))
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_logged_at_its_end_with_what_it_used() {
    let usage = Ok(ModelEvent::Usage { usage: Usage::new(50, 9) });
    let finish = Ok(ModelEvent::Finish { reason: "stop".into() });
    let broken = Err(Error::new(ErrorKind::Protocol, "gone"));
    for (events, reads, end) in [
        (vec![usage.clone(), finish], 9, r#"outcome="ok" took_ms=5000 input_tokens=50"#),
        (
            vec![usage.clone(), broken],
            9,
            r#"outcome="failed" took_ms=5000 reason="protocol" input"#,
        ),
        (vec![usage.clone()], 9, r#"outcome="failed" took_ms=5000 reason="cut off" input"#),
        (vec![usage], 1, r#"outcome="cancelled" took_ms=5000 input_tokens=50 output_tokens=9"#),
    ] {
        let (lines, _guard) = Lines::from(Level::INFO);
        let model = ServiceBuilder::new().layer(LogLayer::new()).service(service_fn(
            move |_: ModelRequest| std::future::ready(Ok::<_, Error>(reply(events.clone()))),
        ));
        let request = ModelRequest::new("demo", vec![Message::user("hi")]);
        let mut stream = model.oneshot(request).await.unwrap().body.into_stream();
        sleep(Duration::from_secs(5)).await;
        let _: Vec<_> = stream.by_ref().take(reads).collect().await;
        drop(stream);
        let text = lines.text();
        let first = text.lines().next().unwrap();
        assert_eq!(first, r#"INFO model_call{name="demo" turn=0 attempt=1}: log: event"#);
        assert!(text.lines().last().unwrap().contains(end), "{text}");
    }
}

#[tokio::test]
async fn what_an_agent_does_is_logged_inside_its_run() {
    let (lines, _guard) = Lines::from(Level::INFO);
    let tool = LogLayer::new().layer(leaf());
    let agent = ServiceBuilder::new().layer(LogLayer::new()).service(service_fn(
        move |request: RunRequest| {
            let tool = tool.clone();
            let call = call("failure").with_context(request.ctx);
            let events = stream::once(async move { tool.oneshot(call).await.map(|_| None) })
                .filter_map(|event| std::future::ready(event.transpose()));
            std::future::ready(Ok::<_, Error>(RunResponse::new(events)))
        },
    ));
    let request = RunRequest::user("hi").with_context(Run::builder("r1").agent("clerk").build());
    let _ = agent.oneshot(request).await.unwrap().collect().await;
    let text = lines.text();
    let outer = r#"agent_run{name="clerk" run="r1" agent="clerk" turn=0 attempt=1}"#;
    let inner = format!(r#"{outer}:tool_call{{name="failure" id="c1""#);
    assert!(text.contains(&inner), "{text}");
    assert!(text.contains(&format!("WARN {outer}: tower_agent::log: finished")), "{text}");
}
