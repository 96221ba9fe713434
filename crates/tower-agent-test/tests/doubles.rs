//! What the scripted model and the mock tools promise.
#![cfg(test)]

use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;
use tower::ServiceExt;
use tower_agent_core::{
    Error, ErrorKind, FinishReason, Message, ModelEvent, ModelRequest, PartDelta, ToolCall,
    ToolOutput, ToolSpec, Usage,
};
use tower_agent_test::{ScriptedModel, StaticTool, Step, Turn, assert_clone_send_sync, mock_tool};

fn request(streamed: bool) -> ModelRequest {
    let mut request = ModelRequest::new("demo", vec![Message::user("hello")]);
    request.stream = streamed;
    request
}

#[tokio::test]
async fn a_turn_comes_as_scripted_whatever_the_request_wishes() {
    for wish in [false, true] {
        let model = ScriptedModel::new([
            Turn::text("whole"),
            Turn::text("pieces").streamed(true),
            Turn::text("as asked").as_asked(),
            Turn::stream([Step::text("ab"), Step::finish(FinishReason::Stop)]).streamed(false),
        ]);
        let mut streamed = Vec::new();
        for _ in 0..4 {
            let response = model.clone().oneshot(request(wish)).await.unwrap();
            streamed.push(response.body.is_stream());
        }
        assert_eq!(streamed, [false, true, wish, false]);
        model.handle().assert_used_up();
    }
}

#[tokio::test]
async fn a_reply_in_pieces_collects_to_the_same_reply() {
    let turn = Turn::text("héllo wörld")
        .and_reasoning("let me see")
        .and_tool_call("c1", "search", r#"{"q": 12345678901234567890}"#)
        .usage(Usage::new(3, 4));
    let model = ScriptedModel::new([turn.clone(), turn.in_pieces(1)]);
    let whole = model.clone().oneshot(request(false)).await.unwrap().body.collect().await.unwrap();
    let pieces = model.clone().oneshot(request(false)).await.unwrap().body;
    let events = pieces.into_stream().map(Result::unwrap).collect::<Vec<_>>().await;
    let mut collector = tower_agent_core::Collector::new();
    let deltas = events.iter().filter(|event| matches!(event, ModelEvent::PartDelta { .. }));
    assert_eq!(deltas.count(), "héllo wörld".chars().count() + 10 + 27);
    events.into_iter().for_each(|event| collector.push(event).unwrap());
    assert_eq!(collector.finish().unwrap(), whole);
}

#[tokio::test(start_paused = true)]
async fn delays_are_those_of_the_paused_clock() {
    let second = Duration::from_secs(1);
    let steps = [Step::text("a"), second.into(), Step::finish(FinishReason::Stop)];
    let model = ScriptedModel::new([Turn::stream(steps).after(second)]);
    let start = Instant::now();
    let response = model.oneshot(request(true)).await.unwrap();
    assert_eq!(start.elapsed(), second);
    response.body.collect().await.unwrap();
    assert_eq!(start.elapsed(), second * 2);
}

#[tokio::test]
async fn a_stream_ends_just_as_scripted() {
    let broken = Error::new(ErrorKind::Upstream { status: Some(502) }, "gone");
    let model = ScriptedModel::new([
        Turn::stream([Step::text("half"), broken.into()]),
        Turn::stream([Step::text("half")]),
        Turn::stream([Step::text("half"), Step::Hang]),
    ]);
    let error = model.clone().oneshot(request(true)).await.unwrap().body.collect().await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Upstream { status: Some(502) });
    let error = model.clone().oneshot(request(true)).await.unwrap().body.collect().await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Protocol);
    let hanging = model.clone().oneshot(request(true)).await.unwrap().body.collect();
    assert!(hanging.now_or_never().is_none());
}

#[tokio::test]
async fn a_turn_may_depend_on_the_request() {
    let model = ScriptedModel::respond(|request| match request.messages.last() {
        Some(last) => Turn::text(last.text().to_uppercase()),
        None => Turn::error(Error::new(ErrorKind::InvalidArguments, "no message")),
    });
    for _ in 0..2 {
        let response = model.clone().oneshot(request(false)).await.unwrap();
        assert_eq!(response.body.collect().await.unwrap().message.text(), "HELLO");
    }
    assert_eq!(model.handle().calls(), 2);
}

