//! Finds the places of a text where a rule may have something to say.

mod anchors;
mod buckets;
mod class;
mod endings;
mod ends;
mod numbers;
mod sweep;
mod weights;

pub(crate) use self::anchors::Around;
pub(crate) use self::class::{Classes, bit as class_of};
pub(crate) use self::endings::Endings;

use anchors::{Anchors, Sorts};
use class::{BLOCK, GROUP, Window, Windows};
use ends::Ends;
use numbers::Begins;

/// Growth of a text up to which the ends of words are looked at one by one.
const SHORT: usize = 48;

/// Growth of a text from which on it takes less to pass over its numbers than to look at each.
const SWEPT: usize = 40;

/// Windows of which the sorts are in one register.
const LANES: usize = GROUP / 2;

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
}

/// A text of which what ends behind a place is asked for.
struct Search<'a, 'h, H> {
    text: &'a [u8],
    from: usize,
    /// Numbers that begin before these places are of no interest, of either kind.
    digits_from: usize,
    hex_from: usize,
    hit: &'h mut H,
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
        hit: &mut impl FnMut(Occurrence) -> usize,
    ) {
        let mut search = Search { text, from, digits_from: 0, hex_from: 0, hit };
        if text.len().saturating_sub(from) <= SHORT {
            self.short(&mut search);
        } else {
            self.long(&mut search);
            if self.numbers {
                sweep::sweep(&mut search);
            }
        }
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
        hit: &mut impl FnMut(Occurrence) -> usize,
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
        hit: &mut impl FnMut(Occurrence) -> usize,
    ) {
        let mut search = Search { text, from, digits_from: 0, hex_from: 0, hit };
        if text.len().saturating_sub(from) >= SWEPT {
            sweep::sweep(&mut search);
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
    fn short<H: FnMut(Occurrence) -> usize>(&self, search: &mut Search<'_, '_, H>) {
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
        search: &mut Search<'_, '_, H>,
    ) {
        if ends::word(met) {
            let text = search.text.get(..end).unwrap_or(&[]);
            self.ends.each(text, |occurrence| _ = (search.hit)(occurrence));
        }
        if ends::number(met) && end >= 3 {
            search.number(end - 3);
        }
    }

    #[inline(never)]
    fn long<H: FnMut(Occurrence) -> usize>(&self, search: &mut Search<'_, '_, H>) {
        let mut windows = Windows::new();
        let (mut met, mut places) = (Gathered::new(), Gathered::new());
        let mut before = 0;
        let mut at = search.from.saturating_sub(self.behind());
        while let Some(block) = search.rest(at).first_chunk() {
            for (at, group) in (at..).step_by(2 * GROUP).zip(windows.fill(block)) {
                before = self.group(group, before, at, &mut met);
            }
            at += BLOCK;
            if met.is_full() {
                self.met(&mut met, &mut places, search);
            }
        }
        while !search.rest(at).is_empty() {
            let rest = search.rest(at);
            let mut block = [0; BLOCK + 2];
            block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            let groups = windows.fill(&block).iter().take(rest.len().div_ceil(2 * GROUP));
            for (at, group) in (at..).step_by(2 * GROUP).zip(groups) {
                before = self.group(group, before, at, &mut met);
            }
            at += BLOCK;
            self.met(&mut met, &mut places, search);
        }
        self.met(&mut met, &mut places, search);
    }

    /// Looks up windows, each of which is the second one of an anchor that begins two bytes before.
    ///
    /// Takes the bits of the group before, and returns those of this one.
    #[inline]
    fn group(
        &self,
        group: &[Window; GROUP],
        before: u64,
        at: usize,
        met: &mut Gathered<(usize, u64)>,
    ) -> u64 {
        let [a, b, c, d, e, f, g, h] = group.map(|window| self.anchors.sorts(window));
        let (low, high) = (lanes([a, b, c, d]), lanes([e, f, g, h]));
        for (at, lanes) in [(at, meet(before, low)), (at + 2 * LANES, meet(low, high))] {
            met.push((at, lanes), lanes != 0);
        }
        high
    }

    /// Looks closer at where windows met.
    #[inline(never)]
    fn met<H: FnMut(Occurrence) -> usize>(
        &self,
        met: &mut Gathered<(usize, u64)>,
        places: &mut Gathered<(usize, Sorts)>,
        search: &mut Search<'_, '_, H>,
    ) {
        for &(at, met) in met.take() {
            let mut left = met;
            while left != 0 {
                let lane = left.trailing_zeros() / Sorts::BITS;
                let sorts = (left >> (Sorts::BITS * lane)) as Sorts;
                left &= !(u64::from(Sorts::MAX) << (Sorts::BITS * lane));
                // Nothing is met at the first place of all, as there is no window before it.
                let at = (at + 2 * lane as usize).saturating_sub(2);
                places.push((at, sorts), self.anchors.may_stand(sorts, search.text, at));
                if places.is_full() {
                    self.places(places, search);
                }
            }
        }
        self.places(places, search);
    }

    #[inline]
    fn places<H: FnMut(Occurrence) -> usize>(
        &self,
        places: &mut Gathered<(usize, Sorts)>,
        search: &mut Search<'_, '_, H>,
    ) {
        for &(at, sorts) in places.take() {
            self.anchors.each(sorts, search.text, at, |occurrence| search.word(occurrence));
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
    pub(crate) const fn is_word(self) -> bool {
        ends::word(self.0)
    }

    #[inline]
    pub(crate) const fn is_number(self) -> bool {
        ends::number(self.0)
    }
}

/// Places that are looked at together, later: to turn to each one at once would cost more than it takes to find it.
struct Gathered<T> {
    places: [T; GATHERED],
    len: usize,
}

/// How many places are gathered.
const GATHERED: usize = 64;

impl<T: Copy + Default> Gathered<T> {
    fn new() -> Self {
        Self { places: [T::default(); GATHERED], len: 0 }
    }

    /// Without a branch.
    #[inline]
    fn push(&mut self, place: T, counts: bool) {
        if let Some(to) = self.places.get_mut(self.len) {
            *to = place;
        }
        self.len += usize::from(counts);
    }

    /// Whether there may be no room for the places of one more block.
    #[inline]
    const fn is_full(&self) -> bool {
        self.len >= GATHERED - BLOCK / (2 * LANES)
    }

    #[inline]
    fn take(&mut self) -> &[T] {
        self.places.get(..std::mem::take(&mut self.len)).unwrap_or(&[])
    }
}

/// The sorts of four windows.
#[inline]
fn lanes([a, b, c, d]: [Sorts; LANES]) -> u64 {
    u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48
}

/// The sorts of which there are anchors that have their second windows here.
#[inline]
const fn meet(before: u64, sorts: u64) -> u64 {
    (sorts << 16 | before >> 48) & sorts >> anchors::SECOND & each_lane((1 << anchors::SECOND) - 1)
}

/// The same sorts in each of four lanes.
const fn each_lane(sorts: Sorts) -> u64 {
    sorts as u64 * 0x0001_0001_0001_0001
}

impl<'a, H: FnMut(Occurrence) -> usize> Search<'a, '_, H> {
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

    #[inline]
    fn is(&self, start: usize, such: fn([u8; 3]) -> bool) -> bool {
        self.rest(start).first_chunk().is_some_and(|bytes| such(*bytes))
    }
}

#[cfg(test)]
mod tests;
