//! Every call is counted once, as what became of it, when it is really over.

use std::{collections::BTreeMap, time::Duration};

use futures_util::{FutureExt, StreamExt, stream};
use tokio::time::sleep;
use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    BoxModelService, BoxToolService, Class, Classify, Denial, End, EndReason, Error, ErrorKind,
    FinishReason, Message, ModelEvent, ModelRequest, ModelResponse, Operation, OperationKind,
    Output, PartDelta, Reply, RunEvent, RunFinish, RunRequest, RunResponse, Suspension, ToolCall,
    ToolOutput, Usage,
    allow_list::DenyListLayer,
    catch_panic::CatchPanicLayer,
    metrics::{MetricsLayer, Registry, SeriesSnapshot, Snapshot},
    report_errors::ReportErrorsLayer,
    timeout::TimeoutLayer,
};

fn call(name: &str) -> ToolCall {
    ToolCall::new(name, "")
}

/// A tool that does what its name says.
async fn act(call: ToolCall) -> Result<ToolOutput, Error> {
    match call.name.as_str() {
        "error" => Err(Error::new(ErrorKind::Upstream { status: Some(500) }, "no")),
        "failure" => Ok(ToolOutput::failure("no")),
        "refusal" => Ok(call.denied(Denial::new("no").by("tool"))),
        "question" => {
            let wait = Suspension::new("tool", "1", "which one?");
            Ok(ToolOutput::text("which?").with_outcome(wait))
        }
        "late" => Err(Error::new(ErrorKind::Timeout, "late")),
        "slow" => {
            sleep(Duration::from_secs(3600)).await;
            Ok(ToolOutput::text("done"))
        }
        "crash" => std::panic::resume_unwind(Box::new("boom")),
        _ => {
            sleep(Duration::from_millis(30)).await;
            Ok(ToolOutput::text("done"))
        }
    }
}

fn leaf() -> BoxToolService {
    BoxToolService::new(service_fn(act))
}

fn of(registry: &Registry, kind: OperationKind, name: &str) -> SeriesSnapshot {
    let series = registry.snapshot().series.into_iter();
    let mut found: Vec<_> =
        series.filter(|series| series.operation == kind && series.name == *name).collect();
    assert_eq!(found.len(), 1, "{name} was not counted");
    found.remove(0)
}

