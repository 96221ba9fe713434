//! Stories about hooks on the events of replies and runs.
#![cfg(test)]
#![cfg(feature = "hooks")]

use std::sync::{Arc, Mutex};

use futures_util::{StreamExt, stream};
use proptest::{collection::vec, prelude::*};
use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{
    CallId, Effect, Error, ErrorKind, FailMode, FinishReason, IntoKeep, Message, ModelBody,
    ModelEvent, ModelRequest, ModelResponse, Output, Part, PartDelta, Reply, Role, RunEvent,
    RunFinish, RunRequest, RunResponse, ToolCallPart, Usage,
    hooks::{OnModelEventLayer, on_model_event, on_run_event},
};

/// Panics without a word on the console.
fn crash<T>() -> T {
    std::panic::resume_unwind(Box::new("boom"))
}

fn text(index: u32, text: &str) -> ModelEvent {
    ModelEvent::PartDelta { index, delta: PartDelta::Text(text.into()) }
}

fn finish() -> ModelEvent {
    ModelEvent::Finish { reason: FinishReason::Stop }
}

fn is_text(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::PartDelta { delta: PartDelta::Text(_), .. })
}

fn shout(event: &mut ModelEvent) {
    if let ModelEvent::PartDelta { delta: PartDelta::Text(text), .. } = event {
        *text = text.to_uppercase().into();
    }
}

/// A reply with text beside a call, and usage.
fn reply() -> Reply {
    let parts = vec![
        Part::text("let me see"),
        Part::ToolCall(ToolCallPart::new("1", "find", r#"{"q":"x"}"#)),
    ];
    Reply::new(Message::new(Role::Assistant, parts)).with_usage(Usage {
        input: 10,
        output: 5,
        ..Usage::default()
    })
}

async fn ask<F, K>(layer: OnModelEventLayer<F>, whole: bool, reply: Reply) -> ModelResponse
where
    F: Fn(&mut ModelEvent) -> K + Clone + Send + 'static,
    K: IntoKeep,
{
    let model = service_fn(move |_: ModelRequest| {
        let response = if whole {
            ModelResponse::full(reply.clone())
        } else {
            ModelResponse::stream(stream::iter(reply.clone().into_events().into_iter().map(Ok)))
        };
        std::future::ready(Ok::<_, Error>(response))
    });
    layer.layer(model).oneshot(ModelRequest::new("demo", vec![])).await.unwrap()
}

#[tokio::test]
async fn one_closure_edits_whole_and_streamed_replies_alike() {
    let mut seen = Vec::new();
    for whole in [true, false] {
        let response = ask(on_model_event(shout), whole, reply()).await;
        assert_eq!(response.body.is_stream(), !whole);
        seen.push(response.body.collect().await.unwrap());
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].message.text(), "LET ME SEE");
    assert_eq!(seen[0].message.tool_calls().next().unwrap().id, CallId::from("1"));
    assert_eq!(seen[0].usage, reply().usage);
}

#[tokio::test]
async fn an_event_that_is_dropped_is_gone_and_the_end_of_a_reply_cannot_be() {
    for whole in [true, false] {
        let silent = on_model_event(|event: &mut ModelEvent| !is_text(event));
        let kept = ask(silent, whole, reply()).await.body.collect().await.unwrap();
        assert_eq!(kept.message.text(), "");

        let nothing = on_model_event(|_: &mut ModelEvent| false);
        let kept = ask(nothing, whole, reply()).await.body.collect().await.unwrap();
        assert_eq!((kept.finish, kept.message.parts().len()), (FinishReason::ToolCalls, 0));
    }
}

#[tokio::test]
async fn events_pass_as_they_come_and_nothing_is_read_ahead() {
    let read = Arc::new(Mutex::new(0));
    let count = read.clone();
    let model = service_fn(move |_: ModelRequest| {
        let count = count.clone();
        let events = stream::iter([text(0, "a"), text(0, "b"), finish()]).map(move |event| {
            *count.lock().unwrap() += 1;
            Ok(event)
        });
        std::future::ready(Ok::<_, Error>(ModelResponse::stream(events)))
    });
    let stack = on_model_event(shout).layer(model);
    let response = stack.oneshot(ModelRequest::new("demo", vec![])).await.unwrap();
    assert_eq!(*read.lock().unwrap(), 0, "the head needs no event");
    let mut events = response.body.into_stream();
    assert_eq!(events.next().await.unwrap().unwrap(), text(0, "A"));
    assert_eq!(*read.lock().unwrap(), 1);
}

#[tokio::test]
async fn an_observer_that_fails_lets_each_event_go_on() {
    for whole in [true, false] {
        let fails = on_model_event(|event: &mut ModelEvent| match event {
            ModelEvent::PartDelta { .. } => crash(),
            _ => Err::<(), _>("down"),
        });
        let fails = fails.named("watch");
        let body = ask(fails.fail_mode(FailMode::Open), whole, reply()).await.body;
        assert_eq!(body.collect().await.unwrap(), reply());
    }
}

#[tokio::test]
async fn a_guard_that_fails_ends_a_stream_and_withholds_a_whole_reply() {
    let guard = || {
        on_model_event(|event: &mut ModelEvent| !is_text(event) || crash())
            .named("guard")
            .fail_mode(FailMode::Closed)
    };
    let mut events = ask(guard(), false, reply()).await.body.into_stream();
    let mut last = None;
    while let Some(event) = events.next().await {
        assert!(!event.as_ref().is_ok_and(is_text), "not the event that was not checked");
        last = Some(event);
    }
    let error = last.unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.effect(), error.layer()),
        (ErrorKind::Hook, Effect::Completed, Some("guard"))
    );

    let whole = ask(guard(), true, reply()).await;
    assert!(whole.outcome().is_failed());
    let ModelBody::Full(safe) = whole.body else { panic!("it was whole") };
    assert!(safe.message.text().contains("`guard` failed"));
    assert!(!format!("{safe:?}").contains("let me see"));
}

