//! Most digits are no personal data, and few bytes are enough to say so.

use super::cluster::MIN_DIGITS;
use super::scan::{back, begins_word, here};
use super::{iban, phone};
use crate::text::Text;

/// The fewest digits of a number that is neither one of a telephone nor an address.
const MORE_DIGITS: usize = 9;
/// How many bytes are read to find that there are few digits.
const MAX_BYTES: usize = 24;

/// Where the digits and separators from `start` on end, if whatever follows they are nothing: the body of an
/// identifier, or too few digits.
pub(super) fn nothing(text: &Text<'_>, start: usize, from: usize) -> Option<usize> {
    let bytes = text.bytes().get(start..)?;
    let before = back(text, start);
    if before.is_ascii_alphanumeric() && !begins_word(text, start) {
        let run = bytes.iter().take(MAX_BYTES).take_while(|byte| byte.is_ascii_digit()).count();
        // With a letter these are too many for a group of an address with colons or hyphens.
        let is_inner = run > 2 && bytes.get(run).is_some_and(|byte| !matches!(byte, b':' | b'.'));
        return (is_inner && iban::head(text, start, from).is_none())
            .then(|| start.saturating_add(run));
    }
    if let Some(len) = joined_to(text, start, from).and_then(|row| joined(bytes, row)) {
        return iban::head(text, start, from).is_none().then(|| start.saturating_add(len));
    }
    let len = few(bytes).or_else(|| dated(bytes))?;
    (is_apart(text, start, before) && (before != b' ' || iban::head(text, start, from).is_none()))
        .then(|| start.saturating_add(len))
}

/// What a row of digits is joined to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Row {
    /// A word that is no hexadecimal one.
    Word,
    /// Hexadecimal digits and a hyphen.
    Hexadecimal,
}

/// Whether the digits at `start` are joined to a word, and so few that they are nothing unless an account begins before them.
pub(crate) fn is_joined_to_word(text: &Text<'_>, start: usize) -> bool {
    is_word_before(text, start) && text.bytes().get(start..).and_then(word_row).is_some()
}

fn is_word_before(text: &Text<'_>, start: usize) -> bool {
    let further = back(text, start.saturating_sub(1));
    match back(text, start) {
        b'/' => further.is_ascii_alphabetic(),
        b'-' | b'.' => further.is_ascii_alphabetic() && !further.is_ascii_hexdigit(),
        _ => false,
    }
}

/// What stands before the digits and is joined to them.
fn joined_to(text: &Text<'_>, start: usize, from: usize) -> Option<Row> {
    if is_word_before(text, start) {
        return Some(Row::Word);
    }
    let is_hexadecimal =
        back(text, start) == b'-' && back(text, start.saturating_sub(1)).is_ascii_hexdigit();
    (is_hexadecimal && phone::lead(text, start, from) == start).then_some(Row::Hexadecimal)
}

/// How long joined digits are with the single separators between them, if they are nothing: no number begins behind a
/// separator that is joined to a word or to digits.
fn joined(bytes: &[u8], row: Row) -> Option<usize> {
    match row {
        Row::Word => word_row(bytes),
        Row::Hexadecimal => hexadecimal_row(bytes),
    }
}

/// Few digits of which none is a part of an address. Longer numbers may begin behind a slash or a colon.
fn word_row(bytes: &[u8]) -> Option<usize> {
    let (mut digits, mut dots, mut colons) = (0, 0, 0);
    let mut last = 0_u8;
    for (at, byte) in bytes.iter().take(MAX_BYTES).enumerate() {
        match byte {
            b'0'..=b'9' => digits += 1,
            _ if !last.is_ascii_digit() => return None,
            b'.' => dots += 1,
            b':' => colons += 1,
            b'-' | b'/' => {}
            b' ' | b'(' | b')' | b'a'..=b'f' | b'A'..=b'F' => return None,
            _ => return (digits < MORE_DIGITS && dots < 3 && colons < 3).then_some(at),
        }
        last = *byte;
    }
    None
}

/// Digits with hyphens, of which the first ones are no pair as in an address.
fn hexadecimal_row(bytes: &[u8]) -> Option<usize> {
    let first = bytes.iter().take(MAX_BYTES).position(|byte| !byte.is_ascii_digit())?;
    let mut last = b'0';
    for (at, byte) in bytes.iter().enumerate().take(MAX_BYTES).skip(first) {
        match byte {
            b'0'..=b'9' => {}
            _ if first < 3 || !last.is_ascii_digit() => return None,
            b'-' => {}
            b' ' | b'(' | b')' | b'.' | b':' | b'/' => return None,
            _ => return (at > first || !byte.is_ascii_hexdigit()).then_some(at),
        }
        last = *byte;
    }
    None
}