#[tokio::test]
async fn a_call_past_the_end_is_an_error_and_is_found_later() {
    let model = ScriptedModel::text("once");
    model.clone().oneshot(request(false)).await.unwrap();
    let error = model.clone().oneshot(request(false)).await.unwrap_err();
    assert_eq!(error.to_string(), "the script has no turn for call 2");
    let handle = model.handle();
    assert!(std::panic::catch_unwind(|| handle.assert_used_up()).is_err());
}

#[tokio::test]
async fn a_turn_that_nobody_asked_for_is_found() {
    let model = ScriptedModel::text("one").then(Turn::text("two"));
    model.clone().oneshot(request(false)).await.unwrap();
    let handle = model.handle();
    assert_eq!(handle.turns_left(), 1);
    assert!(std::panic::catch_unwind(|| handle.assert_used_up()).is_err());
}

#[tokio::test]
async fn a_scripted_panic_happens_when_the_answer_is_awaited() {
    let model = ScriptedModel::new([Turn::panic("boom")]);
    let answer = std::panic::AssertUnwindSafe(model.oneshot(request(false))).catch_unwind().await;
    assert_eq!(answer.unwrap_err().downcast_ref::<String>().unwrap(), "boom");
}

#[tokio::test]
async fn a_mock_tool_shows_its_calls_and_whether_the_caller_gave_up() {
    let (tool, mut handle) = mock_tool(ToolSpec::new("search", "Finds pages."));
    handle.assert_idle();
    let mut first = Box::pin(tool.clone().oneshot(ToolCall::new("search", "1")));
    let mut second = Box::pin(tool.clone().oneshot(ToolCall::new("search", "2")));
    assert!((&mut first).now_or_never().is_none());
    assert!((&mut second).now_or_never().is_none());

    let call = handle.next_call().await;
    assert_eq!(call.arguments.as_str(), "1");
    let mut given_up = handle.try_next_call().unwrap();
    assert!(!given_up.is_cancelled());
    drop(second);
    given_up.cancelled().await;
    assert!(given_up.is_cancelled());
    given_up.respond(ToolOutput::text("too late"));

    call.fail(Error::new(ErrorKind::Tool, "disk full"));
    assert_eq!(first.await.unwrap_err().to_string(), "disk full");
}

#[tokio::test]
async fn a_call_that_is_not_answered_fails() {
    let (tool, mut handle) = mock_tool(ToolSpec::new("search", "Finds pages."));
    let call = tool.clone().oneshot(ToolCall::new("search", ""));
    let (answer, ()) = tokio::join!(call, async { drop(handle.next_call().await) });
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Unavailable);
    drop(handle);
    let error = tool.oneshot(ToolCall::new("search", "")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_static_tool_answers_always_the_same_and_remembers() {
    let echo = StaticTool::echo("echo");
    let output = echo.clone().oneshot(ToolCall::new("echo", r#"{"b": 1,  "a": 2}"#)).await;
    assert_eq!(output.unwrap().joined_text(), r#"{"b": 1,  "a": 2}"#);
    assert_eq!(echo.calls().len(), 1);
    let broken = StaticTool::error("broken", Error::new(ErrorKind::Tool, "no"));
    assert!(broken.oneshot(ToolCall::new("broken", "")).await.is_err());
}

#[test]
fn doubles_can_be_shared_as_a_server_shares_its_state() {
    assert_clone_send_sync::<ScriptedModel>();
    assert_clone_send_sync::<StaticTool>();
    assert_clone_send_sync::<tower_agent_test::MockTool>();
    assert_clone_send_sync::<tower_agent_test::Probe<ToolCall>>();
}

#[test]
fn a_step_can_be_any_event() {
    let event = ModelEvent::PartDelta { index: 3, delta: PartDelta::arguments("{") };
    assert!(matches!(Step::from(event), Step::Event(ModelEvent::PartDelta { index: 3, .. })));
}
