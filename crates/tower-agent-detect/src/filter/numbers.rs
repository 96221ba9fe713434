//! What a number may begin with.

use super::{DIGITS, HEX, class};

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

/// Enters each window that such bytes may have.
pub(super) fn enter(kinds: &mut [u8]) {
    const SOME: &[u8] = b"0123456789abcdefABCDEF:-./ ()";
    for &first in SOME {
        for &second in SOME {
            for &third in SOME {
                let bytes = [first, second, third];
                if let Some(kinds) = kinds.get_mut(usize::from(class::window(bytes))) {
                    *kinds |= if is_digits(bytes) { DIGITS } else { 0 }
                        | if is_hex(bytes) { HEX } else { 0 };
                }
            }
        }
    }
}
