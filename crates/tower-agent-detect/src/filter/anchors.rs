//! Words by one window inside each of them: the one that mixed text has least.

use super::{
    Kind, NOTHING, Occurrence, WORD,
    class::{self, Window},
    numbers, weights,
};

/// Words by their anchors.
#[derive(Clone, Debug)]
pub(super) struct Anchors {
    /// What each window stands for. The upper half is never touched; it makes any window a valid index.
    kinds: Box<[u8; 1 << 16]>,
    /// Where the words of a window begin and end in `words`, at the hash of the window or soon behind it.
    buckets: Vec<Bucket>,
    words: Vec<Word>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    window: Window,
    first: u32,
    behind: u32,
}

#[derive(Clone, Debug)]
struct Word {
    /// The first eight bytes, as far as there are.
    head: u64,
    /// The bits of `head` that belong to the word.
    mask: u64,
    /// The bits in which a letter of `head` may be in the other case.
    case: u64,
    /// The number of the word.
    number: u32,
    /// How far the anchor stands behind the beginning.
    anchor: usize,
    len: usize,
    /// What follows the first eight bytes.
    tail: Box<[u8]>,
}

/// Words that are anchored at the same window before others are preferred.
const CROWD: f32 = 1.0;

impl Anchors {
    pub(super) fn new(words: &[String], numbers: bool) -> Self {
        let mut kinds: Box<[u8; 1 << 16]> = Box::new([NOTHING; 1 << 16]);
        if numbers {
            numbers::enter(kinds.as_mut_slice());
        }
        let mut anchored = choose(words);
        anchored.sort_by_key(|(window, _)| *window);
        let mut buckets = vec![Bucket::default(); (anchored.len() * 2).next_power_of_two().max(64)];
        let mut first = 0;
        for same in anchored.chunk_by(|one, other| one.0 == other.0) {
            let behind = first + same.len() as u32;
            let Some(&(window, _)) = same.first() else { continue };
            enter(&mut buckets, Bucket { window, first, behind });
            if let Some(kinds) = kinds.get_mut(usize::from(window)) {
                *kinds |= WORD;
            }
            first = behind;
        }
        Self { kinds, buckets, words: anchored.into_iter().map(|(_, word)| word).collect() }
    }

    /// What a window stands for.
    #[inline]
    pub(super) fn kinds(&self, window: Window) -> u8 {
        self.kinds.get(usize::from(window)).copied().unwrap_or(NOTHING)
    }

    /// Calls `each` with the words that are anchored at a place.
    #[inline]
    pub(super) fn each(
        &self,
        text: &[u8],
        window: Window,
        at: usize,
        mut each: impl FnMut(Occurrence),
    ) {
        for word in self.bucket(window) {
            let Some(start) = at.checked_sub(word.anchor) else { continue };
            if word.is_at(text, start) {
                each(Occurrence { kind: Kind::Word(word.number), start, end: start + word.len });
            }
        }
    }

    fn bucket(&self, window: Window) -> &[Word] {
        let mut slot = hash(window);
        loop {
            match self.buckets.get(slot & (self.buckets.len() - 1)) {
                Some(bucket) if bucket.behind == 0 => return &[],
                Some(bucket) if bucket.window == window => {
                    return self
                        .words
                        .get(bucket.first as usize..bucket.behind as usize)
                        .unwrap_or(&[]);
                }
                Some(_) => slot += 1,
                None => return &[],
            }
        }
    }
}

fn hash(window: Window) -> usize {
    (u32::from(window).wrapping_mul(0x9e37_79b1) >> 16) as usize
}

fn enter(buckets: &mut [Bucket], bucket: Bucket) {
    let mask = buckets.len() - 1;
    let mut slot = hash(bucket.window);
    while let Some(old) = buckets.get_mut(slot & mask) {
        if old.behind == 0 {
            *old = bucket;
            return;
        }
        slot += 1;
    }
}

/// Each word with its anchor. A window that is in use already costs no more, so that words like to share one, but for
/// those that are many.
fn choose(words: &[String]) -> Vec<(Window, Word)> {
    let mut crowds = vec![0_u32; class::WINDOWS];
    let mut order: Vec<_> = (0_u32..).zip(words).filter(|(_, word)| word.len() >= 3).collect();
    order.sort_by_key(|(_, word)| word.len());
    let mut anchored = Vec::with_capacity(order.len());
    for (number, word) in order {
        let places = word.as_bytes().windows(3).enumerate().filter_map(|(at, bytes)| {
            let window = class::window(*bytes.first_chunk()?);
            let crowd = crowds.get(usize::from(window)).copied().unwrap_or(0);
            let weight = weights::window(window);
            Some((
                at,
                window,
                if crowd == 0 { weight } else { weight * 0.25 } + CROWD * crowd as f32,
            ))
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

impl Word {
    fn new(number: u32, word: &[u8], anchor: usize) -> Self {
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
            number,
            anchor,
            len: word.len(),
            tail: word.get(8..).unwrap_or(&[]).into(),
        }
    }

    #[inline]
    fn is_at(&self, text: &[u8], start: usize) -> bool {
        let Some(text) = text.get(start..) else { return false };
        let head = match text.first_chunk() {
            Some(head) => u64::from_le_bytes(*head),
            None => short(text),
        };
        head & self.mask | self.case == self.head && text.len() >= self.len && self.tail_is_in(text)
    }

    #[inline]
    fn tail_is_in(&self, text: &[u8]) -> bool {
        self.tail.is_empty()
            || text.get(8..self.len).is_some_and(|tail| tail.eq_ignore_ascii_case(&self.tail))
    }
}

/// Less than eight bytes, as far as there are.
#[cold]
fn short(text: &[u8]) -> u64 {
    text.iter().rev().fold(0, |head, byte| head << 8 | u64::from(*byte))
}
