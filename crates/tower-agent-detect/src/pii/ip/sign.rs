//! What stands around four numbers, and says what they are.

use super::super::context::{Words, has};
use super::super::scan::{Unknown, back, here, peek};
use crate::text::Text;

/// What stands before a number says of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in super::super) enum Sign {
    /// That it is an address.
    Address,
    /// That it is a version, a section or an object identifier.
    Other,
    /// That it is the version of a program, or the address in a path: `Name/1.2.3.4`.
    Product,
    None,
}

impl Sign {
    /// How many words are looked at, and how far each may be from the next.
    const MAX_WORDS: usize = 2;
    const MAX_GAP: usize = 12;
    /// How far the word may be that says what is no address.
    pub(in super::super) const NEAR: usize = 6;

    pub(in super::super) fn before(text: &Text<'_>, start: usize) -> Self {
        let (before, further) = (back(text, start), back(text, start.saturating_sub(1)));
        match before {
            b'@' => return Self::Address,
            b'/' if matches!(further, b'/' | b'\\') => return Self::Address,
            b'/' if is_product(text, start) => return Self::Product,
            _ => {}
        }
        let mut words = Words::before(text, start);
        for at in 0..Self::MAX_WORDS {
            if !words.is_near(if at == 0 { Self::NEAR } else { Self::MAX_GAP }) {
                break;
            }
            let Some(word) = words.next() else { break };
            if at == 0 && counts_something_else(word.as_bytes()) {
                return Self::Other;
            }
            if speaks_of_address(word.as_bytes()) {
                return Self::Address;
            }
        }
        Self::None
    }
}

/// Whether a port, a length of a network, or what follows an address in a log stands at `end`.
pub(super) fn is_followed_as_address(text: &Text<'_>, end: usize) -> Result<bool, Unknown> {
    match peek(text, end)? {
        b'/' => Ok(peek(text, end.saturating_add(1))?.is_ascii_digit()),
        b':' => is_port(text, end.saturating_add(1)),
        b' ' => {
            for (at, expected) in (end..).zip(b" - ") {
                if peek(text, at)? != *expected {
                    return Ok(false);
                }
            }
            let name = end.saturating_add(3);
            Ok(peek(text, name)? == b'-' && peek(text, name.saturating_add(1))? == b' ')
        }
        _ => Ok(false),
    }
}

fn is_port(text: &Text<'_>, start: usize) -> Result<bool, Unknown> {
    const MAX_DIGITS: usize = 5;
    let mut at = start;
    while at.saturating_sub(start) <= MAX_DIGITS && peek(text, at)?.is_ascii_digit() {
        at = at.saturating_add(1);
    }
    let goes_on = peek(text, at)? == b'.' && peek(text, at.saturating_add(1))?.is_ascii_digit();
    Ok((1..=MAX_DIGITS).contains(&at.saturating_sub(start)) && !goes_on)
}

/// Whether a name with a capital and a slash stand before a place, as in `Name/1.2.3.4`.
fn is_product(text: &Text<'_>, start: usize) -> bool {
    const MAX_NAME: usize = 24;
    let end = start.saturating_sub(1);
    let first = (1..=MAX_NAME.min(end))
        .take_while(|behind| here(text, end.saturating_sub(*behind)).is_ascii_alphabetic())
        .last();
    first.is_some_and(|behind| {
        let first = end.saturating_sub(behind);
        here(text, first).is_ascii_uppercase()
            && matches!(back(text, first), 0 | b' ' | b'(' | b'"' | b'\'' | b'\n' | b'\t')
    })
}

fn counts_something_else(word: &[u8]) -> bool {
    const SECTION: &[u8] = "§".as_bytes();
    has(word, b"version")
        || word.ends_with(SECTION)
        || matches!(
            word,
            b"v" | b"ver" | b"rv" | b"rev" | b"revision" | b"release" | b"build" | b"rfc"
        )
        || matches!(
            word,
            b"section" | b"sections" | b"sec" | b"sect" | b"chapter" | b"clause" | b"paragraph"
        )
        || matches!(word, b"appendix" | b"annex" | b"article" | b"oid" | b"oids" | b"identifier")
}

fn speaks_of_address(word: &[u8]) -> bool {
    has(word, b"addr")
        || has(word, b"host")
        || word.starts_with(b"ipv")
        || word.starts_with(b"inet")
        || matches!(
            word,
            b"ip" | b"ips" | b"dns" | b"cidr" | b"subnet" | b"netmask" | b"gateway" | b"proxy"
        )
        || matches!(
            word,
            b"server"
                | b"servers"
                | b"nameserver"
                | b"client"
                | b"peer"
                | b"remote"
                | b"upstream"
                | b"router"
        )
        || matches!(
            word,
            b"listen" | b"listening" | b"bind" | b"connect" | b"ping" | b"ssh" | b"curl" | b"dst"
        )
        || matches!(word, b"src" | b"firewall" | b"endpoint" | b"socket" | b"traceroute")
        || matches!(
            word,
            b"clientip" | b"remoteip" | b"sourceip" | b"serverip" | b"publicip" | b"userip"
        )
}
