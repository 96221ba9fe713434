//! Every finished stack can be cloned and shared, as a server's state must.

use std::time::Duration;

use tower::{ServiceBuilder, layer::util::Identity};
use tower_agent::{
    Agent, AllowListLayer, BoxModelService, BoxRunService, BoxToolService, Boxed, CatchPanicLayer,
    ConcurrencyLimitLayer, Error, LogLayer, MetricsLayer, ModelRequest, Operation, PluginLayer,
    ReloadLayer, ReportErrorsLayer, RunRequest, TimeoutLayer, Tool, ToolCall, ToolSet, ToolSpec,
    TruncateLayer,
    hooks::{after, after_async, before, before_async, from_fn, on_error},
};
use tower_agent_test::{
    Probe, Sample, ScriptedModel, StaticTool, assert_clone_send_sync, assert_clone_send_sync_value,
};

/// As a user writes it: one chain of layers, nothing boxed in between.
fn assert_chain<O: Sample + Sync>() {
    let (leaf, _handle) = Probe::<O>::new();
    let stack = ServiceBuilder::new()
        .layer(MetricsLayer::new())
        .layer(LogLayer::new())
        .layer(ReportErrorsLayer::new())
        .layer(CatchPanicLayer::new())
        .layer(ReloadLayer::<O>::new(Identity::new()))
        .layer(before(|_: &mut O| {}))
        .layer(after::<O::Output, _, _>(|_: &mut O::Output| {}))
        .layer(on_error(|_: &O, _: &Error| None))
        .layer(before_async(|_: O| async {}))
        .layer(after_async(|_: O, output: O::Output| async { output }))
        .layer(from_fn(|call: O, next: tower_agent::hooks::Next<O>| next.run(call)))
        .layer(ConcurrencyLimitLayer::new(8))
        .load_shed()
        .concurrency_limit(8)
        .timeout(Duration::from_secs(1))
        .layer(TimeoutLayer::new(Duration::from_secs(1)))
        .service(leaf);
    assert_clone_send_sync_value(&stack);
    assert_clone_send_sync_value(&Boxed::<O>::new(stack));
}

#[tokio::test]
async fn a_chain_of_all_layers_can_be_cloned_and_shared() {
    assert_chain::<ToolCall>();
    assert_chain::<ModelRequest>();
    assert_chain::<RunRequest>();
}

struct Nothing;

impl tower_agent::Plugin for Nothing {
    fn name(&self) -> &str {
        "nothing"
    }
}

#[test]
fn the_layers_for_some_operations_only_can_be_cloned_and_shared_too() {
    let tool = ServiceBuilder::new()
        .layer(AllowListLayer::exact(["now"]))
        .layer(TruncateLayer::bytes(100))
        .layer(PluginLayer::new((Nothing, Nothing)))
        .service(StaticTool::text("now", "12:00"));
    assert_clone_send_sync_value(&tool);

    let tools = ToolSet::builder().tool(Tool::new(ToolSpec::new("now", "The time."), tool)).build();
    let tools = tools.unwrap();
    assert_clone_send_sync_value(&tools);
    let model = ServiceBuilder::new()
        .layer(AllowListLayer::exact(["now"]))
        .layer(PluginLayer::new(Nothing))
        .service(ScriptedModel::text("hi"));
    let agent = Agent::builder("helper", model).tools(tools).build();
    let run = ServiceBuilder::new().layer(PluginLayer::new(Nothing)).service(agent);
    assert_clone_send_sync_value(&run);
}

#[test]
fn boxes_can_be_cloned_and_shared() {
    assert_clone_send_sync::<BoxToolService>();
    assert_clone_send_sync::<BoxModelService>();
    assert_clone_send_sync::<BoxRunService>();
}

#[test]
fn requests_can_be_sent_and_shared() {
    const fn assert_request<O: Operation + Sync>() {
        assert_clone_send_sync::<O>();
    }
    assert_request::<ToolCall>();
    assert_request::<ModelRequest>();
    assert_request::<RunRequest>();
}
