//! What a number may begin with.

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

/// Whether three bytes are a digit, a digit or a separator, a digit.
#[inline]
pub(super) fn is_digits(bytes: [u8; 3]) -> bool {
    fit(bytes.map(part_of), [DIGIT, BETWEEN, DIGIT])
}

/// Whether three bytes are hexadecimal digits around `:` or `-`, or one of them beside `::`.
#[inline]
pub(super) fn is_hex(bytes: [u8; 3]) -> bool {
    let parts = bytes.map(part_of);
    fit(parts, [HEX_DIGIT, HEX_BETWEEN, HEX_DIGIT])
        | fit(parts, [HEX_DIGIT, COLON, COLON])
        | fit(parts, [COLON, COLON, HEX_DIGIT])
}

/// What three bytes of a text are the beginning of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Begins {
    Digits,
    Hex,
}

/// Calls `each` with the places of a text from one on at which three such bytes stand.
#[inline]
pub(super) fn begins(text: &[u8], from: usize, mut each: impl FnMut(usize, Begins)) {
    const DIGITS: u32 = row([DIGIT, BETWEEN, DIGIT]);
    const HEXES: [u32; 3] = [
        row([HEX_DIGIT, HEX_BETWEEN, HEX_DIGIT]),
        row([HEX_DIGIT, COLON, COLON]),
        row([COLON, COLON, HEX_DIGIT]),
    ];
    // All of them have one of these in their middle.
    const MIDDLE: u32 = row([0, HEX_BETWEEN, 0]);
    let mut parts = 0_u32;
    for (end, byte) in (from + 1..).zip(text.get(from..).unwrap_or_default()) {
        parts = parts >> 8 | u32::from(part_of(*byte)) << 16;
        if parts & DIGITS == DIGITS {
            each(end - 3, Begins::Digits);
        }
        if parts & MIDDLE != 0 && HEXES.iter().any(|hex| parts & hex == *hex) {
            each(end - 3, Begins::Hex);
        }
    }
}

/// What three bytes have to be, as one number.
const fn row([first, second, third]: [u8; 3]) -> u32 {
    u32::from_le_bytes([first, second, third, 0])
}

#[inline]
fn part_of(byte: u8) -> u8 {
    PARTS.get(usize::from(byte)).copied().unwrap_or(0)
}

#[inline]
fn fit([first, second, third]: [u8; 3], [one, two, three]: [u8; 3]) -> bool {
    first & one != 0 && second & two != 0 && third & three != 0
}

/// Calls `each` with one of each class of such bytes.
pub(super) fn each(mut each: impl FnMut([u8; 3])) {
    const SOME: &[u8] = b"0abcdef:-./ ()";
    for &first in SOME {
        for &second in SOME {
            for &third in SOME {
                let bytes = [first, second, third];
                if is_digits(bytes) || is_hex(bytes) {
                    each(bytes);
                }
            }
        }
    }
}
