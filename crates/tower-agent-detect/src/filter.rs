//! Finds the places of a text where a rule may have something to say.

#![cfg_attr(
    not(feature = "__bench"),
    allow(dead_code, reason = "the engine that asks comes later")
)]

mod anchors;
mod class;
mod ends;
mod numbers;
mod weights;

use anchors::Anchors;
use class::{BLOCK, Window};
use ends::Ends;

/// What no window stands for.
const NOTHING: u8 = 0;
/// A window that words are anchored at, or end with.
const WORD: u8 = 1;
/// A window in which a number may begin.
const DIGITS: u8 = 2;
/// A window of an address in hexadecimal notation.
const HEX: u8 = 4;

/// Growth of a text up to which the ends of words are looked at one by one.
const SHORT: usize = 48;

/// Windows that share a branch.
const GROUP: usize = 8;

/// A search for many words at once, in either case, and for places where numbers begin.
///
/// It has no state: what a text of growing length holds is the same at any growth.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    anchors: Anchors,
    ends: Ends,
    /// Length of the longest word.
    longest: usize,
}

/// A place that was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub(crate) struct Occurrence {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    /// The place behind the last byte.
    pub(crate) end: usize,
}

/// What was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub(crate) enum Kind {
    /// The word of this number.
    Word(u32),
    /// Three bytes a number may begin with: a digit, a digit or one separator (space or one of `.-/:()`), a digit.
    Digits,
    /// Three bytes that tell a hardware or network address: two hexadecimal digits around `:` or `-`, or `::`
    /// before or behind one.
    Hex,
}

/// A text of which what ends behind a place is asked for.
struct Search<'a, H> {
    text: &'a [u8],
    from: usize,
    /// Numbers that begin before it are of no interest.
    numbers_from: usize,
    hit: &'a mut H,
}

impl Filter {
    /// The shortest word in bytes.
    pub(crate) const SHORTEST: usize = 3;

    /// A search for words (ASCII in lower case, [`SHORTEST`](Self::SHORTEST) bytes or more, each one once; shorter ones
    /// are never found), and for numbers if these are asked for.
    pub(crate) fn new(words: &[String], numbers: bool) -> Self {
        Self {
            anchors: Anchors::new(words, numbers),
            ends: Ends::new(words, numbers),
            longest: words.iter().map(String::len).max().unwrap_or(0).max(Self::SHORTEST),
        }
    }

    /// How many bytes before `from` a search must see. A text may lose what stands before them.
    pub(crate) const fn behind(&self) -> usize {
        self.longest.saturating_sub(1)
    }

    /// Reports every occurrence that ends behind `from`, in any order of words; numbers come in their order.
    ///
    /// The next search of the same text, grown longer, goes on from its length now. What `hit` answers to a number is
    /// the place from where numbers are of interest again; what it answers to a word has no meaning.
    #[inline]
    pub(crate) fn search(
        &self,
        text: &[u8],
        from: usize,
        hit: &mut impl FnMut(Occurrence) -> usize,
    ) {
        let mut search = Search { text, from, numbers_from: 0, hit };
        if text.len().saturating_sub(from) <= SHORT {
            self.short(&mut search);
        } else {
            self.long(&mut search);
        }
    }

    fn short<H: FnMut(Occurrence) -> usize>(&self, search: &mut Search<'_, H>) {
        let first = search.from.saturating_sub(2);
        for (at, window) in search.text.windows(3).enumerate().skip(first) {
            let &[first, second, third] = window else { break };
            let window = [first, second, third];
            let kinds = self.ends.kinds(class::window(window));
            if kinds == NOTHING {
                continue;
            }
            if kinds & WORD != 0 {
                self.ends.each(search.text, at, |occurrence| _ = (search.hit)(occurrence));
            }
            search.number(kinds, window, at);
        }
    }

    fn long<H: FnMut(Occurrence) -> usize>(&self, search: &mut Search<'_, H>) {
        let mut at = search.from.saturating_sub(self.behind());
        while let Some(block) = search.text.get(at..).and_then(<[u8]>::first_chunk) {
            self.block(block, at, search);
            at += BLOCK;
        }
        let rest = search.text.get(at..).unwrap_or(&[]);
        if rest.len() >= Self::SHORTEST {
            let mut block = [0; BLOCK + 2];
            block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            self.block(&block, at, search);
        }
    }

    #[inline]
    fn block<H: FnMut(Occurrence) -> usize>(
        &self,
        block: &[u8; BLOCK + 2],
        at: usize,
        search: &mut Search<'_, H>,
    ) {
        let windows = class::windows(block);
        let (groups, _) = windows.as_chunks::<GROUP>();
        for (group, windows) in groups.iter().enumerate() {
            let kinds =
                windows.iter().fold(NOTHING, |kinds, window| kinds | self.anchors.kinds(*window));
            if kinds != NOTHING {
                self.group(windows, at + group * GROUP, search);
            }
        }
    }

    #[inline(never)]
    fn group<H: FnMut(Occurrence) -> usize>(
        &self,
        windows: &[Window; GROUP],
        at: usize,
        search: &mut Search<'_, H>,
    ) {
        for (at, window) in (at..).zip(windows) {
            let kinds = self.anchors.kinds(*window);
            if kinds == NOTHING {
                continue;
            }
            if kinds & WORD != 0 {
                self.anchors.each(search.text, *window, at, |occurrence| search.word(occurrence));
            }
            if kinds > WORD
                && let Some(bytes) = search.text.get(at..).and_then(<[u8]>::first_chunk)
            {
                search.number(kinds, *bytes, at);
            }
        }
    }
}

impl<H: FnMut(Occurrence) -> usize> Search<'_, H> {
    #[inline]
    fn word(&mut self, occurrence: Occurrence) {
        if occurrence.end > self.from {
            (self.hit)(occurrence);
        }
    }

    #[inline]
    fn number(&mut self, kinds: u8, bytes: [u8; 3], at: usize) {
        if kinds <= WORD || at < self.numbers_from || at + 3 <= self.from {
            return;
        }
        if kinds & DIGITS != 0 && numbers::is_digits(bytes) {
            self.numbers_from =
                (self.hit)(Occurrence { kind: Kind::Digits, start: at, end: at + 3 });
        }
        if kinds & HEX != 0 && at >= self.numbers_from && numbers::is_hex(bytes) {
            self.numbers_from = (self.hit)(Occurrence { kind: Kind::Hex, start: at, end: at + 3 });
        }
    }
}

#[cfg(test)]
mod tests;
