//! Addresses of network hardware.

use super::context::{self, Topic};
use super::scan::{Unknown, back, begins_word, ends_word, here, peek};
use super::{Found, Kind};
use crate::text::{Text, is_word};

/// The first of the pairs with hyphens, or fours with dots, of which one begins where a token does.
pub(super) fn first_pair(text: &Text<'_>, start: usize, from: usize) -> usize {
    let first = step_back(text, start, from, b'-', 2, 5);
    if first < start { first } else { step_back(text, start, from, b'.', 4, 2) }
}

/// Whether just so many hexadecimal digits stand at a place, or may do so once all of them have come. Before a colon, they
/// belong to what goes on with colons.
fn may_be_group(text: &Text<'_>, start: usize, width: usize) -> bool {
    let rest = text.bytes().get(start..).unwrap_or_default();
    let digits = rest.iter().take(width).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let goes_on = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b':';
    digits == rest.len() || digits == width && !rest.get(width).is_some_and(goes_on)
}

/// Whether hexadecimal digits stand before or behind a run, a hyphen or a dot between them.
pub(super) fn may_begin(text: &Text<'_>, start: usize) -> Result<bool, Unknown> {
    let before = start > 1 && here(text, start.saturating_sub(2)).is_ascii_hexdigit();
    Ok(is_group(text, start, b'-', 2)?
        || is_group(text, start, b'.', 4)?
        || before && matches!(back(text, start), b'-' | b'.'))
}

/// Whether behind so many bytes a separator and as many hexadecimal digits stand.
fn is_group(text: &Text<'_>, start: usize, separator: u8, len: usize) -> Result<bool, Unknown> {
    let at = start.saturating_add(len);
    if here(text, at) != separator {
        return Ok(false);
    }
    for ahead in 1..=len {
        if !peek(text, at.saturating_add(ahead))?.is_ascii_hexdigit() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn step_back(
    text: &Text<'_>,
    start: usize,
    from: usize,
    separator: u8,
    width: usize,
    most: usize,
) -> usize {
    let mut first = start;
    if !may_be_group(text, start, width) {
        return start;
    }
    for _ in 0..most {
        let Some(next) = first.checked_sub(width.saturating_add(1)).filter(|next| *next >= from)
        else {
            break;
        };
        let pair = text.bytes().get(next..first.saturating_sub(1)).unwrap_or_default();
        if here(text, first.saturating_sub(1)) != separator
            || !pair.iter().all(u8::is_ascii_hexdigit)
        {
            break;
        }
        first = next;
    }
    first
}

/// Looks for an address at `start`.
pub(super) fn mac(text: &Text<'_>, start: usize) -> Result<Option<Found>, Unknown> {
    if !begins_word(text, start) {
        return Ok(None);
    }
    for (separator, width, pairs) in [(b':', 2, 6), (b'-', 2, 6), (b'.', 4, 3)] {
        if let Some(address) = Address::read(text, start, separator, width, pairs)? {
            return Ok(address.is_sure(text).map(|sure| Found {
                kind: Kind::Mac,
                start,
                end: address.end,
                sure,
            }));
        }
    }
    Ok(None)
}

/// As many pairs, or fours, as an address has.
struct Address {
    start: usize,
    end: usize,
    separator: u8,
    letters: bool,
    digits: bool,
    constant: bool,
}

/// Whether the digits from `start` on are the rest of a longer row, which may begin in the line before.
fn continues(text: &Text<'_>, start: usize, separator: u8) -> bool {
    const MAX_GAP: usize = 40;
    let before = back(text, start);
    if before == b':' && separator == b':' {
        return ends_group(text, start.saturating_sub(1));
    }
    if before == separator {
        return is_word(back(text, start.saturating_sub(1)));
    }
    // Between two lines of a program stand the signs of an escaped line break, too.
    let gap = (0..MAX_GAP)
        .take_while(|behind| {
            let byte = back(text, start.saturating_sub(*behind));
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\\' | b'n')
        })
        .count();
    let end = start.saturating_sub(gap);
    let lines = text.bytes().get(end..start).unwrap_or_default();
    lines.contains(&b'\n')
        && back(text, end) == separator
        && ends_group(text, end.saturating_sub(1))
}

/// Whether a group of a row ends at a place, rather than a word that says what the row is, as in `mac:00:1b`.
fn ends_group(text: &Text<'_>, end: usize) -> bool {
    const MAX_LEN: usize = 5;
    let before = |behind: usize| back(text, end.saturating_sub(behind));
    let len = (0..MAX_LEN).take_while(|behind| is_word(before(*behind))).count();
    (1..MAX_LEN).contains(&len)
        && (0..len).all(|behind| before(behind).is_ascii_hexdigit())
        && (len <= 2 || (0..len).any(|behind| before(behind).is_ascii_digit()))
}

impl Address {
    fn read(
        text: &Text<'_>,
        start: usize,
        separator: u8,
        width: usize,
        count: usize,
    ) -> Result<Option<Self>, Unknown> {
        // Of a long row, only the first pair is read on from.
        if back(text, start) == separator && continues(text, start, separator) {
            return Ok(None);
        }
        let step = width.saturating_add(1);
        let len = step.saturating_mul(count).saturating_sub(1);
        let mut address = Self {
            start,
            end: start.saturating_add(len),
            separator,
            letters: false,
            digits: false,
            constant: true,
        };
        let first = peek(text, start)?.to_ascii_lowercase();
        for offset in 0..len {
            let byte = peek(text, start.saturating_add(offset))?.to_ascii_lowercase();
            if offset % step == width {
                if byte != separator {
                    return Ok(None);
                }
                continue;
            }
            if !byte.is_ascii_hexdigit() {
                return Ok(None);
            }
            address.letters |= byte.is_ascii_alphabetic();
            address.digits |= byte.is_ascii_digit();
            address.constant &= byte == first;
        }
        Ok((address.ends(text)? && !continues(text, start, separator)).then_some(address))
    }

    fn ends(&self, text: &Text<'_>) -> Result<bool, Unknown> {
        let is_longer = peek(text, self.end)? == self.separator
            && is_word(peek(text, self.end.saturating_add(1))?);
        Ok(ends_word(text, self.end)? && !is_longer)
    }

    /// Whether this names one device, and if so, whether that is sure. What all devices answer to, and no device, is
    /// spelled with one digit.
    fn is_sure(&self, text: &Text<'_>) -> Option<bool> {
        let is_reserved = self.constant && matches!(here(text, self.start), b'0' | b'f' | b'F');
        if is_reserved {
            return None;
        }
        let sure = match self.separator {
            b':' => true,
            b'-' => self.letters && self.digits,
            _ => false,
        };
        (sure || context::speaks_of(text, self.start, Topic::Hardware)).then_some(sure)
    }
}
