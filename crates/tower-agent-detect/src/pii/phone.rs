//! Telephone numbers.

use super::cluster::Groups;
use super::context::{self, Call};
use super::scan::{
    Unknown, back, begins_word, here, is_among_numbers, is_listed, may_be, may_follow, peek,
};
use super::{Found, Kind};
use crate::text::{Text, is_word};

mod plan;
mod shape;

use self::shape::Number;

/// Where a number begins whose digits were noticed at `start`: what leads up to them, such as `+44 (` or `(020) `, may
/// stand before.
pub(super) fn lead(text: &Text<'_>, start: usize, from: usize) -> usize {
    let before = |at: usize| if at > from { here(text, at.saturating_sub(1)) } else { 0 };
    let digits = |end: usize, most: usize| {
        let run = (0..most)
            .take_while(|ahead| before(end.saturating_sub(*ahead)).is_ascii_digit())
            .count();
        (run > 0).then(|| end.saturating_sub(run))
    };
    let country = |end: usize| {
        let end =
            if matches!(before(end), b' ' | b'-' | b'.') { end.saturating_sub(1) } else { end };
        digits(end, 3).filter(|start| before(*start) == b'+').map(|start| start.saturating_sub(1))
    };
    let mut at = start;
    if matches!(before(at), b' ' | b'-' | b'.') && before(at.saturating_sub(1)) == b')' {
        at = at.saturating_sub(1);
    }
    if before(at) == b')' {
        let Some(open) = digits(at.saturating_sub(1), 5).filter(|open| before(*open) == b'(')
        else {
            return start;
        };
        let open = open.saturating_sub(1);
        return country(open).unwrap_or(open);
    }
    match before(start) {
        b'(' => country(start.saturating_sub(1)).unwrap_or(start.saturating_sub(1)),
        b'+' => start.saturating_sub(1),
        _ => country(start).unwrap_or(start),
    }
}

/// Looks for a number that begins at `start`: with the first group, or with what leads up to it.
pub(super) fn phone(
    text: &Text<'_>,
    groups: &Groups<'_>,
    start: usize,
) -> Result<Option<Found>, Unknown> {
    if !may_begin(text, start) {
        return Ok(None);
    }
    let call = context::call(text, start);
    let is_led = start < groups.first().start;
    if !is_led && call == Call::None && !is_written_out(text, groups) {
        return Ok(None);
    }
    let number = Number::read(text, start)?;
    for count in (1..=number.len()).rev().take_while(|count| number.has_enough(*count)) {
        let Some(end) = number.end(count) else { continue };
        if !may_end(text, end)? {
            continue;
        }
        let is_alone = !is_among_numbers(text, start, end)?;
        let Some(certain) = number.judge(count, is_alone, call) else { continue };
        let end = extension(text, end)?;
        return Ok(Some(Found { kind: Kind::Phone, start, end, sure: certain }));
    }
    Ok(None)
}

/// Whether the groups may be a number by their shape alone.
fn is_written_out(text: &Text<'_>, groups: &Groups<'_>) -> bool {
    let start = groups.first().start;
    (here(text, start) == b'0' && !is_listed(text, start))
        || groups.are(&[3, 3, 4])
        || groups.are(&[1, 3, 3, 4])
}

/// Whether what stands before a place does not make the digits a part of something else.
fn may_begin(text: &Text<'_>, start: usize) -> bool {
    let before = back(text, start);
    let further = back(text, start.saturating_sub(1));
    match here(text, start) {
        b'+' => begins_word(text, start) && !matches!(before, b')' | b']' | b'+' | b'.' | b'\\'),
        b'(' => begins_word(text, start),
        _ => {
            begins_word(text, start)
                && !matches!(before, b'+' | b'$' | b'%' | b'\\' | b'*' | b'^')
                && !(matches!(before, b'-' | b'.' | b'/' | b',' | b':' | b'@')
                    && may_follow(text, start.saturating_sub(1), u8::is_ascii_alphanumeric)
                    && !(before == b':' && further.is_ascii_alphabetic()))
        }
    }
}

/// Whether what stands behind a place does not make the digits a part of something else.
fn may_end(text: &Text<'_>, end: usize) -> Result<bool, Unknown> {
    let next = peek(text, end)?;
    let further = end.saturating_add(1);
    Ok(match next {
        b'x' | b'X' => peek(text, further)?.is_ascii_digit(),
        b'-' | b'.' | b':' | b',' => !may_be(text, further, u8::is_ascii_digit)?,
        b'%' => false,
        _ => !is_word(next),
    })
}

/// Where the extension ends that may follow a number: `x123`, ` x123`, ` ext. 123`.
fn extension(text: &Text<'_>, end: usize) -> Result<usize, Unknown> {
    const MAX_DIGITS: usize = 6;
    let mut at = end;
    if peek(text, at)? == b' ' {
        at = at.saturating_add(1);
    }
    match peek(text, at)?.to_ascii_lowercase() {
        b'x' => at = at.saturating_add(1),
        b'e' => {
            for byte in b"ext" {
                if peek(text, at)?.to_ascii_lowercase() != *byte {
                    return Ok(end);
                }
                at = at.saturating_add(1);
            }
            if peek(text, at)? == b'.' {
                at = at.saturating_add(1);
            }
            if peek(text, at)? == b' ' {
                at = at.saturating_add(1);
            }
        }
        _ => return Ok(end),
    }
    let digits = at;
    while at.saturating_sub(digits) < MAX_DIGITS && peek(text, at)?.is_ascii_digit() {
        at = at.saturating_add(1);
    }
    Ok(if at > digits && !is_word(peek(text, at)?) { at } else { end })
}
