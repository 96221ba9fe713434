//! Finds the places of a text where a rule may have something to say.

#![cfg_attr(
    not(feature = "__bench"),
    allow(dead_code, reason = "the engine that asks comes later")
)]

mod anchors;
mod buckets;
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

    /// Looks at each new byte as the last one of something.
    #[inline]
    fn short<H: FnMut(Occurrence) -> usize>(&self, search: &mut Search<'_, H>) {
        let (old, new) = search.text.split_at_checked(search.from).unwrap_or((search.text, &[]));
        let last = old.get(old.len().saturating_sub(3)..).unwrap_or(&[]);
        let mut window = last.iter().fold(0, |window, byte| class::next(window, *byte));
        let mut before = self.ends.marks(window);
        for (at, byte) in (search.from..).zip(new) {
            window = class::next(window, *byte);
            let marks = self.ends.marks(window);
            let met = ends::meet(before, marks);
            if met != 0 {
                self.end(met, at + 1, search);
            }
            before = marks;
        }
    }

    #[inline(never)]
    fn end<H: FnMut(Occurrence) -> usize>(
        &self,
        met: ends::Marks,
        end: usize,
        search: &mut Search<'_, H>,
    ) {
        let text = search.text.get(..end).unwrap_or(&[]);
        if ends::word(met) {
            self.ends.each(text, |occurrence| _ = (search.hit)(occurrence));
        }
        if let Some(bytes) = text.last_chunk() {
            search.number(ends::number(met), *bytes, end - 3);
        }
    }

    #[inline(never)]
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
        let kinds = windows.map(|window| self.anchors.kinds(window));
        let mut left = u64::from_le_bytes(kinds) & search.interest(at);
        while left != 0 {
            let place = left.trailing_zeros() as usize / 8;
            let kinds = (left >> (8 * place)) as u8;
            left &= !(0xff << (8 * place));
            self.place(kinds, windows.get(place).copied().unwrap_or(0), at + place, search);
        }
    }

    #[inline]
    fn place<H: FnMut(Occurrence) -> usize>(
        &self,
        kinds: u8,
        window: Window,
        at: usize,
        search: &mut Search<'_, H>,
    ) {
        if kinds & WORD != 0 {
            for word in self.anchors.words.at(window, search.text, at) {
                if let Some(occurrence) = word.at(search.text, at) {
                    search.word(occurrence);
                }
            }
        }
        if kinds > WORD
            && let Some(bytes) = search.text.get(at..).and_then(<[u8]>::first_chunk)
        {
            search.number(kinds, *bytes, at);
        }
    }
}

impl<H: FnMut(Occurrence) -> usize> Search<'_, H> {
    /// The kinds that are of interest in a group: words anywhere, numbers from where they are.
    #[inline]
    fn interest(&self, at: usize) -> u64 {
        const WORDS: u64 = u64::from_le_bytes([WORD; GROUP]);
        let over = self.numbers_from.saturating_sub(at).min(GROUP) as u32;
        WORDS | u64::MAX.checked_shl(8 * over).unwrap_or(0)
    }

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
