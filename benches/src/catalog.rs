//! Everything that is measured, by name.

use std::sync::Arc;

use tokio::runtime::Runtime;

use crate::{
    agent,
    case::{Case, Measured},
    hooks, layers,
    payload::{HUGE, LARGE, SMALL},
    peer, stack,
};

/// Our agent.
pub const OURS: &str = "tower-agent";
/// The peer.
pub const PEER: &str = "adk-rust 2.3.0";
/// The stacks whose instructions are counted.
pub const COUNTED: [&str; 5] = [stack::BARE, stack::ONE, stack::TEN, hooks::LIST, hooks::TUPLE];
/// Tool calls of a run.
pub const TURNS: [usize; 3] = [1, 11, 21];

/// One case with its name, which says everything about it but the size of the payload.
pub struct Entry {
    /// What is measured.
    pub name: String,
    /// The size of arguments and results in bytes.
    pub size: usize,
    /// How to measure it.
    pub case: Box<dyn Measured>,
}

impl Entry {
    fn new<I: 'static, O: 'static>(name: impl Into<String>, size: usize, case: Case<I, O>) -> Self {
        Self { name: name.into(), size, case: Box::new(case) }
    }
}

/// One call through a stack, at one size.
pub fn calls(size: usize) -> Vec<Entry> {
    let passing = stack::passing(size).into_iter();
    let cases = passing.chain(layers::alone(size)).chain(hooks::many(size));
    let ours = cases.map(|(name, case)| Entry::new(name, size, case));
    let peer =
        [0, 1, 5, 10].map(|count| Entry::new(plugins(count), size, peer::pipeline(size, count)));
    ours.chain(peer).collect()
}

/// The name of the peer's pipeline with so many plugins.
pub fn plugins(count: usize) -> String {
    format!("{PEER}: {count} plugins")
}

/// Whole runs at one size, ours beside the peer's.
pub fn runs(runtime: &Arc<Runtime>, size: usize) -> Vec<Entry> {
    let both = |turns| {
        [
            Entry::new(run(OURS, turns), size, agent::run(runtime, size, turns)),
            Entry::new(run(PEER, turns), size, peer::run(runtime, size, turns)),
        ]
    };
    TURNS.into_iter().flat_map(both).collect()
}

/// The name of a run with so many tool calls.
pub fn run(agent: &str, turns: usize) -> String {
    format!("{agent}: {turns} tool calls")
}

/// The groups whose cases are measured in turn.
pub fn groups(runtime: &Arc<Runtime>) -> Vec<Vec<Entry>> {
    vec![calls(SMALL), calls(HUGE), runs(runtime, SMALL), runs(runtime, LARGE)]
}
