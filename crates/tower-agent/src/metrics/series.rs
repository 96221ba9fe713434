use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use tower_agent_core::{Class, OperationKind, Str, Usage};

use super::{histogram::Durations, snapshot::SeriesSnapshot};

/// The numbers of one tool, model or agent, while they are counted.
#[derive(Debug)]
pub(super) struct Series {
    classes: [AtomicU64; Class::ALL.len()],
    in_flight: AtomicU64,
    durations: Durations,
    tokens: Tokens,
    #[cfg(feature = "metrics-facade")]
    facade: super::facade::Handles,
}

#[derive(Debug, Default)]
struct Tokens {
    input: AtomicU64,
    cached_read: AtomicU64,
    cached_write: AtomicU64,
    output: AtomicU64,
    reasoning: AtomicU64,
}

impl Series {
    #[cfg_attr(
        not(feature = "metrics-facade"),
        expect(unused_variables, reason = "the numbers themselves have no name")
    )]
    pub(super) fn new(kind: OperationKind, name: &Str) -> Self {
        Self {
            classes: Default::default(),
            in_flight: AtomicU64::new(0),
            durations: Durations::default(),
            tokens: Tokens::default(),
            #[cfg(feature = "metrics-facade")]
            facade: super::facade::Handles::new(kind, name),
        }
    }

    pub(super) fn begin(&self) {
        self.in_flight.fetch_add(1, Relaxed);
        #[cfg(feature = "metrics-facade")]
        self.facade.begin();
    }

    pub(super) fn end(&self, class: Class, took: Duration, usage: Option<Usage>) {
        self.in_flight.fetch_sub(1, Relaxed);
        let counters = Class::ALL.iter().zip(&self.classes);
        counters.filter(|(known, _)| **known == class).for_each(|(_, count)| {
            count.fetch_add(1, Relaxed);
        });
        self.durations.record(took);
        if let Some(usage) = usage {
            self.tokens.add(&usage);
        }
        #[cfg(feature = "metrics-facade")]
        self.facade.end(class, took, usage);
    }

    pub(super) fn snapshot(&self, operation: OperationKind, name: Str) -> SeriesSnapshot {
        let counts = self.classes.iter().map(|count| count.load(Relaxed));
        SeriesSnapshot {
            operation,
            name,
            outcomes: Class::ALL.into_iter().zip(counts).collect(),
            in_flight: self.in_flight.load(Relaxed),
            duration: self.durations.snapshot(),
            usage: self.tokens.snapshot(),
        }
    }
}

impl Tokens {
    fn add(&self, usage: &Usage) {
        self.input.fetch_add(usage.input, Relaxed);
        self.cached_read.fetch_add(usage.cached_read, Relaxed);
        self.cached_write.fetch_add(usage.cached_write, Relaxed);
        self.output.fetch_add(usage.output, Relaxed);
        self.reasoning.fetch_add(usage.reasoning, Relaxed);
    }

    fn snapshot(&self) -> Usage {
        Usage {
            input: self.input.load(Relaxed),
            cached_read: self.cached_read.load(Relaxed),
            cached_write: self.cached_write.load(Relaxed),
            output: self.output.load(Relaxed),
            reasoning: self.reasoning.load(Relaxed),
        }
    }
}
