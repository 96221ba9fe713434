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
pub(crate) const MIN_DIGITS: usize = 7;

/// A run of digits, counted from the beginning of its cluster: what is this small is not moved about.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    start: u8,
    end: u8,
}

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
    runs: [Run; MAX_GROUPS],
    len: usize,
    /// Whether more groups follow than are read here.
    cut: bool,
}

/// The groups from one of them on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups<'a> {
    base: usize,
    runs: &'a [Run],
}

impl Cluster {
    /// Reads the groups from `start` on, where a digit stands.
    pub(super) fn read(text: &Text<'_>, start: usize) -> Result<Self, Unknown> {
        let mut cluster = Self { start, runs: [Run::default(); MAX_GROUPS], len: 0, cut: false };
        let mut at = start;
        while let Some(end) = digits(text, at)? {
            let near = |place: usize| u8::try_from(place.saturating_sub(start)).unwrap_or(u8::MAX);
            let Some(run) = cluster.runs.get_mut(cluster.len) else { break };
            *run = Run { start: near(at), end: near(end) };
            cluster.len = cluster.len.saturating_add(1);
            cluster.cut = cluster.len == MAX_GROUPS || end.saturating_sub(start) >= MAX_BYTES;
            match next_group(text, end)? {
                Some(next) if !cluster.cut => at = next,
                _ => break,
            }
        }
        Ok(cluster)
    }

    fn groups(&self) -> Groups<'_> {
        Groups { base: self.start, runs: self.runs.get(..self.len).unwrap_or_default() }
    }

    /// Whether this may be a part of an address in hexadecimal digits.
    pub(super) fn is_hexadecimal(&self, text: &Text<'_>) -> Result<bool, Unknown> {
        let groups = self.groups();
        let (Some(first), Some(last)) = (groups.iter().next(), groups.iter().last()) else {
            return Ok(false);
        };
        let is_part = |byte: u8| byte == b':' || byte.is_ascii_hexdigit();
        let (before, behind) = (back(text, first.start), here(text, last.end));
        let further =
            (back(text, first.start.saturating_sub(1)), here(text, last.end.saturating_add(1)));
        let colons = groups.iter().filter(|group| here(text, group.end) == b':').count();
        // Fewer colons, without letters and not one beside another, are a time of day.
        Ok(colons >= 5
            || before.is_ascii_hexdigit()
            || before == b':' && is_part(further.0)
            || behind.is_ascii_hexdigit()
            || behind == b':' && is_part(further.1)
            || mac::may_begin(text, first.start)?)
    }

    /// Pushes the numbers among the groups, and says where the next cluster may begin.
    pub(super) fn look(
        &self,
        text: &Text<'_>,
        from: usize,
        found: &mut Vec<Found>,
    ) -> Result<usize, Unknown> {
        let mut groups = self.groups();
        let (mut from, mut taken, mut last) = (from, 0_usize, None);
        while let Some(first) = groups.get(0) {
            if self.cut && self.is_past_reach(first, taken) {
                return Ok(first.start);
            }
            let lead = phone::lead(text, first.start, from);
            if !self.cut && lead == first.start && !groups.may_hold_anything(text) {
                break;
            }
            let is_joined = lead == first.start && groups.are_joined(text, last);
            let number = if !is_joined && begins_word(text, first.start) {
                groups.number(text, lead)?
            } else {
                None
            };
            last = Some(first.end);
            from = number.map_or(first.end, |number| number.end);
            let passed = match number {
                Some(_) => groups.iter().take_while(|group| group.start < from).count(),
                None => 1,
            };
            found.extend(number);
            taken = taken.saturating_add(passed);
            groups = groups.skip(passed);
        }
        Ok(from.max(self.end()))
    }

    /// Whether a group is so far from the first one that a number may go on behind what was read.
    fn is_past_reach(&self, group: Group, taken: usize) -> bool {
        taken >= REACH || taken > 0 && group.start.saturating_sub(self.start) >= MAX_BYTES / 2
    }

    /// Where the last group ends; past the first digits of a run that is too long for a group.
    fn end(&self) -> usize {
        self.groups().iter().last().map_or(self.start.saturating_add(MAX_RUN), |group| group.end)
    }
}

impl<'a> Groups<'a> {
    fn may_hold_anything(&self, text: &Text<'_>) -> bool {
        self.have(MIN_DIGITS)
            || self.len() >= 4
                && self.iter().filter(|group| here(text, group.end) == b'.').count() >= 3
    }

    /// Whether the groups have so many digits.
    pub(super) fn have(&self, digits: usize) -> bool {
        self.runs.iter().map(|run| usize::from(run.end.saturating_sub(run.start))).sum::<usize>()
            >= digits
    }

    /// Whether no number begins with the first group, since a dot or a hyphen joins it to the one that ends at a place. The
    /// second address of a range may.
    fn are_joined(&self, text: &Text<'_>, last: Option<usize>) -> bool {
        let start = self.first().start;
        last.is_some_and(|last| last.saturating_add(1) == start)
            && match back(text, start) {
                b'.' => true,
                b'-' => self.len() < 4,
                _ => false,
            }
    }

    /// The number that begins with the first group, or with what leads up to it.
    fn number(&self, text: &Text<'_>, lead: usize) -> Result<Option<Found>, Unknown> {
        if let Some(found) = ip::dotted(text, self)? {
            return Ok(Some(found));
        }
        if let Some(found) = card::card(text, self)? {
            return Ok(Some(found));
        }
        if let Some(found) = ssn::ssn(text, self)? {
            return Ok(Some(found));
        }
        phone::phone(text, self, lead)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Group> + 'a {
        self.runs.iter().map(move |run| Group {
            start: self.base.saturating_add(usize::from(run.start)),
            end: self.base.saturating_add(usize::from(run.end)),
        })
    }

    pub(super) const fn len(self) -> usize {
        self.runs.len()
    }

    /// No more than so many of the groups.
    pub(super) fn take(self, most: usize) -> Self {
        Self { runs: self.runs.get(..most).unwrap_or(self.runs), ..self }
    }

    fn skip(self, count: usize) -> Self {
        Self { runs: self.runs.get(count..).unwrap_or_default(), ..self }
    }

    pub(super) fn get(self, at: usize) -> Option<Group> {
        self.skip(at).iter().next()
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
        self.runs.len() >= lengths.len()
            && self.iter().zip(lengths).all(|(group, length)| group.len() == *length)
    }
}

/// Where the digits end that begin at `at`; none if there are none, or too many.
fn digits(text: &Text<'_>, at: usize) -> Result<Option<usize>, Unknown> {
    let rest = text.bytes().get(at..).unwrap_or_default();
    let len = rest.iter().take(MAX_RUN + 1).take_while(|byte| byte.is_ascii_digit()).count();
    if len > MAX_RUN {
        return Ok(None);
    }
    if len == rest.len() {
        // They may go on.
        peek(text, at.saturating_add(len))?;
    }
    Ok((len > 0).then_some(at.saturating_add(len)))
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
