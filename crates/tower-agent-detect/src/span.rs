//! Stretches of text that are masked as one.

use std::sync::Arc;

use crate::{
    engine::Hit,
    recogniser::Recogniser,
    rule::{Rule, Way},
};

/// Sorts what was found and makes one of whatever overlaps, and of neighbours of the same rule.
pub(crate) fn merge(hits: &mut Vec<Hit>, rules: &[Arc<Rule>]) {
    if hits.len() < 2 {
        return;
    }
    hits.sort_unstable_by_key(|hit| (hit.start, hit.end, hit.rule));
    let rank = |hit: &Hit| {
        (
            rules.get(hit.rule as usize).map(|rule| rank(rule)),
            hit.end - hit.start,
            std::cmp::Reverse((hit.start, hit.rule)),
        )
    };
    let mut best: Option<Hit> = None;
    hits.dedup_by(|next, first| {
        let winner = best.get_or_insert(*first);
        let one = next.start < first.end || (next.start == first.end && next.rule == winner.rule);
        if !one {
            best = None;
            return false;
        }
        if rank(next) > rank(winner) {
            *winner = *next;
        }
        first.rule = winner.rule;
        first.end = first.end.max(next.end);
        true
    });
}

/// Of several rules that found the same, the one that says most about it gives the name.
fn rank(rule: &Rule) -> u8 {
    match rule.way {
        Way::BuiltIn(Recogniser::Name) => 0,
        Way::Key => 1,
        _ => 2,
    }
}
