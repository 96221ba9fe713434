//! Stories about hooks that wait, and about closures around a call.
#![cfg(test)]
#![cfg(feature = "hooks")]

use std::{
    future::pending,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{FutureExt, future::join};
use tokio::time::sleep;
use tokio_test::{assert_pending, assert_ready, assert_ready_ok};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    Content, Denial, Effect, Error, ErrorKind, FailMode, Message, ModelRequest, ModelResponse,
    Operation, Origin, Output, Reply, RunRequest, RunResponse, ToolCall, ToolOutput, Verdict,
    describe,
    hooks::{HookList, Next, after_async, before, before_async, from_fn, on_error_async},
};
use tower_test::mock;

#[path = "support/echo.rs"]
mod echo;

use echo::{Echo, NoSuchFile, crash};

fn call() -> ToolCall {
    ToolCall::new("search", r#"{"q":"base"}"#)
}

fn failing() -> ToolCall {
    ToolCall::new("fail", "{}")
}

async fn pass(call: ToolCall, next: Next<ToolCall>) -> Result<ToolOutput, Error> {
    next.run(call).await
}

/// Tries again until the service answers.
async fn insist(call: ToolCall, next: Next<ToolCall>) -> Result<ToolOutput, Error> {
    loop {
        if let Ok(output) = next.clone().run(call.clone()).await {
            return Ok(output);
        }
    }
}

#[tokio::test]
async fn a_closure_around_a_call_edits_what_goes_in_and_what_comes_out() {
    let tool = Echo::default();
    let around = from_fn(|mut call: ToolCall, next| async move {
        call.arguments = r#"{"q":"edited"}"#.into();
        let mut output = next.run(call).await?;
        output.content.push(Content::text("seen"));
        Ok(output)
    });
    let output = around.layer(tool.clone()).oneshot(call()).await.unwrap();
    assert_eq!(output.joined_text(), "{\"q\":\"edited\"}\nseen");
    assert_eq!(tool.runs(), 1);
}

#[tokio::test]
async fn a_closure_that_never_calls_on_answers_alone() {
    let tool = Echo::default();
    let refuse =
        from_fn(
            |call: ToolCall, _| async move { Ok(call.denied(Denial::new("No.").by("closure"))) },
        );
    let output = refuse.layer(tool.clone()).oneshot(call()).await.unwrap();
    assert!(output.outcome.is_denied());
    assert_eq!((output.provenance.origin, tool.runs()), (Origin::Denied, 0));
}

#[tokio::test]
async fn an_error_passes_a_closure_with_its_identity_and_a_question_mark_takes_any_error() {
    let error = from_fn(pass).layer(Echo::default()).oneshot(failing()).await.unwrap_err();
    assert_eq!((error.kind(), error.layer()), (ErrorKind::Tool, None));
    assert!(error.find::<NoSuchFile>().is_some());

    let asks = from_fn(|call: ToolCall, next| async move {
        let _: serde_json::Value = call.arguments.read()?;
        next.run(call).await
    });
    let error = asks.layer(Echo::default()).oneshot(ToolCall::new("x", "{")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn the_instance_that_is_ready_is_the_one_that_is_called_and_each_later_run_waits_its_turn() {
    let (service, mut handle) = mock::pair::<ToolCall, ToolOutput>();
    handle.allow(1);
    let mut stack = from_fn(insist).layer(service);
    stack.ready().await.unwrap();
    let mut running = tokio_test::task::spawn(stack.call(call()));
    assert_pending!(running.poll());
    let (_, first) = handle.next_request().await.unwrap();
    first.send_error("come again");
    assert_pending!(running.poll(), "the mock allows no second call yet");
    handle.allow(1);
    assert!(running.is_woken());
    assert_pending!(running.poll());
    let (_, second) = handle.next_request().await.unwrap();
    second.send_response(ToolOutput::text("done"));
    assert_eq!(assert_ready_ok!(running.poll()).joined_text(), "done");
}

#[tokio::test]
async fn a_handle_that_is_kept_back_holds_up_nobody() {
    // One permit: were it held by the first `next` while its clones wait, this would never end.
    let stack = ServiceBuilder::new()
        .layer(from_fn(|call: ToolCall, next| async move {
            next.clone().run(call.clone()).await?;
            next.clone().run(call.clone()).await?;
            next.run(call).await
        }))
        .concurrency_limit(1)
        .service(Echo::default());
    assert!(stack.oneshot(call()).now_or_never().unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn clones_of_next_run_at_once() {
    let tool = service_fn(|call: ToolCall| async move {
        let first = call.ctx.attempt == 1;
        sleep(Duration::from_secs(if first { 60 } else { 1 })).await;
        Ok::<_, Error>(ToolOutput::text(if first { "slow" } else { "quick" }))
    });
    let hedge = from_fn(|call: ToolCall, next: Next<ToolCall>| async move {
        let mut again = call.clone();
        again.ctx.attempt = 2;
        tokio::select! {
            output = next.clone().run(call) => output,
            output = next.run(again) => output,
        }
    });
    let start = tokio::time::Instant::now();
    let output = hedge.layer(tool).oneshot(call()).await.unwrap();
    assert_eq!((output.joined_text().as_str(), start.elapsed().as_secs()), ("quick", 1));
}

#[tokio::test]
async fn a_panic_of_a_closure_names_it_and_leaves_open_whether_anything_ran() {
    async fn late(call: ToolCall, next: Next<ToolCall>) -> Result<ToolOutput, Error> {
        next.run(call).await?;
        crash()
    }
    let at_once = from_fn(|_: ToolCall, _| crash::<std::future::Ready<_>>());
    let tool = Echo::default();
    let error = from_fn(late).named("late").layer(tool.clone()).oneshot(call()).await.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Hook, Effect::Unknown));
    assert_eq!((error.layer(), tool.runs()), (Some("late"), 1));
    let error = at_once.named("now").layer(tool.clone()).oneshot(call()).await.unwrap_err();
    assert_eq!((error.layer(), tool.runs()), (Some("now"), 1));
}

#[tokio::test]
async fn a_panic_of_the_tool_passes_closures_around_it_as_it_is() {
    let stack = ServiceBuilder::new()
        .layer(from_fn(pass).named("outer"))
        .layer(from_fn(pass).named("inner"))
        .service(Echo::default());
    let call = stack.oneshot(ToolCall::new("crash", "{}"));
    let panic = AssertUnwindSafe(call).catch_unwind().await.unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"boom"));
}

#[tokio::test]
async fn dropping_a_call_drops_what_runs_inside_of_the_closure() {
    let alive = Arc::new(());
    let held = alive.clone();
    let tool = service_fn(move |_: ToolCall| {
        let held = held.clone();
        async move {
            let _held = held;
            pending::<Result<ToolOutput, Error>>().await
        }
    });
    let stack = from_fn(pass).layer(tool);
    let before = Arc::strong_count(&alive);
    let mut running = tokio_test::task::spawn(stack.clone().oneshot(call()));
    assert_pending!(running.poll());
    drop(running);
    assert_eq!(Arc::strong_count(&alive), before);
}

#[tokio::test]
async fn closures_around_models_and_runs_see_them_whole() {
    let model = service_fn(|_: ModelRequest| async {
        Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant("hello"))))
    });
    let label = from_fn(|request: ModelRequest, next| async move {
        let mut response = next.run(request).await?;
        response.head.request_id = Some("r1".into());
        Ok(response)
    });
    let response = label.layer(model).oneshot(ModelRequest::new("demo", vec![])).await.unwrap();
    assert_eq!(response.head.request_id.as_deref(), Some("r1"));

    let agent = service_fn(|run: RunRequest| async move {
        Ok::<_, Error>(run.denied(Denial::new(run.input[0].text())))
    });
    let greet = from_fn(|_: RunRequest, next| async move {
        next.run(RunRequest::user("from the closure")).await
    });
    let run: RunResponse = greet.layer(agent).oneshot(RunRequest::user("raw")).await.unwrap();
    assert_eq!(run.collect().await.unwrap().text(), "from the closure");
}