/// The classes that are not zero.
fn counts(series: &SeriesSnapshot) -> Vec<(Class, u64)> {
    series.outcomes.iter().filter(|(_, n)| **n > 0).map(|(class, n)| (*class, *n)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_counts_as_what_became_of_it() {
    let metrics = MetricsLayer::new();
    let tool = ServiceBuilder::new().layer(&metrics).service(leaf());
    for (name, class) in [
        ("read", Class::Ok),
        ("error", Class::Failed),
        ("failure", Class::Failed),
        ("refusal", Class::Denied),
        ("question", Class::Suspended),
        ("late", Class::TimedOut),
    ] {
        let _ = tool.clone().oneshot(call(name)).await;
        let series = of(metrics.registry(), OperationKind::Tool, name);
        assert_eq!((counts(&series), series.in_flight), (vec![(class, 1)], 0), "{name}");
        assert_eq!(series.calls(), series.duration.count(), "{name}");
    }
    let failures: Vec<_> =
        metrics.registry().failures().into_iter().filter(|(_, failures)| *failures > 0).collect();
    assert_eq!(failures, [("error".into(), 1), ("failure".into(), 1), ("late".into(), 1)]);
    assert!(metrics.registry().calls().values().all(|calls| *calls == 1));
}

#[tokio::test(start_paused = true)]
async fn two_good_calls_are_two_and_their_time_is_known() {
    let metrics = MetricsLayer::new();
    let tool = ServiceBuilder::new().layer(&metrics).service(leaf());
    for _ in 0..2 {
        tool.clone().oneshot(call("read")).await.unwrap();
    }
    let duration = of(metrics.registry(), OperationKind::Tool, "read").duration;
    assert_eq!((duration.count(), duration.sum), (2, 0.06));
    assert_eq!(duration.cumulative().find(|(bound, _)| *bound >= 0.02), Some((0.02, 0)));
    assert_eq!(duration.cumulative().find(|(bound, _)| *bound >= 0.04), Some((0.04, 2)));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_and_in_flight_no_more() {
    let metrics = MetricsLayer::new();
    let tool = ServiceBuilder::new().layer(&metrics).service(leaf());
    let mut running = Box::pin(tool.oneshot(call("slow")));
    assert!((&mut running).now_or_never().is_none());
    assert_eq!(of(metrics.registry(), OperationKind::Tool, "slow").in_flight, 1);
    assert_eq!(metrics.registry().calls()["slow"], 0);
    drop(running);
    let series = of(metrics.registry(), OperationKind::Tool, "slow");
    assert_eq!((counts(&series), series.in_flight), (vec![(Class::Cancelled, 1)], 0));
}

#[tokio::test(start_paused = true)]
async fn what_an_outer_timeout_stops_is_cancelled_inside_and_timed_out_outside() {
    let (outside, inside) = (MetricsLayer::new(), MetricsLayer::new());
    let tool = ServiceBuilder::new()
        .layer(&outside)
        .timeout(Duration::from_secs(1))
        .layer(&inside)
        .service(leaf());
    assert!(tool.oneshot(call("slow")).await.unwrap_err().is_timeout());
    let class =
        |metrics: &MetricsLayer| counts(&of(metrics.registry(), OperationKind::Tool, "slow"));
    assert_eq!(class(&outside), [(Class::TimedOut, 1)]);
    assert_eq!(class(&inside), [(Class::Cancelled, 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure_whether_it_is_contained_or_not() {
    let (outside, inside) = (MetricsLayer::new(), MetricsLayer::new());
    let tool = ServiceBuilder::new()
        .layer(&outside)
        .layer(CatchPanicLayer::new())
        .layer(&inside)
        .service(leaf());
    tool.oneshot(call("crash")).await.unwrap();
    for metrics in [outside, inside] {
        let series = of(metrics.registry(), OperationKind::Tool, "crash");
        assert_eq!((counts(&series), series.in_flight), (vec![(Class::Failed, 1)], 0));
    }
}

#[tokio::test]
async fn a_panic_in_a_stream_is_a_failure_too() {
    let metrics = MetricsLayer::new();
    let model = ServiceBuilder::new().layer(CatchPanicLayer::new()).layer(&metrics).service(
        service_fn(|_: ModelRequest| async {
            let events = stream::iter([usage(50, 1)])
                .chain(stream::once(async { std::panic::resume_unwind(Box::new("boom")) }));
            Ok::<_, Error>(ModelResponse::stream(events))
        }),
    );
    let response = model.oneshot(ModelRequest::new("demo", vec![])).await.unwrap();
    assert_eq!(response.body.collect().await.unwrap_err().kind(), ErrorKind::Panic);
    let series = of(metrics.registry(), OperationKind::Model, "demo");
    assert_eq!((counts(&series), series.usage), (vec![(Class::Failed, 1)], Usage::new(50, 1)));
}

type Onion = fn(BoxToolService, &MetricsLayer) -> BoxToolService;

fn metrics(inner: BoxToolService, metrics: &MetricsLayer) -> BoxToolService {
    BoxToolService::new(metrics.layer(inner))
}

fn deny(inner: BoxToolService, _: &MetricsLayer) -> BoxToolService {
    BoxToolService::new(DenyListLayer::exact(["forbidden"]).layer(inner))
}

fn report_errors(inner: BoxToolService, _: &MetricsLayer) -> BoxToolService {
    BoxToolService::new(ReportErrorsLayer::new().layer(inner))
}

fn timeout(inner: BoxToolService, _: &MetricsLayer) -> BoxToolService {
    BoxToolService::new(TimeoutLayer::new(Duration::from_secs(10)).layer(inner))
}

fn catch_panic(inner: BoxToolService, _: &MetricsLayer) -> BoxToolService {
    BoxToolService::new(CatchPanicLayer::new().layer(inner))
}

/// All orders of a list.
fn orders<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let first = |position: usize| {
        let mut rest = items.to_vec();
        let item = rest.remove(position);
        orders(&rest).into_iter().map(move |order| [vec![item], order].concat())
    };
    (0..items.len()).flat_map(first).collect()
}

#[tokio::test(start_paused = true)]
async fn in_every_order_of_layers_the_sums_are_the_same() {
    let layers: [Onion; 5] = [metrics, deny, report_errors, timeout, catch_panic];
    for order in orders(&[0, 1, 2, 3, 4]) {
        let counted = MetricsLayer::new();
        let tool = order.iter().rev().fold(leaf(), |inner, layer| layers[*layer](inner, &counted));
        for name in ["read", "error", "failure", "slow", "forbidden"] {
            let _ = tool.clone().oneshot(call(name)).await;
        }
        let place = |layer| order.iter().position(|other| *other == layer);
        let seen = |layer| place(0) < place(layer);
        let calls = counted.registry().calls();
        let failures = counted.registry().failures();
        let class = |name: &str| counts(&of(counted.registry(), OperationKind::Tool, name));
        assert_eq!((calls["read"], failures["read"]), (1, 0), "{order:?}");
        assert_eq!((calls["error"], failures["error"]), (1, 1), "{order:?}");
        assert_eq!((calls["failure"], failures["failure"]), (1, 1), "{order:?}");
        let stopped = if seen(3) { Class::TimedOut } else { Class::Cancelled };
        assert_eq!(class("slow"), [(stopped, 1)], "{order:?}");
        assert_eq!(calls.contains_key("forbidden"), seen(1), "{order:?}");
        if seen(1) {
            assert_eq!(class("forbidden"), [(Class::Denied, 1)], "{order:?}");
        }
        assert!(counted.registry().snapshot().series.iter().all(|series| series.in_flight == 0));
    }
}

fn text(text: &str) -> Result<ModelEvent, Error> {
    Ok(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) })
}

fn usage(input: u64, output: u64) -> Result<ModelEvent, Error> {
    Ok(ModelEvent::Usage { usage: Usage::new(input, output) })
}

/// A model whose name says how its stream goes.
fn model(metrics: &MetricsLayer) -> BoxModelService {
    let leaf = service_fn(|request: ModelRequest| async move {
        let finish = Ok(ModelEvent::Finish { reason: FinishReason::Stop });
        let broken = Err(Error::new(ErrorKind::Upstream { status: Some(500) }, "gone"));
        let late = Err(Error::new(ErrorKind::Timeout, "late"));
        let end = match request.model.as_str() {
            "breaks" => vec![broken],
            "stalls" => vec![late],
            "cut off" => vec![],
            "whole" => {
                let reply = Reply::new(Message::assistant("hi")).with_usage(Usage::new(50, 9));
                return Ok::<_, Error>(ModelResponse::full(reply));
            }
            _ => vec![text("two"), text("three"), usage(50, 9), finish],
        };
        let events = [vec![usage(50, 1), text("one")], end].concat();
        Ok(ModelResponse::stream(stream::iter(events)))
    });
    BoxModelService::new(ServiceBuilder::new().layer(metrics).service(leaf))
}

#[tokio::test]
async fn a_stream_is_counted_at_its_end_with_what_it_used() {
    for (name, reads, class, used) in [
        ("ends", 99, Class::Ok, Usage::new(50, 9)),
        ("whole", 99, Class::Ok, Usage::new(50, 9)),
        ("abandoned", 3, Class::Cancelled, Usage::new(50, 1)),
        ("unread", 0, Class::Cancelled, Usage::default()),
        ("finished but not read to the end", 6, Class::Ok, Usage::new(50, 9)),
        ("breaks", 99, Class::Failed, Usage::new(50, 1)),
        ("stalls", 99, Class::TimedOut, Usage::new(50, 1)),
        ("cut off", 99, Class::Failed, Usage::new(50, 1)),
    ] {
        let metrics = MetricsLayer::new();
        let response = model(&metrics).oneshot(ModelRequest::new(name, vec![])).await.unwrap();
        let streamed = response.body.is_stream();
        let mut stream = response.body.into_stream();
        assert_eq!(
            of(metrics.registry(), OperationKind::Model, name).in_flight,
            u64::from(streamed),
            "{name}"
        );
        let _: Vec<_> = stream.by_ref().take(reads).collect().await;
        drop(stream);
        let series = of(metrics.registry(), OperationKind::Model, name);
        assert_eq!((counts(&series), series.in_flight), (vec![(class, 1)], 0), "{name}");
        assert_eq!(series.usage, used, "{name}");
    }
}

#[tokio::test]
async fn a_run_is_counted_at_its_end() {
    let metrics = MetricsLayer::new();
    let agent = ServiceBuilder::new().layer(&metrics).service(service_fn(|_: RunRequest| async {
        let finished =
            RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage: Usage::new(7, 3) };
        let events = [RunEvent::TurnStarted { turn: 1 }, finished].map(Ok);
        Ok::<_, Error>(RunResponse::new(stream::iter(events)))
    }));
    let run = agent.clone().oneshot(RunRequest::user("hi")).await.unwrap();
    assert_eq!(of(metrics.registry(), OperationKind::Run, "").in_flight, 1);
    run.collect().await.unwrap();
    drop(agent.oneshot(RunRequest::user("hi")).await.unwrap());
    let series = of(metrics.registry(), OperationKind::Run, "");
    assert_eq!(counts(&series), [(Class::Ok, 1), (Class::Cancelled, 1)]);
    assert_eq!((series.usage, series.in_flight), (Usage::new(7, 3), 0));
}

#[tokio::test]
async fn a_classifier_of_ones_own_is_asked_about_head_and_end() {
    #[derive(Clone)]
    struct Strict;
    impl Classify<ModelRequest> for Strict {
        fn classify(&self, result: Result<&ModelResponse, &Error>) -> Class {
            match result {
                Ok(response) if response.head.request_id.is_none() => Class::Failed,
                Ok(response) => response.outcome().into(),
                Err(_) => Class::Failed,
            }
        }
        fn classify_end(&self, end: &End) -> Class {
            if end.reason == EndReason::CutOff { Class::Denied } else { end.into() }
        }
    }
    let layer = MetricsLayer::new().classify(Strict);
    let model = ServiceBuilder::new().layer(&layer).service(service_fn(
        |request: ModelRequest| async move {
            let mut response = ModelResponse::stream(stream::iter([text("half")]));
            response.head.request_id = (request.model == "known").then(|| "r1".into());
            Ok::<_, Error>(response)
        },
    ));
    for name in ["known", "unknown"] {
        let response = model.clone().oneshot(ModelRequest::new(name, vec![])).await.unwrap();
        let _: Vec<_> = response.body.into_stream().collect().await;
    }
    let class = |name| counts(&of(layer.registry(), OperationKind::Model, name));
    assert_eq!(class("known"), [(Class::Denied, 1)]);
    assert_eq!(class("unknown"), [(Class::Failed, 1)]);
}

#[tokio::test(start_paused = true)]
async fn names_that_a_model_makes_up_are_counted_together_at_some_point() {
    let registry = Registry::with_max_names(2);
    let metrics = MetricsLayer::new().with_registry(&registry);
    let tool = ServiceBuilder::new().layer(&metrics).service(leaf());
    for name in ["read", "search", "r3ad", "reed", "search", "raed"] {
        tool.clone().oneshot(call(name)).await.unwrap();
    }
    let expected: BTreeMap<_, _> =
        [("other".into(), 3), ("read".into(), 1), ("search".into(), 2)].into();
    assert_eq!(registry.calls(), expected);
}

#[tokio::test(start_paused = true)]
async fn one_registry_serves_tools_models_and_clones() {
    let registry = Registry::new();
    let layer = MetricsLayer::new().with_registry(&registry);
    let tools = [layer.layer(leaf()), layer.clone().layer(leaf())];
    for tool in tools {
        tool.clone().oneshot(call("read")).await.unwrap();
        tool.oneshot(call("read")).await.unwrap();
    }
    let request = ModelRequest::new("whole", vec![]);
    drop(model(&layer).oneshot(request).await.unwrap());
    let kinds: Vec<_> = registry
        .snapshot()
        .series
        .iter()
        .map(|series| (series.operation, series.name.to_string(), series.calls()))
        .collect();
    assert_eq!(
        kinds,
        [
            (OperationKind::Tool, "read".to_owned(), 4),
            (OperationKind::Model, "whole".to_owned(), 1)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_survives_json() {
    let metrics = MetricsLayer::new();
    ServiceBuilder::new().layer(&metrics).service(leaf()).oneshot(call("read")).await.unwrap();
    let snapshot = metrics.registry().snapshot();
    let json = serde_json::to_value(&snapshot).unwrap();
    assert_eq!(json["series"][0]["outcomes"]["ok"], 1);
    assert_eq!(json["series"][0]["operation"], "tool");
    assert_eq!(serde_json::from_value::<Snapshot>(json).unwrap(), snapshot);
}

#[tokio::test(start_paused = true)]
async fn prometheus_reads_a_snapshot() {
    let metrics = MetricsLayer::new();
    let tool = ServiceBuilder::new().layer(&metrics).service(leaf());
    tool.clone().oneshot(call("read")).await.unwrap();
    let _ = tool.oneshot(call("error")).await;
    drop(model(&metrics).oneshot(ModelRequest::new("whole", vec![])).await.unwrap());

    let text = metrics.registry().snapshot().to_prometheus();
    for line in [
        "# TYPE tower_agent_calls_total counter",
        r#"tower_agent_calls_total{operation="tool",name="read",outcome="ok"} 1"#,
        r#"tower_agent_calls_total{operation="tool",name="error",outcome="failed"} 1"#,
        r#"tower_agent_calls_total{operation="tool",name="error",outcome="ok"} 0"#,
        r#"tower_agent_calls_in_flight{operation="tool",name="read"} 0"#,
        "# TYPE tower_agent_call_duration_seconds histogram",
        r#"tower_agent_call_duration_seconds_bucket{operation="tool",name="read",le="0.02"} 0"#,
        r#"tower_agent_call_duration_seconds_bucket{operation="tool",name="read",le="0.04"} 1"#,
        r#"tower_agent_call_duration_seconds_bucket{operation="tool",name="read",le="+Inf"} 1"#,
        r#"tower_agent_call_duration_seconds_sum{operation="tool",name="read"} 0.03"#,
        r#"tower_agent_call_duration_seconds_count{operation="tool",name="read"} 1"#,
        r#"tower_agent_tokens_total{operation="model",name="whole",type="input"} 50"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    let mut seen = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let metric = line.split(['{', ' ']).next().unwrap();
        if seen.last() != Some(&metric) && !metric.contains("_duration_") {
            assert!(!seen.contains(&metric), "the lines of {metric} stand together");
            seen.push(metric);
        }
    }
}

#[tokio::test]
async fn an_error_of_readiness_is_not_a_call() {
    let (mock, mut handle) = tower_test::mock::pair::<ToolCall, ToolOutput>();
    let metrics = MetricsLayer::new();
    let mut tool = metrics.layer(mock);
    handle.send_error(Error::new(ErrorKind::Unavailable, "gone"));
    assert_eq!(tool.ready().await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(metrics.registry().snapshot().series.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_is_lost_between_threads() {
    let metrics = MetricsLayer::new();
    let ready = service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::default()) });
    let tool = ServiceBuilder::new().layer(&metrics).service(ready);
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..8 {
        let tool = tool.clone();
        tasks.spawn(async move {
            for n in 0..200 {
                let name = format!("tool{}", (task + n) % 5);
                tool.clone().oneshot(call(&name)).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(metrics.registry().calls().values().sum::<u64>(), 1600);
}
