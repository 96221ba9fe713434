//! Addresses of the internet.

use super::cluster::Groups;
use super::context::{Words, has};
use super::scan::{Unknown, back, begins_word, ends_word, here, peek};
use super::{Found, Kind, mac};
use crate::text::{Text, is_word};

/// How far back an address is looked for, and how far it may reach, in bytes.
const MAX_BACK: usize = 48;
const MAX_TOKEN: usize = 64;
const MAX_ZONE: usize = 16;

/// Looks for four numbers with dots, from the first group on.
pub(super) fn dotted(text: &Text<'_>, groups: &Groups<'_>) -> Result<Option<Found>, Unknown> {
    let start = groups.first().start;
    if groups.separator(text, 2) != Some(b'.')
        || groups.separator(text, 0) != Some(b'.')
        || !begins_dotted(text, start)
    {
        return Ok(None);
    }
    let Some(end) = quad(text, start)? else { return Ok(None) };
    if !ends_dotted(text, groups, end)? || is_version(text, start) {
        return Ok(None);
    }
    let end = prefix_length(text, end, 32)?;
    Ok(Some(Found { kind: Kind::Ip, start, end, sure: true }))
}

fn begins_dotted(text: &Text<'_>, start: usize) -> bool {
    let before = back(text, start);
    begins_word(text, start)
        && before != b'.'
        && !(matches!(before, b'-' | b'+' | b'~') && is_word(back(text, start.saturating_sub(1))))
}

/// Whether the four numbers are no part of a longer version. Of five numbers the first four count where the first one
/// is too large for most versions.
fn ends_dotted(text: &Text<'_>, groups: &Groups<'_>, end: usize) -> Result<bool, Unknown> {
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

/// Where four numbers below 256 with dots between them end.
fn quad(text: &Text<'_>, start: usize) -> Result<Option<usize>, Unknown> {
    let mut at = start;
    for part in 0..4 {
        if part > 0 {
            if peek(text, at)? != b'.' {
                return Ok(None);
            }
            at = at.saturating_add(1);
        }
        let begin = at;
        let mut value = 0_u32;
        while at.saturating_sub(begin) < 4 && peek(text, at)?.is_ascii_digit() {
            value = value * 10 + u32::from(here(text, at) - b'0');
            at = at.saturating_add(1);
        }
        let has_leading_zero = at.saturating_sub(begin) > 1 && here(text, begin) == b'0';
        if at == begin || value > 255 || has_leading_zero {
            return Ok(None);
        }
    }
    Ok(Some(at))
}

/// Whether the word before a number says that it counts versions or sections.
fn is_version(text: &Text<'_>, start: usize) -> bool {
    let mut words = Words::before(text, start);
    if !words.is_near(6) {
        return false;
    }
    words.next().is_some_and(|word| {
        let word = word.as_bytes();
        has(word, b"version")
            || matches!(
                word,
                b"v" | b"ver" | b"release" | b"section" | b"sections" | b"sec" | b"chapter"
            )
    })
}

/// Where an address ends that may be followed by the length of its network.
fn prefix_length(text: &Text<'_>, end: usize, most: u32) -> Result<usize, Unknown> {
    if peek(text, end)? != b'/' {
        return Ok(end);
    }
    let digits = end.saturating_add(1);
    let mut at = digits;
    let mut value = 0_u32;
    while at.saturating_sub(digits) < 4 && peek(text, at)?.is_ascii_digit() {
        value = value * 10 + u32::from(here(text, at) - b'0');
        at = at.saturating_add(1);
    }
    Ok(if at > digits && value <= most && ends_word(text, at)? { at } else { end })
}

/// Hexadecimal digits and colons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    start: usize,
}

impl Token {
    /// The token around `at`, or the pairs with hyphens or dots of which it is a part.
    pub(super) fn around(text: &Text<'_>, at: usize, from: usize) -> Self {
        let mut start = at;
        while start > from && at.saturating_sub(start) < MAX_BACK {
            let before = here(text, start.saturating_sub(1));
            if before != b':' && !before.is_ascii_hexdigit() {
                break;
            }
            start = start.saturating_sub(1);
        }
        Self { start: mac::first_pair(text, start, from) }
    }

    pub(super) const fn start(self) -> usize {
        self.start
    }

    /// Pushes the address this is, and says where the next token may begin.
    pub(super) fn look(
        self,
        text: &Text<'_>,
        from: usize,
        found: &mut Vec<Found>,
    ) -> Result<usize, Unknown> {
        let address = match mac::mac(text, self.start)? {
            Some(address) => Some(address),
            None => self.version_six(text)?,
        };
        found.extend(address);
        match address {
            Some(address) => Ok(address.end),
            None => self.last_group(text).map(|next| next.max(from)),
        }
    }

    /// Where the last group begins: it may be the first one of a dotted address.
    fn last_group(self, text: &Text<'_>) -> Result<usize, Unknown> {
        let mut last = self.start;
        for at in (self.start..).take(MAX_TOKEN) {
            match peek(text, at)? {
                b':' => last = at.saturating_add(1),
                byte if byte.is_ascii_hexdigit() => {}
                _ => break,
            }
        }
        Ok(last)
    }

    fn version_six(self, text: &Text<'_>) -> Result<Option<Found>, Unknown> {
        if !self.begins_address(text) {
            return Ok(None);
        }
        let Some(address) = Address::read(text, self.start)? else { return Ok(None) };
        if !address.is_complete()
            || !address.is_plausible(text, self.start)
            || !ends_address(text, address.end)?
        {
            return Ok(None);
        }
        let end = zone(text, self.start, address.end)?;
        let end = prefix_length(text, end, 128)?;
        Ok(Some(Found { kind: Kind::Ip, start: self.start, end, sure: true }))
    }

