//! Everything that is measured, by name.

use std::{hint::black_box, sync::Arc};

use tokio::runtime::Runtime;

use crate::{
    agent,
    case::{Case, Measured},
    hooks, layers,
    payload::{HUGE, LARGE, SMALL},
    peer, stack,
};

/// What the smallest shared handle costs.
pub const HANDLE: &str = "an `Arc` cloned and dropped, for scale";
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

/// One call through each of our stacks, at one size, and what a shared handle costs, for scale.
pub fn calls(size: usize) -> Vec<Entry> {
    let passing = stack::passing(size).into_iter();
    let cases = passing.chain(layers::alone(size)).chain(hooks::many(size));
    let stacks = cases.map(|(name, case)| Entry::new(name, size, case));
    [Entry::new(HANDLE, size, handle())].into_iter().chain(stacks).collect()
}

fn handle() -> Case<(), ()> {
    let shared = Arc::new(0_u64);
    Case::new(|| (), move |()| drop(black_box(Arc::clone(black_box(&shared)))))
}

/// The peer's pipeline of plugins at one size. It moves what passes through, so one size says all.
pub fn pipelines(size: usize) -> Vec<Entry> {
    let counts = [0, 1, 5, 10].into_iter();
    counts.map(|count| Entry::new(plugins(count), size, peer::pipeline(size, count))).collect()
}

/// The name of the peer's pipeline with so many plugins.
pub fn plugins(count: usize) -> String {
    format!("{PEER}, plugins: {count}")
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
    format!("{agent}, tool calls: {turns}")
}

/// The groups whose cases are measured in turn.
pub fn groups(runtime: &Arc<Runtime>) -> Vec<Vec<Entry>> {
    let mut stacks = calls(SMALL);
    stacks.extend(pipelines(SMALL));
    stacks.extend(calls(HUGE));
    vec![stacks, runs(runtime, SMALL), runs(runtime, LARGE)]
}
