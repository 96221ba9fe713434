//! What was aimed at, and what came of it.

use std::fmt::Write;

use tower_agent_benches::{
    catalog::{OURS, PEER, plugins, run},
    hooks, layers,
    payload::{HUGE, LARGE, SMALL},
    stack::{self, BARE},
};

use crate::results::{Results, Row};

struct Target {
    aim: &'static str,
    limit: f64,
    measured: f64,
    unit: &'static str,
}

pub(crate) fn table(results: &Results) -> String {
    let mut text =
        "### Targets\n\n| target | at most | measured | |\n| --- | --: | --: | --- |\n".to_owned();
    for Target { aim, limit, measured, unit } in calls(results).into_iter().chain(runs(results)) {
        let verdict = if measured <= limit { "met" } else { "**missed**" };
        let _ = writeln!(text, "| {aim} | {limit}{unit} | {measured:.3}{unit} | {verdict} |");
    }
    text
}

fn calls(results: &Results) -> Vec<Target> {
    let row = |name: &str| results.get(name, SMALL);
    let bare = row(BARE);
    let added = |name: &str| row(name).allocations.saturating_sub(bare.allocations) as f64;
    let of_ten_plugins = |name: &str| row(name).best / row(&plugins(10)).best;
    let most_allocations = layers::SYNC.iter().map(|name| added(name)).fold(0.0, f64::max);
    let growth = layers::SYNC.iter().map(|name| growth(results, name)).fold(0.0, f64::max);
    vec![
        aim("allocations that a layer without async work adds, at most", 0.0, most_allocations, ""),
        aim("what such a layer costs more at 1 MB than at 1 KB, at most", 5.0, growth, " ns"),
        aim(
            "ten pass-through layers, of the bare service",
            1.5,
            row(stack::TEN).best / bare.best,
            "",
        ),
        aim("ten sync hook layers, of ten adk plugins", 0.2, of_ten_plugins(hooks::LAYERS), ""),
        aim(
            "ten async plugins as a tuple, of ten adk plugins",
            0.333,
            of_ten_plugins(hooks::TUPLE),
            "",
        ),
        aim("allocations that this tuple adds", 1.0, added(hooks::TUPLE), ""),
        aim(
            "a hook of a list made at run time",
            5.0,
            (row(hooks::LIST).best - bare.best) / 10.0,
            " ns",
        ),
        aim("allocations that this list adds", 0.0, added(hooks::LIST), ""),
        aim("allocations that a box around a stack adds", 2.0, added(stack::BOXED), ""),
    ]
}

/// How much more a layer adds to a large call than to a small one.
fn growth(results: &Results, name: &str) -> f64 {
    let cost = |size| results.get(name, size).best - results.get(BARE, size).best;
    cost(HUGE) - cost(SMALL)
}

fn runs(results: &Results) -> Vec<Target> {
    let ours = |size, turns| results.get(&run(OURS, turns), size);
    let of_peer = |size, turns| ours(size, turns).best / results.get(&run(PEER, turns), size).best;
    let step = |of: fn(&Row) -> f64, from, to| {
        (of(ours(LARGE, to)) - of(ours(LARGE, from))) / (to - from) as f64
    };
    let late = |of| step(of, 11, 21) / step(of, 1, 11);
    vec![
        aim("a run of 1 tool call, 1 KB, of adk-rust's", 0.1, of_peer(SMALL, 1), ""),
        aim("a run of 11 tool calls, 1 KB, of adk-rust's", 0.1, of_peer(SMALL, 11), ""),
        aim("a run of 1 tool call, 100 KB, of adk-rust's", 0.01, of_peer(LARGE, 1), ""),
        aim("a run of 11 tool calls, 100 KB, of adk-rust's", 0.01, of_peer(LARGE, 11), ""),
        aim(
            "time of a late step (calls 12 to 21), of an early one (2 to 11)",
            1.1,
            late(|row| row.best),
            "",
        ),
        aim("bytes of a late step, of an early one", 1.1, late(|row| row.bytes as f64), ""),
    ]
}

fn aim(aim: &'static str, limit: f64, measured: f64, unit: &'static str) -> Target {
    Target { aim, limit, measured, unit }
}
