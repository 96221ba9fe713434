//! How the digits of a telephone number are grouped.

use super::super::context::Call;
use super::super::scan::{Unknown, here, peek};
use super::plan;
use crate::text::Text;

const MAX_GROUPS: usize = 8;
const MIN_DIGITS: usize = 7;
const MAX_DIGITS: usize = 17;

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    len: usize,
    end: usize,
    /// Whether it stands in parentheses.
    enclosed: bool,
    /// What stands between this and the next one; zero if nothing does.
    separator: u8,
}

/// Digits in groups.
#[derive(Debug, Default)]
pub(super) struct Number {
    plus: bool,
    parts: [Part; MAX_GROUPS],
    len: usize,
    digits: [u8; MAX_DIGITS],
}

impl Number {
    /// Reads the groups from `start` on, as far as there are not too many of them.
    pub(super) fn read(text: &Text<'_>, start: usize) -> Result<Self, Unknown> {
        let mut number = Self { plus: here(text, start) == b'+', ..Self::default() };
        let mut at = start.saturating_add(usize::from(number.plus));
        let mut total = 0_usize;
        while let Some(part) = part(text, at)? {
            let from = part.end.saturating_sub(part.len);
            let until = total.saturating_add(part.len);
            let (Some(place), Some(digits)) =
                (number.parts.get_mut(number.len), number.digits.get_mut(total..until))
            else {
                break;
            };
            digits.copy_from_slice(
                text.bytes().get(from..from.saturating_add(part.len)).unwrap_or_default(),
            );
            *place = part;
            total = until;
            number.len = number.len.saturating_add(1);
            let closed = part.end.saturating_add(usize::from(part.enclosed));
            at = closed.saturating_add(usize::from(part.separator != 0));
        }
        Ok(number)
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Whether the first groups have as many digits as any number.
    pub(super) fn has_enough(&self, count: usize) -> bool {
        self.parts.iter().take(count).map(|part| part.len).sum::<usize>() >= MIN_DIGITS
    }

    /// Where the first groups end.
    pub(super) fn end(&self, count: usize) -> Option<usize> {
        let part = self.parts.get(count.checked_sub(1)?)?;
        Some(part.end.saturating_add(usize::from(part.enclosed)))
    }

    /// Whether the first groups are a telephone number, and if so, whether their shape alone says so.
    pub(super) fn judge(&self, count: usize, is_alone: bool, call: Call) -> Option<bool> {
        let parts = self.parts.get(..count)?;
        let len = parts.iter().map(|part| part.len).sum();
        let digits = self.digits.get(..len)?;
        let shape = Shape { parts, digits };
        if self.plus {
            let other = shape.is_fraction() || shape.is_far_date();
            return (!other && shape.is_international(0)).then_some(true);
        }
        if shape.is_written_out(is_alone) {
            return Some(true);
        }
        (shape.may_be_called() && shape.is_asked_for(call)).then_some(false)
    }
}

/// The group that begins at a place, perhaps in parentheses.
fn part(text: &Text<'_>, at: usize) -> Result<Option<Part>, Unknown> {
    let enclosed = peek(text, at)? == b'(';
    let start = at.saturating_add(usize::from(enclosed));
    let mut end = start;
    while peek(text, end)?.is_ascii_digit() {
        end = end.saturating_add(1);
        if end.saturating_sub(start) > MAX_DIGITS {
            return Ok(None);
        }
    }
    if end == start || enclosed && peek(text, end)? != b')' {
        return Ok(None);
    }
    let next = peek(text, end.saturating_add(usize::from(enclosed)))?;
    let separator = if matches!(next, b' ' | b'-' | b'.' | b'/') { next } else { 0 };
    Ok(Some(Part { len: end.saturating_sub(start), end, enclosed, separator }))
}

struct Shape<'a> {
    parts: &'a [Part],
    digits: &'a [u8],
}

