//! What the end of a text that goes on may still become.

use super::scan::{begins_word, here};
use super::{email, iban};
use crate::text::{End, Text};

/// How much of a number can stand before three digits follow each other, or two with a separator between them; and how
/// many hexadecimal digits, up to the last ones of an address with hyphens.
pub(crate) const MAX_NUMBER: usize = 20;
/// How much of an account can stand before digits follow that are looked at.
pub(crate) const MAX_ACCOUNT: usize = iban::MAX_HEAD + 3;

/// Whether an ASCII byte may be part of the local part of an address.
pub(crate) const fn is_local(byte: u8) -> bool {
    crate::text::is_word(byte) || matches!(byte, b'.' | b'+' | b'-' | b'%' | b'\'')
}

/// Where the local part of an address begins that may stand at the end of a text: its length if none does.
pub(crate) fn local(bytes: &[u8]) -> usize {
    let text = Text::new(bytes, false, End::More);
    let last = bytes.len().saturating_sub(1);
    // Of the last letter one half may have come.
    let end = if matches!(here(&text, last), 0xC3..=0xDF) { last } else { bytes.len() };
    email::run(&text, end).unwrap_or(bytes.len())
}

/// Whether an account begins at a place, or may, by what follows.
pub(crate) fn may_be_account(text: &Text<'_>, at: usize) -> bool {
    is_head(text, at) && iban::may_begin(text, at)
}

/// Whether a country and check digits stand at a place.
#[inline]
pub(crate) fn is_head(text: &Text<'_>, at: usize) -> bool {
    let bytes = text.bytes().get(at..).and_then(<[u8]>::first_chunk);
    bytes.is_some_and(|[first, second, third, fourth]| {
        fourth.is_ascii_digit()
            && third.is_ascii_digit()
            && first.is_ascii_alphabetic()
            && begins_word(text, at)
            && iban::structure([*first, *second]).is_some()
    })
}
