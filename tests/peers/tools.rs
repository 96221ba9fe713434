//! Tools keep what they say of themselves, and layers stand where they were put.

use serde_json::json;
use tower::{ServiceBuilder, ServiceExt};
use tower_agent::{
    Agent, AllowListLayer, BoxToolService, CatchPanicLayer, ConcurrencyLimitLayer, Content,
    LogLayer, Media, MediaSource, MetricsLayer, RedactLayer, ReportErrorsLayer, RunRequest,
    TimeoutLayer, Tool, ToolCall, ToolOutput, ToolSet, ToolSpec, TruncateLayer,
    hooks::{after, before},
    redact::Arguments,
};
use tower_agent_test::{ScriptedModel, StaticTool, Turn};

fn noon() -> StaticTool {
    let mut spec = ToolSpec::new("now", "Tells the time.");
    spec.title = Some("Clock".into());
    spec.internal = true;
    spec.annotations.read_only = Some(true);
    spec.extra = Some(json!({"strict": true}).into());
    StaticTool::new(spec, |_| Ok(ToolOutput::text("noon")))
}

fn tool(service: StaticTool) -> Tool<StaticTool> {
    Tool::new(service.spec().clone(), service)
}

#[test]
fn a_layer_keeps_what_a_tool_says_of_itself_and_gives_the_tool_back() {
    let plain = noon();
    let layered = tool(plain.clone())
        .layer(LogLayer::new())
        .layer(TruncateLayer::bytes(100))
        .layer(MetricsLayer::new());
    assert_eq!(layered.spec(), plain.spec());
    assert_eq!(layered.spec().display_name().as_str(), "Clock");
    assert!(layered.spec().internal);

    let leaf: StaticTool = layered.into_inner().into_inner().into_inner().into_inner();
    assert!(std::sync::Arc::ptr_eq(leaf.spec(), plain.spec()), "it is the very same tool");
}

#[tokio::test]
async fn what_a_tool_says_of_itself_reaches_every_layer_of_a_full_stack() {
    let plain = noon();
    let expected = plain.spec().clone();
    let sees = move |call: &mut ToolCall| assert_eq!(call.spec.as_ref(), Some(&expected));
    let layers = ServiceBuilder::new()
        .layer(before(sees.clone()))
        .layer(MetricsLayer::new())
        .layer(RedactLayer::all().arguments(Arguments::Mask))
        .layer(ReportErrorsLayer::new())
        .layer(before(sees.clone()))
        .layer(ConcurrencyLimitLayer::new(1))
        .layer(CatchPanicLayer::new());
    let tool = tool(plain.clone()).layer(before(sees));
    let set = ToolSet::builder().tool(tool).layer(layers).build().unwrap();
    assert_eq!(set.specs()[0], *plain.spec());

    let output = set.oneshot(ToolCall::new("now", "{}")).await.unwrap();
    assert_eq!(output.joined_text(), "noon");
    assert_eq!(plain.calls()[0].spec.as_ref(), Some(plain.spec()));
}

#[test]
fn layers_of_a_set_stand_in_the_order_in_which_they_were_added_or_listed() {
    let added = ToolSet::builder()
        .tool(tool(noon()))
        .layer(TruncateLayer::bytes(100))
        .layer(LogLayer::new())
        .build()
        .unwrap();
    assert_eq!(added.description().layers(), ["log", "truncate"], "the last one is the outermost");

    let listed = ServiceBuilder::new().layer(LogLayer::new()).layer(TruncateLayer::bytes(100));
    let set = ToolSet::builder().tool(tool(noon())).layer(listed).build().unwrap();
    assert_eq!(set.description().layers(), ["log", "truncate"], "the first one is the outermost");
}

#[tokio::test]
async fn a_layer_of_one_tool_leaves_the_others_alone() {
    let shout = after(|output: &mut ToolOutput| output.content.push(Content::text("!")));
    let loud = tool(StaticTool::text("loud", "hi")).layer(shout);
    let set =
        ToolSet::builder().tool(loud).tool(tool(StaticTool::text("calm", "hi"))).build().unwrap();
    for (name, text) in [("loud", "hi\n!"), ("calm", "hi")] {
        let output = set.clone().oneshot(ToolCall::new(name, "{}")).await.unwrap();
        assert_eq!(output.joined_text(), text);
    }
}

#[tokio::test]
async fn a_count_inside_of_a_list_knows_nothing_of_refused_calls_and_one_outside_does() {
    let (outer, inner) = (MetricsLayer::new(), MetricsLayer::new());
    let stack = ServiceBuilder::new()
        .layer(&outer)
        .layer(AllowListLayer::exact(["now"]))
        .layer(&inner)
        .service(noon());
    for name in ["now", "delete"] {
        stack.clone().oneshot(ToolCall::new(name, "{}")).await.unwrap();
    }
    let calls = |layer: &MetricsLayer| layer.registry().calls().into_values().sum::<u64>();
    assert_eq!((calls(&outer), calls(&inner)), (2, 1));
    let denied = outer.registry().snapshot();
    let denied = denied.series.iter().find(|series| series.name == "delete").unwrap();
    assert_eq!(denied.count(tower_agent::Class::Denied), 1);
}

#[tokio::test]
async fn a_whole_and_a_streamed_run_call_tools_through_the_same_layers_and_once() {
    for streamed in [false, true] {
        let (plain, metrics) = (noon(), MetricsLayer::new());
        let set = ToolSet::builder().tool(tool(plain.clone())).layer(&metrics).build().unwrap();
        let model = ScriptedModel::new([
            Turn::tool_call("c1", "now", "{}").streamed(streamed),
            Turn::text("It is noon.").streamed(streamed),
        ]);
        let agent = Agent::builder("clock", model).tools(set).build();
        let mut request = RunRequest::user("What time is it?");
        request.stream = streamed;
        let transcript = agent.oneshot(request).await.unwrap().collect().await.unwrap();

        assert_eq!((metrics.registry().calls()["now"], plain.calls().len()), (1, 1));
        assert_eq!(transcript.tools.len(), 1);
        assert_eq!(transcript.messages.len(), 4, "question, call, result, answer: each once");
    }
}

#[tokio::test(start_paused = true)]
async fn pictures_sound_and_unknown_blocks_pass_every_layer_as_they_are() {
    let media = |bytes: &str, kind: &str| Media {
        source: MediaSource::Base64(bytes.into()),
        mime_type: Some(kind.into()),
        extra: Some(json!({"detail": "high"}).into()),
    };
    let mut made = ToolOutput::text("short");
    made.content.extend([
        Content::Image(media("iVBORw0KGgo=", "image/png")),
        Content::Audio(media("UklGRg==", "audio/wav")),
        Content::Opaque { json: r#"{ "type": "chart", "n": 1.50 }"#.into() },
    ]);
    let stack = ServiceBuilder::new()
        .layer(LogLayer::new())
        .layer(MetricsLayer::new())
        .layer(TruncateLayer::bytes(5))
        .layer(RedactLayer::all().arguments(Arguments::Mask))
        .layer(AllowListLayer::exact(["scan"]))
        .layer(ReportErrorsLayer::new())
        .layer(CatchPanicLayer::new())
        .layer(ConcurrencyLimitLayer::new(1))
        .layer(TimeoutLayer::new(std::time::Duration::from_secs(1)))
        .layer(after(|output: &mut ToolOutput| output.content.truncate(9)));
    let tool = StaticTool::output("scan", made.clone());
    let through = BoxToolService::new(stack.service(tool));
    let output = through.oneshot(ToolCall::new("scan", "{}")).await.unwrap();
    assert_eq!(output, made);
}
