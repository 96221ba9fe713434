//! What is asked of a value besides its form.

use crate::{rule::Checksum, seen::Seen, text::Text};

/// How far before a match a context word may stand, in bytes.
const CONTEXT: usize = 100;

/// The Shannon entropy of the bytes of a value, in bits per byte.
pub(crate) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0; 256];
    count(&mut counts, value, 1);
    let mut there = [0_u64; 4];
    for byte in value {
        if let Some(bits) = there.get_mut(usize::from(byte >> 6)) {
            *bits |= 1 << (byte & 63);
        }
    }
    let mut shares = Shares::of(value.len());
    let mut entropy = 0.0;
    for (bits, counts) in there.iter_mut().zip(counts.chunks(64)) {
        while *bits != 0 {
            let count = counts.get(bits.trailing_zeros() as usize);
            entropy += shares.term(count.copied().unwrap_or_default());
            *bits &= *bits - 1;
        }
    }
    entropy
}

/// The same of a number of bytes, by how many there are of each.
pub(crate) fn entropy_of(counts: &[u32; 256], length: usize) -> f32 {
    let mut shares = Shares::of(length);
    let there = counts.iter().filter(|count| **count > 0);
    there.fold(0.0, |entropy, count| entropy + shares.term(*count))
}

/// What bytes add to the entropy that stand there so often. Most of a value stand there as often as others.
struct Shares {
    length: f32,
    terms: [Option<f32>; 8],
}

impl Shares {
    const fn of(length: usize) -> Self {
        Self { length: length as f32, terms: [None; 8] }
    }

    fn term(&mut self, count: u32) -> f32 {
        let share = count as f32 / self.length;
        match self.terms.get_mut(count as usize) {
            Some(term) => *term.get_or_insert_with(|| -share * share.log2()),
            None => -share * share.log2(),
        }
    }
}

/// Counts bytes, or takes them back.
pub(crate) fn count(counts: &mut [u32; 256], bytes: &[u8], by: i32) {
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count = count.wrapping_add_signed(by);
        }
    }
}

/// Whether a word stands in a text, in upper or lower case.
pub(crate) fn contains(text: &[u8], word: &[u8]) -> bool {
    word.is_empty() || places(text, word).next().is_some()
}

/// Where a word stands last in a text, in upper or lower case.
pub(crate) fn last(text: &[u8], word: &[u8]) -> Option<usize> {
    places(text, word).next_back()
}

fn places(text: &[u8], word: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
    let first = word.first().copied().unwrap_or_default();
    let stands_at = move |at: &usize| {
        let there = text.get(*at..).and_then(|rest| rest.get(..word.len()));
        there.is_some_and(|there| there.eq_ignore_ascii_case(word))
    };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text).filter(stands_at)
}

/// What the last word of a name says of its value, if it is no secret: what it was made of, or which one it is.
const FINGERPRINTS: [&[u8]; 22] = [
    b"md5",
    b"sha",
    b"sha1",
    b"sha256",
    b"sha384",
    b"sha512",
    b"checksum",
    b"digest",
    b"hash",
    b"commit",
    b"rev",
    b"revision",
    b"integrity",
    b"etag",
    b"trace_id",
    b"traceid",
    b"span_id",
    b"spanid",
    b"request_id",
    b"requestid",
    b"h1",
    b"fingerprint",
];

/// Whether a name says that its value is a fingerprint of something, and no secret.
pub(crate) fn is_fingerprint(name: &[u8]) -> bool {
    let trimmed = name.trim_ascii_end();
    let name =
        trimmed.strip_suffix(b"\"").or_else(|| trimmed.strip_suffix(b"'")).unwrap_or(trimmed);
    FINGERPRINTS.iter().any(|word| {
        let Some(at) = name.len().checked_sub(word.len()) else { return false };
        let (before, last) = name.split_at_checked(at).unwrap_or_default();
        last.eq_ignore_ascii_case(word) && !before.last().is_some_and(u8::is_ascii_alphanumeric)
    })
}

/// Whether one of the words of a rule stands a little before a place.
pub(crate) fn context(
    text: &Text<'_>,
    at: usize,
    words: (u32, &[String]),
    seen: &mut Seen,
) -> bool {
    seen.context(text.bytes(), (at.saturating_sub(CONTEXT), at), words)
}

/// Whether the check digits of a value are right. Spaces and hyphens do not count.
pub(crate) fn checksum(checksum: Checksum, value: &[u8]) -> bool {
    let digits = value.iter().copied().filter(|byte| !matches!(byte, b' ' | b'-'));
    match checksum {
        Checksum::Luhn => luhn(digits),
        Checksum::Mod97 => mod97(&digits.collect::<Vec<_>>()),
    }
}

fn luhn(digits: impl DoubleEndedIterator<Item = u8>) -> bool {
    let mut sum = 0;
    for (place, byte) in digits.rev().enumerate() {
        let Some(digit) = char::from(byte).to_digit(10) else { return false };
        let doubled = if place % 2 == 1 { digit * 2 } else { digit };
        sum += if doubled > 9 { doubled - 9 } else { doubled };
    }
    sum > 0 && sum % 10 == 0
}

/// The first four characters go to the end, a letter counts as two digits, and the remainder must be one.
fn mod97(value: &[u8]) -> bool {
    let Some((head, tail)) = value.split_at_checked(4) else { return false };
    let mut rest = 0;
    for byte in tail.iter().chain(head) {
        let Some(digit) = char::from(*byte).to_digit(36) else { return false };
        rest = (rest * if digit > 9 { 100 } else { 10 } + digit) % 97;
    }
    rest == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entropy_is_the_sum_over_all_bytes(value in proptest::collection::vec(0_u8.., 0..400), few in "[ab]{0,40}") {
            for value in [value, few.into_bytes()] {
                let mut sum = 0.0;
                for byte in 0..=u8::MAX {
                    let count = value.iter().filter(|it| **it == byte).count();
                    let share = count as f32 / value.len() as f32;
                    if count > 0 {
                        sum += -share * share.log2();
                    }
                }
                prop_assert_eq!(entropy(&value).to_bits(), f32::to_bits(sum));
            }
        }
    }
}
