//! Words by two windows inside each of them: those that mixed text has least.

use super::{
    Kind, Occurrence,
    buckets::{self, Buckets, Key},
    class::{self, ANY, Classes, Window},
    weights::WEIGHTS,
};

/// What is looked for at every other place of a text: words of which an anchor stands there. An anchor is five bytes, or
/// two windows of three of which the second one begins with the last byte of the first one. As a word may begin at an
/// even place or at an odd one, it has two.
#[derive(Clone, Debug)]
pub(super) struct Anchors {
    /// The sorts of each window. The upper half is never touched; it makes any window a valid index.
    sorts: Box<[Sorts; 1 << 16]>,
    /// Long words by how their anchors begin.
    long: Buckets<Word>,
    /// Short words by how they begin.
    short: Buckets<Word>,
}

/// A bit for each sort of anchors in which a window is the first one, and [`SECOND`] bits higher one for each sort in
/// which it is the second one. Where the two meet, there may be an anchor.
pub(super) type Sorts = u16;

/// The sorts of anchors that are any byte, a short word, and what follows it.
const BEHIND: Sorts = 0b11;
/// The sorts of anchors that are short words, and what follows them.
const SHORT: Sorts = 0b1100;
/// The sorts of anchors that are parts of long words.
const LONG: Sorts = 0b1111_0000;
/// How far the bits of second windows stand above those of first ones.
pub(super) const SECOND: u32 = 8;

/// Bytes of the words that have `SHORT` and `BEHIND` anchors, at most.
const FEW: usize = 4;

/// What each of five bytes may be.
type Pattern = [Classes; 5];

/// What may stand around a word, wherever it is of interest. Where nothing stands, at the end of a text, the word is found
/// all the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    pub(crate) before: Classes,
    pub(crate) behind: [Classes; 2],
}

impl Around {
    /// Anything.
    pub(crate) const ANYTHING: Self = Self { before: ANY, behind: [ANY; 2] };

    /// Whether this is so around the bytes from one place to another.
    #[inline]
    pub(crate) fn fits(&self, text: &[u8], start: usize, end: usize) -> bool {
        let fits = |classes: Classes, at: usize| {
            text.get(at).is_none_or(|byte| classes & class::bit(*byte) != 0)
        };
        let [first, second] = self.behind;
        fits(self.before, start.wrapping_sub(1)) && fits(first, end) && fits(second, end + 1)
    }

    /// What one word may be found in for either of two reasons.
    #[must_use]
    pub(crate) const fn or(self, other: Self) -> Self {
        let [first, second] = self.behind;
        let [other_first, other_second] = other.behind;
        Self {
            before: self.before | other.before,
            behind: [first | other_first, second | other_second],
        }
    }
}

/// A word, and where its anchor is.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// The first eight bytes, as far as there are.
    head: u64,
    /// The bits of `head` that belong to the word.
    mask: u64,
    /// The bits in which a letter of `head` may be in the other case.
    case: u64,
    /// How far the anchor stands behind the beginning.
    anchor: u32,
    /// The number of the word.
    number: u32,
    len: u32,
    /// What may stand around it.
    around: Around,
    /// What follows the first eight bytes.
    tail: Box<[u8]>,
}

/// How dear it is to put one more word to a window, by the square of the words it has.
const CROWD: f32 = 50_000.0;

impl Anchors {
    pub(super) fn new(words: &[(String, Around)]) -> Self {
        let mut made = Making::new();
        let mut order: Vec<_> =
            (0_u32..).zip(words).filter(|(_, (word, _))| word.len() >= 3).collect();
        order.sort_by_key(|(_, (word, _))| word.len());
        let mut short = Vec::new();
        for (number, (word, around)) in order {
            let word = word.as_bytes();
            if word.len() <= FEW {
                made.choose_sort(SHORT, pattern(word, around, 0));
                made.choose_sort(BEHIND, pattern(word, around, -1));
                let key = word.first_chunk().map(|bytes| buckets::short(*bytes));
                short.extend(key.map(|key| (key, Word::new((number, *around), word, 0))));
            } else {
                made.choose(number, word, around, 0);
                made.choose(number, word, around, 1);
            }
        }
        Self { sorts: made.sorts, long: Buckets::new(made.long), short: Buckets::new(short) }
    }

    /// The most words that are tried at one place.
    #[cfg(test)]
    pub(super) fn most(&self) -> usize {
        self.long.most() + 2 * self.short.most()
    }

