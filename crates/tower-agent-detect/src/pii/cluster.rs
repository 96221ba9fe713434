//! Digits in groups, and what stands between them.

use super::scan::{MAX_RUN, Unknown, back, begins_word, here, peek};
use super::{Found, card, ip, mac, phone, ssn};
use crate::text::Text;

/// How many groups are read at once.
const MAX_GROUPS: usize = 16;
/// How many groups, and bytes, a number may reach ahead of its first one.
const REACH: usize = 8;
const MAX_BYTES: usize = 96;
/// The fewest digits of a number that is no address of the internet.
const MIN_DIGITS: usize = 7;

/// A run of digits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Group {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Group {
    pub(super) const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }
}

/// Runs of digits with one or two separators between each two.
#[derive(Debug)]
pub(super) struct Cluster {
    start: usize,
    groups: [Group; MAX_GROUPS],
    len: usize,
    /// Whether more groups follow than are read here.
    cut: bool,
}

/// The groups from one of them on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups<'a>(pub(super) &'a [Group]);

impl Cluster {
    /// Reads the groups from `start` on, where a digit stands.
    pub(super) fn read(text: &Text<'_>, start: usize) -> Result<Self, Unknown> {
        let mut cluster =
            Self { start, groups: [Group::default(); MAX_GROUPS], len: 0, cut: false };
        let mut at = start;
        while let Some(end) = digits(text, at)? {
            let Some(group) = cluster.groups.get_mut(cluster.len) else { break };
            *group = Group { start: at, end };
            cluster.len = cluster.len.saturating_add(1);
            cluster.cut = cluster.len == MAX_GROUPS || end.saturating_sub(start) >= MAX_BYTES;
            match next_group(text, end)? {
                Some(next) if !cluster.cut => at = next,
                _ => break,
            }
        }
        Ok(cluster)
    }

    fn groups(&self) -> &[Group] {
        self.groups.get(..self.len).unwrap_or_default()
    }

    /// Whether hexadecimal digits or colons touch the digits.
    pub(super) fn is_hexadecimal(&self, text: &Text<'_>) -> bool {
        let touches = |byte: u8| byte == b':' || byte.is_ascii_hexdigit();
        let (Some(first), Some(last)) = (self.groups().first(), self.groups().last()) else {
            return false;
        };
        touches(back(text, first.start))
            || touches(here(text, last.end))
            || self.groups().iter().any(|group| here(text, group.end) == b':')
            || mac::may_begin(text, first.start)
    }

    /// Pushes the numbers among the groups, and says where the next cluster may begin.
    pub(super) fn look(
        &self,
        text: &Text<'_>,
        from: usize,
        found: &mut Vec<Found>,
    ) -> Result<usize, Unknown> {
        let mut groups = self.groups();
        let mut from = from;
        let mut taken = 0_usize;
        while let Some(first) = groups.first() {
            let ahead = Groups(groups);
            if !ahead.may_hold_anything(text) && phone::lead(text, first.start, from) == first.start
            {
                return Ok(self.end());
            }
            if self.cut && taken >= REACH {
                return Ok(first.start);
            }
            let number =
                if begins_word(text, first.start) { ahead.number(text, from)? } else { None };
            let end = number.map_or(first.end, |number| number.end);
            found.extend(number);
            let rest = groups.iter().position(|group| group.start >= end).unwrap_or(groups.len());
            taken = taken.saturating_add(rest);
            groups = groups.get(rest..).unwrap_or_default();
            from = end;
        }
        Ok(from.max(self.end()))
    }

    /// Where the last group ends; past the first digits of a run that is too long for a group.
    fn end(&self) -> usize {
        self.groups().last().map_or(self.start.saturating_add(MAX_RUN), |group| group.end)
    }
}

impl Groups<'_> {
    fn may_hold_anything(&self, text: &Text<'_>) -> bool {
        let digits: usize = self.0.iter().map(|group| group.len()).sum();
        digits >= MIN_DIGITS
            || self.0.len() >= 4
                && self.0.iter().filter(|group| here(text, group.end) == b'.').count() >= 3
    }

    /// The number that begins with the first group.
    fn number(&self, text: &Text<'_>, from: usize) -> Result<Option<Found>, Unknown> {
        if let Some(found) = ip::dotted(text, self)? {
            return Ok(Some(found));
        }
        if let Some(found) = card::card(text, self)? {
            return Ok(Some(found));
        }
        if let Some(found) = ssn::ssn(text, self)? {
            return Ok(Some(found));
        }
        phone::phone(text, self, from)
    }

    pub(super) fn get(&self, at: usize) -> Option<Group> {
        self.0.get(at).copied()
    }

    pub(super) fn first(&self) -> Group {
        self.get(0).unwrap_or_default()
    }

    /// The separator behind a group, if it is a single byte.
    pub(super) fn separator(&self, text: &Text<'_>, at: usize) -> Option<u8> {
        let (group, next) = (self.get(at)?, self.get(at.saturating_add(1))?);
        (next.start == group.end.saturating_add(1)).then(|| here(text, group.end))
    }

    /// Whether the groups begin with ones of these lengths.
    pub(super) fn are(&self, lengths: &[usize]) -> bool {
        self.0.len() >= lengths.len()
            && self.0.iter().zip(lengths).all(|(group, length)| group.len() == *length)
    }
}

/// Where the digits end that begin at `at`; none if there are none, or too many.
fn digits(text: &Text<'_>, at: usize) -> Result<Option<usize>, Unknown> {
    let mut end = at;
    while peek(text, end)?.is_ascii_digit() {
        end = end.saturating_add(1);
        if end.saturating_sub(at) > MAX_RUN {
            return Ok(None);
        }
    }
    Ok((end > at).then_some(end))
}

/// Where the next group begins, if one or two separators stand between it and `end`.
fn next_group(text: &Text<'_>, end: usize) -> Result<Option<usize>, Unknown> {
    let first = peek(text, end)?;
    if !is_separator(first) {
        return Ok(None);
    }
    let place = end.saturating_add(1);
    let second = peek(text, place)?;
    if second.is_ascii_digit() {
        return Ok(Some(place));
    }
    let pair =
        matches!((first, second), (b')', b' ' | b'-' | b'.' | b'/') | (b' ' | b'-' | b'.', b'('));
    let place = place.saturating_add(1);
    Ok((pair && peek(text, place)?.is_ascii_digit()).then_some(place))
}

const fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'.' | b'-' | b'/' | b':' | b'(' | b')')
}
