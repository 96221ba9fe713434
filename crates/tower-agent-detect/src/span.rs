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
        let named = rules.get(hit.rule as usize).is_some_and(|rule| rule.way == Way::Key);
        (rank, hit.end - hit.start, named, Reverse((hit.start, hit.rule)))
    };
    let mut spans: Vec<Hit> = Vec::with_capacity(hits.len());
    let mut best = None;
    let mut covered = 0;
    for (at, &hit) in hits.iter().enumerate() {
        if is_email(&hit, rules) {
            let following = hits.get(at + 1..).unwrap_or_default();
            if is_host(&hit, covered, following) {
                continue;
            }
        } else {
            covered = covered.max(hit.end);
        }
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

fn is_email(hit: &Hit, rules: &[Arc<Rule>]) -> bool {
    let rule = rules.get(hit.rule as usize);
    rule.is_some_and(|rule| rule.way == Way::BuiltIn(Recogniser::Email))
}

/// Whether what looks like an address is a password and the host behind it: something else ends within it.
fn is_host(email: &Hit, covered: usize, following: &[Hit]) -> bool {
    let mut inside = following.iter().take_while(|next| next.start < email.end);
    (email.start + 1..email.end).contains(&covered) || inside.any(|next| next.end < email.end)
}

fn touches(span: &Hit, next: &Hit) -> bool {
    next.start < span.end || (next.start == span.end && next.rule == span.rule)
}

/// Of several rules that found the same, the one that says most about it gives the name.
fn rank(rule: &Rule) -> u8 {
    match rule.way {
        Way::BuiltIn(Recogniser::Name) => 0,
        Way::BuiltIn(Recogniser::Email) => 1,
        _ if rule.set() == Set::Pii => 2,
        _ => 3,
    }
}
