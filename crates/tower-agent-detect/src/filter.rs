//! Finds the places of a text where a rule may have something to say.

mod anchors;
mod buckets;
mod class;
mod endings;
mod ends;
mod long;
mod marks;
mod numbers;
mod sweep;
mod weights;

pub(crate) use self::anchors::Around;
pub(crate) use self::class::{Classes, bit as class_of};
pub(crate) use self::endings::Endings;

use anchors::Anchors;
use class::Window;
use ends::Ends;
use numbers::Begins;

/// Growth of a text up to which the ends of words are looked at one by one.
const SHORT: usize = 48;

/// Growth of a text from which on it takes less to pass over its numbers than to look at each.
const SWEPT: usize = 40;

/// A search for many words at once, in either case, and for places where numbers begin.
///
/// It has no state: what a text of growing length holds is the same at any growth.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    anchors: Anchors,
    ends: Ends,
    /// Length of the longest word.
    longest: usize,
    /// Whether numbers are asked for.
    numbers: bool,
}

/// What goes from one byte to the next, where each is looked at as it comes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carry {
    window: Window,
    marks: ends::Marks,
}

/// The class of a byte, where it stands in the window that ends with the byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastOfThree(Window);

/// What may end with a byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Met(ends::Marks);

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
    /// A run of Base64 that is long enough to be looked at, if asked for. The last one of a text may be shorter.
    Base64,
}

/// A text of which what ends behind a place is asked for.
struct Search<'a, 'h> {
    text: &'a [u8],
    from: usize,
    /// Numbers that begin before these places are of no interest, of either kind.
    digits_from: usize,
    hex_from: usize,
    hit: &'h mut dyn FnMut(Occurrence) -> usize,
}

impl Filter {
    /// The shortest word in bytes.
    pub(crate) const SHORTEST: usize = 3;

    /// A search for words (ASCII in lower case, [`SHORTEST`](Self::SHORTEST) bytes or more, each one once; shorter ones
    /// are never found), and for numbers if these are asked for. What is said to stand around a word saves time and
    /// promises nothing.
    pub(crate) fn new(words: &[(String, Around)], numbers: bool) -> Self {
        let lengths = words.iter().map(|(word, _)| word.len());
        Self {
            anchors: Anchors::new(words),
            ends: Ends::new(words.iter().map(|(word, _)| word.as_bytes()), numbers),
            longest: lengths.max().unwrap_or(0).max(Self::SHORTEST),
            numbers,
        }
    }

    /// How many bytes before `from` a search must see. A text may lose what stands before them.
    pub(crate) const fn behind(&self) -> usize {
        self.longest.saturating_sub(1)
    }

    /// Reports every occurrence that ends behind `from`, in any order of words; numbers come in their order.
    ///
    /// The next search of the same text, grown longer, goes on from its length now. What `hit` answers to a number is
    /// the place from where numbers of that kind are of interest again; what it answers to a word has no meaning.
    #[inline]
    pub(crate) fn search(
        &self,
        text: &[u8],
        from: usize,
        hit: &mut dyn FnMut(Occurrence) -> usize,
    ) {
        if text.len().saturating_sub(from) <= SHORT {
            self.short(&mut Search::new(text, from, hit));
        } else {
            self.search_long(text, from, false, hit);
        }
    }

    /// The same for a text that has grown much, with Base64 if that is asked for.
    pub(crate) fn search_long(
        &self,
        text: &[u8],
        from: usize,
        base64: bool,
        hit: &mut dyn FnMut(Occurrence) -> usize,
    ) {
        let mut search = Search::new(text, from, hit);
        let from = from.saturating_sub(self.behind());
        long::words(&self.anchors, from, &mut search);
        if self.numbers {
            sweep::sweep(&mut search, base64);
        }
    }

    /// Whether a search for numbers has to look at each byte anyway.
    pub(crate) const fn is_sweeping(&self, text: &[u8], from: usize) -> bool {
        self.numbers && text.len().saturating_sub(from) > SHORT
    }

    /// From where on a text that has grown from a place on is looked at byte by byte.
    pub(crate) const fn swept_from(from: usize) -> usize {
        from.saturating_sub(sweep::BEFORE)
    }

    /// What may end with the next byte of a text, which is of this class. If nothing, no search has to look at it.
    #[inline]
    pub(crate) fn next(&self, carry: &mut Carry, class: LastOfThree) -> Met {
        carry.window = carry.window >> 5 | class.0;
        let before = std::mem::replace(&mut carry.marks, self.ends.marks(carry.window));
        Met(ends::meet(before, carry.marks))
    }

