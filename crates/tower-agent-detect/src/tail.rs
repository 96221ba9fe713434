//! How much of the end of a text that goes on may still become part of something.

mod class;
mod held;

pub(crate) use self::{
    class::{Bytes, Waits, is_base64, is_run},
    held::{Held, News},
};

use crate::{
    pii::{Kind, Kinds},
    tree::Tree,
};

/// Words of which the beginning may stand at the end of a text, though it is no word as such.
#[derive(Debug)]
pub(crate) struct Tail {
    /// Their beginnings, as far as these are no [runs](is_run).
    odd: Tree,
    /// A bit for each hash of the [last bytes](last) of one.
    known: Box<[u64; 1 << (KNOWN - 6)]>,
}

/// Bits of a hash.
const KNOWN: u32 = 15;

/// The longest run that a lane counts.
const COUNTED: usize = 127;

/// Nothing looks further back than this from what makes a run a value, in bytes.
pub(crate) const LONGEST_RUN: usize = 64;

/// The longest keyword of a rule, in bytes: so much of it may have come behind such a run.
const LONGEST_WORD: usize = 64;

/// How much of a run is taken for Base64, in bytes.
pub(crate) const LONGEST_BASE64: usize = 4096;

impl Tail {
    /// For words that are themselves the beginning of what is masked.
    pub(crate) fn new<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut beginnings: Vec<&[u8]> = Vec::new();
        for word in words.map(str::as_bytes) {
            let parts = (1..word.len()).filter_map(|length| word.get(..length));
            beginnings.extend(parts.filter(|part| !part.iter().copied().all(is_run)));
        }
        beginnings.sort_unstable();
        beginnings.dedup();
        let mut known = Box::new([0; 1 << (KNOWN - 6)]);
        for part in &beginnings {
            let hash = hash(last(part), part.len());
            if let Some(word) = known.get_mut(hash >> 6) {
                *word |= 1_u64 << (hash & 63);
            }
        }
        Self { odd: Tree::new(beginnings.into_iter().zip(0..)), known }
    }

    /// The place from which the text has to be held back.
    #[inline]
    pub(crate) fn hold(&self, bytes: &[u8], held: &mut Held, kinds: Kinds) -> usize {
        let mut hold = bytes.len();
        if !held.is_nothing(bytes) {
            hold -= held.runs(bytes, kinds);
        }
        if self.may_be_odd(bytes) {
            hold = hold.min(self.odd(bytes));
        }
        if held.head.is_some() && kinds.contains(Kind::Iban) {
            hold = hold.min(held.account(bytes));
        }
        hold
    }

    /// Whether the beginning of a word may stand at the end of a text.
    #[inline]
    fn may_be_odd(&self, bytes: &[u8]) -> bool {
        let last = last(bytes);
        let is_known = |length| {
            let hash = hash(last, length);
            self.known.get(hash >> 6).copied().unwrap_or(0) >> (hash & 63) & 1
        };
        is_known(1) | is_known(2) | is_known(3) | is_known(4) != 0
    }

    /// Where the run begins that stands before the beginning of a word at the end.
    #[inline(never)]
    fn odd(&self, bytes: &[u8]) -> usize {
        let mut longest = bytes.len();
        self.odd.each(bytes, |_, start| longest = start);
        run_at_end(bytes.get(..longest).unwrap_or_default())
    }
}

/// The last four bytes of a text, the very last one in the highest bits, each with the bit set in which letters of either
/// case differ.
#[inline]
fn last(bytes: &[u8]) -> u32 {
    let last = match bytes.last_chunk() {
        Some(last) => u32::from_le_bytes(*last),
        None => bytes.iter().fold(0, |last, byte| last >> 8 | u32::from(*byte) << 24),
    };
    last | 0x2020_2020
}

/// The hash of so many of four bytes.
#[inline]
const fn hash(last: u32, length: usize) -> usize {
    let last = match length {
        0 | 1 => last & 0xff00_0000,
        2 => last & 0xffff_0000,
        3 => last & 0xffff_ff00,
        _ => last,
    };
    (last.wrapping_mul(0x9e37_79b1) >> (32 - KNOWN)) as usize
}

/// Where the run that a text ends with begins.
fn run_at_end(text: &[u8]) -> usize {
    const LONGEST: usize = LONGEST_RUN + LONGEST_WORD;
    let (mut run, mut base64) = (0, 0);
    let (mut is_run, mut is_base64) = (true, true);
    for byte in text.iter().rev().take(LONGEST_BASE64) {
        is_run &= class::is_part_of_run(*byte) && run < LONGEST;
        is_base64 &= class::is_part_of_base64(*byte);
        if !is_run && !is_base64 {
            break;
        }
        run += usize::from(is_run);
        base64 += usize::from(is_base64);
    }
    text.len() - run.max(base64)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::filter::Filter;

    static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::new(&[], true));

    fn held(bytes: &[u8]) -> Held {
        let mut held = Held::default();
        for end in 0..=bytes.len() {
            held.take(&bytes[..end], end.saturating_sub(1), &FILTER, 0);
        }
        held
    }

    /// The place from which a text that came byte by byte has to be held back, as far as personal data asks for it.
    pub(crate) fn personal(bytes: &[u8], kinds: Kinds) -> usize {
        bytes.len() - held(bytes).personal(bytes, kinds)
    }

    /// The place from which such a text has to be held back.
    pub(crate) fn hold(bytes: &[u8], kinds: Kinds) -> usize {
        Tail::new(std::iter::empty()).hold(bytes, &mut held(bytes), kinds)
    }

    #[test]
    fn looking_back_says_the_same_as_looking_on() {
        let text = "Call +44 (20) 7946 0958, or https://a.b/c?d=%41, fe80::1 and GB29 NWBK 60. ";
        for end in 0..text.len() {
            let mut back = Held::default();
            back.look_back(&text.as_bytes()[..end], &FILTER);
            let on = held(&text.as_bytes()[..end]);
            assert_eq!((back.runs, back.base64, back.head), (on.runs, on.base64, on.head), "{end}");
        }
    }

    #[test]
    fn the_beginning_of_a_word_with_a_sign_is_held_in_any_case() {
        let tail = Tail::new(["https://", "--pat ", "ab:cd"].into_iter());
        for (text, kept) in [("see HTTPS:/", 4), ("a ab:", 2), ("ab:c", 0), ("ab:x", 3), ("b: ", 3)]
        {
            let bytes = text.as_bytes();
            assert_eq!(tail.hold(bytes, &mut held(bytes), Kinds::none()), kept, "{text}");
        }
    }
}
