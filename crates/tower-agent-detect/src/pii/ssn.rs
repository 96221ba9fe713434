//! Social security numbers of the United States.

use super::cluster::Groups;
use super::context::{self, Topic};
use super::scan::{
    Unknown, back, begins_word, ends_word, here, is_among_numbers, may_be, may_follow, peek,
};
use super::{Found, Kind};
use crate::text::Text;

/// Looks for a number that begins with the first group.
pub(super) fn ssn(text: &Text<'_>, groups: &Groups<'_>) -> Result<Option<Found>, Unknown> {
    let start = groups.first().start;
    if !matches!(groups.first().len(), 3 | 5 | 9) {
        return Ok(None);
    }
    let separators = (groups.separator(text, 0), groups.separator(text, 1));
    let parts = match separators {
        (Some(first @ (b'-' | b' ' | b'.')), Some(second))
            if first == second && groups.are(&[3, 2, 4]) =>
        {
            3
        }
        (Some(b'-'), _) if groups.are(&[3, 6]) || groups.are(&[5, 4]) => 2,
        _ if groups.are(&[9]) => 1,
        _ => return Ok(None),
    };
    let Some(last) = groups.get(parts - 1) else { return Ok(None) };
    if !stands_alone(text, start, last.end)? || !is_issued(text, groups, parts) {
        return Ok(None);
    }
    let sure = parts == 3 && separators.0 == Some(b'-');
    let known = sure
        || context::speaks_of(text, start, Topic::Ssn)
        || parts == 3 && separators.0 == Some(b' ') && !is_among_numbers(text, start, last.end)?;
    Ok(known.then_some(Found { kind: Kind::Ssn, start, end: last.end, sure }))
}

/// Whether the digits are no part of a longer number or identifier.
fn stands_alone(text: &Text<'_>, start: usize, end: usize) -> Result<bool, Unknown> {
    let before = back(text, start);
    let is_continued = matches!(before, b'-' | b'.')
        && may_follow(text, start.saturating_sub(1), u8::is_ascii_alphanumeric);
    if is_continued || !begins_word(text, start) || !ends_word(text, end)? {
        return Ok(false);
    }
    Ok(match peek(text, end)? {
        b'-' | b'.' => !may_be(text, end.saturating_add(1), u8::is_ascii_alphanumeric)?,
        _ => true,
    })
}

/// Whether such a number can have been given out. Two numbers became known by being printed as samples.
fn is_issued(text: &Text<'_>, groups: &Groups<'_>, parts: usize) -> bool {
    let mut digits = [0_u8; 9];
    let all =
        groups.iter().take(parts).flat_map(|group| group.start..group.end).map(|at| here(text, at));
    for (place, digit) in digits.iter_mut().zip(all) {
        *place = digit;
    }
    let is_sample = matches!(&digits, b"123456789" | b"078051120");
    let [a, b, c, d, e, serial @ ..] = digits;
    let area = [a, b, c];
    area != *b"000"
        && area != *b"666"
        && a != b'9'
        && [d, e] != *b"00"
        && serial != *b"0000"
        && !is_sample
}
