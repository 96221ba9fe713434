//! What was aimed at, and what came of it.

use std::fmt::Write;

use tower_agent_benches::{
    catalog::{OURS, PEER, plugins, run},
    hooks::{ENTRY, LAYERS, LIST, PAIRS, TUPLE},
    layers::SYNC,
    payload::{HUGE, LARGE, SMALL},
    stack::{BARE, BOXED, TEN},
};

use crate::results::{Results, Row};

/// Something that should be at most so much.
struct Target {
    aim: &'static str,
    limit: f64,
    measured: f64,
}

pub(crate) fn table(results: &Results) -> String {
    let mut text =
        "### Targets\n\n| | at most | measured | |\n| --- | --: | --: | --- |\n".to_owned();
    for Target { aim, limit, measured } in calls(results).into_iter().chain(runs(results)) {
        let verdict = if measured <= limit { "met" } else { "**missed**" };
        let digits = if measured.abs() < 0.1 { 3 } else { 2 };
        let _ = writeln!(text, "| {aim} | {limit} | {measured:.digits$} | {verdict} |");
    }
    text
}

fn calls(results: &Results) -> Vec<Target> {
    let row = |name: &str| results.get(name, SMALL);
    let added = |name: &str| row(name).allocations.saturating_sub(row(BARE).allocations) as f64;
    let growth = |name: &str| results.get(name, HUGE).best / row(name).best;
    let most = |of: &dyn Fn(&str) -> f64| SYNC.into_iter().map(of).fold(0.0, f64::max);
    let of_plugins = |name: &str| row(name).best / row(&plugins(10)).best;
    let entry = (row(LIST).best - row(ENTRY).best) / 9.0;
    vec![
        aim("allocations that a layer without async work adds", 0.0, most(&added)),
        aim("a call through such a layer at 1 MB, of one at 1 KB", 1.05, most(&growth)),
        aim("ten pass-through layers, of the bare service", 1.5, row(TEN).best / row(BARE).best),
        aim("ten sync hook layers, of ten adk plugins", 0.2, of_plugins(LAYERS)),
        aim("twenty, a before-hook and an after-hook each, of the same", 0.2, of_plugins(PAIRS)),
        aim("ten async plugins as a tuple, of the same", 0.333, of_plugins(TUPLE)),
        aim("allocations that this tuple adds", 1.0, added(TUPLE)),
        aim("nanoseconds of one more hook in a list made at run time", 5.0, entry),
        aim("allocations that a list of ten adds", 0.0, added(LIST)),
        aim("allocations that a box around a stack adds", 2.0, added(BOXED)),
    ]
}

fn runs(results: &Results) -> Vec<Target> {
    let ours = |size, turns| results.get(&run(OURS, turns), size);
    let of_peer = |size, turns| ours(size, turns).best / results.get(&run(PEER, turns), size).best;
    let ten_more =
        |of: fn(&Row) -> f64, after| of(ours(LARGE, after + 10)) - of(ours(LARGE, after));
    let late = |of| ten_more(of, 11) / ten_more(of, 1);
    vec![
        aim("a run of 1 tool call with a result of 1 KB, of adk-rust's", 0.1, of_peer(SMALL, 1)),
        aim("a run of 11 with results of 1 KB, of adk-rust's", 0.1, of_peer(SMALL, 11)),
        aim("a run of 1 with a result of 100 KB, of adk-rust's", 0.01, of_peer(LARGE, 1)),
        aim("a run of 11 with results of 100 KB, of adk-rust's", 0.01, of_peer(LARGE, 11)),
        aim("time of calls 12 to 21 of a run, of calls 2 to 11", 1.1, late(|row| row.best)),
        aim("bytes allocated by the same, of the same", 1.1, late(|row| row.bytes as f64)),
    ]
}

fn aim(aim: &'static str, limit: f64, measured: f64) -> Target {
    Target { aim, limit, measured }
}
