//! Words by two windows inside each of them: those that mixed text has least.

use super::{
    Kind, Occurrence,
    buckets::Buckets,
    class::{self, Window},
    numbers,
    weights::WEIGHTS,
};

/// What is looked for at every other place of a text: words of which an anchor stands there. An anchor is five bytes, or
/// two windows of three of which the second one begins with the last byte of the first one. As a word may begin at an
/// even place or at an odd one, it has two.
///
/// A window has a bit for each [sort](self#constants) of anchors in which it is the first one, and [`SECOND`] bits
/// higher one for each sort in which it is the second one.
#[derive(Clone, Debug)]
pub(super) struct Anchors {
    /// The bits of each window. The upper half is never touched; it makes any window a valid index.
    sorts: Box<[u8; 1 << 16]>,
    /// Words by the first windows of their anchors.
    here: Buckets<Word>,
    /// Short words that begin one byte behind their anchor, by their first windows.
    behind: Buckets<Word>,
}

/// Anchors of which each byte is known, but for the last one of some.
const LONG: u8 = 1;
/// Anchors that are short words, and what follows them.
const SHORT: u8 = 2;
/// Anchors that are any byte, a short word, and what follows it.
const BEHIND: u8 = 4;
/// Anchors that are numbers.
pub(super) const NUMBER: u8 = 8;
/// How far the bits of second windows stand above those of first ones.
pub(super) const SECOND: u32 = 4;

/// Bytes of the words that have `SHORT` and `BEHIND` anchors, at most.
const FEW: usize = 4;

/// Five bytes; none is any byte.
type Pattern = [Option<u8>; 5];

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
    /// What follows the first eight bytes.
    tail: Box<[u8]>,
}

/// How dear it is to put one more word to a window, beside how often a million bytes have that window.
const CROWD: f32 = 1.0;

impl Anchors {
    pub(super) fn new(words: &[String], numbers: bool) -> Self {
        let mut made = Making {
            sorts: Box::new([0; 1 << 16]),
            crowds: vec![0; class::WINDOWS],
            here: Vec::new(),
        };
        let mut order: Vec<_> = (0_u32..).zip(words).filter(|(_, word)| word.len() >= 3).collect();
        order.sort_by_key(|(_, word)| word.len());
        let mut behind = Vec::new();
        for (number, word) in order {
            let word = word.as_bytes();
            if word.len() <= FEW {
                made.enter(SHORT, pattern(word, 0));
                made.enter(BEHIND, pattern(word, -1));
                made.here
                    .extend(class::first(word).map(|window| (window, Word::new(number, word, 0))));
                behind
                    .extend(class::first(word).map(|window| (window, Word::new(number, word, 0))));
            } else {
                made.choose(number, word, 0);
                made.choose(number, word, 1);
            }
        }
        if numbers {
            numbers::each(|bytes| {
                made.enter(NUMBER, pattern(&bytes, 0));
                made.enter(NUMBER, pattern(&bytes, -1));
            });
        }
        Self { sorts: made.sorts, here: Buckets::new(made.here), behind: Buckets::new(behind) }
    }

    /// The bits of a window.
    #[inline]
    pub(super) fn sorts(&self, window: Window) -> u8 {
        self.sorts.get(usize::from(window)).copied().unwrap_or(0)
    }

    /// Calls `each` with the words that have an anchor of one of these sorts at a place.
    #[inline]
    pub(super) fn each(&self, sorts: u8, text: &[u8], at: usize, mut each: impl FnMut(Occurrence)) {
        let mut all = |words: &Buckets<Word>, at: usize| {
            let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk) else { return };
            words
                .of(class::at(*bytes))
                .iter()
                .filter_map(|word| word.at(text, at))
                .for_each(&mut each);
        };
        if sorts & (LONG | SHORT) != 0 {
            all(&self.here, at);
        }
        if sorts & BEHIND != 0 {
            all(&self.behind, at + 1);
        }
    }
}

/// Anchors that are being chosen.
struct Making {
    sorts: Box<[u8; 1 << 16]>,
    /// How many words there are by each first window.
    crowds: Vec<u32>,
    here: Vec<(Window, Word)>,
}

impl Making {
    /// Chooses an anchor among those at even places of a word, or among those at odd ones. A window that is in use
    /// already costs no more, so that words share it unless they are many.
    fn choose(&mut self, number: u32, word: &[u8], odd: usize) {
        let places = (odd..=word.len().saturating_sub(4)).step_by(2);
        let judged = places.map(|at| (at, self.cost(word, at)));
        let Some((at, _)) = judged.min_by(|one, other| one.1.total_cmp(&other.1)) else { return };
        self.enter(LONG, pattern(word, at as isize));
        if let Some(window) = word.get(at..).and_then(class::first) {
            self.here.push((window, Word::new(number, word, at as u32)));
            if let Some(crowd) = self.crowds.get_mut(usize::from(window)) {
                *crowd += 1;
            }
        }
    }

    fn cost(&self, word: &[u8], at: usize) -> f32 {
        let window = |at: usize| word.get(at..).and_then(class::first);
        let Some(first) = window(at) else { return f32::MAX };
        let used = |window: Window, bit: u8| {
            self.sorts.get(usize::from(window)).is_some_and(|sorts| sorts & bit != 0)
        };
        let crowd = self.crowds.get(usize::from(first)).copied().unwrap_or(0);
        let cost_of_first = if used(first, LONG) { 0.0 } else { WEIGHTS.of(first) };
        let cost_of_second = match window(at + 2) {
            Some(second) if used(second, LONG << SECOND) => 0.0,
            Some(second) => WEIGHTS.of(second),
            None => window(at + 1).map_or(0.0, |last| WEIGHTS.of_pair(last >> 5)),
        };
        cost_of_first + cost_of_second + CROWD * crowd as f32
    }

    fn enter(&mut self, sort: u8, [a, b, c, d, e]: Pattern) {
        self.enter_window(sort, [a, b, c]);
        self.enter_window(sort << SECOND, [c, d, e]);
    }

    fn enter_window(&mut self, bit: u8, bytes: [Option<u8>; 3]) {
        let classes = bytes.map(|byte| {
            byte.map_or(0..32, |byte| {
                let class = u16::from(class::of(byte));
                class..class + 1
            })
        });
        let [first, second, third] = classes;
        for (a, b) in first.flat_map(|a| second.clone().map(move |b| (a, b))) {
            for c in third.clone() {
                if let Some(bits) = self.sorts.get_mut(usize::from(a | b << 5 | c << 10)) {
                    *bits |= bit;
                }
            }
        }
    }
}

/// Five bytes of a word from a place on, and any byte where there is none.
fn pattern(word: &[u8], at: isize) -> Pattern {
    [0, 1, 2, 3, 4]
        .map(|byte: isize| usize::try_from(at + byte).ok().and_then(|byte| word.get(byte)).copied())
}

impl Word {
    fn new(number: u32, word: &[u8], anchor: u32) -> Self {
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
        let same =
            head & self.mask | self.case == self.head && end <= text.len() && self.tail_is_in(rest);
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