    /// Reports the words that end with some of the last bytes of a text: a bit for each, the lowest one for the very last.
    pub(crate) fn words(
        &self,
        text: &[u8],
        mut ends: u64,
        hit: &mut dyn FnMut(Occurrence) -> usize,
    ) {
        while let Some(first) = ends.checked_ilog2() {
            let end = text.len() - first as usize;
            self.ends.each(text.get(..end).unwrap_or(&[]), |it| _ = hit(it));
            ends ^= 1 << first;
        }
    }

    /// Reports the numbers that end with the bytes of a text from a place on.
    pub(crate) fn numbers(
        &self,
        text: &[u8],
        from: usize,
        hit: &mut dyn FnMut(Occurrence) -> usize,
    ) {
        let mut search = Search::new(text, from, hit);
        if text.len().saturating_sub(from) >= SWEPT {
            sweep::sweep(&mut search, false);
        } else {
            numbers::begins(text, from.saturating_sub(2), |start, begins| match begins {
                Begins::Digits => search.seen_digits(start),
                Begins::Hex => search.seen_hex(start),
            });
        }
    }

    /// What to carry on behind a text.
    pub(crate) fn carry(&self, text: &[u8]) -> Carry {
        let last = text.get(text.len().saturating_sub(4)..).unwrap_or(&[]);
        let mut carry = Carry::default();
        for byte in last {
            self.next(&mut carry, LastOfThree::of_byte(*byte));
        }
        carry
    }

    /// Looks at each new byte as the last one of something.
    #[inline]
    fn short(&self, search: &mut Search<'_, '_>) {
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
    fn end(&self, met: ends::Marks, end: usize, search: &mut Search<'_, '_>) {
        if ends::word(met) {
            let text = search.text.get(..end).unwrap_or(&[]);
            self.ends.each(text, |occurrence| _ = (search.hit)(occurrence));
        }
        if ends::number(met) && end >= 3 {
            search.number(end - 3);
        }
    }
}

impl LastOfThree {
    pub(crate) const SHIFT: u32 = 10;

    /// From the bits of a word, of which the others do not matter.
    #[inline]
    pub(crate) const fn of(bits: u16) -> Self {
        Self(bits & 0x1f << Self::SHIFT)
    }

    pub(crate) const fn of_byte(byte: u8) -> Self {
        Self((class::class(byte) as Window) << Self::SHIFT)
    }

    pub(crate) const fn bits(self) -> u16 {
        self.0
    }
}

impl Met {
    #[inline]
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub(crate) const fn is_nothing(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) const fn is_word(self) -> bool {
        ends::word(self.0)
    }

    #[inline]
    pub(crate) const fn is_number(self) -> bool {
        ends::number(self.0)
    }
}

impl<'a, 'h> Search<'a, 'h> {
    fn new(text: &'a [u8], from: usize, hit: &'h mut dyn FnMut(Occurrence) -> usize) -> Self {
        Self { text, from, digits_from: 0, hex_from: 0, hit }
    }

    #[inline]
    fn rest(&self, at: usize) -> &'a [u8] {
        self.text.get(at..).unwrap_or(&[])
    }

    #[inline]
    fn word(&mut self, occurrence: Occurrence) {
        if occurrence.end > self.from {
            (self.hit)(occurrence);
        }
    }

    /// Reports the numbers that begin at a place.
    #[inline]
    fn number(&mut self, start: usize) {
        self.digits(start);
        self.hex(start);
    }

    #[inline]
    fn digits(&mut self, start: usize) {
        if start >= self.digits_from && start + 3 > self.from && self.is(start, numbers::is_digits)
        {
            self.seen_digits(start);
        }
    }

    #[inline]
    fn seen_digits(&mut self, start: usize) {
        if start >= self.digits_from {
            let seen = Occurrence { kind: Kind::Digits, start, end: start + 3 };
            self.digits_from = (self.hit)(seen);
        }
    }

    #[inline]
    fn hex(&mut self, start: usize) {
        if start >= self.hex_from && start + 3 > self.from && self.is(start, numbers::is_hex) {
            self.seen_hex(start);
        }
    }

    #[inline]
    fn seen_hex(&mut self, start: usize) {
        if start >= self.hex_from {
            self.hex_from = (self.hit)(Occurrence { kind: Kind::Hex, start, end: start + 3 });
        }
    }

    fn base64(&mut self, start: usize, end: usize) {
        (self.hit)(Occurrence { kind: Kind::Base64, start, end });
    }

    #[inline]
    fn is(&self, start: usize, such: fn([u8; 3]) -> bool) -> bool {
        self.rest(start).first_chunk().is_some_and(|bytes| such(*bytes))
    }
}

#[cfg(test)]
mod tests;
