use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tower_agent_core::{Class, OperationKind, Str, Usage};

use super::histogram::Histogram;

/// All numbers of a registry at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The numbers of each tool, then of each model and of each agent, in the order of their names.
    pub series: Vec<SeriesSnapshot>,
}

/// The numbers of one tool, model or agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SeriesSnapshot {
    /// What it is.
    pub operation: OperationKind,
    /// Its name.
    pub name: Str,
    /// How many calls became what; every class is there.
    pub outcomes: BTreeMap<Class, u64>,
    /// How many calls are not over yet.
    pub in_flight: u64,
    /// How long the calls took that are over.
    pub duration: Histogram,
    /// What they used, as far as they said.
    pub usage: Usage,
}

impl Snapshot {
    /// The numbers of one tool, model or agent.
    #[must_use]
    pub fn find(&self, operation: OperationKind, name: &str) -> Option<&SeriesSnapshot> {
        self.series.iter().find(|series| series.operation == operation && series.name == *name)
    }

    /// The numbers in the text format of Prometheus, version 0.0.4.
    ///
    /// Serve it as `text/plain; version=0.0.4`. Durations are in seconds.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        super::prometheus::to_text(self)
    }
}

impl SeriesSnapshot {
    /// How many calls are over, whatever became of them.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.outcomes.values().sum()
    }

    /// How many calls failed or took too long.
    #[must_use]
    pub fn failures(&self) -> u64 {
        let failures = self.outcomes.iter().filter(|(class, _)| class.is_failure());
        failures.map(|(_, count)| count).sum()
    }

    /// How many calls became this.
    #[must_use]
    pub fn count(&self, class: Class) -> u64 {
        self.outcomes.get(&class).copied().unwrap_or_default()
    }
}
