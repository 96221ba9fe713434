//! What was measured, in full.

use std::{env::consts, fmt::Write, thread};

use tower_agent_benches::{
    catalog::{HANDLE, OURS, PEER, TURNS, run},
    payload::{HUGE, LARGE, SMALL},
    stack::BARE,
};

use crate::{
    counts::Instructions,
    results::{Results, Row},
};

/// On what it was measured, in general terms.
pub(crate) fn machine() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    format!("On {} with {cores} cores, {}, release build.\n", consts::ARCH, consts::OS)
}

pub(crate) fn calls(results: &Results) -> String {
    let mut text = "### One tool call\n\n\
        | stack | ns, best (median) | of bare | ns at 1 MB | adds allocations | adds bytes |\n\
        | --- | --: | --: | --: | --: | --: |\n"
        .to_owned();
    let bare = results.get(BARE, SMALL);
    for row in results.of_size(SMALL).filter(|row| !is_run(row)) {
        let Row { name, best, median, .. } = row;
        let ratio = best / bare.best;
        let huge = results.find(name, HUGE).map_or(String::new(), |row| format!("{:.0}", row.best));
        let (allocations, bytes) = added(row, bare);
        let _ = writeln!(
            text,
            "| {name} | {best:.0} ({median:.0}) | {ratio:.2} | {huge} | {allocations} | {bytes} |"
        );
    }
    text
}

fn is_run(row: &Row) -> bool {
    TURNS.iter().any(|turns| [OURS, PEER].iter().any(|agent| row.name == run(agent, *turns)))
}

/// What a stack allocates beyond the bare one. What does not stand around it is counted whole.
fn added(row: &Row, bare: &Row) -> (u64, u64) {
    if row.name.starts_with(PEER) || row.name == HANDLE {
        return (row.allocations, row.bytes);
    }
    (row.allocations.saturating_sub(bare.allocations), row.bytes.saturating_sub(bare.bytes))
}

pub(crate) fn runs(results: &Results) -> String {
    let mut text = "### A whole run\n\n\
        | run | results | µs, best (median) | µs a tool call | allocations a tool call | bytes a tool call |\n\
        | --- | --: | --: | --: | --: | --: |\n"
        .to_owned();
    for size in [SMALL, LARGE] {
        for turns in TURNS {
            for agent in [OURS, PEER] {
                let row = results.get(&run(agent, turns), size);
                let _ = writeln!(text, "{}", run_row(row, turns));
            }
        }
    }
    text
}

fn run_row(row: &Row, turns: usize) -> String {
    let Row { name, size, best, median, allocations, bytes } = row;
    let kilobytes = size / 1_000;
    let (best, median) = (best / 1e3, median / 1e3);
    let each = |whole: f64| whole / turns as f64;
    let (allocations, bytes) = (each(*allocations as f64), each(*bytes as f64));
    format!(
        "| {name} | {kilobytes} KB | {best:.1} ({median:.1}) | {:.1} | {allocations:.0} | {bytes:.0} |",
        each(best)
    )
}

pub(crate) fn instructions(counted: &Instructions) -> String {
    if counted.is_empty() {
        return String::new();
    }
    let mut text = "### Instructions\n\n| stack | a call |\n| --- | --: |\n".to_owned();
    for (name, count) in counted {
        let _ = writeln!(text, "| {name} | {count} |");
    }
    text
}
