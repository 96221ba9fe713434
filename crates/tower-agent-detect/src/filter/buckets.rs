//! Entries by how an anchor begins.

/// Bytes, each with the bit set in which letters of either case differ.
pub(super) type Key = u32;

/// The key of a short word: of its first three bytes.
#[inline]
pub(super) fn short([first, second, third]: [u8; 3]) -> Key {
    u32::from_le_bytes([first, second, third, 0]) | 0x2020_2020
}

/// The key of a long word: of the first four bytes of its anchor.
#[inline]
pub(super) fn long(bytes: [u8; 4]) -> Key {
    u32::from_le_bytes(bytes) | 0x2020_2020
}

/// Keys, and the entries that belong to each.
#[derive(Clone, Debug)]
pub(super) struct Buckets<E> {
    /// A bit for each hash that a key has: most keys that are asked for are none.
    known: Box<[u64; 1 << (KNOWN - 6)]>,
    /// Each at the upper bits of the hash of its key, or behind.
    buckets: Box<[Bucket]>,
    /// How many bits of a hash are left out to make a place among the buckets.
    shift: u32,
    entries: Box<[E]>,
}

/// Entries from one place up to another one.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    key: Key,
    len: u16,
    first: u16,
}

/// Bits of a hash that tell whether a key is known.
const KNOWN: u32 = 15;

impl<E> Buckets<E> {
    pub(super) fn new(mut entries: Vec<(Key, E)>) -> Self {
        entries.sort_by_key(|(key, _)| *key);
        let count = entries.chunk_by(|one, other| one.0 == other.0).count();
        let room = (4 * count).next_power_of_two().max(2);
        let mut buckets = Self {
            known: Box::new([0; 1 << (KNOWN - 6)]),
            buckets: vec![Bucket::default(); room].into(),
            shift: 32 - room.trailing_zeros(),
            entries: Box::default(),
        };
        let mut first = 0;
        for same in entries.chunk_by(|one, other| one.0 == other.0) {
            let Some(&(key, _)) = same.first() else { continue };
            buckets.enter(Bucket { key, len: same.len() as u16, first });
            first += same.len() as u16;
        }
        buckets.entries = entries.into_iter().map(|(_, entry)| entry).collect();
        buckets
    }

    fn enter(&mut self, bucket: Bucket) {
        let hash = hash(bucket.key);
        if let Some(word) = self.known.get_mut((hash >> (32 - KNOWN + 6)) as usize) {
            *word |= 1 << (hash >> (32 - KNOWN) & 63);
        }
        let mut slot = (hash >> self.shift) as usize;
        while let Some(taken) = self.buckets.get_mut(slot) {
            if taken.len == 0 {
                *taken = bucket;
                return;
            }
            slot = (slot + 1) & (self.buckets.len() - 1);
        }
    }

    /// The most that belongs to one key.
    #[cfg(test)]
    pub(super) fn most(&self) -> usize {
        self.buckets.iter().map(|bucket| usize::from(bucket.len)).max().unwrap_or(0)
    }

    /// Whether anything may belong to a key.
    #[inline]
    pub(super) fn may_hold(&self, key: Key) -> bool {
        let hash = hash(key);
        let known = self.known.get((hash >> (32 - KNOWN + 6)) as usize).copied().unwrap_or(0);
        known >> (hash >> (32 - KNOWN) & 63) & 1 != 0
    }

    /// What belongs to a key.
    #[inline]
    pub(super) fn of(&self, key: Key) -> &[E] {
        let mut slot = (hash(key) >> self.shift) as usize;
        while let Some(bucket) = self.buckets.get(slot).filter(|bucket| bucket.len > 0) {
            if bucket.key == key {
                let first = usize::from(bucket.first);
                return self.entries.get(first..first + usize::from(bucket.len)).unwrap_or(&[]);
            }
            slot = (slot + 1) & (self.buckets.len() - 1);
        }
        &[]
    }
}

#[inline]
const fn hash(key: Key) -> u32 {
    key.wrapping_mul(0x9e37_79b1)
}