#[tokio::test]
async fn edits_that_fit_no_reply_are_the_hooks_failure() {
    let misfit = || {
        on_model_event(|event: &mut ModelEvent| {
            if let ModelEvent::PartDelta { delta, .. } = event {
                *delta = PartDelta::Reasoning("hm".into());
            }
        })
        .named("misfit")
    };
    let kept = ask(misfit(), true, reply()).await.body.collect().await.unwrap();
    assert_eq!(kept, reply());
    let closed = ask(misfit().fail_mode(FailMode::Closed), true, reply()).await;
    assert!(closed.outcome().is_failed());
}

#[tokio::test]
async fn an_error_in_a_stream_passes_with_its_identity() {
    let model = service_fn(|_: ModelRequest| async {
        let lost = Error::new(ErrorKind::Upstream { status: Some(502) }, "connection lost");
        Ok::<_, Error>(ModelResponse::stream(stream::iter([Ok(text(0, "a")), Err(lost)])))
    });
    let stack = on_model_event(shout).layer(model);
    let response = stack.oneshot(ModelRequest::new("demo", vec![])).await.unwrap();
    let error = response.body.collect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Upstream { status: Some(502) });
}

#[tokio::test]
async fn a_hook_on_a_run_edits_and_drops_what_its_reader_sees() {
    let agent = service_fn(|_: RunRequest| async {
        let events = [
            RunEvent::Started { run: "r1".into(), agent: "demo".into() },
            RunEvent::Model { turn: 1, event: text(0, "secret") },
            RunEvent::Message { turn: 1, message: Message::assistant("secret") },
            RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage: Usage::default() },
        ];
        Ok::<_, Error>(RunResponse::new(stream::iter(events.map(Ok))))
    });
    let hook = on_run_event(|event: &mut RunEvent| match event {
        RunEvent::Message { message, .. } => {
            *message = Message::assistant("[REDACTED]");
            true
        }
        _ => false,
    });
    let run = hook.layer(agent).oneshot(RunRequest::user("hi")).await.unwrap();
    let events: Vec<_> = run.body.map(Result::unwrap).collect().await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[0], RunEvent::Message { turn: 1, message: Message::assistant("[REDACTED]") });
    assert!(matches!(events[1], RunEvent::Finished { .. }), "the end cannot be dropped");
}

#[tokio::test]
async fn a_guard_that_fails_ends_a_run() {
    let agent = service_fn(|_: RunRequest| async {
        let event = RunEvent::Message { turn: 1, message: Message::assistant("secret") };
        Ok::<_, Error>(RunResponse::new(stream::iter([Ok(event)])))
    });
    let guard = on_run_event(|_: &mut RunEvent| crash::<()>()).fail_mode(FailMode::Closed);
    let run = guard.layer(agent).oneshot(RunRequest::user("hi")).await.unwrap();
    let events: Vec<_> = run.body.into_stream().collect().await;
    let [Err(error)] = &*events else { panic!("{events:?}") };
    assert_eq!((error.kind(), error.layer()), (ErrorKind::Hook, Some("on_run_event")));
}

proptest! {
    #[test]
    fn a_hook_that_changes_nothing_changes_no_reply(texts in vec("[a-z ]{0,8}", 0..5), whole: bool) {
        let parts = texts.iter().map(|text| Part::text(text.as_str())).collect();
        let reply = Reply::new(Message::new(Role::Assistant, parts));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let back = runtime.block_on(async {
            let response = ask(on_model_event(|_: &mut ModelEvent| ()), whole, reply.clone()).await;
            response.body.collect().await.unwrap()
        });
        prop_assert_eq!(back, reply);
    }
}
