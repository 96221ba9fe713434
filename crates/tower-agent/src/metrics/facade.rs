//! The same numbers for the recorder of the `metrics` crate, under the names of OpenTelemetry's GenAI
//! conventions, with one attribute and two metrics of our own.

use std::{fmt, time::Duration};

use metrics::{Counter, Gauge, Histogram, Label, counter, gauge, histogram};
use tower_agent_core::{Class, OperationKind, Str, Usage};

const CALLS: &str = "tower_agent.calls";
const IN_FLIGHT: &str = "tower_agent.calls.in_flight";
const OUTCOME: &str = "tower_agent.outcome";
const ERROR_TYPE: &str = "error.type";
const OPERATION: &str = "gen_ai.operation.name";

/// The metric of durations in seconds, the operation's name, and the attribute that names the callee.
const fn names(kind: OperationKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        OperationKind::Tool => ("gen_ai.execute_tool.duration", "execute_tool", "gen_ai.tool.name"),
        OperationKind::Model => {
            ("gen_ai.client.inference.duration", "chat", "gen_ai.request.model")
        }
        OperationKind::Run => ("gen_ai.invoke_agent.duration", "invoke_agent", "gen_ai.agent.name"),
    }
}

const TOKENS: [(&str, fn(&Usage) -> u64); 5] = [
    ("gen_ai.client.inference.usage.input_tokens", |usage| usage.input),
    ("gen_ai.client.inference.usage.cache_read.input_tokens", |usage| usage.cached_read),
    ("gen_ai.client.inference.usage.cache_write.input_tokens", |usage| usage.cached_write),
    ("gen_ai.client.inference.usage.output_tokens", |usage| usage.output),
    ("gen_ai.client.inference.usage.reasoning.output_tokens", |usage| usage.reasoning),
];

/// The recorder's handles for one tool, model or agent; to look them up for each call would allocate.
pub(super) struct Handles {
    in_flight: Gauge,
    outcomes: [(Counter, Histogram); Class::ALL.len()],
    // A run's tokens are those of its models, which are counted there.
    tokens: Option<[Counter; TOKENS.len()]>,
}

impl Handles {
    pub(super) fn new(kind: OperationKind, name: &Str) -> Self {
        let (duration, operation, callee) = names(kind);
        let labels =
            vec![Label::new(OPERATION, operation), Label::new(callee, name.as_str().to_owned())];
        let with = |more: Label| [labels.clone(), vec![more]].concat();
        Self {
            in_flight: gauge!(IN_FLIGHT, labels.clone()),
            outcomes: Class::ALL.map(|class| {
                let calls = counter!(CALLS, with(Label::new(OUTCOME, class.as_str())));
                let labels = match class {
                    Class::Ok | Class::Suspended => labels.clone(),
                    _ => with(Label::new(ERROR_TYPE, class.as_str())),
                };
                (calls, histogram!(duration, labels))
            }),
            tokens: (kind == OperationKind::Model)
                .then(|| TOKENS.map(|(metric, _)| counter!(metric, labels.clone()))),
        }
    }

    pub(super) fn begin(&self) {
        self.in_flight.increment(1.0);
    }

    pub(super) fn end(&self, class: Class, took: Duration, usage: Option<Usage>) {
        self.in_flight.decrement(1.0);
        let outcomes = Class::ALL.iter().zip(&self.outcomes);
        outcomes.filter(|(known, _)| **known == class).for_each(|(_, (calls, duration))| {
            calls.increment(1);
            duration.record(took);
        });
        if let (Some(usage), Some(tokens)) = (usage, &self.tokens) {
            for ((_, tokens_of), counter) in TOKENS.iter().zip(tokens) {
                counter.increment(tokens_of(&usage));
            }
        }
    }
}

impl fmt::Debug for Handles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handles")
    }
}
