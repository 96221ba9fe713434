//! Hooks inside of whole runs.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use tower::{Layer, ServiceBuilder, ServiceExt};
use tower_agent::{
    Agent, AllowListLayer, BoxError, Class, Classify, ConcurrencyLimitLayer, Content, Context,
    DefaultClassify, Denial, Error, ErrorKind, FailMode, FinishReason, Json, Message, ModelRequest,
    Outcome, Output, Part, Plugin, PluginLayer, RedactLayer, Reply, ReportErrorsLayer, Role,
    RunEvent, RunFinish, RunRequest, TimeoutLayer, Tool, ToolCall, ToolCallPart, ToolOutput,
    ToolSet, Transcript,
    concurrency_limit::WhenFull,
    hooks::{Next, after, before, before_async, from_fn},
};
use tower_agent_test::{ModelHandle, ScriptedModel, StaticTool, Turn};

/// A set of one tool that answers with its arguments, and the tool.
fn echo<L, S>(layer: L) -> (ToolSet, StaticTool)
where
    L: Layer<tower_agent::ToolRouter, Service = S>,
    S: tower::Service<ToolCall, Response = ToolOutput, Error: Into<Error>, Future: Send + 'static>
        + Clone
        + Send
        + Sync
        + 'static,
{
    let tool = StaticTool::echo("echo");
    let set = ToolSet::builder().tool(Tool::new(tool.spec().clone(), tool.clone()));
    (set.layer(layer).build().unwrap(), tool)
}