#[tokio::test]
async fn a_hook_that_waits_gives_the_same_verdicts_as_one_that_does_not() {
    let verdict = |choice: u8| {
        before_async(move |mut call: ToolCall| async move {
            tokio::task::yield_now().await;
            call.arguments = r#"{"q":"edited"}"#.into();
            match choice {
                0 => Verdict::Allow,
                1 => Verdict::modify(call),
                2 => Verdict::deny(""),
                _ => Verdict::answer(ToolOutput::text("cached")),
            }
        })
        .named("asks")
    };
    let tool = Echo::default();
    let mut seen = Vec::new();
    for choice in 0..4 {
        let output = verdict(choice).layer(tool.clone()).oneshot(call()).await.unwrap();
        seen.push((output.joined_text(), output.provenance.origin));
    }
    let refusal = "The tool call `search` was refused by `asks` and did not run. Do not repeat it; find another way.";
    let expected = [
        (r#"{"q":"base"}"#.to_owned(), Origin::Executed),
        (r#"{"q":"edited"}"#.to_owned(), Origin::Executed),
        (refusal.to_owned(), Origin::Denied),
        ("cached".to_owned(), Origin::Emulated),
    ];
    assert_eq!(seen, expected);
    assert_eq!(tool.runs(), 2);
}

#[tokio::test]
async fn a_hook_that_waits_and_fails_does_what_its_mode_says() {
    let fail = |early: bool| {
        move |_: ToolCall| {
            if early {
                crash::<()>();
            }
            async { Err::<(), _>(NoSuchFile) }
        }
    };
    for early in [false, true] {
        let tool = Echo::default();
        let stack = before_async(fail(early)).named("asks").layer(tool.clone());
        let error = stack.oneshot(call()).await.unwrap_err();
        assert_eq!((error.kind(), error.effect()), (ErrorKind::Hook, Effect::NotStarted));
        assert_eq!((error.layer(), tool.runs()), (Some("asks"), 0));

        let open = before_async(fail(early)).fail_mode(FailMode::Open).layer(tool.clone());
        assert_eq!(open.oneshot(call()).await.unwrap().joined_text(), r#"{"q":"base"}"#);

        let closed = before_async(fail(early)).fail_mode(FailMode::Closed).layer(tool.clone());
        assert!(closed.oneshot(call()).await.unwrap().outcome.is_denied());
        assert_eq!(tool.runs(), 1);
    }
}

#[tokio::test]
async fn a_hook_that_waits_and_breaks_the_arguments_is_stopped_before_the_tool() {
    let tool = Echo::default();
    let broken = before_async(|mut call: ToolCall| async move {
        call.arguments = "[".into();
        Verdict::modify(call)
    });
    let error = broken.named("editor").layer(tool.clone()).oneshot(call()).await.unwrap_err();
    assert_eq!((error.layer(), tool.runs()), (Some("editor"), 0));
}

#[tokio::test]
async fn the_instance_that_is_ready_waits_with_the_hook_and_is_the_one_that_is_called() {
    let (service, mut handle) = mock::pair::<ToolCall, ToolOutput>();
    handle.allow(1);
    let mut stack = before_async(|_: ToolCall| tokio::task::yield_now()).layer(service);
    stack.ready().await.unwrap();
    let mut running = tokio_test::task::spawn(stack.call(call()));
    assert_pending!(running.poll());
    assert_pending!(running.poll());
    let (_, answer) = handle.next_request().await.unwrap();
    answer.send_response(ToolOutput::text("done"));
    assert_eq!(assert_ready_ok!(running.poll()).joined_text(), "done");

    let mut next = tokio_test::task::spawn(stack.ready());
    assert_pending!(next.poll(), "the clone that stayed has yet to become ready");
}

#[tokio::test]
async fn dropping_a_call_drops_the_hook_that_waits_and_the_tool_never_runs() {
    let tool = Echo::default();
    let alive = Arc::new(());
    let held = alive.clone();
    let waits = before_async(move |_: ToolCall| {
        let held = held.clone();
        async move {
            let _held = held;
            pending::<()>().await;
        }
    });
    let stack = waits.layer(tool.clone());
    let before = Arc::strong_count(&alive);
    let mut running = tokio_test::task::spawn(stack.clone().oneshot(call()));
    assert_pending!(running.poll());
    assert!(Arc::strong_count(&alive) > before);
    drop(running);
    assert_eq!((Arc::strong_count(&alive), tool.runs()), (before, 0));
}

#[tokio::test]
async fn a_hook_that_waits_after_the_call_edits_the_answer_and_sees_the_request_that_came_to_it() {
    let stack = ServiceBuilder::new()
        .layer(after_async(|call: ToolCall, mut output: ToolOutput| async move {
            tokio::task::yield_now().await;
            output.content.push(Content::text(call.arguments.as_str()));
            output
        }))
        .layer(before(|call: &mut ToolCall| call.arguments = r#"{"q":"edited"}"#.into()))
        .service(Echo::default());
    let output = stack.oneshot(call()).await.unwrap();
    assert_eq!(output.joined_text(), "{\"q\":\"edited\"}\n{\"q\":\"base\"}");
}

#[tokio::test]
async fn a_whole_answer_survives_the_hook_that_lost_it() {
    let fail = |early: bool| {
        move |_: ToolCall, _: ToolOutput| {
            if early {
                crash::<()>();
            }
            async { Err::<ToolOutput, _>(NoSuchFile) }
        }
    };
    for early in [false, true] {
        let kept = after_async(fail(early)).layer(Echo::default()).oneshot(call()).await.unwrap();
        assert_eq!(kept, ToolOutput::text(r#"{"q":"base"}"#));

        let closed = after_async(fail(early)).named("scan").fail_mode(FailMode::Closed);
        let withheld = closed.layer(Echo::default()).oneshot(call()).await.unwrap();
        assert!(withheld.outcome.is_failed());
        assert!(!format!("{withheld:?}").contains("base"));
    }
}

#[tokio::test]
async fn a_stream_that_the_hook_lost_is_an_error_that_says_that_the_call_ran() {
    let model = service_fn(|_: ModelRequest| async {
        Ok::<_, Error>(ModelResponse::stream(futures_util::stream::empty()))
    });
    let fail = |_: ModelRequest, _: ModelResponse| async { crash::<ModelResponse>() };
    let request = || ModelRequest::new("demo", vec![]);
    let error = after_async(fail).named("scan").layer(model).oneshot(request()).await.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Hook, Effect::Completed));
    let closed = after_async(fail).fail_mode(FailMode::Closed).layer(model);
    assert!(closed.oneshot(request()).await.unwrap().outcome().is_failed());
}

#[tokio::test]
async fn an_error_hook_that_waits_substitutes_or_leaves_the_error_as_it_was() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let answer = |text: Option<&'static str>| {
        let asked = asked.clone();
        on_error_async(move |call: ToolCall, error: Error| {
            let asked = asked.clone();
            async move {
                tokio::task::yield_now().await;
                asked.lock().unwrap().push((call.name.to_string(), error.kind()));
                text.map(ToolOutput::text)
            }
        })
    };
    let output = answer(Some("fallback")).layer(Echo::default()).oneshot(failing()).await.unwrap();
    assert_eq!(output.joined_text(), "fallback");
    let error = answer(None).layer(Echo::default()).oneshot(failing()).await.unwrap_err();
    assert!(error.find::<NoSuchFile>().is_some());
    let fine = answer(Some("unused")).layer(Echo::default()).oneshot(call()).await.unwrap();
    assert_eq!(fine.joined_text(), r#"{"q":"base"}"#);
    assert_eq!(*asked.lock().unwrap(), vec![("fail".to_owned(), ErrorKind::Tool); 2]);

    let crashes = on_error_async(|_: ToolCall, _: Error| async { crash() });
    let error = crashes.layer(Echo::default()).oneshot(failing()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Tool);
}

#[tokio::test]
async fn parallel_calls_through_clones_of_one_stack_do_not_meet() {
    let stack = ServiceBuilder::new()
        .layer(from_fn(pass))
        .layer(before_async(|mut call: ToolCall| async move {
            tokio::task::yield_now().await;
            call.ctx.attempt = 2;
            Verdict::modify(call)
        }))
        .service(Echo::default());
    let (one, other) = join(
        stack.clone().oneshot(ToolCall::new("a", r#"{"n":1}"#)),
        stack.oneshot(ToolCall::new("b", r#"{"n":2}"#)),
    )
    .await;
    assert_eq!(one.unwrap().joined_text(), r#"{"n":1}"#);
    assert_eq!(other.unwrap().joined_text(), r#"{"n":2}"#);
}

#[tokio::test]
async fn a_service_that_is_not_ready_is_not_called() {
    let (service, mut handle) = mock::pair::<ToolCall, ToolOutput>();
    handle.allow(0);
    let stack = ServiceBuilder::new()
        .layer(from_fn(pass))
        .layer(before_async(|_: ToolCall| async {}))
        .layer(after_async(|_: ToolCall, output: ToolOutput| async { output }))
        .layer(on_error_async(|_: ToolCall, _: Error| async { None }))
        .service(service);
    let mut waiting = tokio_test::task::spawn(stack.oneshot(call()));
    assert_pending!(waiting.poll());
    handle.send_error("gone");
    let error = assert_ready!(waiting.poll()).unwrap_err();
    assert_eq!(error.to_string(), "gone");
}

#[test]
fn a_stack_says_which_kinds_of_hooks_it_is_made_of() {
    let hooks = HookList::<ToolCall>::default();
    let stack = ServiceBuilder::new()
        .layer(from_fn(pass))
        .layer(before(|_: &mut ToolCall| ()))
        .layer(before_async(|_: ToolCall| async {}))
        .layer(after_async(|_: ToolCall, output: ToolOutput| async { output }))
        .layer(on_error_async(|_: ToolCall, _: Error| async { None }))
        .layer(hooks)
        .service(Echo::default());
    assert_eq!(
        describe(&stack).to_string(),
        "from_fn > before > before_async > after_async > on_error_async > hooked > echo"
    );
}
