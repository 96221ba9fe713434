//! What a number may begin with.

use super::class::{self, ANY, Classes};
use crate::text::is_word;

/// What a byte may be in a number, a bit for each.
#[expect(
    clippy::indexing_slicing,
    reason = "the compiler evaluates it, and would refuse a wrong index"
)]
const PARTS: [u8; 256] = {
    let mut parts = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        parts[byte as usize] = part(byte);
        byte += 1;
    }
    parts
};

const DIGIT: u8 = 1;
/// What may stand between two digits.
const BETWEEN: u8 = 2;
const HEX_DIGIT: u8 = 4;
/// What may stand between two hexadecimal digits.
const HEX_BETWEEN: u8 = 8;
const COLON: u8 = 16;

const fn part(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => DIGIT | BETWEEN | HEX_DIGIT,
        b'a'..=b'f' | b'A'..=b'F' => HEX_DIGIT,
        b':' => BETWEEN | HEX_BETWEEN | COLON,
        b'-' => BETWEEN | HEX_BETWEEN,
        b' ' | b'.' | b'/' | b'(' | b')' => BETWEEN,
        _ => 0,
    }
}

/// Whether three bytes are a digit, a digit or a separator, a digit; and whether they are hexadecimal digits around `:`
/// or `-`, or one of them beside `::`.
#[inline]
pub(super) fn kinds(bytes: [u8; 3]) -> (bool, bool) {
    let [first, second, third] =
        bytes.map(|byte| PARTS.get(usize::from(byte)).copied().unwrap_or(0));
    let is =
        |one: u8, two: u8, three: u8| first & one != 0 && second & two != 0 && third & three != 0;
    let hex = is(HEX_DIGIT, HEX_BETWEEN, HEX_DIGIT)
        | is(HEX_DIGIT, COLON, COLON)
        | is(COLON, COLON, HEX_DIGIT);
    (is(DIGIT, BETWEEN, DIGIT), hex)
}

/// What may follow such bytes, in pairs, if they are the beginning of a number that is worth a look: one that is over by
/// then is too short for anything.
pub(super) fn behind([first, second, third]: [u8; 3], digits: bool) -> [[Classes; 2]; 2] {
    let all = |such: fn(u8) -> bool| {
        (0..=u8::MAX).filter(|byte| such(*byte)).fold(0, |set, byte| set | class::bit(byte))
    };
    let hex = all(|byte| byte.is_ascii_hexdigit());
    // With two colons in a row, an address may be as short as that.
    if second == b':' && (first == b':' || third == b':') {
        let border = all(|byte| !is_word(byte));
        return [[hex, hex | border], [border, ANY]];
    }
    // Behind the end of a text, zeros are searched.
    let between =
        if digits { all(|byte| part(byte) & BETWEEN != 0) } else { all(is_hex_separator) };
    [[hex | between | class::bit(0); 2]; 2]
}

const fn is_hex_separator(byte: u8) -> bool {
    matches!(byte, b':' | b'-' | b'.')
}

/// Calls `each` with one of each class of such bytes, and with whether they are digits.
pub(super) fn each(mut each: impl FnMut([u8; 3], bool)) {
    const SOME: &[u8] = b"0abcdef:-./ ()";
    for &first in SOME {
        for &second in SOME {
            for &third in SOME {
                let bytes = [first, second, third];
                let (digits, hex) = kinds(bytes);
                if digits {
                    each(bytes, true);
                }
                if hex {
                    each(bytes, false);
                }
            }
        }
    }
}
