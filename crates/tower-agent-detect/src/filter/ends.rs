//! Words by their last bytes: what has just come to its end.

use super::{
    Kind, Occurrence,
    buckets::{self, Buckets},
    class::{self, Window},
    numbers,
};

/// Words by their ends.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    marks: Box<[Marks; class::WINDOWS]>,
    /// By their last four bytes, or all three.
    words: Buckets<Word>,
    short: Buckets<(u32, [u8; 3])>,
}

/// A word and its number.
#[derive(Clone, Debug)]
struct Word {
    number: u32,
    bytes: Box<[u8]>,
}

/// What a window stands for at the end of words, which are in [`GROUPS`] groups by their last window.
///
/// A bit for each group with a word that ends so, a bit for words of three bytes, a bit for each group with a word
/// that is about to end, and a bit for numbers.
pub(super) type Marks = u16;

const GROUPS: Window = 7;
const THREE: Marks = 1 << GROUPS;
const WORDS: Marks = THREE | (THREE - 1);
const ABOUT: u32 = 8;
const NUMBER: Marks = 1 << 15;

impl Ends {
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a [u8]>, numbers: bool) -> Self {
        let long: Vec<_> = words.zip(0..).filter(|(word, _)| word.len() >= 3).collect();
        let short = |&(word, number): &(&[u8], u32)| {
            let bytes = whole(word)?;
            Some((buckets::short(bytes), (number, bytes)))
        };
        let by_last = |&(bytes, number): &(&[u8], u32)| {
            let key = buckets::long(*bytes.last_chunk()?);
            Some((key, Word { number, bytes: bytes.into() }))
        };
        let mut ends = Self {
            marks: Box::new([0; class::WINDOWS]),
            words: Buckets::new(long.iter().filter_map(by_last).collect()),
            short: Buckets::new(long.iter().filter_map(short).collect()),
        };
        for (word, _) in &long {
            ends.mark_word(word);
        }
        if numbers {
            numbers::each(|bytes| ends.mark(class::window(bytes), NUMBER));
        }
        ends
    }

    fn mark_word(&mut self, word: &[u8]) {
        let Some(&last) = word.last_chunk() else { return };
        let last = class::window(last);
        let Some(&[first, second, third, _]) = word.last_chunk() else {
            return self.mark(last, THREE);
        };
        let group = 1 << ((last.wrapping_mul(0x9e37) >> 8) % GROUPS);
        self.mark(last, group);
        self.mark(class::window([first, second, third]), group << ABOUT);
    }

    fn mark(&mut self, window: Window, marks: Marks) {
        if let Some(old) = self.marks.get_mut(usize::from(window)) {
            *old |= marks;
        }
    }

    /// What a window stands for.
    #[inline]
    pub(super) fn marks(&self, window: Window) -> Marks {
        self.marks.get(usize::from(window) & (class::WINDOWS - 1)).copied().unwrap_or(0)
    }

    /// Calls `each` with the words that end with a text.
    pub(super) fn each(&self, text: &[u8], mut each: impl FnMut(Occurrence)) {
        let end = text.len();
        let word = |number, start| Occurrence { kind: Kind::Word(number), start, end };
        if let Some(&last) = text.last_chunk()
            && self.words.may_hold(buckets::long(last))
        {
            for it in self.words.of(buckets::long(last)) {
                let start = end.saturating_sub(it.bytes.len());
                if text.get(start..).is_some_and(|text| text.eq_ignore_ascii_case(&it.bytes)) {
                    each(word(it.number, start));
                }
            }
        }
        if let Some(&last) = text.last_chunk::<3>()
            && self.short.may_hold(buckets::short(last))
        {
            for (number, bytes) in self.short.of(buckets::short(last)) {
                if last.eq_ignore_ascii_case(bytes) {
                    each(word(*number, end - 3));
                }
            }
        }
    }
}

/// A text of three bytes.
fn whole(word: &[u8]) -> Option<[u8; 3]> {
    word.try_into().ok()
}

/// What the marks of a window and those of the one before it say of the place.
#[inline]
pub(super) const fn meet(before: Marks, marks: Marks) -> Marks {
    marks & (before >> ABOUT | THREE | NUMBER)
}

/// Whether a word may end.
pub(super) const fn word(met: Marks) -> bool {
    met & WORDS != 0
}

/// Whether a number may begin two bytes before.
pub(super) const fn number(met: Marks) -> bool {
    met & NUMBER != 0
}
