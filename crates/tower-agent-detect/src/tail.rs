//! How much of the end of a text that goes on may still become part of something.

mod class;
mod held;

pub(crate) use self::{
    class::{Bytes, Waits, is_base64, is_run},
    held::{Held, News, Walk},
};

use crate::{
    filter::Endings,
    pii::{Kind, Kinds},
    tree::Tree,
};

/// Words of which the beginning may stand at the end of a text, though it is no word as such.
#[derive(Debug)]
pub(crate) struct Tail {
    /// Their beginnings, as far as these are no [runs](is_run).
    odd: Tree,
    /// How a text may end that ends with one.
    ends: Endings,
}

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
        let ends = Endings::new(beginnings.iter().copied());
        Self { odd: Tree::new(beginnings.into_iter().zip(0..)), ends }
    }

    /// Takes in what a text now ends with, if nothing comes of it as far as is easy to see. Gives the place from which the text
    /// has to be held back then.
    #[inline(always)]
    pub(crate) fn passes(&self, bytes: &[u8], held: &mut Held, walk: &Walk) -> Option<usize> {
        if !held.may_pass(walk, bytes.len()) {
            return None;
        }
        let ending = self.ends.of(bytes, walk.carry);
        let hold = if ending.is_nothing() {
            bytes.len()
        } else if ending.is_byte() {
            run_before(bytes, bytes.len() - 1)
        } else {
            return None;
        };
        held.pass(walk, bytes.len());
        Some(hold)
    }

    /// The place from which the text has to be held back.
    #[inline(never)]
    pub(crate) fn hold(&self, bytes: &[u8], held: &mut Held, kinds: Kinds) -> usize {
        let mut hold = bytes.len();
        if !held.is_nothing(bytes) {
            hold -= held.runs(bytes, kinds);
        }
        let ending = self.ends.of(bytes, held.carry);
        if !ending.is_nothing() {
            let begins = if ending.is_byte() { bytes.len() - 1 } else { self.odd(bytes) };
            hold = hold.min(run_before(bytes, begins));
        }
        if held.head.is_some() && kinds.contains(Kind::Iban) {
            hold = hold.min(held.account(bytes));
        }
        hold
    }

    /// Where the longest beginning of a word at the end begins.
    #[inline(never)]
    fn odd(&self, bytes: &[u8]) -> usize {
        let mut longest = bytes.len();
        self.odd.each(bytes, |_, start| longest = start);
        longest
    }
}

/// Where the run begins that ends at a place of a text.
#[inline]
fn run_before(text: &[u8], end: usize) -> usize {
    match end.checked_sub(1).and_then(|last| text.get(last)) {
        Some(last) if class::is_part_of_either(*last) => {
            run_at_end(text.get(..end).unwrap_or_default())
        }
        _ => end,
    }
}

/// Where the run that a text ends with begins.
#[inline(never)]
fn run_at_end(text: &[u8]) -> usize {
    const LONGEST: usize = LONGEST_RUN + LONGEST_WORD;
    let last = |bytes: &[u8], most: usize, such: fn(u8) -> bool| {
        bytes.iter().rev().take(most).take_while(|byte| such(**byte)).count()
    };
    let both = last(text, LONGEST, class::is_part_of_both);
    // Behind what is neither, one of the two may go on.
    let before = text.get(..text.len() - both).unwrap_or_default();
    let run = last(before, LONGEST - both, class::is_part_of_run);
    let base64 = last(before, LONGEST_BASE64 - both, class::is_part_of_base64);
    before.len() - run.max(base64)
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
            let from = end.saturating_sub(1);
            let walk = held.walk(&bytes[from..end], &FILTER);
            held.take(&bytes[..end], from, &walk, 0);
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
