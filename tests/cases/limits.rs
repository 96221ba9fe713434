//! Slots, time-outs and counts, to the end of a stream or of a dropped call.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{Boxed, Class, Error, OperationKind, ToolCall, ToolOutput};

use crate::{
    case::Case,
    layers::{Gauges, around_tools, millis, number, text},
    scene::model,
    streams::{ask, hear},
};

/// How many calls run, and ran at most.
#[derive(Clone, Default)]
struct Running {
    now: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
}

struct Guard(Running);

impl Running {
    fn enter(&self) -> Guard {
        self.peak.fetch_max(self.now.fetch_add(1, SeqCst) + 1, SeqCst);
        Guard(self.clone())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, SeqCst);
    }
}

/// A tool that hangs on calls with the id `hang`, behind the layers of a case.
fn slow_tool(
    layers: &Value,
    gauges: &mut Gauges,
    running: &Running,
    hang: &str,
) -> Boxed<ToolCall> {
    let (running, hang) = (running.clone(), hang.to_owned());
    let tool = service_fn(move |call: ToolCall| {
        let (guard, hangs) = (running.enter(), call.id == *hang);
        async move {
            let _guard = guard;
            if hangs {
                std::future::pending::<()>().await;
            }
            sleep(Duration::from_millis(1)).await;
            Ok::<_, Error>(ToolOutput::text("done"))
        }
    });
    around_tools(layers.as_array().unwrap(), gauges).layer(tool)
}

pub(crate) async fn dropped_call(case: &Case) {
    let steps = case.input["steps"].as_array().unwrap();
    let [first, drop, second] = &steps[..] else { panic!("three steps") };
    assert_eq!((&first["hang"], &drop["drop"]), (&json!(true), &first["call"]["id"]));
    let call = |step: &Value| {
        ToolCall::new(text(&step["call"]["name"]), "{}").with_id(text(&step["call"]["id"]))
    };
    let (mut gauges, running) = (Gauges::default(), Running::default());
    let tool = slow_tool(&case.input["stack"], &mut gauges, &running, text(&first["call"]["id"]));

    let late = timeout(millis(&drop["after_ms"]), tool.clone().oneshot(call(first))).await;
    assert!(late.is_err(), "it hangs until it is dropped");
    let output = timeout(Duration::from_secs(1), tool.clone().oneshot(call(second))).await;
    let output = output.expect("the slot is free").unwrap();
    let [wanted] = case.expected.list("results") else { panic!("one result") };
    assert_eq!(wanted["call_id"], second["call"]["id"]);
    assert_eq!(!output.outcome.is_success(), wanted["is_error"]);
    assert_eq!(output.joined_text(), text(&wanted["text"]));

    let clones = (0..10).map(|_| tool.clone().oneshot(call(second)));
    assert!(join_all(clones).await.iter().all(Result::is_ok));
    assert_eq!(running.peak.load(SeqCst), number(case.expected.field("peak_in_flight")));
    assert_eq!(gauges.limits[0].in_flight(), number(case.expected.field("in_flight_after")));
}

pub(crate) async fn stalled_stream(case: &Case) {
    let replies = &case.input["model"]["replies"];
    let response = ask(&case.input["stack"], replies, &Gauges::default()).await;
    let heard = hear(response, usize::MAX).await;
    assert_eq!(heard.text, text(case.expected.field("text_before_error")));
    assert_eq!(case.expected.field("outcome"), "error");
    let error = heard.error.expect("the stream ends with an error");
    assert_eq!(error.kind().as_str(), text(case.expected.field("error_kind")));
    assert!(heard.took <= millis(case.expected.field("ends_within_ms")), "{:?}", heard.took);
}

pub(crate) async fn counted_streams(case: &Case) {
    let checks = case.input["checks"].as_array().unwrap();
    let records = case.expected.list("records");
    assert_eq!(records.len(), checks.len());
    for (check, record) in checks.iter().zip(records) {
        let gauges = Gauges::default();
        let response = ask(&case.input["stack"], &check["model"]["replies"], &gauges).await;
        let texts = check["consumer_drops_after_texts"].as_u64();
        let texts = texts.map_or(usize::MAX, |texts| usize::try_from(texts).unwrap());
        hear(response, texts).await;

        let snapshot = gauges.metrics.registry().snapshot();
        let series = snapshot.find(OperationKind::Model, &model()).unwrap();
        let class = match text(&record["outcome"]) {
            "cancelled" => Class::Cancelled,
            "error" => Class::Failed,
            other => panic!("no outcome is known as {other}"),
        };
        assert_eq!((series.calls(), series.count(class), series.in_flight), (1, 1, 0));
        assert_eq!(record["calls"], 1);
        assert_eq!(series.usage.input, record["input_tokens"]);
    }
}
