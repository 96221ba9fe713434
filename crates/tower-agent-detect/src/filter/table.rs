//! What windows stand for.

use super::{
    NOTHING, WORD,
    class::{self, Window},
    numbers,
};

/// Windows, and the entries that belong to each.
#[derive(Clone, Debug)]
pub(super) struct Table<E> {
    /// The upper half is never touched; it makes any window a valid index.
    kinds: Box<[u8; 1 << 16]>,
    /// Each at the hash of its window or soon behind it. Half of them are empty at least.
    buckets: Box<[Bucket]>,
    entries: Box<[E]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    window: Window,
    first: u32,
    behind: u32,
}

impl<E> Table<E> {
    pub(super) fn new(mut entries: Vec<(Window, E)>, numbers: bool) -> Self {
        let mut kinds: Box<[u8; 1 << 16]> = Box::new([NOTHING; 1 << 16]);
        if numbers {
            numbers::enter(kinds.as_mut_slice());
        }
        entries.sort_by_key(|(window, _)| *window);
        let mut buckets = vec![Bucket::default(); (entries.len() * 2).next_power_of_two().max(2)];
        let mut first = 0;
        for same in entries.chunk_by(|one, other| one.0 == other.0) {
            let behind = first + same.len() as u32;
            let Some(&(window, _)) = same.first() else { continue };
            enter(&mut buckets, Bucket { window, first, behind });
            if let Some(kinds) = kinds.get_mut(usize::from(window)) {
                *kinds |= WORD;
            }
            first = behind;
        }
        let entries = entries.into_iter().map(|(_, entry)| entry).collect();
        Self { kinds, buckets: buckets.into(), entries }
    }

    /// What a window stands for.
    #[inline]
    pub(super) fn kinds(&self, window: Window) -> u8 {
        self.kinds.get(usize::from(window)).copied().unwrap_or(NOTHING)
    }

    /// What belongs to a window.
    #[inline]
    pub(super) fn entries(&self, window: Window) -> &[E] {
        let mut slot = hash(window);
        while let Some(bucket) = self.buckets.get(slot & (self.buckets.len() - 1)) {
            if bucket.window == window || bucket.behind == 0 {
                return self
                    .entries
                    .get(bucket.first as usize..bucket.behind as usize)
                    .unwrap_or(&[]);
            }
            slot += 1;
        }
        &[]
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

/// The window of the first three bytes.
pub(super) fn first_window(bytes: &[u8]) -> Option<Window> {
    bytes.first_chunk().map(|bytes| class::window(*bytes))
}
