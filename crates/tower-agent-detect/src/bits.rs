//! Looks at a block of bytes at once, and keeps a bit for each.

use std::ops::BitOr;

use fearless_simd::{Level, Simd, dispatch, mask8x64, prelude::*, u8x64};

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

/// The first bytes of a text, with others behind its end.
#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, text: &[u8], behind: u8) -> u8x64<S> {
    match text.first_chunk() {
        Some(block) => u8x64::load_array_ref(simd, block),
        None => u8x64::load_array(simd, padded(text, behind)),
    }
}

/// A text with other bytes behind its end.
#[inline(never)]
pub(crate) fn padded<const N: usize>(text: &[u8], behind: u8) -> [u8; N] {
    let mut block = [behind; N];
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
            _ => Self { bytes: load(simd, rest, 0), before: 0 },
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

    /// Which of the bytes are this one, but for some bits of theirs.
    #[inline(always)]
    pub(crate) fn is_but_for(self, bits: u8, byte: u8) -> Such<S> {
        Such { mask: (self.bytes | bits).simd_eq(byte | bits), before: self.before }
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

/// The places of some bytes in a text, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Places<'a, const N: usize> {
    text: &'a [u8],
    bytes: [u8; N],
    /// Where the block begins that was looked at, and which of its places are left.
    at: usize,
    left: u64,
    /// Where the next one begins.
    next: usize,
}

impl<'a, const N: usize> Places<'a, N> {
    pub(crate) const fn of(bytes: [u8; N], text: &'a [u8], from: usize) -> Self {
        Self { text, bytes, at: from, left: 0, next: from }
    }

    /// Goes on to the next block that has any.
    #[inline(always)]
    fn advance<S: Simd>(&mut self, simd: S) {
        while self.left == 0 && self.next < self.text.len() {
            let lanes = Lanes::of(simd, self.text, self.next);
            let [first, others @ ..] = &self.bytes[..] else { return };
            let mut such = lanes.is(*first);
            for byte in others {
                such = such | lanes.is(*byte);
            }
            (self.at, self.left) = (self.next, such.bits());
            self.next += BLOCK;
        }
    }
}

impl<const N: usize> Iterator for Places<'_, N> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            dispatch!(level(), simd => self.advance(simd));
        }
        let place = (self.left != 0).then(|| self.left.trailing_zeros())?;
        self.left &= self.left - 1;
        Some(self.at + place as usize)
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

    #[test]
    fn the_places_of_bytes_are_found_in_their_order() {
        for len in [0, 1, 63, 64, 65, 200] {
            let text: Vec<u8> = (0..len).map(|at| (at * at % 11) as u8 + b'a').collect();
            for from in 0..=len {
                let alone: Vec<_> =
                    (from..len).filter(|at| matches!(text[*at], b'a' | b'd' | b'j')).collect();

                let found = levels::each(|| Places::of(*b"adj", &text, from).collect::<Vec<_>>());

                assert!(found.iter().all(|found| *found == alone), "{len} {from} {found:?}");
            }
        }
    }
}
