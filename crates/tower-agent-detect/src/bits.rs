//! Looks at a block of bytes at once, and keeps a bit for each.

use std::ops::BitOr;

use fearless_simd::{Level, Simd, mask8x64, prelude::*, u8x64};

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// What the processor is able to do.
#[inline]
pub(crate) fn level() -> Level {
    #[cfg(test)]
    if let Some(level) = levels::CHOSEN.get() {
        return level;
    }
    Level::new()
}

/// The bytes of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<S: Simd> {
    bytes: u8x64<S>,
    /// How many of the bytes stand before the block.
    before: u32,
}

/// An answer for each byte of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Such<S: Simd> {
    mask: mask8x64<S>,
    before: u32,
}

/// The first bytes of a text, with zeros behind its end.
#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, text: &[u8]) -> u8x64<S> {
    match text.first_chunk() {
        Some(block) => u8x64::load_array_ref(simd, block),
        None => u8x64::load_array(simd, padded(text)),
    }
}

#[inline(never)]
fn padded(text: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    if let Some(to) = block.get_mut(..text.len()) {
        to.copy_from_slice(text);
    }
    block
}

// What is not inlined into the function that was chosen for a processor is compiled for the least one.
impl<S: Simd> Lanes<S> {
    /// The bytes of a text from a place before its end on. Of what is behind the end, nothing is said.
    #[inline(always)]
    pub(crate) fn of(simd: S, text: &[u8], at: usize) -> Self {
        let rest = text.get(at..).unwrap_or_default();
        match (rest.first_chunk(), text.last_chunk()) {
            (Some(block), _) => Self { bytes: u8x64::load_array_ref(simd, block), before: 0 },
            // To copy the rest would take longer than to look at some bytes twice.
            (None, Some(block)) if !rest.is_empty() => Self {
                bytes: u8x64::load_array_ref(simd, block),
                before: (BLOCK - rest.len()) as u32,
            },
            _ => Self { bytes: load(simd, rest), before: 0 },
        }
    }

    /// Which of the bytes are this one.
    #[inline(always)]
    pub(crate) fn is(self, byte: u8) -> Such<S> {
        Such { mask: self.bytes.simd_eq(byte), before: self.before }
    }

    /// Which of the bytes are one of those from `first` to `last`.
    #[inline(always)]
    pub(crate) fn among(self, first: u8, last: u8) -> Such<S> {
        Such { mask: (self.bytes - first).simd_le(last - first), before: self.before }
    }

    /// Capital letters as small ones, and other bytes as whatever becomes of them so.
    #[inline(always)]
    pub(crate) fn small(self) -> Self {
        Self { bytes: self.bytes | 0x20, ..self }
    }
}

impl<S: Simd> Such<S> {
    /// A bit for each byte; that of the first one is the lowest.
    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        self.mask.to_bitmask() >> self.before
    }
}

impl<S: Simd> BitOr for Such<S> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self { mask: self.mask | other.mask, ..self }
    }
}

#[cfg(test)]
pub(crate) mod levels {
    use std::cell::Cell;

    use fearless_simd::{Level, Simd};

    thread_local! {
        /// The level that a test has chosen.
        pub(super) static CHOSEN: Cell<Option<Level>> = const { Cell::new(None) };
    }

    /// The same for each processor that this one can stand for, one without wide registers among them.
    pub(crate) fn each<T>(mut run: impl FnMut() -> T) -> Vec<T> {
        let best = Level::new();
        #[cfg(target_arch = "x86_64")]
        let others = [
            best.as_sse2().map(Simd::level),
            best.as_sse4_2().map(Simd::level),
            best.as_avx2().map(Simd::level),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let others = [None; 0];
        let all = [Some(best), Some(Level::fallback())].into_iter().chain(others).flatten();
        let ran = all.map(|level| {
            CHOSEN.set(Some(level));
            run()
        });
        let ran = ran.collect();
        CHOSEN.set(None);
        ran
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;

    #[inline(always)]
    fn judged<S: Simd>(simd: S, block: &[u8], at: usize) -> [u64; 4] {
        let bytes = Lanes::of(simd, block, at);
        let few = bytes.is(b'_') | bytes.is(0xff);
        let all = [
            bytes.among(b'/', b'9'),
            bytes.among(0x80, 0xff),
            bytes.small().among(b'a', b'z'),
            few,
        ];
        all.map(Such::bits)
    }

    #[test]
    fn each_byte_is_judged_as_it_would_be_alone() {
        for first in 0..=u8::MAX {
            let block: [u8; BLOCK] =
                std::array::from_fn(|at| first.wrapping_add((at as u8).wrapping_mul(7)));
            let alone = |at: usize| {
                let byte = block[at];
                let few = matches!(byte, b'_' | 0xff);
                [(b'/'..=b'9').contains(&byte), byte >= 0x80, byte.is_ascii_alphabetic(), few]
            };
            for judged in levels::each(|| dispatch!(level(), simd => judged(simd, &block, 0))) {
                for at in 0..BLOCK {
                    assert_eq!(judged.map(|mask| mask >> at & 1 == 1), alone(at), "{at}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_said_of_what_is_behind_the_end() {
        for len in [1, 5, BLOCK - 1, BLOCK, BLOCK + 3, 2 * BLOCK] {
            let text = [b'5'].repeat(len);
            for at in 0..=len {
                let rest = (len - at).min(BLOCK);

                let judged = levels::each(|| dispatch!(level(), simd => judged(simd, &text, at)));

                let digits = if rest == BLOCK { u64::MAX } else { (1 << rest) - 1 };
                assert!(judged.iter().all(|it| *it == [digits, 0, 0, 0]), "{len} {at} {judged:?}");
            }
        }
    }
}
