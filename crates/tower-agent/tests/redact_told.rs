//! What is told of what was masked: rules and numbers, to programs, to the log and to the metrics, and no value.
#![cfg(test)]
#![cfg(all(feature = "redact", feature = "metrics-facade"))]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use futures_util::{StreamExt, stream};
use metrics::{
    Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{
    Error, ErrorKind, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse, Output,
    PartDelta, RedactLayer, Reply, ToolCall, ToolOutput, redact::Findings,
};

/// Two tokens, in parts so that this file holds none.
fn tokens() -> String {
    let secret = "_16C7e42F292c6912E7710c838347Ae178B4a";
    format!("ghp{secret} and gho{secret} and ghp{secret}")
}

const FOUND: &str = "1 github-oauth, 2 github-pat";

fn request(text: &str) -> ModelRequest {
    ModelRequest::new("demo", vec![Message::user(text)])
}

async fn output_of(text: String) -> ToolOutput {
    let tool = RedactLayer::default().layer(service_fn(move |_: ToolCall| {
        std::future::ready(Ok::<_, Error>(ToolOutput::text(text.as_str())))
    }));
    tool.oneshot(ToolCall::new("t", "{}")).await.unwrap()
}

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

fn streamed(text: String) -> impl Future<Output = ModelResponse> {
    let model = RedactLayer::default().layer(service_fn(move |_: ModelRequest| {
        let (head, tail) = text.split_at(text.len() / 2);
        let pieces = [head, tail]
            .map(|piece| ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(piece.into()) });
        let end = ModelEvent::Finish { reason: FinishReason::Stop };
        let events = pieces.into_iter().chain([end]).map(Ok).collect::<Vec<_>>();
        std::future::ready(Ok::<_, Error>(ModelResponse::stream(stream::iter(events))))
    }));
    async { model.oneshot(request("hello")).await.unwrap() }
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
fn each_call_is_logged_once_with_its_numbers_and_counted_in_the_metrics() {
    let (log, counts) = (Log::default(), Counts::default());
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(move || writer.clone())
        .finish();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tracing::subscriber::with_default(subscriber, || {
        metrics::with_local_recorder(&counts, || {
            runtime.block_on(async {
                output_of(tokens()).await;
                output_of("nothing here".to_owned()).await;
                let events: Vec<_> = streamed(tokens()).await.body.into_stream().collect().await;
                assert!(events.iter().all(Result::is_ok));
                // Half of a stream counts as far as it was read.
                let mut events = streamed(tokens()).await.body.into_stream();
                events.next().await;
            });
        });
    });

    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<_> = logged.lines().collect();
    assert_eq!(lines.len(), 3, "{logged}");
    assert!(lines[0].contains("DEBUG") && lines[0].contains(r#"operation="tool""#), "{logged}");
    assert!(lines[1].contains(r#"operation="model""#), "{logged}");
    assert!(lines[..2].iter().all(|line| line.contains(&format!("findings={FOUND}"))), "{logged}");
    assert!(!logged.contains("_16C7"), "{logged}");

    let counts = counts.0.lock().unwrap();
    let count = |labels: &str| counts[&format!("tower_agent.redact.findings{labels}")];
    assert_eq!(count("{operation=tool,rule=github-oauth}"), 1);
    assert_eq!(count("{operation=tool,rule=github-pat}"), 2);
    assert_eq!(
        count("{operation=model,rule=github-pat}"),
        3,
        "two of a whole stream, one of half of one"
    );
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

/// What is written in a test.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
