//! Stories about plugins: order, verdicts, failures, streams, and the recipes that people port.
#![cfg(test)]

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    Agent, BoxError, Class, Content, Context, Denial, Effect, End, EndReason, Error, ErrorKind,
    FailMode, FinishReason, Json, Media, MediaSource, Message, ModelBody, ModelEvent, ModelRequest,
    ModelResponse, OperationKind, Origin, Outcome, PartDelta, Plugin, PluginLayer, Reply, Run,
    RunEvent, RunRequest, RunResponse, ToolCall, ToolOutput, Usage, Verdict, plugin::BoxPlugin,
};

type Notes = Arc<Mutex<Vec<String>>>;

/// Writes every hook down, and does in each what the test asks for.
#[derive(Clone, Default)]
struct Noted {
    name: &'static str,
    notes: Notes,
    mode: FailMode,
    before: Option<fn() -> Result<Verdict<ToolCall>, BoxError>>,
    after: Option<fn(&mut ToolOutput) -> Result<(), BoxError>>,
    on_error: Option<fn(&ToolCall, &Error) -> Option<ToolOutput>>,
}

impl Noted {
    fn new(name: &'static str, notes: &Notes) -> Self {
        Self { name, notes: notes.clone(), ..Self::default() }
    }

    fn note(&self, hook: &str) {
        self.notes.lock().unwrap().push(format!("{hook} {}", self.name));
    }
}

impl Plugin for Noted {
    fn name(&self) -> &str {
        self.name
    }

    fn fail_mode(&self) -> FailMode {
        self.mode
    }

    async fn before_tool(&self, _: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        self.note("before");
        self.before.map_or(Ok(Verdict::Allow), |before| before())
    }

    async fn after_tool(
        &self,
        _: &ToolCall,
        output: &mut ToolOutput,
        _: Duration,
    ) -> Result<(), BoxError> {
        self.note("after");
        self.after.map_or(Ok(()), |after| after(output))
    }

    async fn on_tool_error(
        &self,
        call: &ToolCall,
        error: &Error,
    ) -> Result<Option<ToolOutput>, BoxError> {
        self.note("error");
        Ok(self.on_error.and_then(|answer| answer(call, error)))
    }

    async fn before_run(&self, _: &mut RunRequest) -> Result<Verdict<RunRequest>, BoxError> {
        self.note("before_run");
        Ok(Verdict::Allow)
    }

    async fn on_user_message(&self, _: &Context, _: &mut Message) -> Result<(), BoxError> {
        self.note("message");
        Ok(())
    }

    async fn on_event(&self, _: &Context, event: &mut RunEvent) -> Result<(), BoxError> {
        if matches!(event, RunEvent::Finished { .. }) {
            self.note("event");
        }
        Ok(())
    }

    fn after_run(&self, _: &RunRequest, end: &End) {
        let reason = match end.reason {
            EndReason::Complete(_) => "complete",
            EndReason::Failed(_) => "failed",
            EndReason::Dropped => "dropped",
            _ => "cut",
        };
        self.note(&format!("after_run {reason}"));
    }

    fn on_dropped(&self, kind: OperationKind, _: &Context) {
        self.note(&format!("dropped {kind}"));
    }
}

fn notes(notes: &Notes) -> Vec<String> {
    std::mem::take(&mut *notes.lock().unwrap())
}

/// A tool that answers with its arguments and counts its runs.
fn echo(
    runs: &Arc<AtomicUsize>,
) -> impl Service<ToolCall, Response = ToolOutput, Error = Error, Future: Send> + Clone + use<> {
    let runs = runs.clone();
    service_fn(move |call: ToolCall| {
        runs.fetch_add(1, SeqCst);
        async move { Ok(ToolOutput::text(call.arguments.as_str())) }
    })
}

