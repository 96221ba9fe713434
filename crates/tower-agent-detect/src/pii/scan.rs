//! Looking at single bytes.

use crate::text::{End, Text, is_word};

/// What follows decides.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Unknown;

/// The byte at a place. Behind the end of a whole text it is zero, which is no part of anything; in place of something
/// that was masked it is an underscore, since nothing can be said about what touches it.
#[inline]
pub(super) fn peek(text: &Text<'_>, at: usize) -> Result<u8, Unknown> {
    match (text.bytes().get(at), text.end()) {
        (Some(byte), _) => Ok(*byte),
        (None, End::Final) => Ok(0),
        (None, End::More) => Err(Unknown),
        (None, End::Masked) => Ok(b'_'),
    }
}

/// The byte before a place, by the same rules.
#[inline]
pub(super) fn back(text: &Text<'_>, at: usize) -> u8 {
    match text.before(at) {
        Ok(byte) => byte.unwrap_or(0),
        Err(_) => b'_',
    }
}

/// Whether such a byte stands before a place, or something that was masked, which may have been one.
#[inline]
pub(super) fn may_follow(text: &Text<'_>, at: usize, such: fn(&u8) -> bool) -> bool {
    text.before(at).map_or(true, |byte| byte.as_ref().is_some_and(such))
}

/// Whether such a byte stands at a place, or something that was masked.
#[inline]
pub(super) fn may_be(text: &Text<'_>, at: usize, such: fn(&u8) -> bool) -> Result<bool, Unknown> {
    let masked = text.end() == End::Masked && at >= text.len();
    Ok(such(&peek(text, at)?) || masked)
}

/// The byte at a place that is known to be there.
#[inline]
pub(super) fn here(text: &Text<'_>, at: usize) -> u8 {
    text.bytes().get(at).copied().unwrap_or(0)
}

/// Whether a word may begin at a place. The letter of an escaped line break, as in JSON, belongs to no word.
#[inline]
pub(super) fn begins_word(text: &Text<'_>, at: usize) -> bool {
    let before = back(text, at);
    !is_word(before)
        || (matches!(before, b'n' | b'r' | b't') && back(text, at.saturating_sub(1)) == b'\\')
}

/// Whether a word ends before a place.
#[inline]
pub(super) fn ends_word(text: &Text<'_>, at: usize) -> Result<bool, Unknown> {
    Ok(!is_word(peek(text, at)?))
}

/// The longest run of digits that is looked at.
pub(super) const MAX_RUN: usize = 40;

/// How far back the first digit of a run is looked for. With the words before it, this stays within [`Text::BEHIND`].
const MAX_BACK: usize = 20;

/// The first of the digits around `at`.
#[inline]
pub(super) fn run_start(text: &Text<'_>, at: usize, from: usize) -> usize {
    let mut start = at;
    while start > from
        && at.saturating_sub(start) < MAX_BACK
        && here(text, start.saturating_sub(1)).is_ascii_digit()
    {
        start = start.saturating_sub(1);
    }
    start
}

/// Whether more digits stand around a place, or hexadecimal ones, a space between them.
pub(super) fn is_among_numbers(text: &Text<'_>, start: usize, end: usize) -> Result<bool, Unknown> {
    if is_listed(text, start) {
        return Ok(true);
    }
    if peek(text, end)? != b' ' {
        return Ok(false);
    }
    let next = peek(text, end.saturating_add(1))?;
    if !next.is_ascii_hexdigit() {
        return may_be(text, end.saturating_add(1), u8::is_ascii_digit);
    }
    let is_pair = peek(text, end.saturating_add(2))?.is_ascii_hexdigit()
        && ends_word(text, end.saturating_add(3))?;
    Ok(next.is_ascii_digit() || is_pair)
}

/// Whether digits, or hexadecimal ones, and a space stand before a place.
pub(super) fn is_listed(text: &Text<'_>, start: usize) -> bool {
    back(text, start) == b' ' && ends_hexadecimal(text, start.saturating_sub(1))
}

/// Whether a short word of hexadecimal digits, one of them decimal, ends before a place.
fn ends_hexadecimal(text: &Text<'_>, end: usize) -> bool {
    const MAX_LEN: usize = 6;
    let before = |behind: usize| back(text, end.saturating_sub(behind));
    let len = (0..MAX_LEN)
        .take_while(|behind| *behind < end && before(*behind).is_ascii_hexdigit())
        .count();
    text.before(end.saturating_sub(len)).is_err()
        || before(0).is_ascii_digit()
        || (0..len).any(|behind| before(behind).is_ascii_digit()) && !is_word(before(len))
}