    /// The sorts of a window.
    #[inline]
    pub(super) fn sorts(&self, window: Window) -> Sorts {
        self.sorts.get(usize::from(window)).copied().unwrap_or(0)
    }

    /// Whether anything of these sorts may stand at a place.
    #[inline]
    pub(super) fn may_stand(&self, sorts: Sorts, text: &[u8], at: usize) -> bool {
        let bytes = text.get(at..).and_then(<[u8]>::first_chunk);
        let Some(&[first, second, third, fourth]) = bytes else { return true };
        let long = self.long.may_hold(buckets::long([first, second, third, fourth]));
        let short = self.short.may_hold(buckets::short([first, second, third]));
        let behind = self.short.may_hold(buckets::short([second, third, fourth]));
        (sorts & LONG != 0) & long | (sorts & SHORT != 0) & short | (sorts & BEHIND != 0) & behind
    }

    /// Calls `each` with the words that have an anchor of one of these sorts at a place.
    #[inline]
    pub(super) fn each(
        &self,
        sorts: Sorts,
        text: &[u8],
        at: usize,
        mut each: impl FnMut(Occurrence),
    ) {
        if sorts & LONG != 0
            && let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk)
        {
            let words = self.long.of(buckets::long(*bytes)).iter();
            words.filter_map(|word| word.at(text, at)).for_each(&mut each);
        }
        for (sort, at) in [(SHORT, at), (BEHIND, at + 1)] {
            if sorts & sort != 0
                && let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk)
            {
                let words = self.short.of(buckets::short(*bytes)).iter();
                words.filter_map(|word| word.at(text, at)).for_each(&mut each);
            }
        }
    }
}

/// Anchors that are being chosen.
struct Making {
    sorts: Box<[Sorts; 1 << 16]>,
    /// How often a million bytes have the first windows of each sort, and the second ones.
    weights: [[f32; 2]; SECOND as usize],
    /// How many words there are by each first window.
    crowds: Vec<u32>,
    long: Vec<(Key, Word)>,
}

/// A sort that an anchor may be of.
struct Choice {
    sort: u32,
    /// What it adds to the weights of the sort.
    weights: [f32; 2],
    cost: f32,
}

impl Making {
    fn new() -> Self {
        Self {
            sorts: Box::new([0; 1 << 16]),
            weights: [[1.0; 2]; SECOND as usize],
            crowds: vec![0; class::WINDOWS],
            long: Vec::new(),
        }
    }

    /// Chooses an anchor among those at even places of a word, or among those at odd ones.
    fn choose(&mut self, number: u32, word: &[u8], around: &Around, odd: usize) {
        let places = (odd..=word.len().saturating_sub(4)).step_by(2);
        let choices = places.flat_map(|at| sorts(LONG).map(move |sort| (at, sort)));
        let judged = choices.map(|(at, sort)| {
            let pattern = pattern(word, around, at as isize);
            (at, self.judge(pattern, sort, self.crowd(word, at)))
        });
        let best = judged.min_by(|(_, one), (_, other)| one.cost.total_cmp(&other.cost));
        let Some((at, choice)) = best else { return };
        self.enter(&choice, pattern(word, around, at as isize));
        if let Some(&bytes) = word.get(at..).and_then(<[u8]>::first_chunk) {
            let [first, second, third, _] = bytes;
            let window = class::window([first, second, third]);
            self.long.push((buckets::long(bytes), Word::new((number, *around), word, at as u32)));
            if let Some(crowd) = self.crowds.get_mut(usize::from(window)) {
                *crowd += 1;
            }
        }
    }

    /// Chooses one of some sorts for an anchor.
    fn choose_sort(&mut self, among: Sorts, pattern: Pattern) {
        let judged = sorts(among).map(|sort| self.judge(pattern, sort, 0.0));
        if let Some(choice) = judged.min_by(|one, other| one.cost.total_cmp(&other.cost)) {
            self.enter(&choice, pattern);
        }
    }

    /// How dear it is that other anchors begin as one at a place of a word.
    fn crowd(&self, word: &[u8], at: usize) -> f32 {
        let window = word.get(at..).and_then(class::first).map(usize::from);
        let crowd = window.and_then(|window| self.crowds.get(window)).copied().unwrap_or(0);
        CROWD * (crowd * crowd) as f32
    }

