//! Addresses of the internet.

use super::scan::{Unknown, back, begins_word, ends_word, here, peek};
use super::{Found, Kind, mac};
use crate::text::{Text, is_word};

mod dotted;
mod sign;

pub(super) use self::{dotted::dotted, sign::Sign};

use self::dotted::Quad;

/// How far back an address is looked for, and how far it may reach, in bytes.
const MAX_BACK: usize = 48;
const MAX_TOKEN: usize = 64;
const MAX_ZONE: usize = 16;

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
        let start = start.saturating_add(label(text, start));
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
            || !address.is_plausible(text, self.start)?
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
        let further = back(text, self.start.saturating_sub(1));
        let is_labelled =
            before == b':' && further.is_ascii_alphabetic() && !further.is_ascii_hexdigit();
        begins_word(text, self.start) && (is_labelled || !matches!(before, b':' | b'.')) && !is_path
    }
}

/// How long the end of a word is, with the colon behind it, that only happens to look like a part of the token, as in
/// `mac:00:1b`.
fn label(text: &Text<'_>, start: usize) -> usize {
    const MAX_LEN: usize = 8;
    if here(text, start) != b':' && begins_word(text, start) {
        return 0;
    }
    let byte = |ahead: usize| here(text, start.saturating_add(ahead));
    let len = (0..MAX_LEN).take_while(|ahead| byte(*ahead).is_ascii_hexdigit()).count();
    let is_label = byte(len) == b':' && byte(len.saturating_add(1)) != b':';
    if is_label { len.saturating_add(1) } else { 0 }
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
        let quad = Quad::read(text, start)?;
        self.dotted = quad.is_some();
        self.end = quad.map_or(start, |quad| quad.end);
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
    fn is_plausible(&self, text: &Text<'_>, start: usize) -> Result<bool, Unknown> {
        if !self.digits {
            return Ok(false);
        }
        if self.dotted || !self.compressed {
            return Ok(self.uneven);
        }
        // What stands behind the address may not have come yet.
        let byte = |at: usize| if at < self.end { here(text, at) } else { 0 };
        let head =
            [0, 1, 2, 3, 4].map(|ahead| byte(start.saturating_add(ahead)).to_ascii_lowercase());
        Ok(match head {
            [b':', b':', b'f', b'3' | b'6', _] => false,
            [b':', b':', first, ..] => {
                self.groups > 1 || first.is_ascii_digit() && self.is_lone_group(text, start)?
            }
            [b'2' | b'3', _, _, _, b':'] | [b'f', b'c' | b'd' | b'e' | b'f', _, _, b':'] => true,
            [b'6', b'4', b':', b'f', b'f'] | [b'1', b'0', b'0', b':', b':'] => true,
            _ => self.groups >= 4,
        })
    }

    /// Whether two colons and one group are an address: times, pages and places in files are written so, too.
    fn is_lone_group(&self, text: &Text<'_>, start: usize) -> Result<bool, Unknown> {
        let first = start.saturating_add(2);
        let is_known =
            self.end == first.saturating_add(1) && matches!(here(text, first), b'0' | b'1');
        Ok(is_known
            || back(text, start) == b'['
            || Sign::before(text, start) == Sign::Address
            || peek(text, self.end)? == b'/'
                && peek(text, self.end.saturating_add(1))?.is_ascii_digit())
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
    // Behind the end of the text stands a mask.
    let is_zone = at > name && at <= text.len() && !is_group(text, name, at)?;
    Ok(if is_zone { at } else { end })
}

/// Whether what looks like the name of a zone is the first group of another address.
fn is_group(text: &Text<'_>, start: usize, end: usize) -> Result<bool, Unknown> {
    let name = text.bytes().get(start..end).unwrap_or_default();
    if !name.iter().all(u8::is_ascii_hexdigit) || peek(text, end)? != b':' {
        return Ok(false);
    }
    let next = peek(text, end.saturating_add(1))?;
    Ok(next == b':' || next.is_ascii_hexdigit())
}
