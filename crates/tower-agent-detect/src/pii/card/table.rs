//! Tables of numbers, in which some have the digits of a card by chance.

use super::super::scan::{Unknown, back, here, peek};
use super::{is_issued, luhn};
use crate::text::Text;

/// The fewest digits of a number that shows its neighbours to be no cards.
const MIN_DIGITS: usize = 14;
const MAX_DIGITS: usize = 20;
/// How far the neighbours are looked for, in bytes and in entries.
const REACH: usize = 80;
const MAX_ENTRIES: usize = 4;

/// Whether the number from `start` to `end` stands in a list of numbers, with white space behind the commas as programs
/// are written, and another one of them is as long as a card and none.
pub(super) fn is_entry(text: &Text<'_>, start: usize, end: usize) -> Result<bool, Unknown> {
    Ok(is_entry_after_others(text, start) || is_entry_before_others(text, end)?)
}

/// Whether a comma and white space stand before or behind the number, as between the entries of any list.
pub(super) fn is_listed(text: &Text<'_>, start: usize, end: usize) -> Result<bool, Unknown> {
    let before =
        back(text, start).is_ascii_whitespace() && back(text, start.saturating_sub(1)) == b',';
    Ok(before
        || peek(text, end)? == b',' && peek(text, end.saturating_add(1))?.is_ascii_whitespace())
}

/// Where the next entry of a list begins, if the one that ends at a place shows its neighbours to be no cards.
pub(in super::super) fn entry_behind(text: &Text<'_>, place: usize) -> Option<usize> {
    let before = text.bytes().get(..place)?.iter().rev();
    let digits = before.take(MAX_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    if !is_no_card(text, place.saturating_sub(digits), place) {
        return None;
    }
    match text.bytes().get(place..)? {
        [] => Some(place),
        [b',', rest @ ..] => {
            let gap = rest.iter().take(REACH).take_while(|byte| byte.is_ascii_whitespace()).count();
            Some(place.saturating_add(gap).saturating_add(1))
        }
        _ => None,
    }
}

fn is_entry_before_others(text: &Text<'_>, end: usize) -> Result<bool, Unknown> {
    let mut at = end;
    for _ in 0..MAX_ENTRIES {
        if peek(text, at)? != b',' {
            return Ok(false);
        }
        let gap = at.saturating_add(1);
        at = gap;
        while at.saturating_sub(end) < REACH && peek(text, at)?.is_ascii_whitespace() {
            at = at.saturating_add(1);
        }
        let digits = at;
        while at.saturating_sub(digits) <= MAX_DIGITS && peek(text, at)?.is_ascii_digit() {
            at = at.saturating_add(1);
        }
        if digits == gap || at == digits {
            return Ok(false);
        }
        if is_no_card(text, digits, at) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_entry_after_others(text: &Text<'_>, start: usize) -> bool {
    let mut at = start;
    for _ in 0..MAX_ENTRIES {
        let gap = at;
        while start.saturating_sub(at) < REACH && back(text, at).is_ascii_whitespace() {
            at = at.saturating_sub(1);
        }
        if gap == at || back(text, at) != b',' {
            return false;
        }
        let end = at.saturating_sub(1);
        at = end;
        while start.saturating_sub(at) < REACH
            && end.saturating_sub(at) <= MAX_DIGITS
            && back(text, at).is_ascii_digit()
        {
            at = at.saturating_sub(1);
        }
        if is_no_card(text, at, end) {
            return true;
        }
    }
    false
}

fn is_no_card(text: &Text<'_>, start: usize, end: usize) -> bool {
    let digits = text.bytes().get(start..end).unwrap_or_default();
    (MIN_DIGITS..=MAX_DIGITS).contains(&digits.len())
        && here(text, start) != b'0'
        && !(is_issued(digits) && luhn(digits))
}
