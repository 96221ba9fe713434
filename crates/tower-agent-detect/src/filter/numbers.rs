//! What a number may begin with.

use super::{
    DIGITS, HEX, NOTHING,
    class::{self, Window},
};

/// A digit, a digit or a separator, a digit.
pub(super) const fn is_digits([first, second, third]: [u8; 3]) -> bool {
    let separator = matches!(second, b' ' | b'.' | b'-' | b'/' | b':' | b'(' | b')');
    first.is_ascii_digit() && third.is_ascii_digit() && (separator || second.is_ascii_digit())
}

/// Hexadecimal digits around `:` or `-`, or one of them beside `::`.
pub(super) const fn is_hex(bytes: [u8; 3]) -> bool {
    match bytes {
        [first, b':' | b'-', third] if first.is_ascii_hexdigit() && third.is_ascii_hexdigit() => {
            true
        }
        [digit, b':', b':'] | [b':', b':', digit] => digit.is_ascii_hexdigit(),
        _ => false,
    }
}

/// Calls `enter` with the windows that such bytes may have, and with what they stand for.
pub(super) fn enter(mut enter: impl FnMut(Window, u8)) {
    const SOME: &[u8] = b"0abcdef:-./ ()";
    for &first in SOME {
        for &second in SOME {
            for &third in SOME {
                let bytes = [first, second, third];
                let digits = if is_digits(bytes) { DIGITS } else { NOTHING };
                let hex = if is_hex(bytes) { HEX } else { NOTHING };
                enter(class::window(bytes), digits | hex);
            }
        }
    }
}
