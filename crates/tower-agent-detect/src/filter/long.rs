//! Looks for words in a long text, a block at a time: for windows that meet first, and then at what stands there.

use fearless_simd::{Simd, dispatch, prelude::*, u16x32};

use super::{
    Search,
    anchors::{Anchors, SECOND, Sorts},
    class::{self, PAIRS, Pairs, Window},
};
use crate::bits;

/// The sorts of the windows of a block, behind those of the last window before it.
type Row = [Sorts; 2 * PAIRS + 1];

/// Bytes of a block.
const BLOCK: usize = 4 * PAIRS;

/// Places that are looked at together, later: to turn to each one at once would cost more than it takes to find it.
struct Gathered {
    /// What the places are counted from.
    base: usize,
    /// Each with its sorts, in the lowest bits.
    places: [u64; GATHERED],
    len: usize,
}

/// How many places are gathered.
const GATHERED: usize = 128;

/// Reports the words that have their anchors behind a place.
#[inline(never)]
pub(super) fn words(anchors: &Anchors, from: usize, search: &mut Search<'_, '_>) {
    dispatch!(bits::level(), simd => words_with(simd, anchors, from, search));
}

#[inline(always)]
fn words_with<S: Simd>(simd: S, anchors: &Anchors, from: usize, search: &mut Search<'_, '_>) {
    let text = search.text;
    let mut row = [0; 2 * PAIRS + 1];
    let mut met = Gathered::new(from);
    let mut at = from;
    let mut first = Pairs::of(simd, text.get(from..).unwrap_or_default());
    let mut windows = [[0; PAIRS]; 2];
    while at < text.len() {
        let [second, third] = next(simd, text, at + bits::BLOCK);
        let [one, two] = &mut windows;
        first.windows(second, one);
        second.windows(third, two);
        first = third;
        // What was looked up for the block before has come to rest by now: it is read in larger pieces than written.
        met.enter(at, meet(simd, &row), &row);
        if met.is_full() {
            met.look(anchors, at, search);
        }
        look_up(anchors, &windows, &mut row);
        at += BLOCK;
    }
    met.enter(at, meet(simd, &row), &row);
    met.look(anchors, at, search);
}

/// The pairs of a block.
#[inline(always)]
fn next<S: Simd>(simd: S, text: &[u8], at: usize) -> [Pairs<S>; 2] {
    let rest = text.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(block) => halves(simd, block),
        None => halves(simd, &bits::padded(rest, class::BEHIND)),
    }
}

#[inline(always)]
fn halves<S: Simd>(simd: S, block: &[u8; BLOCK]) -> [Pairs<S>; 2] {
    let (one, two) = block.split_at(BLOCK / 2);
    [Pairs::of(simd, one), Pairs::of(simd, two)]
}

/// It is no part of the function around it, where the compiler would move all this into wide registers and out again.
#[inline(never)]
fn look_up(anchors: &Anchors, windows: &[[Window; PAIRS]; 2], row: &mut Row) {
    let [before, these @ ..] = row;
    *before = these.last().copied().unwrap_or(0);
    for (to, window) in these.iter_mut().zip(windows.as_flattened()) {
        *to = anchors.sorts(*window);
    }
}

/// A bit for each window that is the second one of an anchor, as far as its sorts and those of the window before it tell.
#[inline(always)]
fn meet<S: Simd>(simd: S, row: &Row) -> u64 {
    meet_from(simd, row, 0) | meet_from(simd, row, PAIRS) << PAIRS
}

/// The same of as many windows as are in one register.
#[inline(always)]
fn meet_from<S: Simd>(simd: S, row: &Row, at: usize) -> u64 {
    let firsts = u16x32::from_slice(simd, row.get(at..at + PAIRS).unwrap_or(&[0; PAIRS]));
    let seconds = u16x32::from_slice(simd, row.get(at + 1..at + 1 + PAIRS).unwrap_or(&[0; PAIRS]));
    (firsts & (seconds >> SECOND)).simd_ne(0).to_bitmask()
}

impl Gathered {
    const fn new(base: usize) -> Self {
        Self { base, places: [0; GATHERED], len: 0 }
    }

    /// Notes the windows that were met in the block that ends at a place.
    #[inline(always)]
    fn enter(&mut self, end: usize, mut met: u64, row: &Row) {
        while met != 0 {
            let window = met.trailing_zeros() as usize;
            if let Some([first, second]) = row.get(window..).and_then(<[Sorts]>::first_chunk) {
                // Nothing is met at the first place of all, as there is no window before it.
                let place = (end - BLOCK + 2 * window - 2 - self.base) as u64;
                self.push(place << Sorts::BITS | u64::from(first & second >> SECOND), true);
            }
            met &= met - 1;
        }
    }

    /// Without a branch.
    #[inline(always)]
    fn push(&mut self, place: u64, counts: bool) {
        if let Some(to) = self.places.get_mut(self.len) {
            *to = place;
        }
        self.len += usize::from(counts);
    }

    /// Whether there may be no room for the places of one more block.
    #[inline(always)]
    const fn is_full(&self) -> bool {
        self.len > GATHERED - 2 * PAIRS
    }

    /// Looks closer at where windows met in blocks that end before a place, or there.
    #[inline(never)]
    fn look(&mut self, anchors: &Anchors, to: usize, search: &mut Search<'_, '_>) {
        // Those that are left take the places of the first ones.
        for at in 0..std::mem::take(&mut self.len) {
            let place = self.places.get(at).copied().unwrap_or_default();
            let (sorts, at) = self.read(place);
            self.push(place, anchors.may_stand(sorts, search.text, at));
        }
        for place in self.places.iter().take(self.len) {
            let (sorts, at) = self.read(*place);
            anchors.each(sorts, search.text, at, |occurrence| search.word(occurrence));
        }
        self.len = 0;
        // The second window of an anchor may be the first one of a block.
        self.base = to.saturating_sub(2);
    }

    /// The sorts of a place, and where it is.
    #[inline]
    const fn read(&self, place: u64) -> (Sorts, usize) {
        (place as Sorts, self.base + (place >> Sorts::BITS) as usize)
    }
}
