//! A part of a stack is swapped while it is in use, and each call sees the old part or the new one, never both.

use std::time::Duration;

use futures_util::{FutureExt, future::join_all};
use tokio::time::sleep;
use tokio_test::{assert_pending, assert_ready_ok, task};
use tower::{
    Layer, Service, ServiceBuilder, ServiceExt,
    layer::{layer_fn, util::Identity},
    limit::ConcurrencyLimitLayer as StockLimitLayer,
    service_fn,
};
use tower_agent::{
    BoxToolService, Content, Error, ErrorKind, ModelRequest, ModelResponse, ToolCall, ToolOutput,
    describe,
    metrics::MetricsLayer,
    reload::{Reload, ReloadLayer},
    timeout::TimeoutLayer,
};

/// A tool that takes a second, over a service that panics when it is called unready.
fn leaf() -> BoxToolService {
    let leaf = service_fn(|_: ToolCall| async {
        sleep(Duration::from_secs(1)).await;
        Ok::<_, Error>(ToolOutput::default())
    });
    BoxToolService::new(ServiceBuilder::new().concurrency_limit(100).service(leaf))
}

/// Notes its name before and after the call.
fn noting(name: &'static str) -> impl Layer<BoxToolService, Service = BoxToolService> + Clone {
    layer_fn(move |inner: BoxToolService| {
        let service = inner.map_future(move |future| async move {
            let mut output = future.await?;
            output.content.push(Content::text(format!("after {name}")));
            Ok::<_, Error>(output)
        });
        let service = service
            .map_request(move |call: ToolCall| ToolCall::new(call.name, format!("before {name}")));
        BoxToolService::new(service)
    })
}

/// A tool that answers with what reached it.
fn echo() -> BoxToolService {
    BoxToolService::new(service_fn(|call: ToolCall| async move {
        sleep(Duration::from_secs(1)).await;
        Ok::<_, Error>(ToolOutput::text(call.arguments.as_str()))
    }))
}

async fn ask(tool: impl Service<ToolCall, Response = ToolOutput, Error = Error>) -> String {
    let output = tool.oneshot(ToolCall::new("x", "{}")).await;
    output.map_or_else(|error| error.to_string(), |output| output.joined_text())
}

#[tokio::test(start_paused = true)]
async fn every_clone_and_every_service_of_the_layer_has_the_new_part() {
    let layer = ReloadLayer::new(noting("old"));
    let (one, two) = (layer.layer(echo()), layer.layer(echo()));
    let clone = one.clone();
    for tool in [one.clone(), two.clone(), clone.clone()] {
        assert_eq!(ask(tool).await, "before old\nafter old");
    }
    layer.handle().replace(noting("new"));
    for tool in [one, two, clone, layer.layer(echo())] {
        assert_eq!(ask(tool).await, "before new\nafter new");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_ends_in_the_part_that_it_began_in() {
    let layer = ReloadLayer::new(noting("old"));
    let tool = layer.layer(echo());
    let mut running = Box::pin(ask(tool.clone()));
    assert!((&mut running).now_or_never().is_none());
    layer.handle().replace(noting("new"));
    assert_eq!(running.await, "before old\nafter old");
    assert_eq!(ask(tool).await, "before new\nafter new");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_was_ready_makes_one_more_call_in_the_old_part() {
    let layer = ReloadLayer::new(noting("old"));
    let mut tool = layer.layer(echo());
    let ready = tool.ready().await.unwrap();
    layer.handle().replace(noting("new"));
    assert_eq!(ready.call(ToolCall::new("x", "")).await.unwrap().content.len(), 2);
    assert_eq!(ask(tool).await, "before new\nafter new");
}

#[tokio::test(start_paused = true)]
async fn clones_share_what_the_new_part_shares() {
    // tower makes a new set of permits for each service that it is laid around.
    let layer = ReloadLayer::new(Identity::new());
    let tool = layer.layer(leaf());
    layer.handle().replace(StockLimitLayer::new(1));
    let start = tokio::time::Instant::now();
    join_all((0..3).map(|_| ask(tool.clone()))).await;
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_an_old_part_is_told_of_the_new_one() {
    let layer = ReloadLayer::new(StockLimitLayer::new(0));
    let handle = layer.handle();
    let mut service = task::spawn(layer.layer(leaf()));
    assert_pending!(service.enter(|cx, mut service| service.poll_ready(cx)));
    handle.replace(Identity::new());
    assert!(service.is_woken());
    assert_ready_ok!(service.enter(|cx, mut service| service.poll_ready(cx)));
}

#[tokio::test]
async fn a_failing_part_can_be_replaced_by_a_working_one() {
    let refuse = layer_fn(|_: BoxToolService| {
        service_fn(|_: ToolCall| async {
            Err::<ToolOutput, _>(Error::new(ErrorKind::Unavailable, "in maintenance"))
        })
    });
    let layer = ReloadLayer::new(refuse);
    let tool =
        layer.layer(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("works")) }));
    assert_eq!(ask(tool.clone()).await, "in maintenance");
    layer.handle().replace(MetricsLayer::new());
    assert_eq!(ask(tool).await, "works");
}

#[tokio::test]
async fn models_can_be_reloaded_as_well() {
    let layer = ReloadLayer::<ModelRequest>::new(Identity::new());
    let metrics = MetricsLayer::new();
    let model = ServiceBuilder::new()
        .layer(&layer)
        .service(service_fn(|_: ModelRequest| async { Ok::<_, Error>(ModelResponse::default()) }));
    layer.handle().replace(metrics.clone());
    model.oneshot(ModelRequest::new("demo", vec![])).await.unwrap();
    assert_eq!(metrics.registry().snapshot().series[0].calls(), 1);
}

#[test]
fn it_says_what_it_is_made_of_at_present() {
    let layer = ReloadLayer::new(Identity::new());
    let metrics = MetricsLayer::new();
    let tool = layer.layer(metrics.layer(leaf()));
    assert_eq!(tool.description().to_string(), "metrics > boxed");
    let two = ServiceBuilder::new().layer(TimeoutLayer::new(Duration::MAX)).layer(metrics);
    layer.handle().replace(two.into_inner());
    assert_eq!(tool.description().to_string(), "timeout > metrics > metrics > boxed");
    assert_eq!(describe(&tool).to_string(), "reload > metrics > boxed");
    assert_eq!(format!("{tool:?}"), "Reload(Description(timeout > metrics > metrics > boxed))");
}

#[test]
fn it_can_be_cloned_and_shared() {
    fn shared<T: Clone + Send + Sync + std::fmt::Debug + 'static>(_: &T) {}
    let layer = ReloadLayer::<ToolCall>::new(Identity::new());
    shared(&layer);
    shared(&layer.handle());
    shared::<Reload<BoxToolService, ToolCall>>(&layer.layer(leaf()));
}
