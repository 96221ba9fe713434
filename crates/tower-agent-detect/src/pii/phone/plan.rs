//! What the plans of the world's telephone networks allow.

/// How many digits a number within a country has, from the fewest to the most. `None` if no country has this code.
fn lengths(code: u32) -> Option<(usize, usize)> {
    Some(match code {
        1 => (10, 10),
        7 => (10, 10),
        20 => (8, 10),
        27 | 32 | 34 | 48 => (8, 9),
        30 => (10, 10),
        31 | 33 | 41 => (9, 9),
        36 | 45 | 47 | 65 => (8, 9),
        39 => (6, 11),
        40 => (9, 9),
        43 => (7, 13),
        44 => (9, 10),
        46 => (7, 10),
        49 => (7, 12),
        51 | 56 | 61 | 64 | 84 => (8, 10),
        52 | 54 | 55 | 57 | 58 => (10, 11),
        53 | 60 | 62 | 63 | 66 | 95 => (7, 12),
        81 | 82 => (8, 10),
        86 => (9, 12),
        90..=92 => (10, 10),
        93 | 94 => (9, 9),
        98 => (10, 10),
        211..=213 | 216 | 218 | 220..=269 | 290..=291 | 297..=299 => (5, 11),
        350..=359 | 370..=389 | 420..=421 | 423 | 500..=509 | 590..=599 => (5, 12),
        670 | 672..=692 | 800 | 808 | 850 | 852..=853 | 855..=856 | 870 | 878 | 880..=883 | 886 => {
            (5, 12)
        }
        960..=968 | 970..=977 | 979 | 992..=996 | 998 => (7, 10),
        _ => return None,
    })
}

/// Whether these digits are a country's code and a number there. `trunk` is the place of a digit that is not dialled.
pub(super) fn is_international(digits: &[u8], trunk: Option<usize>) -> bool {
    const MAX_DIGITS: usize = 15;
    (1..=3_usize).any(|len| {
        let Some((code, number)) = digits.split_at_checked(len) else { return false };
        let code = code.iter().fold(0_u32, |code, digit| code * 10 + u32::from(digit - b'0'));
        let Some((least, most)) = lengths(code) else { return false };
        let skipped = usize::from(trunk == Some(len));
        let count = number.len().saturating_sub(skipped);
        let first = number.get(skipped);
        (least..=most).contains(&count)
            && count.saturating_add(len) >= 8
            && count.saturating_add(len) <= MAX_DIGITS
            && (first != Some(&b'0') || code == 39)
            && (code != 1 || first.is_some_and(|digit| matches!(digit, b'2'..=b'9')))
    })
}

/// Whether an area and an office of North America can begin this way.
pub(super) fn is_north_american(digits: &[u8]) -> bool {
    matches!(digits, [b'2'..=b'9', second, third, b'2'..=b'9', ..] if (*second, *third) != (b'1', b'1'))
}
