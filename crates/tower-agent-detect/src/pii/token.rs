//! Hexadecimal digits that are no address, as most are.

use super::scan::{begins_word, here};
use super::{Progress, mac};
use crate::text::Text;

/// How many bytes are looked at to find that there is no address.
const MAX_BYTES: usize = 48;
/// How few colons no address has, unless two of them stand side by side.
const FEW: usize = 4;
/// How far behind its beginning a hardware address is told by its separators.
const SEPARATORS: usize = 9;

const fn is_part(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || byte == b':'
}

/// Says of most places that no address stands there, and just what a thorough look says then. None, if that has to tell.
#[inline]
pub(super) fn nothing(text: &Text<'_>, at: usize, from: usize) -> Option<Progress> {
    let bytes = text.bytes();
    let before = bytes.get(from.max(at.saturating_sub(MAX_BYTES))..at)?;
    let back = before.iter().rev().take_while(|byte| is_part(**byte)).count();
    if back == MAX_BYTES {
        return None;
    }
    let start = at - back;
    let token = bytes.get(start..)?;
    let len = token.iter().take(MAX_BYTES).position(|byte| !is_part(*byte))?;
    if token.len() <= SEPARATORS.max(len) {
        return None;
    }
    let (mut last, mut colons) = (start, 0);
    for (at, _) in token.iter().take(len).enumerate().filter(|(_, byte)| **byte == b':') {
        if at > 0 && last == start + at {
            return None;
        }
        colons += 1;
        last = start + at + 1;
    }
    // The end of a word with a colon may only look like a part of it.
    let is_labelled = colons > 0 && (here(text, start) == b':' || !begins_word(text, start));
    let ahead = |by: usize| here(text, start + by);
    let pairs = ahead(2) == b'-' && ahead(5) == b'-';
    let fours = ahead(4) == b'.' && ahead(9) == b'.';
    if colons > FEW || is_labelled || pairs || fours {
        return None;
    }
    let touched = start.checked_sub(1).map_or(0, |before| here(text, before));
    if matches!(touched, b'-' | b'.') && mac::first_pair(text, start, from) != start {
        return None;
    }
    Some(Progress::Next(last.max(from).max(at + 1)))
}
