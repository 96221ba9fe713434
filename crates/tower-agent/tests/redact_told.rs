//! What is told of what was masked: rules and numbers, to programs, to the log and to the metrics, and no value.
#![cfg(test)]
#![cfg(all(feature = "redact", feature = "metrics-facade"))]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use metrics::{
    Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{
    Error, ErrorKind, Message, ModelRequest, ModelResponse, Output, RedactLayer, Reply, ToolCall,
    ToolOutput, redact::Findings,
};

#[path = "support/tokens.rs"]
mod tokens;

use tokens::{FOUND, calls, output_of, request, streamed, tokens};

#[tokio::test]
async fn an_answer_tells_its_reader_which_rules_found_something_and_how_often() {
    let output = output_of(tokens()).await;
    let findings = output.extensions.get::<Findings>().unwrap();
    assert_eq!(findings.to_string(), FOUND);
    assert_eq!(findings.rules(), [("github-oauth".into(), 1), ("github-pat".into(), 2)]);
    assert_eq!((findings.count("jwt"), findings.total(), findings.is_empty()), (0, 3, false));
    assert_eq!(output.provenance.marks[0].detail.as_deref(), Some(FOUND));

    assert!(output_of("nothing here".to_owned()).await.extensions.is_empty());
}

#[tokio::test]
async fn an_error_tells_it_too() {
    let tool = RedactLayer::default().layer(service_fn(|_: ToolCall| async {
        Err::<ToolOutput, _>(Error::new(ErrorKind::Tool, tokens()))
    }));
    let error = tool.oneshot(ToolCall::new("t", "{}")).await.unwrap_err();
    assert!(error.extensions().get::<Findings>().unwrap().count("github-pat") >= 2);
}

#[tokio::test]
async fn what_was_masked_in_the_request_is_in_the_findings_of_the_answer() {
    let model = RedactLayer::default().layer(service_fn(|_: ModelRequest| async {
        Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant("ok"))))
    }));
    let response = model.oneshot(request(&tokens())).await.unwrap();
    assert_eq!(response.extensions().get::<Findings>().unwrap().to_string(), FOUND);
    assert!(response.provenance().marks.is_empty(), "nothing of the answer itself was masked");
}

#[tokio::test]
async fn two_layers_add_up_and_each_counts_what_it_masked() {
    let personal = RedactLayer::all();
    let tool = personal.layer(RedactLayer::default().layer(service_fn(|_: ToolCall| async {
        Ok::<_, Error>(ToolOutput::text(format!("{} mara@example.com", tokens())))
    })));
    let output = tool.oneshot(ToolCall::new("t", "{}")).await.unwrap();
    let findings = output.extensions.get::<Findings>().unwrap();
    assert_eq!(findings.to_string(), format!("1 email, {FOUND}"));
}

#[tokio::test]
async fn the_findings_of_a_stream_fill_up_as_it_is_read() {
    let response = streamed(tokens()).await;
    let findings = Findings::clone(response.extensions().get().unwrap());
    assert!(findings.is_empty());
    response.body.collect().await.unwrap();
    assert_eq!(findings.to_string(), FOUND);
}

#[test]
fn what_was_found_is_counted_by_rule_and_operation() {
    let counts = Counts::default();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    metrics::with_local_recorder(&counts, || runtime.block_on(calls()));
    let counts = counts.0.lock().unwrap();
    let count = |labels: &str| counts[&format!("tower_agent.redact.findings{labels}")];
    assert_eq!(count("{operation=tool,rule=github-oauth}"), 1);
    assert_eq!(count("{operation=tool,rule=github-pat}"), 2);
    let model = count("{operation=model,rule=github-pat}");
    assert_eq!(model, 3, "two of a whole stream, one of half of one");
}

/// Counts under a metric's name and its labels.
#[derive(Clone, Default)]
struct Counts(Arc<Mutex<BTreeMap<String, u64>>>);

struct One(Counts, String);

impl CounterFn for One {
    fn increment(&self, value: u64) {
        *self.0.0.lock().unwrap().entry(self.1.clone()).or_default() += value;
    }

    fn absolute(&self, _: u64) {}
}

impl Recorder for Counts {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let mut labels: Vec<_> =
            key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        labels.sort();
        let name = format!("{}{{{}}}", key.name(), labels.join(","));
        Counter::from_arc(Arc::new(One(self.clone(), name)))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}
