//! How often mixed text has a window.

use std::sync::LazyLock;

use super::class::{self, Window};

/// The windows that are most common in source of several languages, prose, configuration and logs, all weighing the
/// same. Each line has a letter, `a` for once in a million bytes and each one after it for twice as much, and then
/// windows by a byte of each class.
const COMMON: &str = include_str!("common.txt");

/// How often mixed text has each window.
pub(super) static WEIGHTS: LazyLock<Weights> = LazyLock::new(Weights::new);

/// How often a million bytes have each window.
pub(super) struct Weights {
    windows: Vec<f32>,
    /// The same of two classes in a row.
    pairs: Vec<f32>,
    /// The same of one class.
    singles: Vec<f32>,
    /// The least weight in the list.
    least: f32,
}

impl Weights {
    fn new() -> Self {
        let mut weights = Self {
            windows: vec![0.0; class::WINDOWS],
            pairs: vec![1.0; 1 << 10],
            singles: vec![1.0; 1 << 5],
            least: f32::MAX,
        };
        for line in COMMON.lines() {
            if let Some((level, windows)) = line.as_bytes().split_first() {
                weights.enter(f32::from(level.saturating_sub(b'a')).exp2(), windows);
            }
        }
        weights
    }

    fn enter(&mut self, weight: f32, windows: &[u8]) {
        self.least = self.least.min(weight);
        for window in windows.chunks_exact(3).filter_map(class::first) {
            let [pair, single, _] = split(window);
            for (weights, at) in
                [(&mut self.windows, window), (&mut self.pairs, pair), (&mut self.singles, single)]
            {
                if let Some(sum) = weights.get_mut(usize::from(at)) {
                    *sum += weight;
                }
            }
        }
    }

    /// How often a million bytes have a window. What the list lacks is judged by its halves.
    pub(super) fn of(&self, window: Window) -> f32 {
        let get =
            |weights: &[f32], at: Window| weights.get(usize::from(at)).copied().unwrap_or(0.0);
        let listed = get(&self.windows, window);
        if listed > 0.0 {
            return listed;
        }
        let [before, single, behind] = split(window);
        (get(&self.pairs, before) * get(&self.pairs, behind) / get(&self.singles, single).max(1.0))
            .min(self.least)
    }
}

/// The first two classes, the second one, the last two.
const fn split(window: Window) -> [Window; 3] {
    [window & 0x3ff, window >> 5 & 31, window >> 5]
}
