//! International bank account numbers.

use super::scan::{Unknown, ends_word, here, peek};
use super::{Found, Kind, tail::is_head};
use crate::text::Text;

/// How far before the digits a number may begin: all have three digits in a row, or two with a separator, by then.
pub(super) const MAX_HEAD: usize = 16;

/// Countries, and how the part behind the check digits is built: so many digits (n), letters (a) or either (c).
#[rustfmt::skip]
const COUNTRIES: [([u8; 2], &[u8]); 89] = [
    (*b"AD", b"8n12c"), (*b"AE", b"19n"), (*b"AL", b"8n16c"), (*b"AT", b"16n"), (*b"AZ", b"4a20c"), (*b"BA", b"16n"),
    (*b"BE", b"12n"), (*b"BG", b"4a6n8c"), (*b"BH", b"4a14c"), (*b"BI", b"23n"), (*b"BR", b"23n1a1c"),
    (*b"BY", b"4c4n16c"), (*b"CH", b"5n12c"), (*b"CR", b"18n"), (*b"CY", b"8n16c"), (*b"CZ", b"20n"), (*b"DE", b"18n"),
    (*b"DJ", b"23n"), (*b"DK", b"14n"), (*b"DO", b"4c20n"), (*b"EE", b"16n"), (*b"EG", b"25n"), (*b"ES", b"20n"),
    (*b"FI", b"14n"), (*b"FK", b"2a12n"), (*b"FO", b"14n"), (*b"FR", b"10n11c2n"), (*b"GB", b"4a14n"),
    (*b"GE", b"2a16n"), (*b"GI", b"4a15c"), (*b"GL", b"14n"), (*b"GR", b"7n16c"), (*b"GT", b"24c"), (*b"HN", b"4a20n"),
    (*b"HR", b"17n"), (*b"HU", b"24n"), (*b"IE", b"4a14n"), (*b"IL", b"19n"), (*b"IQ", b"4a15n"), (*b"IS", b"22n"),
    (*b"IT", b"1a10n12c"), (*b"JO", b"4a4n18c"), (*b"KW", b"4a22c"), (*b"KZ", b"3n13c"), (*b"LB", b"4n20c"),
    (*b"LC", b"4a24c"), (*b"LI", b"5n12c"), (*b"LT", b"16n"), (*b"LU", b"3n13c"), (*b"LV", b"4a13c"), (*b"LY", b"21n"),
    (*b"MC", b"10n11c2n"), (*b"MD", b"20c"), (*b"ME", b"18n"), (*b"MK", b"3n10c2n"), (*b"MN", b"16n"), (*b"MR", b"23n"),
    (*b"MT", b"4a5n18c"), (*b"MU", b"4a19n3a"), (*b"NI", b"4a20n"), (*b"NL", b"4a10n"), (*b"NO", b"11n"),
    (*b"OM", b"3n16c"), (*b"PK", b"4a16c"), (*b"PL", b"24n"), (*b"PS", b"4a21c"), (*b"PT", b"21n"), (*b"QA", b"4a21c"),
    (*b"RO", b"4a16c"), (*b"RS", b"18n"), (*b"RU", b"14n15c"), (*b"SA", b"2n18c"), (*b"SC", b"4a20n3a"),
    (*b"SD", b"14n"), (*b"SE", b"20n"), (*b"SI", b"15n"), (*b"SK", b"20n"), (*b"SM", b"1a10n12c"), (*b"SO", b"19n"),
    (*b"ST", b"21n"), (*b"SV", b"4a20n"), (*b"TL", b"19n"), (*b"TN", b"20n"), (*b"TR", b"6n16c"), (*b"UA", b"6n19c"),
    (*b"VA", b"18n"), (*b"VG", b"4a16n"), (*b"XK", b"16n"), (*b"YE", b"4a4n18c"),
];

/// Looks for a number of which the digits at `start` are a part.
pub(super) fn around(text: &Text<'_>, start: usize, from: usize) -> Result<Option<Found>, Unknown> {
    for place in heads(text, start, from) {
        if let Some(end) = read(text, place)? {
            return Ok(Some(Found { kind: Kind::Iban, start: place, end, sure: true }));
        }
    }
    Ok(None)
}

/// The earliest place before the digits at `start` where a number may begin.
pub(super) fn head(text: &Text<'_>, start: usize, from: usize) -> Option<usize> {
    heads(text, start, from).last()
}

