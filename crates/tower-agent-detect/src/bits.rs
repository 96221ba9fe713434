//! Looks at sixteen bytes at once, and keeps a bit for each byte of a block.

use std::ops::BitOr;

use wide::u8x16;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// Sixteen bytes; or, as an answer to what is asked of them, all ones or none for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes(u8x16);

/// For each byte of a block whether it is `such`, in a bit; that of the first one is the lowest.
#[inline]
pub(crate) fn masks<const N: usize>(
    block: &[u8; BLOCK],
    such: impl Fn(Lanes) -> [Lanes; N],
) -> [u64; N] {
    let (parts, _) = block.as_chunks();
    let mut masks = [0; N];
    for (part, shift) in parts.iter().zip([0, 16, 32, 48]) {
        for (mask, lanes) in masks.iter_mut().zip(such(Lanes(u8x16::new(*part)))) {
            *mask |= u64::from(lanes.0.to_bitmask()) << shift;
        }
    }
    masks
}

impl Lanes {
    /// Which of the bytes are this one.
    #[inline]
    pub(crate) fn is(self, byte: u8) -> Self {
        Self(self.0.simd_eq(u8x16::splat(byte)))
    }

    /// Which of the bytes are one of those from `first` to `last`.
    #[inline]
    pub(crate) fn among(self, first: u8, last: u8) -> Self {
        let above = self.0 - u8x16::splat(first);
        Self(above.min(u8x16::splat(last - first)).simd_eq(above))
    }

    /// Capital letters as small ones, and other bytes as whatever becomes of them so.
    #[inline]
    pub(crate) fn small(self) -> Self {
        Self(self.0 | u8x16::splat(0x20))
    }
}

impl BitOr for Lanes {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_judged_as_it_would_be_alone() {
        for first in 0..=u8::MAX {
            let block: [u8; BLOCK] =
                std::array::from_fn(|at| first.wrapping_add((at as u8).wrapping_mul(7)));
            let judged = masks(&block, |bytes| {
                let few = bytes.is(b'_') | bytes.is(0xff);
                [
                    bytes.among(b'/', b'9'),
                    bytes.among(0x80, 0xff),
                    bytes.small().among(b'a', b'z'),
                    few,
                ]
            });
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
}