fn asks_once() -> (ScriptedModel, ModelHandle) {
    let model = ScriptedModel::tool_call("c1", "echo", r#"{"a":1}"#).then(Turn::text("done"));
    let handle = model.handle();
    (model, handle)
}

async fn run(model: ScriptedModel, tools: ToolSet) -> Result<Transcript, Error> {
    let agent = Agent::builder("helper", model).tools(tools).build();
    agent.oneshot(RunRequest::user("go")).await?.collect().await
}

/// The results that the model was given: id, text, and whether it is an error.
fn given(handle: &ModelHandle) -> Vec<(String, String, bool)> {
    let request = handle.last_request().unwrap();
    let parts = request.messages.iter().flat_map(Message::parts);
    let results = parts.filter_map(|part| match part {
        Part::ToolResult(result) => {
            Some((result.call_id.to_string(), result.text(), result.is_error))
        }
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn a_call_that_a_hook_refuses_is_answered_under_its_own_id() {
    let refuse = before(|_: &mut ToolCall| Denial::new("Not on a Sunday."));
    let (tools, tool) = echo(refuse);
    let (model, handle) = asks_once();
    let transcript = run(model, tools).await.unwrap();
    assert_eq!(given(&handle), [("c1".into(), "Not on a Sunday.".into(), true)]);
    assert!(tool.calls().is_empty());
    assert!(transcript.tools[0].output.outcome.is_denied());
}

#[tokio::test]
async fn a_hook_that_panics_leaves_no_call_unanswered() {
    struct Panics(FailMode);
    impl Plugin for Panics {
        fn name(&self) -> &str {
            "panics"
        }
        fn fail_mode(&self) -> FailMode {
            self.0
        }
        async fn before_tool(
            &self,
            _: &mut ToolCall,
        ) -> Result<tower_agent::Verdict<ToolCall>, BoxError> {
            panic!("no idea")
        }
    }
    let (tools, tool) = echo(PluginLayer::new(Panics(FailMode::Split)));
    let error = run(asks_once().0, tools).await.unwrap_err();
    assert_eq!((error.kind(), error.layer()), (ErrorKind::Hook, Some("panics")));
    let so_far = Transcript::of_error(&error).unwrap();
    assert_eq!((so_far.tools.len(), so_far.tools[0].id.as_str()), (1, "c1"));

    let reported = ServiceBuilder::new()
        .layer(ReportErrorsLayer::new())
        .layer(PluginLayer::new(Panics(FailMode::Split)));
    let (tools, reported_tool) = echo(reported);
    let (model, handle) = asks_once();
    run(model, tools).await.unwrap();
    let [(id, text, is_error)] = &given(&handle)[..] else { panic!("one result") };
    assert_eq!((id.as_str(), *is_error), ("c1", true));
    assert!(!text.contains("no idea"), "{text}");

    let (tools, closed_tool) = echo(PluginLayer::new(Panics(FailMode::Closed)));
    let transcript = run(asks_once().0, tools).await.unwrap();
    assert!(transcript.tools[0].output.outcome.is_denied());
    let ran =
        [tool, reported_tool, closed_tool].iter().map(|tool| tool.calls().len()).sum::<usize>();
    assert_eq!(ran, 0);
}

#[tokio::test]
async fn what_an_after_hook_makes_of_a_result_is_what_events_history_and_model_get() {
    let shout = after(|output: &mut ToolOutput| output.content = vec![Content::text("masked")]);
    let (tools, tool) = echo(shout);
    let (model, handle) = asks_once();
    let transcript = run(model, tools).await.unwrap();
    assert_eq!(tool.calls().len(), 1);
    assert_eq!(given(&handle), [("c1".into(), "masked".into(), false)]);
    assert_eq!(transcript.tools[0].output.joined_text(), "masked");
    let stored = serde_json::to_string(&transcript.messages).unwrap();
    assert!(stored.contains("masked"), "{stored}");
}

#[tokio::test]
async fn calls_that_an_after_hook_rewrote_are_those_that_run_and_those_that_are_kept() {
    struct Rewrites;
    impl Plugin for Rewrites {
        fn name(&self) -> &str {
            "rewrites"
        }
        fn edits_replies(&self) -> bool {
            true
        }
        async fn after_model(
            &self,
            _: &ModelRequest,
            reply: &mut Reply,
            _: Duration,
        ) -> Result<(), BoxError> {
            for part in reply.message.parts_mut() {
                if let Part::ToolCall(ToolCallPart { arguments, .. }) = part {
                    *arguments = Json::from_text(r#"{"a":2}"#);
                }
            }
            Ok(())
        }
    }
    for streamed in [false, true] {
        let (tools, tool) = echo(tower::layer::util::Identity::new());
        let model = ScriptedModel::new([
            Turn::tool_call("c1", "echo", r#"{"a":1}"#).streamed(streamed),
            Turn::text("done"),
        ]);
        let agent = Agent::builder("helper", PluginLayer::new(Rewrites).layer(model)).tools(tools);
        let response = agent.build().oneshot(RunRequest::user("go")).await.unwrap();
        let transcript = response.collect().await.unwrap();
        assert_eq!(tool.calls()[0].arguments.as_str(), r#"{"a":2}"#);
        let kept = transcript.messages[1].tool_calls().next().unwrap();
        assert_eq!(kept.arguments.as_str(), r#"{"a":2}"#);
    }
}

#[tokio::test]
async fn an_auditor_outside_sees_every_call_and_what_became_of_it() {
    type Audit = Arc<Mutex<Vec<(String, Class)>>>;
    let audit = Audit::default();
    let (log, refused) = (audit.clone(), ConcurrencyLimitLayer::by_name().for_name("busy", 0));
    let auditor = from_fn(move |call: ToolCall, next: Next<ToolCall>| {
        let log = log.clone();
        async move {
            let id = call.id.to_string();
            let result = next.run(call).await;
            let class = Classify::<ToolCall>::classify(&DefaultClassify, result.as_ref());
            log.lock().unwrap().push((id, class));
            result
        }
    });
    let layers = ServiceBuilder::new()
        .layer(auditor)
        .layer(AllowListLayer::exact(["echo", "busy", "made_up"]))
        .layer(ReportErrorsLayer::new())
        .layer(refused.when_full(WhenFull::Reject));
    let (tools, tool) = echo(layers);
    let calls = [
        ("ran", "echo", "{}", Class::Ok),
        ("broken", "echo", "{", Class::Failed),
        ("unknown", "made_up", "{}", Class::Failed),
        ("denied", "delete", "{}", Class::Denied),
        ("full", "busy", "{}", Class::Failed),
    ];
    let parts = calls
        .map(|(id, name, arguments, _)| Part::ToolCall(ToolCallPart::new(id, name, arguments)));
    let asks = Reply::new(Message::new(Role::Assistant, parts.to_vec()));
    let model = ScriptedModel::new([Turn::reply(asks), Turn::text("done")]);
    let handle = model.handle();
    run(model, tools).await.unwrap();

    let mut seen = audit.lock().unwrap().clone();
    seen.sort();
    let mut expected = calls.map(|(id, _, _, class)| (id.to_owned(), class));
    expected.sort();
    assert_eq!(seen, expected);
    let answered: Vec<_> = given(&handle).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(answered, calls.map(|(id, ..)| id), "each call has its one result");
    assert_eq!(tool.calls().len(), 1);
}

#[tokio::test]
async fn what_was_masked_on_its_way_in_stays_masked_on_every_later_turn() {
    let secret = ["AKIA", "Q3EGRXZ7PL2MVTK5"].concat();
    let model = ScriptedModel::text("hello").repeat_last();
    let handle = model.handle();
    let agent = Agent::builder("helper", model).build();
    let stack = RedactLayer::default().layer(agent);

    let first = RunRequest::user(format!("my key is {secret}"));
    let stored = stack.clone().oneshot(first).await.unwrap().collect().await.unwrap().messages;
    let mut second = RunRequest::user("and now?");
    second.conversation = stored.clone();
    stack.oneshot(second).await.unwrap().collect().await.unwrap();

    assert!(!serde_json::to_string(&stored).unwrap().contains(&secret), "what is stored");
    assert_eq!(handle.calls(), 2);
    for request in handle.requests() {
        assert_eq!(request.messages[0].text(), "my key is [REDACTED:aws-access-key-id]");
    }
}

#[tokio::test]
async fn a_hook_that_fails_on_the_users_message_ends_the_run_before_the_model_is_asked() {
    struct Fails;
    impl Plugin for Fails {
        fn name(&self) -> &str {
            "fails"
        }
        async fn on_user_message(&self, _: &Context, _: &mut Message) -> Result<(), BoxError> {
            Err("no idea".into())
        }
    }
    let model = ScriptedModel::text("hello");
    let handle = model.handle();
    let stack = PluginLayer::new(Fails).layer(Agent::builder("helper", model).build());
    let error = match stack.oneshot(RunRequest::user("go")).await {
        Ok(response) => response.collect().await.unwrap_err(),
        Err(error) => error,
    };
    assert_eq!((error.kind(), error.layer()), (ErrorKind::Hook, Some("fails")));
    assert_eq!(handle.calls(), 0);
}

#[tokio::test]
async fn a_reply_that_says_that_it_failed_ends_the_run_as_failed_and_is_in_its_events() {
    let (tools, tool) = echo(tower::layer::util::Identity::new());
    let failed = Turn::text("The provider broke down.").finish(FinishReason::Error);
    let agent = Agent::builder("helper", ScriptedModel::new([failed])).tools(tools).build();
    let body = agent.oneshot(RunRequest::user("go")).await.unwrap().body;
    let events: Vec<_> = body.into_stream().collect().await;
    let finishes = |event: &Result<RunEvent, Error>| {
        matches!(event, Ok(RunEvent::TurnFinished { finish: FinishReason::Error, .. }))
    };
    assert!(events.iter().any(finishes));
    assert!(matches!(
        events.last(),
        Some(Ok(RunEvent::Finished { finish: RunFinish::Failed, .. }))
    ));
    assert!(tool.calls().is_empty());
}

#[tokio::test]
async fn a_hook_around_a_run_can_add_to_its_answer_and_its_error_reaches_the_caller() {
    let postscript = from_fn(|run: RunRequest, next: Next<RunRequest>| async move {
        if run.input[0].text() == "fail" {
            return Err(Error::new(ErrorKind::Unauthorized, "not you"));
        }
        let response = next.run(run).await?;
        Ok(response.map_stream(|events| {
            Box::pin(events.flat_map(|event| {
                let last = matches!(event, Ok(RunEvent::Finished { .. }));
                let message = Message::assistant("PS: bring an umbrella.");
                let added = last.then_some(Ok(RunEvent::Message { turn: 1, message }));
                stream::iter(added.into_iter().chain([event]))
            }))
        }))
    });
    let agent = Agent::builder("helper", ScriptedModel::text("It rains.")).build();
    let stack = postscript.layer(agent);
    let transcript =
        stack.clone().oneshot(RunRequest::user("go")).await.unwrap().collect().await.unwrap();
    assert_eq!(transcript.text(), "PS: bring an umbrella.");
    assert_eq!(transcript.messages.len(), 3, "the agent's own answer stays");

    let error = stack.oneshot(RunRequest::user("fail")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_outside_of_a_hook_covers_the_hook() {
    let stuck = before_async(|_: ToolCall| std::future::pending::<()>());
    let layers = ServiceBuilder::new()
        .layer(ReportErrorsLayer::new())
        .layer(TimeoutLayer::new(Duration::from_secs(30)))
        .layer(stuck);
    let (tools, tool) = echo(layers);
    let (model, handle) = asks_once();
    let start = tokio::time::Instant::now();
    let transcript = run(model, tools).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(30));
    assert!(given(&handle)[0].2 && tool.calls().is_empty());
    let Outcome::Failed(failure) = &transcript.tools[0].output.outcome else { panic!() };
    assert_eq!(failure.kind, ErrorKind::Timeout);
}