/// The places where a country and check digits stand, and only letters, digits and separators up to `start`.
fn heads(text: &Text<'_>, start: usize, from: usize) -> impl Iterator<Item = usize> {
    let before = text.bytes().get(from.max(start.saturating_sub(MAX_HEAD))..start);
    let len = before.unwrap_or_default().iter().rev().take_while(|byte| is_part(**byte)).count();
    (start.saturating_sub(len)..start).rev().filter(move |at| is_head(text, *at))
}

#[inline]
const fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-')
}

pub(super) fn structure(country: [u8; 2]) -> Option<&'static [u8]> {
    let [first, second] = country.map(|letter| letter.to_ascii_uppercase().wrapping_sub(b'A'));
    let place = PLACES.get(usize::from(first))?.get(usize::from(second))?;
    COUNTRIES.get(usize::from(*place)).map(|entry| entry.1)
}

/// Where each country stands in the list, by its two letters; behind the end, if it does not.
#[expect(
    clippy::indexing_slicing,
    reason = "the compiler evaluates it, and would refuse a wrong index"
)]
const PLACES: [[u8; 26]; 26] = {
    let mut places = [[u8::MAX; 26]; 26];
    let mut at = 0;
    while at < COUNTRIES.len() {
        let ([first, second], _) = COUNTRIES[at];
        places[(first - b'A') as usize][(second - b'A') as usize] = at as u8;
        at += 1;
    }
    places
};

/// Whether a number begins at a place, or may, by what follows.
pub(super) fn may_begin(text: &Text<'_>, start: usize) -> bool {
    read(text, start) != Ok(None)
}

/// Where the number ends that begins at `start`.
fn read(text: &Text<'_>, start: usize) -> Result<Option<usize>, Unknown> {
    let head = [0, 1, 2, 3].map(|ahead| here(text, start.saturating_add(ahead)));
    let [first, second, ..] = head;
    let Some(structure) = structure([first, second]) else { return Ok(None) };
    let mut number = Number::new(first, start.saturating_add(4));
    if first.is_ascii_lowercase() != second.is_ascii_lowercase() {
        return Ok(None);
    }
    for part in structure.split_inclusive(u8::is_ascii_alphabetic) {
        let (Some(class), count) = (part.last(), count(part)) else { return Ok(None) };
        for _ in 0..count {
            if !number.push(text, *class)? {
                return Ok(None);
            }
        }
    }
    let rest = head.iter().fold(number.rest, |rest, byte| shift(rest, *byte));
    Ok((rest == 1 && ends_word(text, number.at)?).then_some(number.at))
}

fn count(part: &[u8]) -> u32 {
    part.iter()
        .filter(|byte| byte.is_ascii_digit())
        .fold(0, |count, digit| count * 10 + u32::from(digit - b'0'))
}

/// The remainder by 97 with one more character.
fn shift(rest: u32, byte: u8) -> u32 {
    match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte.to_ascii_uppercase().saturating_sub(b'A')) + 10) % 97,
    }
}

struct Number {
    at: usize,
    lower: bool,
    separator: Option<u8>,
    /// How many characters stand behind the last separator.
    since: usize,
    rest: u32,
}

impl Number {
    const fn new(first: u8, at: usize) -> Self {
        Self { at, lower: first.is_ascii_lowercase(), separator: None, since: 4, rest: 0 }
    }

    /// Reads a character of a class, and says whether there is one.
    fn push(&mut self, text: &Text<'_>, class: u8) -> Result<bool, Unknown> {
        let mut byte = peek(text, self.at)?;
        if matches!(byte, b' ' | b'-')
            && self.since >= 2
            && *self.separator.get_or_insert(byte) == byte
        {
            self.since = 0;
            self.at = self.at.saturating_add(1);
            byte = peek(text, self.at)?;
        }
        let is_letter = byte.is_ascii_alphabetic() && byte.is_ascii_lowercase() == self.lower;
        let fits = match class {
            b'n' => byte.is_ascii_digit(),
            b'a' => is_letter,
            _ => byte.is_ascii_digit() || is_letter,
        };
        self.rest = shift(self.rest, byte);
        self.since = self.since.saturating_add(1);
        self.at = self.at.saturating_add(1);
        Ok(fits)
    }
}