async fn call<P: Plugin>(plugins: P, runs: &Arc<AtomicUsize>) -> Result<ToolOutput, Error> {
    ServiceBuilder::new()
        .layer(PluginLayer::new(plugins))
        .service(echo(runs))
        .oneshot(ToolCall::new("echo", r#"{"a":1}"#))
        .await
}

async fn fail<P: Plugin>(plugins: P) -> Result<ToolOutput, Error> {
    let tool = service_fn(|_: ToolCall| async {
        Err::<ToolOutput, _>(Error::new(ErrorKind::Tool, "out of paper"))
    });
    ServiceBuilder::new()
        .layer(PluginLayer::new(plugins))
        .service(tool)
        .oneshot(ToolCall::new("print", "{}"))
        .await
}

#[tokio::test]
async fn before_hooks_run_in_order_and_after_hooks_in_reverse_in_tuples_lists_and_layers() {
    let log = Notes::default();
    let runs = Arc::default();
    let [a, b, c] = ["a", "b", "c"].map(|name| Noted::new(name, &log));
    let expected = ["before a", "before b", "before c", "after c", "after b", "after a"];

    call((a.clone(), b.clone(), c.clone()), &runs).await.unwrap();
    assert_eq!(notes(&log), expected);
    call((a.clone(), (b.clone(), c.clone())), &runs).await.unwrap();
    assert_eq!(notes(&log), expected, "a tuple of plugins is a plugin");
    let boxed: Vec<_> = [&a, &b, &c].map(|plugin| BoxPlugin::new(plugin.clone())).into();
    call(boxed, &runs).await.unwrap();
    assert_eq!(notes(&log), expected);

    let layers = ServiceBuilder::new()
        .layer(PluginLayer::new(a))
        .layer(PluginLayer::new(b))
        .layer(PluginLayer::new(c));
    layers.service(echo(&runs)).oneshot(ToolCall::new("echo", "{}")).await.unwrap();
    assert_eq!(notes(&log), expected, "and so are three layers");
}

#[tokio::test]
async fn a_denial_is_a_result_that_stops_the_call_and_is_seen_by_those_outside_it_only() {
    let log = Notes::default();
    let runs = Arc::default();
    let [a, mut b, c] = ["a", "b", "c"].map(|name| Noted::new(name, &log));
    b.before = Some(|| Ok(Denial::new("Not on a Sunday.").into()));
    let output = call((a.clone(), b.clone(), c.clone()), &runs).await.unwrap();
    assert_eq!(output.joined_text(), "Not on a Sunday.");
    let Outcome::Denied(denial) = &output.outcome else { panic!() };
    assert_eq!((denial.layer.as_ref(), output.provenance.origin), ("b", Origin::Denied));
    assert_eq!(notes(&log), ["before a", "before b", "after a"]);

    b.before = Some(|| Ok(Verdict::deny("")));
    let output = call((a, b, c), &runs).await.unwrap();
    assert!(output.joined_text().contains("`b`"), "a denial without a message names who denied");
    assert_eq!(runs.load(SeqCst), 0);
}

#[tokio::test]
async fn an_answer_in_place_of_the_tool_says_who_gave_it() {
    let log = Notes::default();
    let runs = Arc::default();
    let mut a = Noted::new("a", &log);
    a.before = Some(|| Ok(Verdict::answer(ToolOutput::text("from memory"))));
    let output = call((a, Noted::new("b", &log)), &runs).await.unwrap();
    assert_eq!(output.joined_text(), "from memory");
    assert_eq!(
        (output.provenance.origin, output.provenance.by.as_deref()),
        (Origin::Emulated, Some("a"))
    );
    assert_eq!((runs.load(SeqCst), notes(&log)), (0, vec!["before a".to_owned()]));
}

#[tokio::test]
async fn edits_of_arguments_and_results_accumulate() {
    struct Adds(&'static str);
    impl Plugin for Adds {
        fn name(&self) -> &str {
            self.0
        }
        async fn before_tool(&self, call: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
            call.arguments.make_mut()?[self.0] = true.into();
            Ok(Verdict::Allow)
        }
        async fn after_tool(
            &self,
            _: &ToolCall,
            output: &mut ToolOutput,
            _: Duration,
        ) -> Result<(), BoxError> {
            output.content.push(Content::text(format!("+{}", self.0)));
            Ok(())
        }
    }
    let output = call((Adds("x"), Adds("y")), &Arc::default()).await.unwrap();
    assert_eq!(output.joined_text(), "{\"a\":1,\"x\":true,\"y\":true}\n+y\n+x");
}

#[tokio::test]
async fn a_failing_before_hook_does_what_its_fail_mode_says_and_names_plugin_and_hook() {
    let runs: Arc<AtomicUsize> = Arc::default();
    let failures: [fn() -> Result<Verdict<ToolCall>, BoxError>; 2] =
        [|| Err("no database".into()), || panic!("no database")];
    for fails in failures {
        let log = Notes::default();
        let mut plugin = Noted { before: Some(fails), ..Noted::new("auth", &log) };
        let outer = Noted::new("outer", &log);

        let error = call((outer.clone(), plugin.clone()), &runs).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.effect(), error.layer()),
            (ErrorKind::Hook, Effect::NotStarted, Some("auth"))
        );
        assert!(error.to_string().contains("before_tool"), "{error}");
        let cause = std::error::Error::source(&error).unwrap();
        assert!(cause.to_string().contains("no database"), "{cause}");
        assert!(!error.model_text().contains("database"));
        assert_eq!(
            notes(&log),
            ["before outer", "before auth", "error outer"],
            "outer plugins see the error"
        );

        plugin.mode = FailMode::Closed;
        let output = call((outer.clone(), plugin.clone()), &runs).await.unwrap();
        let Outcome::Denied(denial) = &output.outcome else { panic!() };
        assert_eq!((denial.layer.as_ref(), denial.code.as_ref()), ("auth", "hook_failed"));
        assert_eq!(runs.load(SeqCst), 0);

        plugin.mode = FailMode::Open;
        let output = call((outer, plugin), &runs).await.unwrap();
        assert_eq!((output.joined_text().as_str(), runs.swap(0, SeqCst)), (r#"{"a":1}"#, 1));
    }
}

#[tokio::test]
async fn a_failing_after_hook_keeps_the_result_and_that_of_a_guard_withholds_it() {
    let failures: [fn(&mut ToolOutput) -> Result<(), BoxError>; 2] =
        [|_| Err("no disk".into()), |_| panic!("no disk")];
    for fails in failures {
        let log = Notes::default();
        let runs = Arc::default();
        let mut inner = Noted { after: Some(fails), ..Noted::new("metrics", &log) };
        let outer = Noted {
            after: Some(|output| {
                output.content.push(Content::text("seen"));
                Ok(())
            }),
            ..Noted::new("outer", &log)
        };
        let output = call((outer.clone(), inner.clone()), &runs).await.unwrap();
        assert_eq!(
            output.joined_text(),
            "{\"a\":1}\nseen",
            "the result stays and the others still run"
        );

        inner.mode = FailMode::Closed;
        let output = call((outer, inner), &runs).await.unwrap();
        assert!(!output.joined_text().contains(r#"{"a":1}"#));
        assert!(output.outcome.is_failed());
    }
}

#[tokio::test]
async fn an_error_hook_answers_for_the_tool_and_later_ones_see_a_result() {
    let log = Notes::default();
    let [a, mut b, c] = ["a", "b", "c"].map(|name| Noted::new(name, &log));
    b.on_error =
        Some(|call, error| Some(ToolOutput::failure(format!("{} failed: {error}", call.name))));
    let output = fail((a.clone(), b, c.clone())).await.unwrap();
    assert_eq!(output.joined_text(), "print failed: out of paper");
    let provenance = &output.provenance;
    assert_eq!((provenance.origin, provenance.by.as_deref()), (Origin::Emulated, Some("b")));
    let order = ["before a", "before b", "before c", "error c", "error b", "after b", "after a"];
    assert_eq!(notes(&log), order);

    let error = fail((a, c)).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Tool, "out of paper"),
        "unhandled, it keeps its identity"
    );
    assert_eq!(notes(&log), ["before a", "before c", "error c", "error a"]);
}

#[tokio::test]
async fn a_hook_that_makes_invalid_arguments_is_blamed_and_the_tool_does_not_run() {
    struct Breaks(&'static str);
    impl Plugin for Breaks {
        fn name(&self) -> &str {
            "breaks"
        }
        async fn before_tool(&self, call: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
            call.arguments = self.0.into();
            Ok(Verdict::Allow)
        }
    }
    for arguments in ["", "{", "[]", "null"] {
        let runs = Arc::default();
        let error = call((Breaks(arguments),), &runs).await.unwrap_err();
        assert_eq!((error.layer(), runs.load(SeqCst)), (Some("breaks"), 0), "{arguments}");
    }
}

#[tokio::test]
async fn names_that_are_blank_or_occur_twice_are_told_apart() {
    let log = Notes::default();
    let layer =
        PluginLayer::new((Noted::new("a", &log), Noted::new("", &log), Noted::new("a", &log)));
    assert_eq!(layer.names(), ["a", "plugin#2", "a#3"]);
    assert_eq!(format!("{layer:?}"), r#"PluginLayer(["a", "plugin#2", "a#3"])"#);
    assert!(PluginLayer::new(Vec::<BoxPlugin>::new()).names().is_empty());

    let taken = ["a", "a", "a#2", ""].map(|name| BoxPlugin::new(Noted::new(name, &log)));
    assert_eq!(PluginLayer::new(Vec::from(taken)).names(), ["a", "a#2", "a#2#3", "plugin#4"]);
}

#[tokio::test]
async fn no_plugins_and_plugins_without_hooks_change_nothing() {
    struct Nothing;
    impl Plugin for Nothing {
        fn name(&self) -> &str {
            "nothing"
        }
    }
    let picture = Media {
        source: MediaSource::Base64("aGk=".into()),
        mime_type: Some("image/png".into()),
        extra: None,
    };
    let mut made = ToolOutput::structured(r#"{ "n": 1.50 }"#);
    made.content.push(Content::Image(picture));
    let tool = service_fn(move |_: ToolCall| {
        let output = made.clone();
        async move { Ok::<_, Error>(output) }
    });
    let plain = tool.clone().oneshot(ToolCall::new("t", "{}")).await.unwrap();
    let wrapped = ServiceBuilder::new()
        .layer(PluginLayer::new((Nothing, Nothing)))
        .layer(PluginLayer::new(Vec::<BoxPlugin>::new()));
    let through = wrapped.service(tool).oneshot(ToolCall::new("t", "{}")).await.unwrap();
    assert_eq!(through, plain);
    assert_eq!(through.structured.unwrap().as_str(), r#"{ "n": 1.50 }"#);
}

#[tokio::test]
async fn a_dropped_call_gives_every_plugin_that_it_entered_one_last_hook() {
    let log = Notes::default();
    let tool = service_fn(|_: ToolCall| std::future::pending::<Result<ToolOutput, Error>>());
    let [a, b] = ["a", "b"].map(|name| Noted::new(name, &log));
    let mut stack = ServiceBuilder::new().layer(PluginLayer::new((a, b))).service(tool);
    let future = stack.ready().await.unwrap().call(ToolCall::new("t", "{}"));
    let mut future = tokio_test::task::spawn(future);
    assert!(future.poll().is_pending());
    drop(future);
    assert_eq!(notes(&log), ["before a", "before b", "dropped tool b", "dropped tool a"]);
}

// Recipes.

/// Keeps results under what it saw: name and arguments.
#[derive(Default)]
struct Cache {
    kept: Mutex<HashMap<([u8; 32], String), ToolOutput>>,
    hits: Arc<AtomicUsize>,
}

impl Plugin for Cache {
    fn name(&self) -> &str {
        "cache"
    }

    async fn before_tool(&self, call: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        let key = (call.arguments.digest(), call.name.to_string());
        let kept = self.kept.lock().unwrap().get(&key).cloned();
        Ok(kept.map_or(Verdict::Allow, |output| {
            self.hits.fetch_add(1, SeqCst);
            Verdict::answer(output)
        }))
    }

    async fn after_tool(
        &self,
        call: &ToolCall,
        output: &mut ToolOutput,
        _: Duration,
    ) -> Result<(), BoxError> {
        let key = (call.arguments.digest(), call.name.to_string());
        self.kept.lock().unwrap().insert(key, output.clone());
        Ok(())
    }
}

struct DefaultLimit;

impl Plugin for DefaultLimit {
    fn name(&self) -> &str {
        "default-limit"
    }

    async fn before_tool(&self, call: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        if call.arguments.value()?.get("limit").is_none() {
            call.arguments.make_mut()?["limit"] = json!(10);
        }
        Ok(Verdict::Allow)
    }
}

#[tokio::test]
async fn a_cache_hits_although_a_plugin_behind_it_rewrites_the_arguments() {
    let (runs, cache) = (Arc::default(), Cache::default());
    let hits = cache.hits.clone();
    let mut stack =
        ServiceBuilder::new().layer(PluginLayer::new((cache, DefaultLimit))).service(echo(&runs));
    for arguments in [r#"{"q":"a","p":1}"#, r#"{"p": 1, "q": "a"}"#, r#"{"q":"a","p":1}"#] {
        let output =
            stack.ready().await.unwrap().call(ToolCall::new("search", arguments)).await.unwrap();
        assert_eq!(output.joined_text(), r#"{"limit":10,"p":1,"q":"a"}"#);
    }
    assert_eq!((runs.load(SeqCst), hits.load(SeqCst)), (1, 2));
}

#[tokio::test]
async fn a_default_argument_is_added_only_where_it_is_missing() {
    let runs = Arc::default();
    let mut stack =
        ServiceBuilder::new().layer(PluginLayer::new(DefaultLimit)).service(echo(&runs));
    for (given, expected) in [(r#"{"limit":3}"#, r#"{"limit":3}"#), ("{}", r#"{"limit":10}"#)] {
        let output =
            stack.ready().await.unwrap().call(ToolCall::new("search", given)).await.unwrap();
        assert_eq!(output.joined_text(), expected);
    }
}

#[tokio::test]
async fn a_field_of_a_structured_result_is_masked() {
    struct MaskSsn;
    impl Plugin for MaskSsn {
        fn name(&self) -> &str {
            "mask-ssn"
        }
        async fn after_tool(
            &self,
            _: &ToolCall,
            output: &mut ToolOutput,
            _: Duration,
        ) -> Result<(), BoxError> {
            if let Some(Value::Object(fields)) =
                output.structured.as_mut().map(Json::make_mut).transpose()?
                && fields.contains_key("ssn")
            {
                fields.insert("ssn".into(), json!("***-**-****"));
            }
            output.content =
                output.structured.iter().map(|json| Content::text(json.as_str())).collect();
            Ok(())
        }
    }
    let tool = service_fn(|_: ToolCall| async {
        Ok::<_, Error>(ToolOutput::structured(json!({"name": "Ada", "ssn": "078-05-1120"})))
    });
    let stack = ServiceBuilder::new().layer(PluginLayer::new(MaskSsn)).service(tool);
    let output = stack.oneshot(ToolCall::new("person", "{}")).await.unwrap();
    assert_eq!(output.structured.unwrap().value().unwrap()["ssn"], "***-**-****");
    assert!(!format!("{:?}", output.content).contains("078"));
}

/// A model that answers with its instructions and counts how often it is asked.
fn model(
    asked: &Arc<AtomicUsize>,
    streamed: bool,
) -> impl Service<ModelRequest, Response = ModelResponse, Error = Error, Future: Send + 'static>
+ Clone
+ Send
+ Sync
+ 'static
+ use<> {
    let asked = asked.clone();
    service_fn(move |request: ModelRequest| {
        asked.fetch_add(1, SeqCst);
        let text = request.instructions.unwrap_or_else(|| "secret reply".into());
        let reply = Reply::new(Message::assistant(text)).with_usage(Usage::new(10, 5));
        let response = ModelResponse::full(reply);
        let response = if streamed {
            response.map_body(|body| ModelBody::Stream(body.into_stream()))
        } else {
            response
        };
        async move { Ok::<_, Error>(response) }
    })
}

async fn ask<P: Plugin>(plugins: P, streamed: bool, request: ModelRequest) -> Reply {
    let stack = ServiceBuilder::new()
        .layer(PluginLayer::new(plugins))
        .service(model(&Arc::default(), streamed));
    stack.oneshot(request).await.unwrap().body.collect().await.unwrap()
}

#[tokio::test]
async fn a_paragraph_is_appended_to_the_instructions() {
    struct InJson;
    impl Plugin for InJson {
        fn name(&self) -> &str {
            "in-json"
        }
        async fn before_model(
            &self,
            request: &mut ModelRequest,
        ) -> Result<Verdict<ModelRequest>, BoxError> {
            request.append_instructions("Always respond in JSON format.");
            Ok(Verdict::Allow)
        }
    }
    for (before, after) in [
        (Some("Be brief."), "Be brief.\nAlways respond in JSON format."),
        (None, "Always respond in JSON format."),
    ] {
        let mut request = ModelRequest::new("m", vec![Message::user("hi")]);
        request.instructions = before.map(Into::into);
        assert_eq!(ask(InJson, false, request).await.message.text(), after);
    }
}

/// Keeps replies under the request that it saw.
#[derive(Default)]
struct ReplyCache(Mutex<HashMap<String, Reply>>);

impl Plugin for ReplyCache {
    fn name(&self) -> &str {
        "reply-cache"
    }

    async fn before_model(
        &self,
        request: &mut ModelRequest,
    ) -> Result<Verdict<ModelRequest>, BoxError> {
        let kept = self.0.lock().unwrap().get(&serde_json::to_string(&request)?).cloned();
        Ok(kept.map_or(Verdict::Allow, |reply| Verdict::answer(ModelResponse::full(reply))))
    }

    async fn after_model(
        &self,
        request: &ModelRequest,
        reply: &mut Reply,
        _: Duration,
    ) -> Result<(), BoxError> {
        self.0.lock().unwrap().insert(serde_json::to_string(request)?, reply.clone());
        Ok(())
    }
}

#[tokio::test]
async fn a_reply_cache_is_filled_from_the_request_that_it_saw_whole_or_streamed() {
    struct Appends;
    impl Plugin for Appends {
        fn name(&self) -> &str {
            "appends"
        }
        async fn before_model(
            &self,
            request: &mut ModelRequest,
        ) -> Result<Verdict<ModelRequest>, BoxError> {
            request.append_instructions("More.");
            Ok(Verdict::Allow)
        }
    }
    for streamed in [false, true] {
        let asked = Arc::default();
        let layer = PluginLayer::new((ReplyCache::default(), Appends));
        let mut stack = ServiceBuilder::new().layer(layer).service(model(&asked, streamed));
        for _ in 0..3 {
            let request = ModelRequest::new("m", vec![Message::user("hi")]);
            let reply = stack
                .ready()
                .await
                .unwrap()
                .call(request)
                .await
                .unwrap()
                .body
                .collect()
                .await
                .unwrap();
            assert_eq!(
                (reply.message.text().as_str(), reply.usage),
                ("More.", Some(Usage::new(10, 5)))
            );
        }
        assert_eq!(asked.load(SeqCst), 1, "streamed: {streamed}");
    }
}

#[tokio::test]
async fn cost_is_counted_from_the_usage_of_whole_and_streamed_replies() {
    struct Cost(Arc<AtomicU64>);
    impl Plugin for Cost {
        fn name(&self) -> &str {
            "cost"
        }
        async fn after_model(
            &self,
            _: &ModelRequest,
            reply: &mut Reply,
            _: Duration,
        ) -> Result<(), BoxError> {
            self.0.fetch_add(reply.usage.unwrap_or_default().total(), SeqCst);
            Ok(())
        }
    }
    for streamed in [false, true] {
        let total = Arc::default();
        ask(Cost(Arc::clone(&total)), streamed, ModelRequest::default()).await;
        assert_eq!(total.load(SeqCst), 15);
    }
}

#[tokio::test]
async fn what_after_model_changes_is_what_caller_history_and_events_see() {
    struct Masks;
    impl Plugin for Masks {
        fn name(&self) -> &str {
            "masks"
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
            reply.message = Message::assistant(reply.message.text().replace("secret", "[masked]"));
            Ok(())
        }
    }
    for streamed in [false, true] {
        let stack = ServiceBuilder::new()
            .layer(PluginLayer::new(Masks))
            .service(model(&Arc::default(), streamed));
        let agent = Agent::builder("tester", stack).build();
        let body = agent.oneshot(RunRequest::user("go").streamed()).await.unwrap().body;
        let events: Vec<_> = body.map(Result::unwrap).collect().await;
        let all = serde_json::to_string(&events).unwrap();
        assert!(all.contains("[masked] reply") && !all.contains("secret"), "{all}");
    }
}

#[tokio::test]
async fn a_streamed_reply_that_no_plugin_edits_passes_through_as_it_comes() {
    let log = Notes::default();
    let delta =
        |text: &str| Ok(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) });
    let events = stream::iter([delta("a"), delta("b")]).chain(stream::pending());
    let slot = Arc::new(Mutex::new(Some(ModelResponse::stream(events))));
    let model = service_fn(move |_: ModelRequest| {
        let response = slot.lock().unwrap().take().unwrap();
        async move { Ok::<_, Error>(response) }
    });
    let stack = ServiceBuilder::new().layer(PluginLayer::new(Noted::new("a", &log))).service(model);
    let mut body = stack.oneshot(ModelRequest::default()).await.unwrap().body.into_stream();
    assert_eq!(body.next().await.unwrap().unwrap(), delta("a").unwrap());
    assert_eq!(
        body.next().await.unwrap().unwrap(),
        delta("b").unwrap(),
        "the model has not finished yet"
    );
    drop(body);
    assert_eq!(notes(&log), ["dropped model a"]);
}

#[tokio::test]
async fn every_model_call_that_was_begun_has_one_end_also_when_it_fails_or_breaks_off() {
    #[derive(Clone)]
    struct Ends(Notes);
    impl Plugin for Ends {
        fn name(&self) -> &str {
            "ends"
        }
        async fn after_model(
            &self,
            _: &ModelRequest,
            _: &mut Reply,
            _: Duration,
        ) -> Result<(), BoxError> {
            self.0.lock().unwrap().push("after".into());
            Ok(())
        }
        async fn on_model_error(
            &self,
            _: &ModelRequest,
            error: &Error,
        ) -> Result<Option<ModelResponse>, BoxError> {
            self.0.lock().unwrap().push(error.kind().as_str().into());
            Ok(None)
        }
        fn on_dropped(&self, _: OperationKind, _: &Context) {
            self.0.lock().unwrap().push("dropped".into());
        }
    }
    let text = || Ok(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("a".into()) });
    let finish = || Ok(ModelEvent::Finish { reason: FinishReason::Stop });
    let broken = || Err(Error::new(ErrorKind::Upstream { status: Some(502) }, "bad gateway"));
    let cases: [(Vec<Result<ModelEvent, Error>>, &str); 3] = [
        (vec![text(), finish()], "after"),
        (vec![text(), broken()], "upstream"),
        (vec![text()], "protocol"),
    ];
    for (events, expected) in cases {
        let log = Notes::default();
        let slot = Arc::new(Mutex::new(Some(ModelResponse::stream(stream::iter(events)))));
        let model = service_fn(move |_: ModelRequest| {
            let response = slot.lock().unwrap().take().unwrap();
            async move { Ok::<_, Error>(response) }
        });
        let stack = ServiceBuilder::new().layer(PluginLayer::new(Ends(log.clone()))).service(model);
        let body = stack.oneshot(ModelRequest::default()).await.unwrap().body;
        let _ = body.into_stream().collect::<Vec<_>>().await;
        assert_eq!(notes(&log), [expected]);
    }
    let log = Notes::default();
    let model = service_fn(|_: ModelRequest| async {
        Err::<ModelResponse, _>(Error::new(ErrorKind::Overloaded, "busy"))
    });
    let stack = ServiceBuilder::new().layer(PluginLayer::new(Ends(log.clone()))).service(model);
    stack.oneshot(ModelRequest::default()).await.unwrap_err();
    assert_eq!(notes(&log), ["overloaded"]);
}

// Runs.

fn agent() -> impl Service<RunRequest, Response = RunResponse, Error = Error, Future: Send> + Clone
{
    Agent::builder("tester", model(&Arc::default(), false)).build()
}

#[tokio::test]
async fn a_run_is_wrapped_from_its_start_to_its_end() {
    let log = Notes::default();
    let [a, b] = ["a", "b"].map(|name| Noted::new(name, &log));
    let stack = ServiceBuilder::new().layer(PluginLayer::new((a, b))).service(agent());
    stack.oneshot(RunRequest::user("go")).await.unwrap().collect().await.unwrap();
    let order = [
        "before_run a",
        "message a",
        "before_run b",
        "message b",
        "event b",
        "event a",
        "after_run complete b",
        "after_run complete a",
    ];
    assert_eq!(notes(&log), order);
}

#[tokio::test]
async fn after_run_fires_once_for_a_run_that_is_dropped_and_one_that_fails() {
    let log = Notes::default();
    let hanging = Agent::builder(
        "tester",
        service_fn(|_: ModelRequest| std::future::pending::<Result<ModelResponse, Error>>()),
    )
    .build();
    let stack =
        ServiceBuilder::new().layer(PluginLayer::new(Noted::new("a", &log))).service(hanging);
    let body = stack.oneshot(RunRequest::user("go")).await.unwrap().body;
    let mut body = tokio_test::task::spawn(body);
    while body.poll_next().is_ready() {}
    drop(body);
    assert_eq!(notes(&log), ["before_run a", "message a", "after_run dropped a"]);

    let failing = Agent::builder(
        "tester",
        service_fn(|_: ModelRequest| async {
            Err::<ModelResponse, _>(Error::new(ErrorKind::Overloaded, "busy"))
        }),
    )
    .build();
    let stack =
        ServiceBuilder::new().layer(PluginLayer::new(Noted::new("a", &log))).service(failing);
    stack.oneshot(RunRequest::user("go")).await.unwrap().collect().await.unwrap_err();
    assert_eq!(notes(&log), ["before_run a", "message a", "after_run failed a"]);
}

#[tokio::test]
async fn a_user_message_and_an_event_that_a_hook_edits_are_what_everybody_sees() {
    struct Edits;
    impl Plugin for Edits {
        fn name(&self) -> &str {
            "edits"
        }
        async fn on_user_message(
            &self,
            _: &Context,
            message: &mut Message,
        ) -> Result<(), BoxError> {
            *message = Message::user(format!("{} (politely)", message.text()));
            Ok(())
        }
        async fn on_event(&self, _: &Context, event: &mut RunEvent) -> Result<(), BoxError> {
            if let RunEvent::Finished { usage, .. } = event {
                usage.output += 100;
            }
            Ok(())
        }
    }
    let parrot = service_fn(|request: ModelRequest| async move {
        Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant(
            request.messages[0].text(),
        ))))
    });
    let stack = ServiceBuilder::new()
        .layer(PluginLayer::new(Edits))
        .service(Agent::builder("parrot", parrot).build());
    let transcript =
        stack.oneshot(RunRequest::user("hello")).await.unwrap().collect().await.unwrap();
    assert_eq!(transcript.text(), "hello (politely)");
    assert_eq!(transcript.messages[0].text(), "hello (politely)", "history");
    assert_eq!(transcript.usage.output, 100);
}

#[tokio::test]
async fn a_plugin_can_answer_for_the_agent_or_refuse_the_run() {
    struct Decides(fn(&RunRequest) -> Verdict<RunRequest>, Arc<Mutex<Vec<Class>>>);
    impl Plugin for Decides {
        fn name(&self) -> &str {
            "decides"
        }
        async fn before_run(&self, run: &mut RunRequest) -> Result<Verdict<RunRequest>, BoxError> {
            Ok((self.0)(run))
        }
        fn after_run(&self, _: &RunRequest, end: &End) {
            self.1.lock().unwrap().push(end.into());
        }
    }
    let outer: Arc<Mutex<Vec<Class>>> = Arc::default();
    let watch = Decides(|_| Verdict::Allow, outer.clone());
    let refuse = Decides(|_| Verdict::deny("Closed today."), Arc::default());
    let stack = ServiceBuilder::new().layer(PluginLayer::new((watch, refuse))).service(agent());
    let response = stack.oneshot(RunRequest::user("go")).await.unwrap();
    assert!(response.head.outcome.is_denied());
    let transcript = response.collect().await.unwrap();
    assert_eq!(
        (transcript.text().as_str(), transcript.messages.len()),
        ("Closed today.", 2),
        "the user's message is kept"
    );
    assert_eq!(*outer.lock().unwrap(), [Class::Denied], "not a run that went well");
}

#[tokio::test]
async fn counters_in_the_runs_state_start_anew_in_every_run() {
    struct Counts(Arc<Mutex<Vec<u64>>>);
    impl Plugin for Counts {
        fn name(&self) -> &str {
            "counts"
        }
        async fn before_model(
            &self,
            request: &mut ModelRequest,
        ) -> Result<Verdict<ModelRequest>, BoxError> {
            let count =
                request.ctx.state().update("calls", |calls: Option<u64>| calls.unwrap_or(0) + 1)?;
            self.0.lock().unwrap().push(count);
            Ok(Verdict::Allow)
        }
    }
    let counts: Arc<Mutex<Vec<u64>>> = Arc::default();
    let stack = ServiceBuilder::new()
        .layer(PluginLayer::new(Counts(counts.clone())))
        .service(model(&Arc::default(), false));
    let agent = Agent::builder("tester", stack).build();
    for (run, session) in [("1", "s1"), ("2", "s1"), ("3", "s2")] {
        let ctx = Run::builder(run).session(session).build();
        agent
            .clone()
            .oneshot(RunRequest::user("go").with_context(ctx))
            .await
            .unwrap()
            .collect()
            .await
            .unwrap();
    }
    assert_eq!(*counts.lock().unwrap(), [1, 1, 1]);
}

#[tokio::test]
async fn a_guard_that_fails_on_an_event_ends_the_run_and_an_observer_does_not() {
    struct Fails(FailMode);
    impl Plugin for Fails {
        fn name(&self) -> &str {
            "fails"
        }
        fn fail_mode(&self) -> FailMode {
            self.0
        }
        async fn on_event(&self, _: &Context, _: &mut RunEvent) -> Result<(), BoxError> {
            panic!("no idea")
        }
    }
    for (mode, ends) in
        [(FailMode::Split, false), (FailMode::Open, false), (FailMode::Closed, true)]
    {
        let stack = ServiceBuilder::new().layer(PluginLayer::new(Fails(mode))).service(agent());
        let result = stack.oneshot(RunRequest::user("go")).await.unwrap().collect().await;
        assert_eq!(result.is_err(), ends, "{mode:?}");
    }
}

#[tokio::test]
async fn a_box_runs_the_hooks_of_a_tuple_and_of_a_list_in_it() {
    let log = Notes::default();
    let [a, b, c] = ["a", "b", "c"].map(|name| Noted::new(name, &log));
    let list = vec![BoxPlugin::new(b), BoxPlugin::new(c)];
    let plugins = vec![BoxPlugin::new((a, list))];
    assert_eq!(PluginLayer::new(plugins.clone()).names(), ["a", "b", "c"]);
    call(plugins.clone(), &Arc::default()).await.unwrap();
    assert_eq!(notes(&log), ["before a", "before b", "before c", "after c", "after b", "after a"]);

    fail(plugins.clone()).await.unwrap_err();
    let order = ["before a", "before b", "before c", "error c", "error b", "error a"];
    assert_eq!(notes(&log), order);

    let stack = ServiceBuilder::new().layer(PluginLayer::new(plugins)).service(agent());
    stack.oneshot(RunRequest::user("go")).await.unwrap().collect().await.unwrap();
    let down = ["before_run a", "message a", "before_run b", "message b", "before_run c"];
    let up = ["event c", "event b", "event a"];
    let ends = ["after_run complete c", "after_run complete b", "after_run complete a"];
    let all: Vec<_> = down.into_iter().chain(["message c"]).chain(up).chain(ends).collect();
    assert_eq!(notes(&log), all);
}

/// Answers errors of a model by a stream, edits replies if told to, and writes down how its calls end.
struct Stands {
    name: &'static str,
    notes: Notes,
    edits: bool,
    answer: Option<fn() -> Vec<Result<ModelEvent, Error>>>,
}

impl Stands {
    fn new(name: &'static str, notes: &Notes) -> Self {
        Self { name, notes: notes.clone(), edits: false, answer: None }
    }

    fn note(&self, hook: &str) {
        self.notes.lock().unwrap().push(format!("{hook} {}", self.name));
    }
}

impl Plugin for Stands {
    fn name(&self) -> &str {
        self.name
    }

    fn edits_replies(&self) -> bool {
        self.edits
    }

    async fn after_model(
        &self,
        _: &ModelRequest,
        reply: &mut Reply,
        _: Duration,
    ) -> Result<(), BoxError> {
        self.note("after");
        if self.edits {
            reply.message = Message::assistant("masked");
        }
        Ok(())
    }

    async fn on_model_error(
        &self,
        _: &ModelRequest,
        error: &Error,
    ) -> Result<Option<ModelResponse>, BoxError> {
        self.note(error.kind().as_str());
        Ok(self.answer.map(|answer| ModelResponse::stream(stream::iter(answer()))))
    }

    fn on_dropped(&self, _: OperationKind, _: &Context) {
        self.note("dropped");
    }
}

fn spare() -> Vec<Result<ModelEvent, Error>> {
    Reply::new(Message::assistant("spare")).into_events().into_iter().map(Ok).collect()
}

fn broken() -> Vec<Result<ModelEvent, Error>> {
    spare().into_iter().take(2).collect()
}

fn busy() -> Error {
    Error::new(ErrorKind::Overloaded, "busy")
}

#[tokio::test]
async fn a_streamed_answer_to_an_error_is_edited_like_any_other_reply() {
    let log = Notes::default();
    let [mut a, b, mut c] = ["a", "b", "c"].map(|name| Stands::new(name, &log));
    a.edits = true;
    c.answer = Some(spare);
    let model = service_fn(|_: ModelRequest| async { Err::<ModelResponse, _>(busy()) });
    let stack = ServiceBuilder::new().layer(PluginLayer::new((a, b, c))).service(model);
    let reply = stack.oneshot(ModelRequest::default()).await.unwrap().body.collect().await.unwrap();
    assert_eq!(reply.message.text(), "masked");
    assert_eq!(notes(&log), ["overloaded c", "after c", "after b", "after a"]);

    let [mut a, b, mut c] = ["a", "b", "c"].map(|name| Stands::new(name, &log));
    a.edits = true;
    c.answer = Some(broken);
    let stack = ServiceBuilder::new().layer(PluginLayer::new((a, b, c))).service(model);
    let error = stack.oneshot(ModelRequest::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "half an answer is none");
    assert_eq!(notes(&log), ["overloaded c", "protocol b", "protocol a"]);
}

#[tokio::test]
async fn an_answer_that_comes_too_late_for_a_stream_leaves_every_plugin_one_end() {
    let log = Notes::default();
    for (events, expected) in [(vec![Err(busy())], "overloaded"), (broken(), "protocol")] {
        let [a, mut b, c] = ["a", "b", "c"].map(|name| Stands::new(name, &log));
        b.answer = Some(spare);
        let response = Arc::new(Mutex::new(Some(ModelResponse::stream(stream::iter(events)))));
        let model = service_fn(move |_: ModelRequest| {
            let response = response.lock().unwrap().take().unwrap();
            async move { Ok::<_, Error>(response) }
        });
        let stack = ServiceBuilder::new().layer(PluginLayer::new((a, b, c))).service(model);
        let body = stack.oneshot(ModelRequest::default()).await.unwrap().body;
        let error = body.collect().await.unwrap_err();
        assert_eq!(error.kind().as_str(), expected);
        assert_eq!(notes(&log), ["c", "b", "a"].map(|name| format!("{expected} {name}")));
    }
}
