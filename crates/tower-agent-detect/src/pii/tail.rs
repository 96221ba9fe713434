//! What the end of a text that goes on may still become.

use super::scan::{begins_word, here};
use super::{Kind, Kinds, email, iban, wallet};
use crate::text::{End, Text};

/// How much of a number can stand before three digits follow each other, or two with a separator between them.
const MAX_NUMBER: usize = 20;
/// The same of hexadecimal digits, up to the last digits of an address with hyphens.
const MAX_HEX: usize = 20;

/// From where on a text that goes on must be held back, although nothing in it asks for a recogniser yet: its length
/// if all of it may go.
pub(crate) fn tail(bytes: &[u8], kinds: Kinds) -> usize {
    let text = Text::new(bytes, false, End::More);
    let mut hold = bytes.len();
    if kinds.contains(Kind::Email) {
        hold = hold.min(email::run(&text, bytes.len()).unwrap_or(bytes.len()));
        hold = hold.min(half_letter(&text));
    }
    if kinds.numbers() {
        hold = hold.min(number(&text));
    }
    if kinds.contains(Kind::Iban) {
        hold = hold.min(account(&text));
    }
    if kinds.hex() {
        hold = hold.min(hexadecimal(&text));
    }
    if kinds.contains(Kind::Wallet) {
        hold = hold.min(address(&text));
    }
    hold
}

/// The first of the last bytes that all belong to a class, but no more than `most` of them.
fn run(text: &Text<'_>, most: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let mut start = text.len();
    while start > 0
        && text.len().saturating_sub(start) < most
        && is_part(here(text, start.saturating_sub(1)))
    {
        start = start.saturating_sub(1);
    }
    start
}

fn first(text: &Text<'_>, start: usize, begins: impl Fn(usize) -> bool) -> usize {
    (start..text.len()).find(|at| begins(*at)).unwrap_or(text.len())
}

/// A local part whose last letter has come by half.
fn half_letter(text: &Text<'_>) -> usize {
    let last = text.len().saturating_sub(1);
    if matches!(here(text, last), 0xC3..=0xDF) {
        email::run(text, last).unwrap_or(text.len())
    } else {
        text.len()
    }
}

fn number(text: &Text<'_>) -> usize {
    let start = run(text, MAX_NUMBER, |byte| {
        byte.is_ascii_digit()
            || matches!(byte, b'+' | b'(' | b')' | b' ' | b'-' | b'.' | b'/' | b':')
    });
    first(text, start, |at| matches!(here(text, at), b'0'..=b'9' | b'+' | b'('))
}

fn account(text: &Text<'_>) -> usize {
    let start = run(text, iban::MAX_HEAD.saturating_add(3), iban::is_part);
    first(text, start, |at| begins_word(text, at) && may_be_head(text, at))
}

/// Whether what stands from a place to the end may be a country and check digits, and what follows them.
fn may_be_head(text: &Text<'_>, at: usize) -> bool {
    let bytes = text.bytes().get(at..).unwrap_or_default();
    match bytes {
        [letter] => letter.is_ascii_alphabetic(),
        [first, second, rest @ ..] => {
            rest.iter().take(2).all(u8::is_ascii_digit)
                && iban::structure([*first, *second]).is_some()
        }
        [] => false,
    }
}

fn hexadecimal(text: &Text<'_>) -> usize {
    let start =
        run(text, MAX_HEX, |byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'-' | b'.'));
    first(text, start, |at| here(text, at) == b':' || begins_word(text, at))
}

fn address(text: &Text<'_>) -> usize {
    let start = run(text, wallet::MAX_BECH32, |byte| byte.is_ascii_alphanumeric());
    let bytes = text.bytes().get(start..).unwrap_or_default();
    let may_begin = match bytes {
        [b'1' | b'3', ..] => bytes.len() <= wallet::MAX_BASE58,
        [b'0'] => true,
        [b'0', b'x', ..] => bytes.len() <= wallet::ETHEREUM_LEN,
        _ => bytes.iter().zip(b"bc1").all(|(byte, expected)| byte.eq_ignore_ascii_case(expected)),
    };
    if may_begin && begins_word(text, start) { start } else { text.len() }
}
