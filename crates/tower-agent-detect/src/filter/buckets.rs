//! Entries by windows.

use super::class::{self, Window};

/// Windows, and the entries that belong to each.
#[derive(Clone, Debug)]
pub(super) struct Buckets<E> {
    /// Each at the hash of its window; no two have the same one.
    buckets: Box<[Bucket]>,
    /// What the hash multiplies with.
    factor: u32,
    entries: Box<[E]>,
}

/// Entries from one place up to another one.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    window: Window,
    len: u16,
    first: u32,
}

impl<E> Buckets<E> {
    pub(super) fn new(mut entries: Vec<(Window, E)>) -> Self {
        entries.sort_by_key(|(window, _)| *window);
        let mut buckets = Vec::new();
        let mut first = 0;
        for same in entries.chunk_by(|one, other| one.0 == other.0) {
            let Some(&(window, _)) = same.first() else { continue };
            let len = same.len() as u16;
            buckets.push(Bucket { window, len, first });
            first += u32::from(len);
        }
        let (buckets, factor) = spread(&buckets);
        Self { buckets, factor, entries: entries.into_iter().map(|(_, entry)| entry).collect() }
    }

    /// The most that belongs to one window.
    #[cfg(test)]
    pub(super) fn most(&self) -> usize {
        self.buckets.iter().map(|bucket| usize::from(bucket.len)).max().unwrap_or(0)
    }

    /// What belongs to a window.
    #[inline]
    pub(super) fn of(&self, window: Window) -> &[E] {
        let slot = hash(window, self.factor) & (self.buckets.len() - 1);
        let Some(bucket) = self.buckets.get(slot).filter(|bucket| bucket.window == window) else {
            return &[];
        };
        let first = bucket.first as usize;
        self.entries.get(first..first + usize::from(bucket.len)).unwrap_or(&[])
    }
}

#[inline]
fn hash(window: Window, factor: u32) -> usize {
    (u32::from(window).wrapping_mul(factor) >> 16) as usize
}

/// Spreads buckets so that no two meet. Without luck there is more room, up to a place for each window.
fn spread(buckets: &[Bucket]) -> (Box<[Bucket]>, u32) {
    let mut room = (buckets.len() * 2).next_power_of_two();
    loop {
        let mut factor = 0x9e37_79b1_u32;
        for _ in 0..64 {
            if let Some(spread) = try_spread(buckets, room, factor) {
                return (spread, factor);
            }
            factor = factor.wrapping_mul(0x2c92_77b5) | 1;
        }
        if room >= class::WINDOWS {
            // A factor of 2^16 is no hash at all, and nothing meets.
            return (try_spread(buckets, class::WINDOWS, 1 << 16).unwrap_or_default(), 1 << 16);
        }
        room *= 2;
    }
}

fn try_spread(buckets: &[Bucket], room: usize, factor: u32) -> Option<Box<[Bucket]>> {
    let mut spread = vec![Bucket::default(); room];
    for bucket in buckets {
        let slot = spread.get_mut(hash(bucket.window, factor) & (room - 1))?;
        if slot.len > 0 {
            return None;
        }
        *slot = *bucket;
    }
    Some(spread.into())
}
