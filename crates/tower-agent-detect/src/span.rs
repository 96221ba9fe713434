//! Stretches of text that are masked as one.

use std::{cmp::Reverse, sync::Arc};

use crate::{
    engine::Hit,
    recogniser::Recogniser,
    rule::{Rule, Set, Way},
};

/// Makes one of whatever overlaps, and of neighbours of the same rule; in order.
pub(crate) fn merged(hits: &mut [Hit], rules: &[Arc<Rule>]) -> Vec<Hit> {
    hits.sort_unstable_by_key(|hit| (hit.start, hit.end, hit.rule));
    let rank = |hit: &Hit| {
        let rank = rules.get(hit.rule as usize).map_or(0, |rule| rank(rule));
        (rank, hit.end - hit.start, Reverse((hit.start, hit.rule)))
    };
    let mut spans: Vec<Hit> = Vec::with_capacity(hits.len());
    let mut best = None;
    for &mut hit in hits.iter_mut() {
        match (spans.last_mut(), best) {
            (Some(span), Some(winner)) if touches(span, &hit) => {
                let winner = if rank(&hit) > rank(&winner) { hit } else { winner };
                span.end = span.end.max(hit.end);
                span.rule = winner.rule;
                best = Some(winner);
            }
            _ => {
                spans.push(hit);
                best = Some(hit);
            }
        }
    }
    spans
}

fn touches(span: &Hit, next: &Hit) -> bool {
    next.start < span.end || (next.start == span.end && next.rule == span.rule)
}

/// Of several rules that found the same, the one that says most about it gives the name.
fn rank(rule: &Rule) -> u8 {
    match rule.way {
        Way::BuiltIn(Recogniser::Name) => 0,
        Way::BuiltIn(Recogniser::Email) => 1,
        Way::Key => 2,
        _ if rule.set() == Set::Pii => 2,
        _ => 3,
    }
}