impl Shape<'_> {
    fn lens(&self) -> [usize; MAX_GROUPS] {
        let mut lens = [0; MAX_GROUPS];
        lens.iter_mut().zip(self.parts).for_each(|(len, part)| *len = part.len);
        lens
    }

    /// The separators between the groups from one on, if they are all the same.
    fn separator(&self, from: usize) -> Option<u8> {
        let inner = self.parts.get(from..self.parts.len().saturating_sub(1)).unwrap_or_default();
        let first = inner.first()?.separator;
        inner.iter().all(|part| part.separator == first).then_some(first)
    }

    fn is_enclosed(&self) -> bool {
        self.parts.first().is_some_and(|part| part.enclosed)
    }

    /// Whether groups from one on, of which only the first may stand in parentheses, stand by themselves.
    fn is_plain(&self, from: usize) -> bool {
        self.parts.iter().skip(from).all(|part| !part.enclosed)
    }

    /// Whether a country's code and a number of that country stand behind the first `skip` digits.
    fn is_international(&self, skip: usize) -> bool {
        let digits = self.digits.get(skip..).unwrap_or_default();
        // A trunk prefix in parentheses is left out when dialled from abroad.
        let trunk = self.parts.iter().position(|part| part.enclosed && part.len == 1);
        let before: usize = self.parts.iter().take(trunk.unwrap_or(0)).map(|part| part.len).sum();
        let trunk =
            trunk.map(|_| before.saturating_sub(skip)).filter(|at| digits.get(*at) == Some(&b'0'));
        plan::is_international(digits, trunk)
    }

    /// Whether the shape alone makes this a telephone number.
    fn is_written_out(&self, is_alone: bool) -> bool {
        self.is_north_american(is_alone)
            || is_alone
                && !self.is_code_points()
                && (self.has_exit_code() || self.has_trunk_prefix() || self.has_area())
    }

    /// Whether this is a country's number behind the zeros that lead abroad.
    fn has_exit_code(&self) -> bool {
        let is_dump = self.parts.iter().all(|part| part.len == 2);
        self.parts.len() >= 3
            && self.parts.first().is_some_and(|part| part.len >= 2)
            && !is_dump
            && self.digits.starts_with(b"00")
            && self.is_international(2)
    }

    /// Whether all groups are as long as a hexadecimal number of two bytes.
    fn is_code_points(&self) -> bool {
        !self.is_enclosed() && self.parts.iter().all(|part| part.len == 4)
    }

    fn is_fraction(&self) -> bool {
        self.parts.len() == 2 && self.separator(0) == Some(b'.')
    }

    /// Whether this is a date with a sign, as those are written of which the year has more than four digits.
    fn is_far_date(&self) -> bool {
        let Some([m, n, d, e]) = self.digits.last_chunk() else { return false };
        let value = |tens: u8, ones: u8| (tens - b'0') * 10 + (ones - b'0');
        matches!(self.lens(), [year, 2, 2, 0, ..] if year > 4)
            && self.separator(0) == Some(b'-')
            && (1..=12).contains(&value(*m, *n))
            && (1..=31).contains(&value(*d, *e))
    }

    fn is_north_american(&self, is_alone: bool) -> bool {
        let (skip, enclosed) = match self.lens() {
            [3, 3, 4, 0, ..] => (0, self.is_enclosed()),
            [1, 3, 3, 4, 0, ..] if self.digits.starts_with(b"1") => {
                (1, self.parts.get(1).is_some_and(|part| part.enclosed))
            }
            _ => return false,
        };
        let separator =
            |at: usize| self.parts.get(at.saturating_add(skip)).map_or(0, |part| part.separator);
        let fits = match (enclosed, separator(0), separator(1)) {
            (true, 0 | b' ' | b'-' | b'.', b'-' | b'.') => true,
            (true, 0 | b' ', b' ') => is_alone,
            (false, b'-', b'-') | (false, b' ', b'-') => true,
            (false, b'.', b'.') => is_alone,
            _ => false,
        };
        fits && self.is_plain(skip.saturating_add(1))
            && plan::is_north_american(self.digits.get(skip..).unwrap_or_default())
    }

    /// Whether this is a national number with its leading zero.
    fn has_trunk_prefix(&self) -> bool {
        if !matches!(self.digits, [b'0', b'1'..=b'9', ..]) || !(9..=11).contains(&self.digits.len())
        {
            return false;
        }
        let rest = usize::from(self.is_enclosed());
        let separator = if self.parts.len() > 2 { self.separator(rest) } else { self.separator(0) };
        let fits = match separator {
            // A date, or a postal code of the United States.
            Some(b' ' | b'-' | 0) => !matches!(self.lens(), [2, 2, 4, ..] | [5, 4, 0, ..]),
            Some(b'.') => matches!(self.lens(), [2, 2, 2, 2, 2, 0, ..]),
            _ => false,
        };
        let [first, others @ ..] = self.parts else { return false };
        fits && self.is_plain(1)
            && (2..=5).contains(&first.len)
            && !others.is_empty()
            && others.iter().all(|part| part.len >= 2)
    }

    /// Whether an area stands in parentheses and a number with a hyphen follows.
    fn has_area(&self) -> bool {
        let [area, others @ ..] = self.parts else { return false };
        area.enclosed
            && (2..=5).contains(&area.len)
            && (8..=11).contains(&self.digits.len())
            && self.separator(1) == Some(b'-')
            && self.is_plain(1)
            && others.len() == 2
            && others.iter().all(|part| part.len >= 3)
    }

    /// Whether this may be a number if the words before it say so.
    fn may_be_called(&self) -> bool {
        let has_separators =
            self.parts.iter().rev().skip(1).all(|part| part.separator != 0 || part.enclosed);
        let fits = if self.parts.len() == 1 {
            (7..=13).contains(&self.digits.len())
        } else {
            (7..=15).contains(&self.digits.len())
        };
        fits && has_separators && !self.is_date()
    }

    fn is_date(&self) -> bool {
        let is_year =
            |digits: Option<&[u8]>| matches!(digits, Some([b'1', b'9', ..] | [b'2', b'0', ..]));
        match self.lens() {
            [4, 2, 2, ..] => is_year(self.digits.get(..4)),
            [2, 2, 4, ..] => is_year(self.digits.get(4..8)),
            [8, 0, ..] => is_year(self.digits.get(..4)),
            _ => false,
        }
    }

    fn is_asked_for(&self, call: Call) -> bool {
        match call {
            Call::Phone => true,
            // Mobile numbers of China are written without a separator.
            Call::Number => {
                matches!((self.parts.len(), self.digits), (1, [b'1', b'3'..=b'9', ..]))
                    && self.digits.len() == 11
            }
            Call::None => false,
        }
    }
}
