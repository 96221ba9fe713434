//! Counts the allocations of every case and prints them as `name`, size, allocations and bytes, between tabs.
//!
//! Counting takes time, so this is a program of its own, and the report asks it.

use tower_agent_benches::{
    agent,
    case::Measured,
    catalog::{Entry, groups},
};

/// The first rounds fill what is made once and kept.
const WARM_UP: usize = 3;

fn main() {
    for mut entry in groups(&agent::runtime()).into_iter().flatten() {
        let (count, bytes) = allocations(&mut *entry.case);
        let Entry { name, size, .. } = entry;
        println!("{name}\t{size}\t{count}\t{bytes}");
    }
}

fn allocations(case: &mut dyn Measured) -> (u64, u64) {
    case.repeat(WARM_UP);
    let mut seen = (0, 0);
    case.observe(&mut |round| {
        let info = allocation_counter::measure(round);
        seen = (info.count_total, info.bytes_total);
    });
    seen
}