    /// Whether an address may begin here, rather than a path of a program.
    fn begins_address(self, text: &Text<'_>) -> bool {
        let before = back(text, self.start);
        let is_path = here(text, self.start) == b':'
            && matches!(before, b'>' | b')' | b']' | b'}' | b'$' | b'<');
        begins_word(text, self.start) && !matches!(before, b':' | b'.') && !is_path
    }
}

/// Groups of up to four hexadecimal digits.
#[derive(Debug, Default)]
struct Address {
    groups: usize,
    /// Where two colons stand for groups of zeros.
    compressed: bool,
    dotted: bool,
    digits: bool,
    /// Whether one group is not two digits long.
    uneven: bool,
    end: usize,
}

impl Address {
    fn read(text: &Text<'_>, start: usize) -> Result<Option<Self>, Unknown> {
        let mut address = Self { end: start, ..Self::default() };
        if peek(text, start)? == b':' {
            if peek(text, start.saturating_add(1))? != b':' {
                return Ok(None);
            }
            address.compressed = true;
            address.end = start.saturating_add(2);
        }
        while address.groups <= 8 && address.group(text)? {
            match address.colons(text)? {
                Some(true) => {}
                Some(false) => break,
                None => return Ok(None),
            }
        }
        Ok((address.end > start).then_some(address))
    }

    /// Reads a group, and says whether there was one.
    fn group(&mut self, text: &Text<'_>) -> Result<bool, Unknown> {
        let start = self.end;
        let mut at = start;
        let (mut letters, mut digits) = (false, false);
        while at.saturating_sub(start) < 5 && peek(text, at)?.is_ascii_hexdigit() {
            let is_digit = here(text, at).is_ascii_digit();
            digits |= is_digit;
            letters |= !is_digit;
            at = at.saturating_add(1);
        }
        let len = at.saturating_sub(start);
        if len == 0 {
            return Ok(false);
        }
        self.digits |= digits;
        self.uneven |= len != 2;
        if !letters && peek(text, at)? == b'.' && peek(text, at.saturating_add(1))?.is_ascii_digit()
        {
            // More groups than there can be, unless four numbers follow.
            self.groups =
                self.groups.saturating_add(if self.has_quad(text, start)? { 2 } else { 9 });
            return Ok(true);
        }
        self.groups = self.groups.saturating_add(if len > 4 { 9 } else { 1 });
        self.end = at;
        Ok(true)
    }

    fn has_quad(&mut self, text: &Text<'_>, start: usize) -> Result<bool, Unknown> {
        let end = quad(text, start)?;
        self.end = end.unwrap_or(start);
        self.dotted = end.is_some();
        Ok(self.dotted)
    }

    /// Whether colons and another group may follow; none if this can be no address.
    fn colons(&mut self, text: &Text<'_>) -> Result<Option<bool>, Unknown> {
        if self.dotted || peek(text, self.end)? != b':' {
            return Ok(Some(false));
        }
        let next = peek(text, self.end.saturating_add(1))?;
        if next == b':' {
            if self.compressed {
                return Ok(None);
            }
            self.compressed = true;
            self.end = self.end.saturating_add(2);
            return Ok(Some(true));
        }
        if next.is_ascii_hexdigit() {
            self.end = self.end.saturating_add(1);
            return Ok(Some(true));
        }
        Ok(Some(false))
    }

    const fn is_complete(&self) -> bool {
        if self.compressed { self.groups <= 7 } else { self.groups == 8 }
    }

    /// Whether this looks like an address and not like a path such as `a::b` or a ratio.
    fn is_plausible(&self, text: &Text<'_>, start: usize) -> bool {
        if !self.digits {
            return false;
        }
        if self.dotted || !self.compressed {
            return self.uneven;
        }
        let head = [0, 1, 2, 3, 4]
            .map(|ahead| here(text, start.saturating_add(ahead)).to_ascii_lowercase());
        match head {
            [b':', b':', b'f', b'3' | b'6', _] => false,
            [b':', b':', ..] => {
                self.groups > 1 || here(text, start.saturating_add(2)).is_ascii_digit()
            }
            [b'2' | b'3', _, _, _, b':'] | [b'f', b'c' | b'd' | b'e' | b'f', _, _, b':'] => true,
            [b'6', b'4', b':', b'f', b'f'] | [b'1', b'0', b'0', b':', b':'] => true,
            _ => self.groups >= 4,
        }
    }
}

/// Whether neither a word nor more groups follow an address.
fn ends_address(text: &Text<'_>, end: usize) -> Result<bool, Unknown> {
    let further = peek(text, end.saturating_add(1));
    Ok(match peek(text, end)? {
        b'.' => !is_word(further?),
        b':' => !matches!(further?, b':') && !is_word(further?),
        next => !is_word(next),
    })
}

/// Where the zone ends that may follow an address of a single link.
fn zone(text: &Text<'_>, start: usize, end: usize) -> Result<usize, Unknown> {
    let is_local = here(text, start).eq_ignore_ascii_case(&b'f')
        && here(text, start.saturating_add(1)).eq_ignore_ascii_case(&b'e');
    if !is_local || peek(text, end)? != b'%' {
        return Ok(end);
    }
    let name = end.saturating_add(1);
    let mut at = name;
    while at.saturating_sub(name) < MAX_ZONE && is_word(peek(text, at)?) {
        at = at.saturating_add(1);
    }
    Ok(if at > name { at } else { end })
}
