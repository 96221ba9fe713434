//! A quick look at digits that are nothing, as most are: dates, times, fractions, short numbers, parts of identifiers.

use super::{iban, mac, phone, scan::here};
use crate::text::Text;

/// How much of digits and separators is looked at, in bytes.
const MAX_BYTES: usize = 48;
const MAX_GROUPS: usize = 8;
/// Digits that are no number, be there so few of them in a row.
const FEW: usize = 6;
/// How far behind the beginning of a token a hardware address is told by its separators, in bytes.
const PAIRS: usize = 9;
const MAX_TOKEN: usize = 48;

const DIGIT: u8 = 1;
const SEPARATOR: u8 = 2;
const HEX: u8 = 4;

#[expect(
    clippy::indexing_slicing,
    reason = "the compiler evaluates it, and would refuse a wrong index"
)]
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let separates = matches!(byte, b' ' | b'.' | b'-' | b'/' | b':' | b'(' | b')');
        classes[byte as usize] = DIGIT * byte.is_ascii_digit() as u8
            | SEPARATOR * separates as u8
            | HEX * (byte.is_ascii_hexdigit() || byte == b':') as u8;
        byte += 1;
    }
    classes
};

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(0)
}

/// Where the digits with separators end that begin at `start`, if neither they nor what stands before them can be
/// anything. None, if a better look has to tell.
#[inline]
pub(super) fn nothing(text: &Text<'_>, start: usize, from: usize) -> Option<usize> {
    let before = here(text, start.checked_sub(1)?);
    let end = few(text, start)?;
    let may_be_head = before.is_ascii_alphanumeric() || matches!(before, b' ' | b'-');
    if may_be_head && iban::head(text, start, from).is_some() {
        return None;
    }
    let may_lead = matches!(before, b' ' | b'-' | b'.' | b'(' | b')' | b'+');
    if may_lead && phone::lead(text, start, from) != start {
        return None;
    }
    // Whether colons or hexadecimal digits make more of it, a token tells.
    no_address(text, start, from).map(|_| end)
}

/// Where digits with separators end, of which there are few between any two colons, or which are a date.
#[inline]
fn few(text: &Text<'_>, start: usize) -> Option<usize> {
    let bytes = text.bytes().get(start..)?;
    let (mut digits, mut groups, mut dots, mut end, mut most, mut before) = (0, 0, 0, 0, 0, 0);
    for (at, &byte) in bytes.iter().take(MAX_BYTES).enumerate() {
        let class = class(byte);
        if class & DIGIT != 0 {
            groups += usize::from(at == 0 || at > end);
            digits += 1;
            most = most.max(digits);
            end = at + 1;
        } else if class & SEPARATOR != 0 && (at == end || at == end + 1 && is_pair(before, byte)) {
            dots += usize::from(byte == b'.');
            digits = if byte == b':' { 0 } else { digits };
            before = byte;
        } else {
            let fits = most <= FEW || most == 8 && is_date(bytes, end);
            return (dots < 3 && groups <= MAX_GROUPS && fits).then_some(start + end);
        }
    }
    None
}

/// Whether two separators may stand between two groups.
const fn is_pair(first: u8, second: u8) -> bool {
    matches!((first, second), (b')', b' ' | b'-' | b'.' | b'/') | (b' ' | b'-' | b'.', b'('))
}

/// A year and two numbers of two digits, hyphens between them, and nothing else.
fn is_date(bytes: &[u8], end: usize) -> bool {
    match bytes.get(..end) {
        Some(
            [b'1', b'9', _, _, b'-', _, month, b'-', ..]
            | [b'2', b'0', _, _, b'-', _, month, b'-', ..],
        ) => end == 10 && month.is_ascii_digit(),
        _ => false,
    }
}

/// Where the last group of the token around `at` begins, if the token can be no address. None, if a better look has to
/// tell.
#[inline]
pub(super) fn no_address(text: &Text<'_>, at: usize, from: usize) -> Option<usize> {
    let bytes = text.bytes();
    let mut start = at;
    while start > from {
        if class(here(text, start - 1)) & HEX == 0 {
            break;
        }
        start -= 1;
        if at - start >= MAX_TOKEN {
            return None;
        }
    }
    let (mut last, mut colons, mut pair) = (start, 0, false);
    let token = bytes.get(start..)?;
    let end = token.iter().take(MAX_TOKEN).enumerate().find(|(at, byte)| {
        if **byte == b':' {
            colons += 1;
            pair |= *at > 0 && last == start + at;
            last = start + at + 1;
        }
        class(**byte) & HEX == 0
    });
    end?;
    if pair || colons > 4 || token.len() <= PAIRS {
        return None;
    }
    if matches!(here(text, start.saturating_sub(1)), b'-' | b'.')
        && mac::first_pair(text, start, from) != start
    {
        return None;
    }
    // The separators behind the first pair, or four, of a hardware address.
    let ahead = |by: usize| here(text, start + by);
    let pairs = ahead(2) == b'-' && ahead(5) == b'-';
    let fours = ahead(4) == b'.' && ahead(9) == b'.';
    (!pairs && !fours).then_some(last)
}