/// How long the digits and separators are, if they are too few for anything, and no hexadecimal digits touch them.
fn few(bytes: &[u8]) -> Option<usize> {
    let (mut digits, mut hyphens, mut dots, mut colons, mut len) = (0, 0, 0, 0, 0);
    let mut is_row = true;
    for (at, byte) in bytes.iter().take(MAX_BYTES).enumerate() {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                len = at.saturating_add(1);
            }
            b'.' => dots += 1,
            b':' if bytes.get(at.saturating_add(1)).is_none_or(|next| *next == b':') => {
                return None;
            }
            b':' => colons += 1,
            b'-' if len == at => hyphens += 1,
            b'-' => is_row = false,
            b' ' | b'/' | b'(' | b')' => {}
            // An address may go on here, unless so many digits touch that they are no group of one. Nor does any number end
            // before a hyphen and a digit, or before a letter.
            b'a'..=b'f' | b'A'..=b'F' => {
                let is_row = is_row && digits + hyphens == at && len == at;
                return (is_row && is_long(bytes)).then_some(len);
            }
            _ => return (digits < MIN_DIGITS && dots < 3 && colons < 3).then_some(len),
        }
    }
    None
}

/// How long a few digits are with a date behind them in parentheses, as in `1.2.3 (2024-05-06)`: no number goes on over a
/// parenthesis that does not close behind the first digits in it.
fn dated(bytes: &[u8]) -> Option<usize> {
    let (mut digits, mut dots, mut last) = (0, 0, 0_u8);
    let (mut is_open, mut is_date) = (false, false);
    for (at, byte) in bytes.iter().take(2 * MAX_BYTES).enumerate() {
        let follows = last.is_ascii_digit();
        match byte {
            b'0'..=b'9' => digits += 1,
            b' ' if follows && !is_open => {}
            b'(' if (follows || last == b' ') && !is_open && digits < MIN_DIGITS => {
                (is_open, digits) = (true, 0);
            }
            b'.' | b'-' | b'/' if follows => {
                dots += usize::from(*byte == b'.');
                is_date = is_open;
            }
            b')' if follows && is_date => {
                let is_nothing = digits < MORE_DIGITS && dots < 3;
                return (is_nothing && closes(bytes.get(at..)?)).then_some(at);
            }
            _ => return None,
        }
        last = *byte;
    }
    None
}

/// Whether no digits follow a parenthesis that closes.
fn closes(bytes: &[u8]) -> bool {
    match bytes {
        [_, b' ' | b'-' | b'.' | b'/', further, ..] => !further.is_ascii_digit(),
        [_, next, _, ..] => !next.is_ascii_digit(),
        _ => false,
    }
}

/// Whether more hexadecimal digits begin here than a group of an address has.
fn is_long(bytes: &[u8]) -> bool {
    bytes.get(..5).is_some_and(|bytes| bytes.iter().all(u8::is_ascii_hexdigit))
}

/// Whether nothing before the digits may make them a part of something longer.
fn is_apart(text: &Text<'_>, start: usize, before: u8) -> bool {
    let further = here(text, start.saturating_sub(2));
    match before {
        b'+' | b'(' | b')' | b'_' => false,
        b' ' => !matches!(further, b')' | b'0'..=b'9') || start < 2,
        b'-' | b'.' => start < 2 || !(further.is_ascii_alphanumeric() || further == b')'),
        b':' => start < 2 || !(further.is_ascii_hexdigit() || further == b':'),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pii::{Kind, look};

    /// Digits in the neighbourhood of which anything may stand that makes a number of them.
    const TEXTS: &str = concat!(
        r"(?:tel: |call me on |ssn |mac |host |\+|DE|x|v|\n|, |worker-|https://a/)?",
        r"(?:[0-9]{1,9}|[0-9]{1,4}|[0-9a-f]{2,8}|[-./: ()]|\) | \(|--|::|-|[a-f]|[g-z]){1,14}",
        r"(?:x|\)|, |\n)?",
    );

    proptest! {
        #[test]
        fn what_is_nothing_at_a_glance_is_nothing_at_all(text in TEXTS) {
            let text = Text::whole(text.as_bytes());
            let begins = |at: &usize| {
                here(&text, *at).is_ascii_digit() && !back(&text, *at).is_ascii_digit()
            };
            for (start, next) in (0..text.len())
                .filter(begins)
                .filter_map(|start| Some((start, nothing(&text, start, 0)?)))
            {
                for start in (start..next).filter(begins) {
                    let mut found = Vec::new();
                    let looked = look(&text, start, 0, &mut found);
                    // What begins behind is looked for later, and so are addresses in hexadecimal digits by themselves.
                    found.retain(|it| {
                        let is_hexadecimal = text.bytes()[it.start..it.end].contains(&b':');
                        it.start < next && it.kind != Kind::Mac && !is_hexadecimal
                    });
                    prop_assert!(looked.is_ok() && found.is_empty(), "{start}: {found:?}");
                }
            }
        }
    }
}
