//! Looks at a block of bytes at once, and keeps a bit for each.

use std::ops::BitOr;

use fearless_simd::{Simd, mask8x64, prelude::*, u8x64};

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// The bytes of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<S: Simd>(u8x64<S>);

/// An answer for each byte of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Such<S: Simd>(mask8x64<S>);

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
    block.iter_mut().zip(text).for_each(|(to, byte)| *to = *byte);
    block
}

// What is not inlined into the function that was chosen for a processor is compiled for the least one.
impl<S: Simd> Lanes<S> {
    /// The first bytes of a text, with zeros behind its end.
    #[inline(always)]
    pub(crate) fn of(simd: S, text: &[u8]) -> Self {
        Self(load(simd, text))
    }

    /// Which of the bytes are this one.
    #[inline(always)]
    pub(crate) fn is(self, byte: u8) -> Such<S> {
        Such(self.0.simd_eq(byte))
    }

    /// Which of the bytes are one of those from `first` to `last`.
    #[inline(always)]
    pub(crate) fn among(self, first: u8, last: u8) -> Such<S> {
        Such((self.0 - first).simd_le(last - first))
    }

    /// Capital letters as small ones, and other bytes as whatever becomes of them so.
    #[inline(always)]
    pub(crate) fn small(self) -> Self {
        Self(self.0 | 0x20)
    }
}

impl<S: Simd> Such<S> {
    /// A bit for each byte; that of the first one is the lowest.
    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        self.0.to_bitmask()
    }
}

impl<S: Simd> BitOr for Such<S> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;

    fn judged<S: Simd>(simd: S, block: &[u8]) -> [u64; 4] {
        let bytes = Lanes::of(simd, block);
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
            let judged = dispatch!(Level::new(), simd => judged(simd, &block));
            for (at, byte) in block.iter().enumerate() {
                let alone = [
                    (b'/'..=b'9').contains(byte),
                    *byte >= 0x80,
                    byte.is_ascii_alphabetic(),
                    matches!(byte, b'_' | 0xff),
                ];
                assert_eq!(judged.map(|mask| mask >> at & 1 == 1), alone, "{byte}");
            }
        }
    }

    #[test]
    fn zeros_stand_behind_the_end() {
        let judged = dispatch!(Level::new(), simd => judged(simd, b"0"));

        assert_eq!(judged, [1, 0, 0, 0]);
    }
}
