//! Numbers of payment cards.

use super::cluster::Groups;
use super::context::{self, Topic};
use super::scan::{Unknown, back, begins_word, ends_word, here, may_be, may_follow, peek};
use super::{Found, Kind};
use crate::text::Text;

mod table;

pub(super) use table::entry_behind;

const MIN_DIGITS: usize = 12;
const MAX_DIGITS: usize = 19;
/// The fewest digits of a group.
const MIN_GROUP: usize = 3;
/// The most groups a number may be written in.
const MAX_GROUPS: usize = 6;

/// Looks for a card that begins with the first group.
pub(super) fn card(text: &Text<'_>, groups: &Groups<'_>) -> Result<Option<Found>, Unknown> {
    let start = groups.first().start;
    let ahead = groups.take(MAX_GROUPS);
    if groups.first().len() < MIN_GROUP
        || !ahead.have(MIN_DIGITS)
        || !matches!(here(text, start), b'1'..=b'6' | b'8')
        || !begins_number(text, start)
    {
        return Ok(None);
    }
    let mut number = Number::default();
    let mut best = None;
    for (at, group) in ahead.iter().enumerate() {
        if at > 0 && !number.separate(groups.separator(text, at.saturating_sub(1))) {
            break;
        }
        if !number.push(text, group.start, group.end) {
            break;
        }
        if let Some(sure) = number.judge(text, start, group.end)?
            && ends_number(text, group.end)?
        {
            best = Some(Found { kind: Kind::Card, start, end: group.end, sure });
        }
    }
    Ok(best)
}

/// Whether the digits at `start` are no part of a fraction, an identifier or a range.
fn begins_number(text: &Text<'_>, start: usize) -> bool {
    let before = back(text, start);
    let follows = |such| may_follow(text, start.saturating_sub(1), such);
    begins_word(text, start)
        && !(before == b'.' && follows(u8::is_ascii_digit))
        && !(before == b'-' && follows(u8::is_ascii_alphanumeric))
}

/// Whether the digits that end at `end` are not continued by a fraction or an identifier.
fn ends_number(text: &Text<'_>, end: usize) -> Result<bool, Unknown> {
    Ok(ends_word(text, end)?
        && match peek(text, end)? {
            b'.' | b'-' => !may_be(text, end.saturating_add(1), u8::is_ascii_digit)?,
            _ => true,
        })
}

#[derive(Debug, Default)]
struct Number {
    digits: [u8; MAX_DIGITS],
    len: usize,
    shape: [usize; MAX_GROUPS],
    groups: usize,
    separator: Option<u8>,
    mixed: bool,
}

impl Number {
    /// Whether a separator may stand within a card.
    fn separate(&mut self, separator: Option<u8>) -> bool {
        let Some(separator @ (b' ' | b'-' | b'.')) = separator else { return false };
        let first = *self.separator.get_or_insert(separator);
        self.mixed |= first != separator;
        !self.mixed || (first != b'.' && separator != b'.')
    }

    fn push(&mut self, text: &Text<'_>, start: usize, end: usize) -> bool {
        let group = text.bytes().get(start..end).unwrap_or_default();
        let until = self.len.saturating_add(group.len());
        let (Some(place), Some(shape)) =
            (self.digits.get_mut(self.len..until), self.shape.get_mut(self.groups))
        else {
            return false;
        };
        place.copy_from_slice(group);
        *shape = group.len();
        self.len = until;
        self.groups = self.groups.saturating_add(1);
        true
    }

    /// Whether this is a card, and if so, whether that is sure.
    fn judge(&self, text: &Text<'_>, start: usize, end: usize) -> Result<Option<bool>, Unknown> {
        let digits = self.digits.get(..self.len).unwrap_or_default();
        let is_issued = is_issued(digits);
        if digits.len() < MIN_DIGITS
            || !is_issued && !is_made_up(digits)
            || !luhn(digits)
            || is_constant(digits)
        {
            return Ok(None);
        }
        if is_issued && self.is_usual() && !self.is_among_others(text, start, end)? {
            return Ok(Some(true));
        }
        let meant = self.may_be_grouped() && context::speaks_of(text, start, Topic::Card);
        Ok(meant.then_some(false))
    }

    /// Whether the number is as long as most cards, and written as on them.
    fn is_usual(&self) -> bool {
        let shape = self.shape.get(..self.groups).unwrap_or_default();
        match shape {
            // Other issuers give out numbers that are as long as many counters.
            [14 | 15] => is_common(self.digits.get(..self.len).unwrap_or_default()),
            [16] => true,
            [4, 4, 4, 4] => true,
            [4, 4, 4, 4, 3] | [4, 6, 5] | [4, 6, 4] => !self.mixed && self.separator != Some(b'.'),
            _ => false,
        }
    }

    /// Whether the number stands without separators in a table of numbers, of which one in ten has the check digit; or
    /// in any list, if hardly anybody has such a card.
    fn is_among_others(&self, text: &Text<'_>, start: usize, end: usize) -> Result<bool, Unknown> {
        let digits = self.digits.get(..self.len).unwrap_or_default();
        Ok(self.groups == 1
            && (table::is_entry(text, start, end)?
                || !is_common(digits) && table::is_listed(text, start, end)?))
    }

    fn may_be_grouped(&self) -> bool {
        let shape = self.shape.get(..self.groups).unwrap_or_default();
        shape.len() == 1
            || (!self.mixed
                && self.separator != Some(b'.')
                && shape.iter().all(|len| (MIN_GROUP..=8).contains(len)))
    }
}

/// Whether an issuer gives out numbers that begin and are as long as this one.
fn is_issued(digits: &[u8]) -> bool {
    let head = digits.iter().take(4).fold(0_u32, |head, digit| head * 10 + u32::from(digit - b'0'));
    matches!(
        (head, digits.len()),
        (1000..=1999 | 2131 | 3400..=3499 | 3700..=3799, 15)
            | (2221..=2720 | 5100..=5599, 16)
            | (2200..=2204 | 3528..=3589 | 6200..=6299 | 8100..=8199, 16..=19)
            | (3000..=3059 | 3095 | 3600..=3699 | 3800..=3999, 14..=19)
            | (4000..=4999, 13 | 16 | 18 | 19)
            | (5000..=5099 | 5600..=5899 | 6000..=6999, 12..=19)
    )
}

/// Whether cards of the issuer are met everywhere, and are as long as this.
fn is_common(digits: &[u8]) -> bool {
    let head = digits.iter().take(4).fold(0_u32, |head, digit| head * 10 + u32::from(digit - b'0'));
    matches!(
        (head, digits.len()),
        (3000..=3059 | 3095 | 3600..=3699 | 3800..=3999, 14)
            | (1000..=1999 | 2131 | 3400..=3499 | 3700..=3799, 15)
            | (2221..=2720 | 4000..=4999 | 5100..=5599, 16)
            | (3528..=3589 | 6011 | 6200..=6299 | 6440..=6599, 16)
    )
}

/// Whether the digits begin like ones of JCB that are not given out yet, but often made up.
const fn is_made_up(digits: &[u8]) -> bool {
    matches!(digits, [b'3', b'5', ..]) && digits.len() == 16
}

/// Whether the last digit checks the others.
fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, u32::from(digit - b'0')) {
            (0, value) => value,
            (_, value @ 0..=4) => value * 2,
            (_, value) => value * 2 - 9,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Whether one digit is repeated all along.
fn is_constant(digits: &[u8]) -> bool {
    digits.first().is_some_and(|first| digits.iter().all(|digit| digit == first))
}
