//! Stories about the loop of model and tools.
#![cfg(test)]

use std::{
    collections::VecDeque,
    future::{Future, pending},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use futures_util::StreamExt;
use tokio::time::{Instant, sleep};
use tower::{Service, ServiceExt, service_fn};
use tower_agent::{
    Agent, BoxError, CallId, Context, Denial, Effect, Error, ErrorKind, Failure, FinishReason,
    Message, ModelEvent, ModelRequest, ModelResponse, Outcome, Part, PartDelta, Reply, Role, Run,
    RunEvent, RunFinish, RunRequest, Str, Suspension, Tool, ToolCall, ToolCallPart, ToolOutput,
    ToolResultPart, ToolSet, ToolSpec, Tools, Transcript, Usage,
};

/// A model that plays a script and remembers what it was asked.
#[derive(Clone, Default)]
struct Script {
    turns: Arc<Mutex<VecDeque<Result<ModelResponse, Error>>>>,
    asked: Arc<Mutex<Vec<ModelRequest>>>,
}

impl Script {
    fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::of(replies.into_iter().map(|reply| Ok(ModelResponse::full(reply))))
    }

    fn of(turns: impl IntoIterator<Item = Result<ModelResponse, Error>>) -> Self {
        Self { turns: Arc::new(Mutex::new(turns.into_iter().collect())), asked: Arc::default() }
    }

    fn asked(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl Service<ModelRequest> for Script {
    type Response = ModelResponse;
    type Error = Error;
    type Future = std::future::Ready<Result<ModelResponse, Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ModelRequest) -> Self::Future {
        self.asked.lock().unwrap().push(request);
        std::future::ready(self.turns.lock().unwrap().pop_front().expect("the script is over"))
    }
}

fn says(text: &str) -> Reply {
    Reply::new(Message::assistant(text))
}

fn calls(calls: &[(&str, &str, &str)]) -> Reply {
    let part = |(id, name, arguments): &(&str, &str, &str)| {
        Part::ToolCall(ToolCallPart::new(*id, *name, *arguments))
    };
    Reply::new(Message::new(Role::Assistant, calls.iter().map(part).collect()))
}

type Handler = Arc<
    dyn Fn(ToolCall) -> Pin<Box<dyn Future<Output = Result<ToolOutput, BoxError>> + Send>>
        + Send
        + Sync,
>;

fn tool<Fut>(name: &str, run: impl Fn(ToolCall) -> Fut + Clone + Send + Sync + 'static) -> ToolSet
where
    Fut: Future<Output = Result<ToolOutput, BoxError>> + Send + 'static,
{
    let handler: Handler = Arc::new(move |call| Box::pin(run(call)));
    let tool = Tool::raw(ToolSpec::new(name, "A tool of the test"), move |call| handler(call));
    ToolSet::builder().tool(tool).build().unwrap()
}

fn echo() -> ToolSet {
    tool("echo", |call| async move { Ok(ToolOutput::text(call.arguments.as_str())) })
}

async fn run(model: &Script, tools: ToolSet) -> Result<Transcript, Error> {
    let agent = Agent::builder("tester", model.clone()).model("m").tools(tools).build();
    agent.oneshot(RunRequest::user("go")).await?.collect().await
}

fn result_ids(request: &ModelRequest) -> Vec<CallId> {
    results(request).into_iter().map(|result| result.call_id).collect()
}

fn results(request: &ModelRequest) -> Vec<ToolResultPart> {
    let parts = request.messages.iter().flat_map(|message| message.parts());
    parts
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some(result.clone()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn tools_run_until_the_model_asks_for_no_more() {
    let model = Script::new([
        calls(&[("1", "echo", r#"{"a":1}"#)]).with_usage(Usage::new(10, 5)),
        calls(&[("2", "echo", r#"{"a":2}"#)]).with_usage(Usage::new(20, 5)),
        says("done").with_usage(Usage::new(30, 5)),
    ]);
    let transcript = run(&model, echo()).await.unwrap();

    assert_eq!(transcript.text(), "done");
    assert_eq!(transcript.finish, Some(RunFinish::Answered));
    assert_eq!((transcript.turns, transcript.usage), (3, Usage::new(60, 15)));
    assert_eq!(transcript.messages.len(), 6, "user, call, result, call, result, answer");
    let last = model.asked().pop().unwrap();
    assert_eq!(last.messages.len(), 5);
    assert_eq!(
        results(&last).iter().map(ToolResultPart::text).collect::<Vec<_>>(),
        [r#"{"a":1}"#, r#"{"a":2}"#]
    );
}

#[tokio::test]
async fn arguments_reach_the_tool_byte_for_byte_and_none_are_an_empty_object() {
    let text = r#"{ "big": 9007199254740993,  "b":1, "a":2, "a":3 }"#;
    let model = Script::new([
        calls(&[("1", "echo", text), ("2", "echo", ""), ("3", "echo", " \n")]),
        says("ok"),
    ]);
    run(&model, echo()).await.unwrap();
    let got: Vec<_> = results(&model.asked()[1]).iter().map(ToolResultPart::text).collect();
    assert_eq!(got, [text, "{}", "{}"]);
}

#[tokio::test]
async fn malformed_cut_off_or_foreign_arguments_are_answered_and_never_run_the_tool() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = runs.clone();
    let tools = tool("write", move |_| {
        counter.fetch_add(1, SeqCst);
        async { Ok(ToolOutput::text("written")) }
    });
    let cases = [
        (r#"{"path":"a.txt","content":"line 1"#, "cut off"),
        (r#"{"path": oops}"#, "line 1 column"),
        ("[1]", "not a JSON object"),
        ("null", "not a JSON object"),
    ];
    for (arguments, says_why) in cases {
        let mut cut = calls(&[("1", "write", arguments)]);
        cut.finish = FinishReason::Length;
        let model = Script::new([cut, says("ok")]);
        let transcript = run(&model, tools.clone()).await.unwrap();
        let output = &transcript.tools[0].output;
        assert!(output.joined_text().contains(says_why), "{arguments}: {}", output.joined_text());
        let Outcome::Failed(failure) = &output.outcome else { panic!("{:?}", output.outcome) };
        assert_eq!(
            (failure.kind, failure.effect),
            (ErrorKind::InvalidArguments, Effect::NotStarted)
        );
    }
    assert_eq!(runs.load(SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn results_go_back_in_call_order_while_events_come_as_calls_complete() {
    let tools = tool("read", |call: ToolCall| async move {
        let millis = call.arguments.value().unwrap()["ms"].as_u64().unwrap();
        sleep(Duration::from_millis(millis)).await;
        Ok(ToolOutput::text(millis.to_string()))
    });
    let asked = [
        ("a", "read", r#"{"ms":40}"#),
        ("b", "read", r#"{"ms":1}"#),
        ("c", "read", r#"{"ms":15}"#),
    ];
    let model = Script::new([calls(&asked), says("ok")]);
    let start = Instant::now();
    let transcript = run(&model, tools).await.unwrap();

    assert_eq!(start.elapsed(), Duration::from_millis(40), "they ran at the same time");
    assert_eq!(result_ids(&model.asked()[1]), ["a".into(), "b".into(), CallId::from("c")]);
    let completed: Vec<_> = transcript.tools.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(completed, ["b", "c", "a"]);
    assert_eq!(transcript.tools[0].took, Duration::from_millis(1));
}

/// Counts how many calls run at once.
fn crowded(one_at_a_time: bool) -> (ToolSet, Arc<AtomicUsize>) {
    let (now, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = peak.clone();
    let tool = Tool::raw(ToolSpec::new("work", "Works"), move |_| {
        let (now, peak) = (now.clone(), peak.clone());
        async move {
            peak.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
            sleep(Duration::from_millis(10)).await;
            now.fetch_sub(1, SeqCst);
            "worked"
        }
    });
    let tool = if one_at_a_time { tool.one_at_a_time() } else { tool };
    (ToolSet::builder().tool(tool).build().unwrap(), seen)
}

#[tokio::test(start_paused = true)]
async fn at_most_eight_calls_run_at_once_and_only_one_of_a_tool_that_wants_it_so() {
    let ids: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    let asked: Vec<_> = ids.iter().map(|id| (id.as_str(), "work", "{}")).collect();
    for (one_at_a_time, expected) in [(false, 8), (true, 1)] {
        let (tools, peak) = crowded(one_at_a_time);
        let model = Script::new([calls(&asked), says("ok")]);
        let transcript = run(&model, tools).await.unwrap();
        assert_eq!(transcript.tools.len(), 20);
        assert_eq!(peak.load(SeqCst), expected);
    }
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_names_that_there_are_through_the_layers_of_the_set() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let watch = tower::util::MapRequestLayer::new(move |call: ToolCall| {
        log.lock().unwrap().push((call.name.clone(), call.spec.is_some()));
        call
    });
    let known = |name| Tool::raw(ToolSpec::new(name, ""), |_| async { "ran" });
    let tools = ToolSet::builder()
        .tool(known("web_search"))
        .tool(known("read_file"))
        .layer(watch)
        .build()
        .unwrap();
    let model =
        Script::new([calls(&[("1", "search_web", "{}"), ("2", "read_file", "{}")]), says("ok")]);
    let transcript = run(&model, tools).await.unwrap();

    let output = &transcript.tools.iter().find(|record| record.id == "1").unwrap().output;
    assert_eq!(
        output.joined_text(),
        r#"There is no tool "search_web"; nothing ran. The tools are: web_search, read_file."#
    );
    assert!(output.outcome.is_failed());
    assert_eq!(
        *seen.lock().unwrap(),
        [(Str::from("search_web"), false), (Str::from("read_file"), true)]
    );
}

#[tokio::test]
async fn a_call_that_a_layer_of_the_set_leads_to_another_tool_carries_that_ones_spec() {
    let tell = |name: &str| {
        Tool::raw(ToolSpec::new(name, "Tells its spec"), |call: ToolCall| async move {
            call.spec.map(|spec| spec.name.to_string()).unwrap_or_default()
        })
    };
    let lead = tower::util::MapRequestLayer::new(|mut call: ToolCall| {
        call.name = "new".into();
        call
    });
    let tools = ToolSet::builder().tool(tell("old")).tool(tell("new")).layer(lead).build().unwrap();
    let output = tools.oneshot(ToolCall::new("old", "{}")).await.unwrap();
    assert_eq!(output.joined_text(), "new");
}

#[tokio::test]
async fn two_tools_of_one_name_and_a_tool_without_a_name_cannot_be_built() {
    let named = |name| Tool::raw(ToolSpec::new(name, ""), |_| async { "ran" });
    let twice = ToolSet::builder().tool(named("a")).tool(named("a")).build().unwrap_err();
    assert_eq!(twice.to_string(), r#"two tools are named "a""#);
    let blank = ToolSet::builder().tool(named(" ")).build().unwrap_err();
    assert_eq!(blank.to_string(), "a tool has no name");
}

#[tokio::test]
async fn the_model_is_offered_the_tools_in_the_order_in_which_they_were_added() {
    let named = |name| Tool::raw(ToolSpec::new(name, ""), |_| async { "ran" });
    let tools = ["zoo", "ant", "middle", "bee"].into_iter();
    let set = tools.clone().fold(ToolSet::builder(), |set, name| set.tool(named(name)));
    let model = Script::new([says("ok")]);
    run(&model, set.build().unwrap()).await.unwrap();
    let asked = model.asked();
    let offered: Vec<_> = asked[0].tools.iter().map(|spec| spec.name.to_string()).collect();
    assert!(tools.eq(offered.iter().map(String::as_str)), "{offered:?}");
}

#[tokio::test]
async fn after_the_turn_limit_the_model_has_to_answer_and_the_run_finishes() {
    let turns = (0..39).map(|n| calls(&[(&n.to_string(), "echo", "{}")]));
    let model = Script::new(turns.chain([says("that is all I have")]));
    let transcript = run(&model, echo()).await.unwrap();

    assert_eq!((transcript.finish, transcript.turns), (Some(RunFinish::TurnLimit), 40));
    assert_eq!(transcript.text(), "that is all I have");
    let asked = model.asked();
    assert!(asked[..39].iter().all(|request| request.tools.len() == 1));
    assert!(asked[39].tools.is_empty(), "the last turn withholds the tools");
}

#[tokio::test]
async fn a_model_that_calls_on_when_tools_are_withheld_gets_answers_and_nothing_runs() {
    let model = Script::new([calls(&[("1", "echo", "{}")]), calls(&[("2", "echo", "{}")])]);
    let agent = Agent::builder("tester", model).tools(echo()).max_turns(2).build();
    let transcript = agent.oneshot(RunRequest::user("go")).await.unwrap().collect().await.unwrap();
    assert_eq!(transcript.finish, Some(RunFinish::TurnLimit));
    let Outcome::Failed(failure) = &transcript.tools[1].output.outcome else { panic!() };
    assert_eq!(failure.effect, Effect::NotStarted);
    assert_eq!(transcript.messages.len(), 5, "every call has its result");
}

#[tokio::test]
async fn calls_of_a_reply_that_was_refused_or_failed_are_answered_and_do_not_run() {
    let ends: [(Outcome, RunFinish); 2] = [
        (Denial::new("no").into(), RunFinish::Denied),
        (Failure::new(ErrorKind::Other, Effect::Unknown).into(), RunFinish::Failed),
    ];
    for (outcome, finish) in ends {
        let mut response = ModelResponse::full(calls(&[("1", "echo", "{}")]));
        response.head.outcome = outcome;
        let transcript = run(&Script::of([Ok(response)]), echo()).await.unwrap();
        assert_eq!(transcript.finish, Some(finish));
        let Outcome::Failed(failure) = &transcript.tools[0].output.outcome else { panic!() };
        assert_eq!(failure.effect, Effect::NotStarted);
        assert_eq!(transcript.messages.len(), 3, "the call has its result");
    }
}

#[tokio::test]
async fn a_tool_that_panics_is_answered_and_its_siblings_are_not_disturbed() {
    let tools = tool("render", |call: ToolCall| async move {
        assert!(call.id != "1", "boom {}", "sk-secret");
        Ok(ToolOutput::text("done"))
    });
    let model = Script::new([calls(&[("1", "render", "{}"), ("2", "render", "{}")]), says("ok")]);
    let transcript = run(&model, tools).await.unwrap();
    let answers = results(&model.asked()[1]);
    assert!(answers[0].is_error && !answers[1].is_error);
    assert!(answers[0].text().contains("render") && !answers[0].text().contains("sk-secret"));
    assert_eq!(transcript.finish, Some(RunFinish::Answered));
}

#[derive(Debug)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("connection refused")
    }
}

impl std::error::Error for Refused {}

#[tokio::test(start_paused = true)]
async fn an_error_that_no_layer_answers_ends_the_run_with_its_source_and_the_transcript_so_far() {
    let tools = tool("fetch", |call: ToolCall| async move {
        match call.id.as_str() {
            "1" => Ok(ToolOutput::text("fine")),
            "2" => {
                sleep(Duration::from_millis(5)).await;
                Err(BoxError::from(Refused))
            }
            _ => pending().await,
        }
    });
    let model =
        Script::new([calls(&[("1", "fetch", "{}"), ("2", "fetch", "{}"), ("3", "fetch", "{}")])]);
    let error = run(&model, tools).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Tool);
    assert!(error.find::<Refused>().is_some());
    let transcript = Transcript::of_error(&error).unwrap();
    let outcomes: Vec<_> = transcript
        .tools
        .iter()
        .map(|record| (record.id.as_str(), record.output.outcome.as_str()))
        .collect();
    assert_eq!(outcomes, [("1", "success"), ("2", "failed"), ("3", "failed")]);
    assert_eq!(transcript.messages.len(), 5, "every call of the history has its result");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_batch_answers_every_id_and_tells_what_had_started() {
    let (tools, _) = {
        let tool = Tool::raw(ToolSpec::new("step", "Steps"), |call: ToolCall| async move {
            if call.id == "2" {
                pending::<()>().await;
            }
            "stepped"
        });
        (ToolSet::builder().tool(tool.one_at_a_time()).build().unwrap(), ())
    };
    let model =
        Script::new([calls(&[("1", "step", "{}"), ("2", "step", "{}"), ("3", "step", "{}")])]);
    let ctx = Run::builder("r1").build();
    let token = ctx.cancellation().clone();
    let agent = Agent::builder("tester", model).tools(tools).build();
    let mut body = agent.oneshot(RunRequest::user("go").with_context(ctx)).await.unwrap().body;

    let mut transcript = Transcript::default();
    let error = loop {
        match body.next().await.unwrap() {
            Ok(event) => {
                transcript.push(&event);
                if matches!(&event, RunEvent::ToolStarted { id, .. } if *id == "2") {
                    token.cancel();
                }
            }
            Err(error) => break error,
        }
    };
    assert!(error.is_cancelled());
    assert!(body.next().await.is_none());
    let effects: Vec<_> = transcript
        .tools
        .iter()
        .map(|record| match &record.output.outcome {
            Outcome::Failed(failure) => Some((failure.kind, failure.effect)),
            _ => None,
        })
        .collect();
    let interrupted = Some((ErrorKind::Cancelled, Effect::Unknown));
    let never = Some((ErrorKind::Cancelled, Effect::NotStarted));
    assert_eq!(effects, [None, interrupted, never]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_run_reaches_model_and_tools() {
    let slow = tool("slow", |call: ToolCall| async move {
        assert!(call.ctx.deadline().is_some());
        pending().await
    });
    let deadline = (Instant::now() + Duration::from_secs(3)).into_std();
    let model = Script::new([calls(&[("1", "slow", "{}")])]);
    let request =
        || RunRequest::user("go").with_context(Run::builder("r1").deadline(deadline).build());
    let agent = Agent::builder("tester", model).tools(slow).build();
    let error = agent.oneshot(request()).await.unwrap().collect().await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(Transcript::of_error(&error).unwrap().tools.len(), 1);

    let silent = service_fn(|_: ModelRequest| pending::<Result<ModelResponse, Error>>());
    let agent = Agent::builder("tester", silent).build();
    assert!(agent.oneshot(request()).await.unwrap().collect().await.unwrap_err().is_timeout());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_run_drops_what_runs_and_nothing_goes_on() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let counter = drops.clone();
    let tools = tool("hang", move |_| {
        let guard = Dropped(counter.clone());
        async move {
            let _guard = guard;
            pending().await
        }
    });
    let model = Script::new([calls(&[("1", "hang", "{}"), ("2", "hang", "{}")])]);
    let agent = Agent::builder("tester", model.clone()).tools(tools).build();
    let mut body = agent.oneshot(RunRequest::user("go")).await.unwrap().body;
    let running = async { while body.next().await.is_some() {} };
    assert!(
        tokio::time::timeout(Duration::from_secs(1), running).await.is_err(),
        "both calls hang"
    );
    assert_eq!(drops.load(SeqCst), 0);
    drop(body);
    assert_eq!(drops.load(SeqCst), 2);
    assert_eq!(model.asked().len(), 1);
}

#[tokio::test]
async fn a_streamed_reply_comes_out_piece_by_piece_and_a_whole_one_does_too() {
    let pieces = ["Hel", "lo"]
        .map(|text| Ok(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) }));
    let events = pieces.into_iter().chain([Ok(ModelEvent::Finish { reason: FinishReason::Stop })]);
    let streamed = ModelResponse::stream(futures_util::stream::iter(events.collect::<Vec<_>>()));
    for (response, expected) in
        [(streamed, vec!["Hel", "lo"]), (ModelResponse::full(says("Hello")), vec!["Hello"])]
    {
        let agent = Agent::builder("tester", Script::of([Ok(response)])).build();
        let body = agent.oneshot(RunRequest::user("go").streamed()).await.unwrap().body;
        let events: Vec<_> = body.map(Result::unwrap).collect().await;
        let deltas: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                RunEvent::Model { event: ModelEvent::PartDelta { delta, .. }, .. } => {
                    Some(delta.text().as_str())
                }
                _ => None,
            })
            .collect();
        assert_eq!(deltas, expected);
        assert!(matches!(
            events.last(),
            Some(RunEvent::Finished { finish: RunFinish::Answered, .. })
        ));
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_around_an_agent_leaves_no_call_without_an_output() {
    let model = Script::new([calls(&[("1", "hang", "{}")])]);
    let agent = Agent::builder("tester", model).tools(tool("hang", |_| pending())).build();
    let limited = tower_agent::TimeoutLayer::new(Duration::from_secs(1));
    let stack = tower::ServiceBuilder::new().layer(limited).service(agent);
    let start = Instant::now();
    let error = stack.oneshot(RunRequest::user("go")).await.unwrap().collect().await.unwrap_err();
    assert_eq!((error.kind(), start.elapsed()), (ErrorKind::Timeout, Duration::from_secs(1)));
    let transcript = Transcript::of_error(&error).unwrap();
    assert_eq!((transcript.tools.len(), transcript.messages.len()), (1, 3));
}

#[tokio::test]
async fn what_a_reply_used_that_breaks_off_is_not_lost() {
    let events = vec![
        Ok(ModelEvent::Usage { usage: Usage::new(5, 5) }),
        Err(Error::new(ErrorKind::Upstream { status: Some(502) }, "bad gateway")),
    ];
    let broken = Ok(ModelResponse::stream(futures_util::stream::iter(events)));
    let error = run(&Script::of([broken]), echo()).await.unwrap_err();
    assert_eq!(Transcript::of_error(&error).unwrap().usage, Usage::new(5, 5));
}

#[tokio::test]
async fn a_run_that_was_refused_on_the_way_does_not_count_as_a_success() {
    let mut response = ModelResponse::full(says("no"));
    response.head.outcome = Denial::new("no").into();
    let metrics = tower_agent::MetricsLayer::new();
    let agent = Agent::builder("tester", Script::of([Ok(response)])).build();
    let stack = tower::ServiceBuilder::new().layer(metrics.clone()).service(agent);
    let ctx = Run::builder("r1").agent("tester").build();
    let request = RunRequest::user("go").with_context(ctx);
    stack.oneshot(request).await.unwrap().collect().await.unwrap();
    let snapshot = metrics.registry().snapshot();
    let counted = snapshot.find(tower_agent::OperationKind::Run, "tester").unwrap();
    assert_eq!(counted.count(tower_agent::Class::Denied), 1);
}

#[tokio::test]
async fn half_a_reply_is_an_error_and_the_usage_so_far_is_not_lost() {
    let first = Ok(ModelResponse::full(calls(&[("1", "echo", "{}")]).with_usage(Usage::new(7, 1))));
    let half = vec![Ok(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("Hel".into()) })];
    let half = Ok(ModelResponse::stream(futures_util::stream::iter(half)));
    let error = run(&Script::of([first, half]), echo()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert_eq!(Transcript::of_error(&error).unwrap().usage, Usage::new(7, 1));
}

#[tokio::test]
async fn calls_without_an_id_or_with_one_twice_are_told_apart() {
    let asked =
        [("", "echo", r#"{"n":1}"#), ("x", "echo", r#"{"n":2}"#), ("x", "echo", r#"{"n":3}"#)];
    let model = Script::new([calls(&asked), says("ok")]);
    run(&model, echo()).await.unwrap();
    let request = &model.asked()[1];
    let called: Vec<_> = request.messages[1].tool_calls().map(|call| call.id.clone()).collect();
    assert_eq!(called, ["call_1_1".into(), "x".into(), CallId::from("call_1_2")]);
    assert_eq!(result_ids(request), called);
}

#[tokio::test]
async fn an_id_that_comes_again_in_a_later_turn_is_replaced() {
    let again = || calls(&[("1", "echo", "{}"), ("call_2_1", "echo", "{}")]);
    let model = Script::new([again(), again(), says("ok")]);
    let transcript = run(&model, echo()).await.unwrap();
    let expected = ["1", "call_2_1", "call_2_2", "call_2_3"].map(CallId::from);
    let mut answered: Vec<_> = transcript.tools.iter().map(|record| record.id.clone()).collect();
    answered.sort_unstable();
    assert_eq!(answered, expected, "every id has one output in the whole run");
    assert_eq!(result_ids(&model.asked()[2]), expected);
}

#[tokio::test]
async fn text_beside_a_call_and_pictures_in_a_result_survive() {
    let picture = tower_agent::Content::Image(tower_agent::Media {
        source: tower_agent::MediaSource::Base64("aGk=".into()),
        mime_type: Some("image/png".into()),
        extra: Some(r#"{"_meta": {"n":1e2}}"#.into()),
    });
    let output = picture.clone();
    let tools = tool("draw", move |_| {
        let output = output.clone();
        async move { Ok(tower_agent::IntoToolOutput::into_tool_output(vec![output])?) }
    });
    let beside = Message::new(
        Role::Assistant,
        vec![Part::text("I will draw."), Part::ToolCall(ToolCallPart::new("1", "draw", "{}"))],
    );
    let model = Script::new([Reply::new(beside), says("ok")]);
    run(&model, tools).await.unwrap();
    let request = &model.asked()[1];
    assert_eq!(request.messages[1].text(), "I will draw.");
    assert_eq!(results(request)[0].content, [picture]);
}

#[tokio::test]
async fn a_call_that_waits_for_somebody_suspends_the_run_and_survives_as_json() {
    let tools = tool("pay", |_| async {
        let suspension = Suspension::new("approval", "a-1", "A person has to agree")
            .request(r#"{"sum": 10.50}"#);
        Ok(ToolOutput::text("Waiting for approval.").with_outcome(suspension))
    });
    let model = Script::new([calls(&[("1", "pay", r#"{ "sum":10.50 }"#)])]);
    let transcript = run(&model, tools).await.unwrap();
    assert_eq!(transcript.finish, Some(RunFinish::Suspended));
    assert_eq!(transcript.messages.len(), 2, "the call has no result yet");
    let stored = serde_json::to_string(&transcript).unwrap();
    let read: Transcript = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, transcript);
    assert_eq!(read.tools[0].arguments.as_str(), r#"{ "sum":10.50 }"#);
}

#[tokio::test]
async fn an_agent_is_a_tool_and_its_run_is_nested_under_the_parents() {
    let inner_model = service_fn(|request: ModelRequest| async move {
        let run = request.ctx.run();
        let parent = run.parent().unwrap();
        let text = format!(
            "{} of {} for {} in call {}: {}",
            run.agent(),
            parent.agent(),
            run.user().unwrap(),
            run.parent_call().unwrap(),
            request.messages[0].text()
        );
        request.ctx.state().set("seen", 1).unwrap();
        Ok::<_, Error>(ModelResponse::full(says(&text).with_usage(Usage::new(3, 4))))
    });
    let helper =
        Agent::builder("helper", inner_model).build().into_tool("ask_helper", "Asks the helper");
    let tools = ToolSet::builder().tool(helper).build().unwrap();
    let model = Script::new([calls(&[("c7", "ask_helper", r#"{"input":"hi"}"#)]), says("ok")]);
    let agent = Agent::builder("boss", model.clone()).tools(tools).build();
    let ctx = Run::builder("r1").user("ada").build();
    let request = RunRequest::user("go").with_context(ctx.clone());
    let transcript = agent.oneshot(request).await.unwrap().collect().await.unwrap();

    assert_eq!(transcript.tools[0].output.joined_text(), "helper of boss for ada in call c7: hi");
    let meta = transcript.tools[0].output.meta.as_ref().unwrap().value().unwrap();
    assert_eq!(meta["usage"]["output"], 4);
    assert!(!ctx.state().contains("seen"), "a nested run has a state of its own");
}

#[tokio::test]
async fn hooks_see_the_turn_the_run_and_the_spec_of_a_call() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let tools = tool("echo", move |call: ToolCall| {
        let spec = call.spec.as_ref().map(|spec| spec.description.clone());
        log.lock().unwrap().push((call.ctx.turn, call.ctx.run().id().clone(), spec));
        async { Ok(ToolOutput::text("ok")) }
    });
    let model =
        Script::new([calls(&[("1", "echo", "{}")]), calls(&[("2", "echo", "{}")]), says("ok")]);
    let agent = Agent::builder("tester", model).tools(tools).build();
    let request = RunRequest::user("go").with_context(Run::builder("run-9").build());
    agent.oneshot(request).await.unwrap().collect().await.unwrap();
    let spec = Some(Str::from("A tool of the test"));
    assert_eq!(
        *seen.lock().unwrap(),
        [(1, "run-9".into(), spec.clone()), (2, Str::from("run-9"), spec)]
    );
}

#[tokio::test]
async fn a_run_may_only_tighten_the_limits_of_its_agent() {
    for (own, wished, expected) in [(2, Some(1), 1), (2, Some(9), 2), (2, None, 2), (2, Some(0), 1)]
    {
        let model = Script::new((0..9).map(|n| calls(&[(&n.to_string(), "echo", "{}")])));
        let agent = Agent::builder("tester", model).tools(echo()).max_turns(own).build();
        let mut request = RunRequest::user("go");
        request.limits.turns = wished;
        let transcript = agent.oneshot(request).await.unwrap().collect().await.unwrap();
        assert_eq!(transcript.turns, expected);
    }
}

#[tokio::test]
async fn a_history_costs_the_next_turn_one_pointer() {
    let model = Script::new([says("one")]);
    let agent = Agent::builder("tester", model.clone()).build();
    let mut request = RunRequest::user("go");
    request.conversation = (0..100).map(|n| Message::user(n.to_string())).collect();
    let first = request.conversation[0].clone();
    agent.oneshot(request).await.unwrap().collect().await.unwrap();
    assert!(model.asked()[0].messages[0].ptr_eq(&first), "the message is shared, not copied");
}

#[test]
fn an_agent_is_clone_send_and_sync() {
    fn check<T: Clone + Send + Sync>(_: &T) {}
    check(&Agent::builder("tester", Script::default()).tools(echo()).build());
    let _ = Context::default();
}

/// Tools whose clone breaks once their agent runs.
struct BreaksOnClone(Arc<AtomicUsize>);

impl Clone for BreaksOnClone {
    fn clone(&self) -> Self {
        assert_eq!(self.0.fetch_add(1, SeqCst), 0, "no more clones");
        Self(Arc::clone(&self.0))
    }
}

impl Service<ToolCall> for BreaksOnClone {
    type Response = ToolOutput;
    type Error = Error;
    type Future = std::future::Ready<Result<ToolOutput, Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: ToolCall) -> Self::Future {
        std::future::ready(Ok(ToolOutput::text("ran")))
    }
}

#[tokio::test]
async fn tools_that_panic_while_they_are_cloned_are_answered_like_any_panic() {
    let model = Script::new([calls(&[("1", "echo", "{}")]), says("ok")]);
    let mut agent = Agent::builder("tester", model.clone())
        .tool_service(Tools::new(), BreaksOnClone(Arc::default()))
        .build_with_service();
    let run = agent.call(RunRequest::user("go")).await.unwrap().collect().await.unwrap();
    assert_eq!(run.text(), "ok");
    assert!(
        matches!(&run.tools[0].output.outcome, Outcome::Failed(f) if f.kind == ErrorKind::Panic)
    );
}