    /// A text has the anchors of a sort as often as its first windows meet its second ones, whichever words they are
    /// of. A window that is in use already makes this no more, so that words share it unless they are many.
    fn judge(&self, [a, b, c, d, e]: Pattern, sort: u32, crowd: f32) -> Choice {
        let weights =
            [self.weigh([a, b, c], 1 << sort), self.weigh([c, d, e], 1 << (sort + SECOND))];
        let [first, second] = self.weights.get(sort as usize).copied().unwrap_or_default();
        let meet = (first + weights[0]) * (second + weights[1]) - first * second;
        Choice { sort, weights, cost: meet + crowd }
    }

    /// How often a million bytes have windows of a pattern that are new to a sort.
    fn weigh(&self, pattern: [Classes; 3], bit: Sorts) -> f32 {
        let is_new = |window: &Window| {
            self.sorts.get(usize::from(*window)).is_some_and(|bits| bits & bit == 0)
        };
        windows(pattern).filter(is_new).map(|window| WEIGHTS.of(window)).sum()
    }

    fn enter(&mut self, choice: &Choice, [a, b, c, d, e]: Pattern) {
        if let Some(weights) = self.weights.get_mut(choice.sort as usize) {
            weights.iter_mut().zip(choice.weights).for_each(|(sum, weight)| *sum += weight);
        }
        for (pattern, bit) in [([a, b, c], choice.sort), ([c, d, e], choice.sort + SECOND)] {
            for window in windows(pattern) {
                if let Some(bits) = self.sorts.get_mut(usize::from(window)) {
                    *bits |= 1 << bit;
                }
            }
        }
    }
}

/// The numbers of some sorts.
fn sorts(among: Sorts) -> impl Iterator<Item = u32> {
    (0..SECOND).filter(move |sort| among >> sort & 1 == 1)
}

/// All windows that a pattern fits.
fn windows([first, second, third]: [Classes; 3]) -> impl Iterator<Item = Window> {
    let pairs = classes(first).flat_map(move |a| classes(second).map(move |b| a | b << 5));
    pairs.flat_map(move |pair| classes(third).map(move |c| pair | c << 10))
}

fn classes(set: Classes) -> impl Iterator<Item = Window> {
    (0..32).filter(move |class| set >> class & 1 == 1)
}

/// Five bytes from a place in a word on, or before it, with what may stand around it.
fn pattern(word: &[u8], around: &Around, at: isize) -> Pattern {
    [0, 1, 2, 3, 4].map(|byte: isize| {
        let Ok(at) = usize::try_from(at + byte) else { return around.before };
        let behind = || around.behind.get(at - word.len()).copied().unwrap_or(ANY);
        let or_end = || behind() | class::bit(class::BEHIND);
        word.get(at).map_or_else(or_end, |byte| class::bit(*byte))
    })
}

impl Word {
    fn new((number, around): (u32, Around), word: &[u8], anchor: u32) -> Self {
        let (mut head, mut mask, mut case) = ([0; 8], [0; 8], [0; 8]);
        for (((&byte, head), mask), case) in
            word.iter().zip(&mut head).zip(&mut mask).zip(&mut case)
        {
            *head = byte;
            *mask = 0xff;
            *case = if byte.is_ascii_lowercase() { 0x20 } else { 0 };
        }
        Self {
            head: u64::from_le_bytes(head),
            mask: u64::from_le_bytes(mask),
            case: u64::from_le_bytes(case),
            anchor,
            number,
            len: word.len() as u32,
            around,
            tail: word.get(8..).unwrap_or(&[]).into(),
        }
    }

    /// The occurrence of the word of which the anchor stands at a place.
    #[inline]
    pub(super) fn at(&self, text: &[u8], at: usize) -> Option<Occurrence> {
        let start = at.checked_sub(self.anchor as usize)?;
        let rest = text.get(start..)?;
        let head = match rest.first_chunk() {
            Some(head) => u64::from_le_bytes(*head),
            None => short(rest),
        };
        let end = start + self.len as usize;
        let same = head & self.mask | self.case == self.head
            && end <= text.len()
            && self.tail_is_in(rest)
            && self.around.fits(text, start, end);
        same.then_some(Occurrence { kind: Kind::Word(self.number), start, end })
    }

    #[inline]
    fn tail_is_in(&self, text: &[u8]) -> bool {
        self.tail.is_empty()
            || text
                .get(8..self.len as usize)
                .is_some_and(|tail| tail.eq_ignore_ascii_case(&self.tail))
    }
}

/// Less than eight bytes, as far as there are.
#[cold]
fn short(text: &[u8]) -> u64 {
    text.iter().rev().fold(0, |head, byte| head << 8 | u64::from(*byte))
}
