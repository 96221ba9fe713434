//! A plain engine: it finds the triggers byte by byte and asks the recognisers.

use crate::pii::{Found, Kind, Kinds, Progress, email, hex, number, wallet};
use crate::tail::tests::hold as tail;
use crate::text::{End, Text, Verdict, is_word};

/// What is found in a text, or in what has come of it, and from where on it must be held back.
pub(crate) struct Scan {
    pub(crate) found: Vec<Found>,
    pub(crate) hold: usize,
}

/// A place at which a recogniser is asked, and the end of the last number before it.
pub(crate) type Asked = (fn(&Text<'_>, usize, usize, &mut Vec<Found>) -> Progress, usize, usize);

pub(crate) fn whole(text: &[u8]) -> Vec<Found> {
    scan(&Text::whole(text), &mut Vec::new()).found
}

pub(crate) fn scan(text: &Text<'_>, asked: &mut Vec<Asked>) -> Scan {
    let bytes = text.bytes();
    let mut found = Vec::new();
    let mut hold = if text.end() == End::More { tail(bytes, Kinds::all()) } else { bytes.len() };
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'@') {
        place(email(text, at), Kind::Email, &mut found, &mut hold);
    }
    for at in 0..bytes.len() {
        if is_wallet(bytes, at) {
            place(wallet(text, at), Kind::Wallet, &mut found, &mut hold);
        }
    }
    clusters(text, number, is_number, (&mut found, &mut hold), asked);
    clusters(text, hex, is_hex, (&mut found, &mut hold), asked);
    found.sort_by_key(|found| (found.start, found.end));
    found.dedup();
    Scan { found, hold }
}

fn place(verdict: Verdict, kind: Kind, found: &mut Vec<Found>, hold: &mut usize) {
    match verdict {
        Verdict::Nothing => {}
        Verdict::Undecided(start) => *hold = (*hold).min(start),
        Verdict::Found(start, end) => found.push(Found { kind, start, end, sure: true }),
    }
}

fn clusters(
    text: &Text<'_>,
    ask: fn(&Text<'_>, usize, usize, &mut Vec<Found>) -> Progress,
    is_trigger: fn(&[u8], usize) -> bool,
    (found, hold): (&mut Vec<Found>, &mut usize),
    asked: &mut Vec<Asked>,
) {
    let (mut at, mut from) = (0, 0);
    while at < text.len() {
        if !is_trigger(text.bytes(), at) {
            at += 1;
            continue;
        }
        asked.push((ask, at, from));
        match ask(text, at, from, found) {
            Progress::Next(next) => {
                assert!(next > from || next > at, "no progress at {at}");
                from = next;
                at = next.max(at + 1);
            }
            Progress::Undecided(start) => {
                *hold = (*hold).min(start);
                return;
            }
        }
    }
}

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

fn is_number(bytes: &[u8], at: usize) -> bool {
    let [first, second, third] = [0, 1, 2].map(|ahead| byte(bytes, at + ahead));
    first.is_ascii_digit()
        && third.is_ascii_digit()
        && (second.is_ascii_digit() || b" .-/:()".contains(&second))
}

fn is_hex(bytes: &[u8], at: usize) -> bool {
    let near = |ahead: usize| byte(bytes, at + ahead);
    let is_hex = |byte: u8| byte.is_ascii_hexdigit();
    is_hex(near(0)) && near(1) == b':' && (is_hex(near(2)) || near(2) == b':')
        || near(0) == b':' && near(1) == b':' && is_hex(near(2))
        || is_hex(near(0))
            && is_hex(near(1))
            && near(2) == b'-'
            && is_hex(near(3))
            && is_hex(near(4))
            && near(5) == b'-'
}

fn is_wallet(bytes: &[u8], at: usize) -> bool {
    if at > 0 && is_word(byte(bytes, at - 1)) {
        return false;
    }
    let rest = &bytes[at..];
    let run = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    run >= 26 || rest.starts_with(b"bc1") || rest.starts_with(b"BC1") || rest.starts_with(b"0x")
}
