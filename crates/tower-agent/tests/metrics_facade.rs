//! What is counted reaches the recorder of the `metrics` crate under the names of OpenTelemetry.
#![cfg(feature = "metrics-facade")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::FutureExt;
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use tower::{ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    Error, ErrorKind, Message, ModelRequest, ModelResponse, Reply, ToolCall, ToolOutput, Usage,
    metrics::MetricsLayer,
};

/// Keeps what was recorded: the sum of a counter or gauge, the number of a histogram's values.
#[derive(Default)]
struct Notes(Arc<Mutex<BTreeMap<String, f64>>>);

struct Note {
    notes: Arc<Mutex<BTreeMap<String, f64>>>,
    key: String,
}

impl Note {
    fn add(&self, value: f64) {
        *self
            .notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(self.key.clone())
            .or_default() += value;
    }
}

impl CounterFn for Note {
    fn increment(&self, value: u64) {
        self.add(u32::try_from(value).unwrap_or(u32::MAX).into());
    }

    fn absolute(&self, _: u64) {}
}

impl GaugeFn for Note {
    fn increment(&self, value: f64) {
        self.add(value);
    }

    fn decrement(&self, value: f64) {
        self.add(-value);
    }

    fn set(&self, _: f64) {}
}

impl HistogramFn for Note {
    fn record(&self, _: f64) {
        self.add(1.0);
    }
}

impl Notes {
    fn note(&self, key: &Key) -> Arc<Note> {
        let labels = key.labels().map(|label| format!("{}={}", label.key(), label.value()));
        let labels = labels.collect::<Vec<_>>().join(",");
        Arc::new(Note { notes: Arc::clone(&self.0), key: format!("{} {{{labels}}}", key.name()) })
    }

    /// One line for each metric and its labels.
    fn lines(&self) -> Vec<String> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.iter().map(|(key, value)| format!("{key} {value}")).collect()
    }
}

impl Recorder for Notes {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.note(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.note(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.note(key))
    }
}

#[test]
fn tools_and_models_are_recorded_under_their_conventional_names() {
    let recorder = Notes::default();
    metrics::with_local_recorder(&recorder, || {
        let metrics = MetricsLayer::new();
        let tool = ServiceBuilder::new().layer(&metrics).service(service_fn(
            |call: ToolCall| async move {
                match call.name.as_str() {
                    "read" => Ok(ToolOutput::text("text")),
                    _ => Err(Error::new(ErrorKind::Timeout, "late")),
                }
            },
        ));
        let _ = tool.clone().oneshot(ToolCall::new("read", "")).now_or_never().unwrap();
        let _ = tool.oneshot(ToolCall::new("crawl", "")).now_or_never().unwrap();
        let model =
            ServiceBuilder::new().layer(&metrics).service(service_fn(|_: ModelRequest| async {
                let reply = Reply::new(Message::assistant("hi")).with_usage(Usage::new(50, 9));
                Ok::<_, Error>(ModelResponse::full(reply))
            }));
        let request = ModelRequest::new("demo", vec![]);
        let _ = model.oneshot(request).now_or_never().unwrap();
    });
    let tool = "gen_ai.operation.name=execute_tool,gen_ai.tool.name";
    let model = "gen_ai.operation.name=chat,gen_ai.request.model=demo";
    assert_eq!(
        recorder.lines(),
        [
            format!("gen_ai.client.inference.duration {{{model}}} 1"),
            format!("gen_ai.client.inference.usage.cache_read.input_tokens {{{model}}} 0"),
            format!("gen_ai.client.inference.usage.cache_write.input_tokens {{{model}}} 0"),
            format!("gen_ai.client.inference.usage.input_tokens {{{model}}} 50"),
            format!("gen_ai.client.inference.usage.output_tokens {{{model}}} 9"),
            format!("gen_ai.client.inference.usage.reasoning.output_tokens {{{model}}} 0"),
            format!("gen_ai.execute_tool.duration {{{tool}=crawl,error.type=timed_out}} 1"),
            format!("gen_ai.execute_tool.duration {{{tool}=read}} 1"),
            format!("tower_agent.calls {{{model},tower_agent.outcome=ok}} 1"),
            format!("tower_agent.calls {{{tool}=crawl,tower_agent.outcome=timed_out}} 1"),
            format!("tower_agent.calls {{{tool}=read,tower_agent.outcome=ok}} 1"),
            format!("tower_agent.calls.in_flight {{{model}}} 0"),
            format!("tower_agent.calls.in_flight {{{tool}=crawl}} 0"),
            format!("tower_agent.calls.in_flight {{{tool}=read}} 0"),
        ]
    );
}
