//! Stories about hooks that decide at once: before, after and on error.
#![cfg(test)]
#![cfg(feature = "hooks")]

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

use futures_util::FutureExt;
use serde_json::json;
use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    Content, Denial, Effect, Error, ErrorKind, FailMode, Json, Message, ModelBody, ModelRequest,
    ModelResponse, Operation, Origin, Outcome, Output, Reply, RunFinish, RunRequest, RunResponse,
    ToolCall, ToolOutput, Verdict,
    hooks::{after, after_call, before, on_error},
};

#[path = "support/echo.rs"]
mod echo;

use echo::{Echo, NoSuchFile, crash};

type Notes = Arc<Mutex<Vec<&'static str>>>;

fn call() -> ToolCall {
    ToolCall::new("search", r#"{"q":"base"}"#).with_id("1")
}

fn failing() -> ToolCall {
    ToolCall::new("fail", "{}")
}

fn denial(output: &ToolOutput) -> &Denial {
    let Outcome::Denied(denial) = &output.outcome else { panic!("{output:?}") };
    denial
}

fn append(call: &mut ToolCall, text: &str) {
    let value = call.arguments.make_mut().unwrap();
    let joined = format!("{}{text}", value["q"].as_str().unwrap());
    value["q"] = joined.into();
}

fn outcome(output: &ToolOutput) -> &'static str {
    output.outcome.as_str()
}

// A panic in a hook is contained, so what a hook sees is noted and judged outside of it.
fn note(notes: &Notes, text: &'static str) {
    notes.lock().unwrap().push(text);
}

#[tokio::test]
async fn a_before_hook_can_deny_and_the_tool_does_not_run() {
    let tool = Echo::default();
    let deny = before(|_: &mut ToolCall| Denial::new("Not on a Sunday.")).named("sunday");
    let output = deny.layer(tool.clone()).oneshot(call()).await.unwrap();
    assert_eq!(output.joined_text(), "Not on a Sunday.");
    assert_eq!(denial(&output).layer, "sunday");
    assert_eq!(
        (output.provenance.origin, output.provenance.by.as_deref()),
        (Origin::Denied, Some("sunday"))
    );
    assert_eq!(tool.runs(), 0);
}

#[tokio::test]
async fn a_denial_without_a_message_says_who_denied_what_and_that_nothing_ran() {
    let deny = before(|_: &mut ToolCall| Verdict::deny(" ")).named("auth");
    let output = deny.layer(Echo::default()).oneshot(call()).await.unwrap();
    assert_eq!(
        output.joined_text(),
        "The tool call `search` was refused by `auth` and did not run. Do not repeat it; find another way."
    );
}

#[tokio::test]
async fn a_denial_that_names_somebody_already_keeps_that_name_and_code() {
    let deny = before(|_: &mut ToolCall| Denial::new("No.").by("policy").code("quota"));
    let output = deny.layer(Echo::default()).oneshot(call()).await.unwrap();
    assert_eq!((&*denial(&output).layer, &*denial(&output).code), ("policy", "quota"));
}

#[tokio::test]
async fn a_hook_that_says_nothing_lets_the_call_run() {
    let tool = Echo::default();
    before(|_: &mut ToolCall| ()).layer(tool.clone()).oneshot(call()).await.unwrap();
    before(|_: &mut ToolCall| None::<Denial>).layer(tool.clone()).oneshot(call()).await.unwrap();
    before(|_: &mut ToolCall| Verdict::default())
        .layer(tool.clone())
        .oneshot(call())
        .await
        .unwrap();
    assert_eq!(tool.runs(), 3);
}

