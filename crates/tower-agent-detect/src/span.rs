//! Stretches of text that are masked as one.

use std::{cmp::Reverse, sync::Arc};

use crate::{
    engine::Hit,
    judge, pii,
    recogniser::Recogniser,
    rule::{Rule, Set, Way},
};

/// A stretch that is as long as this ends with what it is made of so far: what reaches over its end goes on as another
/// one, since else a stream would have to wait for as long as something overlaps. In bytes.
const LONG: usize = 32 << 10;

/// Makes one of whatever overlaps in a text; in order.
pub(crate) fn merged(hits: &mut [Hit], rules: &[Arc<Rule>], text: &[u8]) -> Vec<Hit> {
    hits.sort_unstable_by_key(order);
    let rank = |hit: &Hit| {
        let rank = rules.get(hit.rule as usize).map_or(0, |rule| rank(rule));
        let named = rules.get(hit.rule as usize).is_some_and(|rule| rule.way == Way::Key);
        (rank, hit.end - hit.start, named, Reverse((hit.start, hit.rule)))
    };
    let mut spans: Vec<Hit> = Vec::with_capacity(hits.len());
    let mut best = None;
    let mut covered = 0;
    // What is cut here may be put together otherwise when more has been found.
    let mut copy = hits.to_vec();
    let mut rest = copy.as_mut_slice();
    while let Some((&mut mut hit, following)) = rest.split_first_mut() {
        rest = following;
        if is_email(&hit, rules) {
            if is_host(&hit, covered, rest) {
                let Some(end) = shortened(&hit, covered, rest, text) else { continue };
                hit.end = end;
            }
        } else {
            covered = covered.max(hit.end);
        }
        match (spans.last_mut(), best) {
            (Some(span), Some(winner)) if hit.start < span.end => {
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
        if let Some(span) = spans.last().filter(|span| span.end - span.start >= LONG) {
            rest = behind(rest, span.end);
        }
    }
    spans
}

const fn order(hit: &Hit) -> (usize, usize, u32) {
    (hit.start, hit.end, hit.rule)
}

/// What is left of hits behind a place.
fn behind(hits: &mut [Hit], place: usize) -> &mut [Hit] {
    let reaching = hits.iter().take_while(|hit| hit.start <= place).count();
    let over = hits.get_mut(..reaching).unwrap_or_default();
    for hit in &mut *over {
        (hit.start, hit.end) = (place, hit.end.max(place));
    }
    over.sort_unstable_by_key(order);
    let empty = over.iter().take_while(|hit| hit.end == place).count();
    hits.get_mut(empty..).unwrap_or_default()
}

/// Drops what went into a stretch, and all before it.
pub(crate) fn take(hits: &mut Vec<Hit>, last: Hit) {
    let long = last.end - last.start >= LONG;
    hits.retain_mut(|hit| {
        if long {
            hit.start = hit.start.max(last.end);
        }
        hit.start >= last.end && hit.start < hit.end
    });
}

/// Whether something is a further part of what was masked right before it, and gets no mask of its own.
pub(crate) const fn goes_on(last: Hit, next: Hit) -> bool {
    last.end == next.start && last.rule == next.rule && judge::is_part(last.end - last.start)
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

/// Where an address ends that another one is found to go on behind, in its own domain.
fn shortened(email: &Hit, covered: usize, following: &[Hit], text: &[u8]) -> Option<usize> {
    let at = email.start + memchr::memchr(b'@', text.get(email.start..email.end)?)?;
    let next = following.iter().find(|next| next.end < email.end)?;
    if (email.start + 1..email.end).contains(&covered) || next.start <= at {
        return None;
    }
    pii::email_end(text.get(..next.start)?, at)
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
