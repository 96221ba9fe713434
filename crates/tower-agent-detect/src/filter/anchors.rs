//! Words by one window inside each of them: the one that mixed text has least.

use super::{
    Kind, NOTHING, Occurrence, WORD,
    buckets::{Buckets, Entry},
    class::{self, Window},
    numbers,
    weights::WEIGHTS,
};

/// Words by their anchors.
#[derive(Clone, Debug)]
pub(super) struct Anchors {
    /// What each window stands for. The upper half is never touched; it makes any window a valid index.
    kinds: Box<[u8; 1 << 16]>,
    pub(super) words: Buckets<Word>,
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
    /// The bytes before and behind the anchor.
    beside: [Option<u8>; 2],
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
        let mut kinds: Box<[u8; 1 << 16]> = Box::new([NOTHING; 1 << 16]);
        if numbers {
            numbers::enter(|window, number| {
                if let Some(kinds) = kinds.get_mut(usize::from(window)) {
                    *kinds |= number;
                }
            });
        }
        let anchored = choose(words);
        for (window, _) in &anchored {
            if let Some(kinds) = kinds.get_mut(usize::from(*window)) {
                *kinds |= WORD;
            }
        }
        Self { kinds, words: Buckets::new(anchored) }
    }

    /// What a window stands for.
    #[inline]
    pub(super) fn kinds(&self, window: Window) -> u8 {
        self.kinds.get(usize::from(window)).copied().unwrap_or(NOTHING)
    }
}

/// Each word with its anchor. A window that is in use already costs no more, so that words share it unless they are
/// many.
fn choose(words: &[String]) -> Vec<(Window, Word)> {
    let mut crowds = vec![0_u32; class::WINDOWS];
    let mut order: Vec<_> = (0_u32..).zip(words).collect();
    order.sort_by_key(|(_, word)| word.len());
    let mut anchored = Vec::with_capacity(order.len());
    for (number, word) in order {
        let places = (0_u32..).zip(word.as_bytes().windows(3)).filter_map(|(at, bytes)| {
            let window = class::first(bytes)?;
            let crowd = crowds.get(usize::from(window)).copied()?;
            let weight = if crowd == 0 { WEIGHTS.of(window) } else { 0.0 };
            Some((at, window, weight + CROWD * crowd as f32))
        });
        let Some((at, window, _)) = places.min_by(|one, other| one.2.total_cmp(&other.2)) else {
            continue;
        };
        if let Some(crowd) = crowds.get_mut(usize::from(window)) {
            *crowd += 1;
        }
        anchored.push((window, Word::new(number, word.as_bytes(), at)));
    }
    anchored
}

impl Entry for Word {
    fn before(&self) -> Option<u8> {
        let [before, _] = self.beside;
        before
    }

    fn behind(&self) -> Option<u8> {
        let [_, behind] = self.beside;
        behind
    }
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
            beside: [
                word.get((anchor as usize).wrapping_sub(1)).copied(),
                word.get(anchor as usize + 3).copied(),
            ],
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