#[tokio::test]
async fn a_before_hook_can_replace_the_arguments_in_place_or_with_a_new_request() {
    let in_place = before(|call: &mut ToolCall| call.arguments = json!({"q": "other"}).into());
    let output = in_place.layer(Echo::default()).oneshot(call()).await.unwrap();
    assert_eq!(output.joined_text(), r#"{"q":"other"}"#);

    let anew = before(|call: &mut ToolCall| {
        Verdict::modify(ToolCall::new(call.name.clone(), json!({"q": "new"})))
    });
    let output = anew.layer(Echo::default()).oneshot(call()).await.unwrap();
    assert_eq!(output.joined_text(), r#"{"q":"new"}"#);
}

#[tokio::test]
async fn edits_add_up_from_the_outside_in_and_the_callers_own_handle_stays() {
    let stack = ServiceBuilder::new()
        .layer(before(|call: &mut ToolCall| append(call, "+first")))
        .layer(before(|call: &mut ToolCall| append(call, "+second")))
        .service(Echo::default());
    let ours = call();
    let output = stack.oneshot(ours.clone()).await.unwrap();
    assert_eq!(output.joined_text(), r#"{"q":"base+first+second"}"#);
    assert_eq!(ours.arguments.as_str(), r#"{"q":"base"}"#);
}

#[tokio::test]
async fn after_the_first_denial_no_inner_hook_runs_and_every_outer_one_sees_it() {
    let notes = Notes::default();
    let (outer, inner, above) = (notes.clone(), notes.clone(), notes.clone());
    let stack = ServiceBuilder::new()
        .layer(after(move |output: &mut ToolOutput| note(&above, outcome(output))))
        .layer(before(move |_: &mut ToolCall| note(&outer, "outer before")))
        .layer(before(|_: &mut ToolCall| Denial::new("No.")))
        .layer(before(move |_: &mut ToolCall| note(&inner, "inner before")))
        .service(Echo::default());
    stack.oneshot(call()).await.unwrap();
    assert_eq!(*notes.lock().unwrap(), ["outer before", "denied"]);
}

#[tokio::test]
async fn after_hooks_run_in_reverse_order_and_only_for_layers_that_called_on() {
    let notes = Notes::default();
    let see = |name: &'static str| {
        let notes = notes.clone();
        after(move |_: &mut ToolOutput| note(&notes, name))
    };
    let all = ServiceBuilder::new().layer(see("a")).layer(see("b")).layer(see("c"));
    all.service(Echo::default()).oneshot(call()).await.unwrap();
    assert_eq!(*notes.lock().unwrap(), ["c", "b", "a"]);

    notes.lock().unwrap().clear();
    let stopped = ServiceBuilder::new()
        .layer(see("a"))
        .layer(before(|_: &mut ToolCall| Verdict::answer(ToolOutput::text("cached"))))
        .layer(see("c"))
        .service(Echo::default());
    stopped.oneshot(call()).await.unwrap();
    assert_eq!(*notes.lock().unwrap(), ["a"]);
}

#[tokio::test]
async fn an_after_hook_can_rewrite_the_result() {
    let mask = after(|output: &mut ToolOutput| {
        let masked = output.joined_text().replace("base", "[REDACTED]");
        output.content = vec![Content::text(masked)];
    });
    let output = mask.layer(Echo::default()).oneshot(call()).await.unwrap();
    assert_eq!(output.joined_text(), r#"{"q":"[REDACTED]"}"#);
}

#[tokio::test]
async fn a_cache_that_is_keyed_by_what_its_hook_saw_hits_although_a_later_hook_edits_the_arguments()
{
    let tool = Echo::default();
    let entries = Arc::new(Mutex::new(Vec::<(Json, ToolOutput)>::new()));
    let (found, filled) = (entries.clone(), entries);
    let stack = ServiceBuilder::new()
        .layer(before(move |call: &mut ToolCall| {
            let entries = found.lock().unwrap();
            let hit = entries.iter().find(|(key, _)| *key == call.arguments);
            hit.map_or(Verdict::Allow, |(_, output)| Verdict::answer(output.clone()))
        }))
        .layer(after_call(move |call: &ToolCall, output: &mut ToolOutput| {
            filled.lock().unwrap().push((call.arguments.clone(), output.clone()));
        }))
        .layer(before(|call: &mut ToolCall| append(call, "+default")))
        .service(tool.clone());

    for _ in 0..3 {
        let output = stack.clone().oneshot(call()).await.unwrap();
        assert_eq!(output.joined_text(), r#"{"q":"base+default"}"#);
    }
    assert_eq!(tool.runs(), 1, "two of three calls hit");
}

#[tokio::test]
async fn an_answer_in_the_tools_place_says_that_it_is_one_and_whose_unless_it_says_so_itself() {
    let cached = |origin| {
        before(move |_: &mut ToolCall| {
            let mut output = ToolOutput::text("cached");
            output.provenance.origin = origin;
            Verdict::answer(output)
        })
        .named("cache")
    };
    for (said, seen) in [(Origin::Executed, Origin::Emulated), (Origin::Cached, Origin::Cached)] {
        let output = cached(said).layer(Echo::default()).oneshot(call()).await.unwrap();
        assert_eq!(output.provenance.origin, seen);
        assert_eq!(output.provenance.by.as_deref(), Some("cache"));
    }
}

#[tokio::test]
async fn a_panic_in_a_before_hook_is_an_error_that_names_the_hook_and_says_that_nothing_ran() {
    let tool = Echo::default();
    let hook = before(|_: &mut ToolCall| crash::<()>()).named("audit");
    let error = hook.layer(tool.clone()).oneshot(call()).await.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Hook, Effect::NotStarted));
    assert_eq!(error.layer(), Some("audit"));
    assert_eq!(error.to_string(), "audit: `before` panicked: boom");
    assert!(
        error.model_text().starts_with("The call did not run, because the hook `audit` failed.")
    );
    assert!(!error.model_text().contains("boom"));
    assert_eq!(tool.runs(), 0);
}

#[tokio::test]
async fn an_error_of_a_before_hook_keeps_its_source() {
    let hook = before(|_: &mut ToolCall| Err::<(), _>(NoSuchFile)).named("policy");
    let error = hook.layer(Echo::default()).oneshot(call()).await.unwrap_err();
    assert_eq!((error.kind(), error.layer()), (ErrorKind::Hook, Some("policy")));
    assert!(error.find::<NoSuchFile>().is_some());
}

#[tokio::test]
async fn every_layer_outside_of_a_failed_hook_gets_its_closing_call() {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let seen = errors.clone();
    let stack = ServiceBuilder::new()
        .layer(on_error(move |_: &ToolCall, error: &Error| {
            seen.lock().unwrap().push((error.kind(), error.layer().map(str::to_owned)));
            None
        }))
        .layer(before(|_: &mut ToolCall| crash::<()>()).named("audit"))
        .service(Echo::default());
    stack.oneshot(call()).await.unwrap_err();
    assert_eq!(*errors.lock().unwrap(), [(ErrorKind::Hook, Some("audit".to_owned()))]);
}

#[tokio::test]
async fn a_before_hook_that_fails_open_leaves_no_half_made_edit_behind() {
    let hook = before(|call: &mut ToolCall| {
        append(call, "+half");
        call.ctx.attempt = 7;
        crash::<()>()
    });
    let attempts = before(|call: &mut ToolCall| assert_eq!(call.ctx.attempt, 1));
    let stack = ServiceBuilder::new()
        .layer(hook.fail_mode(FailMode::Open))
        .layer(attempts)
        .service(Echo::default());
    assert_eq!(stack.oneshot(call()).await.unwrap().joined_text(), r#"{"q":"base"}"#);
}

#[tokio::test]
async fn a_before_hook_that_fails_closed_denies_with_a_code_of_its_own() {
    let tool = Echo::default();
    let hook = before(|_: &mut ToolCall| Err::<(), _>("down")).named("guard");
    let stack = hook.fail_mode(FailMode::Closed).layer(tool.clone());
    let output = stack.oneshot(call()).await.unwrap();
    assert_eq!((&*denial(&output).code, &*denial(&output).layer), ("hook_failed", "guard"));
    assert!(output.joined_text().starts_with("The call did not run"));
    assert_eq!(tool.runs(), 0);
}

#[tokio::test]
async fn arguments_that_a_hook_broke_never_reach_the_tool_and_the_blame_is_the_hooks() {
    let edits = ["", "{", r#"{"q":"#, "null", "[1]", r#""text""#];
    for edit in edits {
        let tool = Echo::default();
        let hook = before(move |call: &mut ToolCall| call.arguments = edit.into()).named("editor");
        let error = hook.layer(tool.clone()).oneshot(call()).await.unwrap_err();
        assert_eq!((error.kind(), error.layer()), (ErrorKind::Hook, Some("editor")), "{edit}");
        assert_eq!((error.effect(), tool.runs()), (Effect::NotStarted, 0), "{edit}");
    }
}

#[tokio::test]
async fn arguments_that_an_edit_in_place_or_a_new_request_broke_are_caught_as_well() {
    let in_place = before(|call: &mut ToolCall| *call.arguments.make_mut().unwrap() = json!([1]));
    in_place.layer(Echo::default()).oneshot(call()).await.unwrap_err();
    let anew = before(|_: &mut ToolCall| Verdict::modify(ToolCall::new("search", "{")));
    anew.layer(Echo::default()).oneshot(call()).await.unwrap_err();

    let open = before(|call: &mut ToolCall| call.arguments = "{".into()).fail_mode(FailMode::Open);
    let output = open.layer(Echo::default()).oneshot(call()).await.unwrap();
    assert_eq!(output.joined_text(), r#"{"q":"base"}"#);
}

#[tokio::test]
async fn what_the_model_itself_wrote_is_not_the_hooks_fault() {
    let hook = before(|call: &mut ToolCall| call.ctx.attempt += 1);
    let output =
        hook.layer(Echo::default()).oneshot(ToolCall::new("search", "{\"q\"")).await.unwrap();
    assert_eq!(output.joined_text(), "{\"q\"");
}

#[tokio::test]
async fn a_panic_in_an_after_hook_keeps_the_real_result() {
    for mode in [FailMode::Split, FailMode::Open] {
        let hook = after(|_: &mut ToolOutput| crash::<()>()).fail_mode(mode);
        let output = hook.layer(Echo::default()).oneshot(call()).await.unwrap();
        assert_eq!(output, ToolOutput::text(r#"{"q":"base"}"#));
    }
}

#[tokio::test]
async fn a_guard_that_fails_after_the_call_withholds_the_result() {
    let fail = |_: &ToolCall, _: &mut ToolOutput| Err::<(), _>(NoSuchFile);
    let seen = after_call(fail).named("redact").fail_mode(FailMode::Closed);
    let panics =
        after(|_: &mut ToolOutput| crash::<()>()).named("redact").fail_mode(FailMode::Closed);
    let one = seen.layer(Echo::default()).oneshot(call()).await.unwrap();
    let other = panics.layer(Echo::default()).oneshot(call()).await.unwrap();
    for output in [one, other] {
        assert!(!format!("{output:?}").contains("base"), "{output:?}");
        let text = "The call ran, but its result is withheld, because the hook `redact` failed.";
        assert!(output.joined_text().starts_with(text));
        let Outcome::Failed(failure) = &output.outcome else { panic!() };
        assert_eq!((failure.kind, failure.effect), (ErrorKind::Hook, Effect::Completed));
        assert_eq!(failure.layer.as_deref(), Some("redact"));
    }
}

#[tokio::test]
async fn an_observer_that_fails_silences_no_guard_around_it() {
    let masked = after(|output: &mut ToolOutput| output.content = vec![Content::text("masked")]);
    let stack = ServiceBuilder::new()
        .layer(masked)
        .layer(after(|_: &mut ToolOutput| Err::<(), _>("metrics are down")))
        .service(Echo::default());
    assert_eq!(stack.oneshot(call()).await.unwrap().joined_text(), "masked");
}

#[tokio::test]
async fn an_error_hook_can_substitute_a_result_that_mentions_tool_and_cause() {
    let hook = on_error(|call: &ToolCall, error: &Error| {
        Some(ToolOutput::failure(format!("`{}` failed: {error}", call.name)))
    });
    let output = hook.layer(Echo::default()).oneshot(failing()).await.unwrap();
    assert_eq!(output.joined_text(), "`fail` failed: no such file");
    assert!(output.outcome.is_failed());
}

#[tokio::test]
async fn an_error_that_nobody_handles_reaches_the_caller_with_its_identity() {
    let notes = Notes::default();
    let answers = notes.clone();
    let stack = ServiceBuilder::new()
        .layer(on_error(|_: &ToolCall, _: &Error| crash()))
        .layer(after(move |output: &mut ToolOutput| note(&answers, outcome(output))))
        .layer(on_error(|_: &ToolCall, _: &Error| None))
        .service(Echo::default());
    let error = stack.oneshot(failing()).await.unwrap_err();
    assert_eq!((error.kind(), error.layer()), (ErrorKind::Tool, None));
    assert!(error.find::<NoSuchFile>().is_some());
    assert!(notes.lock().unwrap().is_empty(), "there is no answer to see");
}

#[tokio::test]
async fn after_hooks_further_out_see_what_was_put_in_the_place_of_an_error() {
    let notes = Notes::default();
    let asked = notes.clone();
    let stack = ServiceBuilder::new()
        .layer(after(|output: &mut ToolOutput| output.content.push(Content::text("seen"))))
        .layer(on_error(move |_: &ToolCall, _: &Error| {
            note(&asked, "asked");
            None
        }))
        .layer(on_error(|_: &ToolCall, _: &Error| Some(ToolOutput::text("fallback"))))
        .service(Echo::default());
    assert_eq!(stack.oneshot(failing()).await.unwrap().joined_text(), "fallback\nseen");
    assert!(notes.lock().unwrap().is_empty(), "it was handled further in");
}

#[tokio::test]
async fn a_panic_of_the_tool_is_not_taken_for_the_hooks() {
    let stack = ServiceBuilder::new()
        .layer(before(|_: &mut ToolCall| ()))
        .layer(after(|_: &mut ToolOutput| ()))
        .service(Echo::default());
    let call = stack.oneshot(ToolCall::new("crash", "{}"));
    let panic = AssertUnwindSafe(call).catch_unwind().await.unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"boom"));
}

#[tokio::test]
async fn failures_and_denials_count_the_same_whatever_stands_outside_or_inside_of_the_counter() {
    async fn counted(name: &'static str, outside: bool) -> (u32, u32) {
        let (errors, failures) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (saw_error, saw_failure) = (errors.clone(), failures.clone());
        let count = ServiceBuilder::new()
            .layer(on_error(move |_: &ToolCall, _: &Error| {
                saw_error.fetch_add(1, SeqCst);
                None
            }))
            .layer(after(move |output: &mut ToolOutput| {
                saw_failure.fetch_add(u32::from(!output.outcome.is_success()), SeqCst);
            }))
            .into_inner();
        let handle = on_error(|call: &ToolCall, error: &Error| Some(call.failed(error)));
        let (stack, call) = (ServiceBuilder::new(), ToolCall::new(name, "{}"));
        let done = if outside {
            stack.layer(count).layer(handle).service(Echo::default()).oneshot(call).await
        } else {
            stack.layer(handle).layer(count).service(Echo::default()).oneshot(call).await
        };
        done.unwrap();
        (errors.load(SeqCst), failures.load(SeqCst))
    }

    for (outside, seen) in [(false, (1, 0)), (true, (0, 1))] {
        let (errors, failures) = counted("fail", outside).await;
        assert_eq!((errors, failures), seen);
        assert_eq!(errors + failures, 1, "one failing call is one failure");
        assert_eq!(counted("search", outside).await, (0, 0));
    }
}

#[tokio::test]
async fn hooks_of_a_model_edit_the_request_answer_in_its_place_and_see_the_head_of_the_answer() {
    let model = service_fn(|request: ModelRequest| async move {
        let text = request.instructions.unwrap_or_default();
        Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant(text))))
    });
    let stack = ServiceBuilder::new()
        .layer(after_call(|request: &ModelRequest, response: &mut ModelResponse| {
            let seen = request.instructions.clone().unwrap_or_else(|| "none".into());
            response.head.request_id = Some(seen);
        }))
        .layer(before(|request: &mut ModelRequest| {
            if request.model == "cached" {
                let reply = Reply::new(Message::assistant("from the cache"));
                return Verdict::answer(ModelResponse::full(reply));
            }
            request.append_instructions("Answer briefly.");
            Verdict::Allow
        }))
        .service(model);
    for (name, text) in [("demo", "Answer briefly."), ("cached", "from the cache")] {
        let response = stack.clone().oneshot(ModelRequest::new(name, vec![])).await.unwrap();
        assert_eq!(response.head.request_id.as_deref(), Some("none"), "edited further in only");
        assert_eq!(response.body.collect().await.unwrap().message.text(), text);
    }
}

#[tokio::test]
async fn a_stream_that_a_guard_could_not_check_is_withheld_unread() {
    let model = service_fn(|_: ModelRequest| async {
        let events = futures_util::stream::poll_fn(|_| panic!("nobody reads it"));
        Ok::<_, Error>(ModelResponse::stream(events))
    });
    let guard =
        after(|_: &mut ModelResponse| crash::<()>()).named("guard").fail_mode(FailMode::Closed);
    let response = guard.layer(model).oneshot(ModelRequest::new("demo", vec![])).await.unwrap();
    assert!(response.outcome().is_failed());
    let ModelBody::Full(reply) = response.body else { panic!("a fixed text") };
    assert!(reply.message.text().contains("`guard` failed"));
}

#[tokio::test]
async fn hooks_of_a_run_deny_it_and_edit_what_it_is_asked() {
    let agent = service_fn(|run: RunRequest| async move {
        Ok::<_, Error>(run.denied(Denial::new(run.input[0].text())))
    });
    let edit = before(|run: &mut RunRequest| {
        run.input = vec![Message::user("edited")].into();
    });
    let run = edit.layer(agent).oneshot(RunRequest::user("raw")).await.unwrap();
    assert_eq!(run.collect().await.unwrap().text(), "edited");

    let closed = before(|_: &mut RunRequest| Denial::new("Closed.")).named("hours");
    let run: RunResponse = closed.layer(agent).oneshot(RunRequest::user("raw")).await.unwrap();
    assert!(run.outcome().is_denied());
    let transcript = run.collect().await.unwrap();
    assert_eq!((transcript.finish, &*transcript.text()), (Some(RunFinish::Denied), "Closed."));
}

#[test]
fn a_blank_name_leaves_the_blame_with_the_kind_of_hook() {
    let hook = before(|_: &mut ToolCall| ()).named("  ");
    assert!(format!("{hook:?}").contains(r#"name: "before""#));
}
