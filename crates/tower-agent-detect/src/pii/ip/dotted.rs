//! Four numbers with dots between them.

use super::super::cluster::Groups;
use super::super::scan::{Unknown, back, begins_word, here, peek};
use super::super::{Found, Kind};
use super::prefix_length;
use super::sign::{Sign, is_followed_as_address};
use crate::text::{Text, is_word};

/// Looks for an address that begins with the first group.
pub(in super::super) fn dotted(
    text: &Text<'_>,
    groups: &Groups<'_>,
) -> Result<Option<Found>, Unknown> {
    let start = groups.first().start;
    if groups.len() < 4
        || groups.separator(text, 2) != Some(b'.')
        || groups.separator(text, 0) != Some(b'.')
        || !begins(text, start)
    {
        return Ok(None);
    }
    let Some(quad) = Quad::read(text, start)? else { return Ok(None) };
    if !ends(text, groups, quad.end)? || !quad.is_address(text, start)? {
        return Ok(None);
    }
    let end = prefix_length(text, quad.end, 32)?;
    Ok(Some(Found { kind: Kind::Ip, start, end, sure: true }))
}

fn begins(text: &Text<'_>, start: usize) -> bool {
    let before = back(text, start);
    let joins =
        matches!(before, b'-' | b'+' | b'~') && is_word(back(text, start.saturating_sub(1)));
    begins_word(text, start)
        && before != b'.'
        && (!joins || before == b'-' && ends_range_start(text, start.saturating_sub(1)))
}

/// Whether four numbers end at a place: the first address of a range.
fn ends_range_start(text: &Text<'_>, end: usize) -> bool {
    const LONGEST: usize = "255.255.255.255".len();
    let behind = |ahead: usize| back(text, end.saturating_sub(ahead));
    let len = (0..=LONGEST)
        .take_while(|ahead| behind(*ahead).is_ascii_digit() || behind(*ahead) == b'.')
        .count();
    let dots = (0..len).filter(|ahead| behind(*ahead) == b'.').count();
    len <= LONGEST && dots == 3 && !is_word(behind(len)) && behind(len) != b'-'
}

/// Whether the four numbers are no part of a longer version. Of five numbers the first four count where the first one
/// is too large for most versions.
fn ends(text: &Text<'_>, groups: &Groups<'_>, end: usize) -> Result<bool, Unknown> {
    let next = peek(text, end)?;
    let further = peek(text, end.saturating_add(1))?;
    Ok(match next {
        b'.' if further.is_ascii_digit() => {
            groups.first().len() == 3 && groups.separator(text, 4) != Some(b'.')
        }
        b'.' => !is_word(further),
        b'-' => {
            !is_word(further)
                || groups.separator(text, 3) == Some(b'-')
                    && groups.separator(text, 4) == Some(b'.')
        }
        b'+' | b'~' => !is_word(further),
        _ => !is_word(next),
    })
}

/// Four numbers below 256.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quad {
    parts: [u8; 4],
    pub(super) end: usize,
}

impl Quad {
    pub(super) fn read(text: &Text<'_>, start: usize) -> Result<Option<Self>, Unknown> {
        let mut quad = Self { parts: [0; 4], end: start };
        for (at, part) in quad.parts.iter_mut().enumerate() {
            if at > 0 {
                if peek(text, quad.end)? != b'.' {
                    return Ok(None);
                }
                quad.end = quad.end.saturating_add(1);
            }
            let begin = quad.end;
            let mut value = 0_u32;
            while quad.end.saturating_sub(begin) < 4 && peek(text, quad.end)?.is_ascii_digit() {
                value = value * 10 + u32::from(here(text, quad.end) - b'0');
                quad.end = quad.end.saturating_add(1);
            }
            let len = quad.end.saturating_sub(begin);
            let Ok(value) = u8::try_from(value) else { return Ok(None) };
            if len == 0 || len > 1 && here(text, begin) == b'0' {
                return Ok(None);
            }
            *part = value;
        }
        Ok(Some(quad))
    }

    /// Whether this is an address, and no version, section or object identifier.
    fn is_address(&self, text: &Text<'_>, start: usize) -> Result<bool, Unknown> {
        match Sign::before(text, start) {
            Sign::Address => Ok(true),
            Sign::Other => Ok(false),
            Sign::Product => Ok(self.is_private()),
            Sign::None => Ok(self.is_known()
                || !self.is_small() && !self.is_arc()
                || is_followed_as_address(text, self.end)?),
        }
    }

    const fn is_private(&self) -> bool {
        matches!(self.parts, [10 | 127, ..] | [192, 168, ..] | [172, 16..=31, ..] | [169, 254, ..])
    }

    /// Whether everybody knows this as an address: a private one, or one of a resolver.
    fn is_known(&self) -> bool {
        let [first, others @ ..] = self.parts;
        self.is_private()
            || others.iter().all(|part| *part == first)
            || matches!(self.parts, [8, 8, 4, 4] | [1, 0, 0, 1])
    }

    /// Whether these may count versions or sections just as well: those hardly get further. No host's address begins
    /// with zero, but versions do.
    fn is_small(&self) -> bool {
        const LARGEST: u8 = 31;
        let large = self.parts.iter().filter(|part| **part > LARGEST).count();
        large == 0 || large == 1 && matches!(self.parts, [0, ..])
    }

    /// Whether many object identifiers begin so: those of standards, of bodies, and of directories.
    const fn is_arc(&self) -> bool {
        matches!(self.parts, [1, 2 | 3, ..] | [2, 5, 0..=29, _] | [2, 23, ..])
    }
}
