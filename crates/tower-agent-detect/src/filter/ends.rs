//! Words by their last bytes: what has just come to its end.

use super::{
    Kind, Occurrence,
    class::{self, Window},
    numbers,
};
use crate::tree::Tree;

/// Words by their ends.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    marks: Box<[Marks; class::WINDOWS]>,
    words: Tree,
}

/// What a window stands for at the end of words, which are in [`GROUPS`] groups by their last window.
///
/// A bit for each group with a word that ends so, a bit for words of three bytes, a bit for each group with a word
/// that is about to end, and a bit for numbers.
pub(super) type Marks = u16;

const GROUPS: u16 = 6;
const THREE: Marks = 1 << GROUPS;
const WORDS: Marks = THREE | (THREE - 1);
const ABOUT: u32 = 8;
const NUMBER: Marks = 1 << 14;

impl Ends {
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a [u8]>, numbers: bool) -> Self {
        let long: Vec<_> = words.zip(0..).filter(|(word, _)| word.len() >= 3).collect();
        let mut ends =
            Self { marks: Box::new([0; class::WINDOWS]), words: Tree::new(long.iter().copied()) };
        for (word, _) in &long {
            ends.mark_word(word);
        }
        if numbers {
            numbers::each(|bytes, _| ends.mark(class::window(bytes), NUMBER));
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

    /// What is met at the end of a text.
    #[inline]
    pub(super) fn met(&self, text: &[u8]) -> Marks {
        let last = text.get(text.len().saturating_sub(4)..).unwrap_or(&[]);
        let mut marks = (0, 0);
        let mut window = 0;
        for byte in last {
            window = class::next(window, *byte);
            marks = (marks.1, self.marks(window));
        }
        meet(marks.0, marks.1)
    }

    /// Calls `each` with the words that end with a text.
    pub(super) fn each(&self, text: &[u8], mut each: impl FnMut(Occurrence)) {
        self.words.each(text, |number, start| {
            each(Occurrence { kind: Kind::Word(number), start, end: text.len() });
        });
    }
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
