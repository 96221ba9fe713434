//! What the bytes of a text are, a bit for each, by blocks.

use fearless_simd::Simd;

use crate::{
    bits::{BLOCK, Lanes},
    pii::MIN_DIGITS,
};

/// What the bytes of a block are, a bit for each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) digits: u64,
    pub(super) letters: u64,
    pub(super) colons: u64,
    /// Colons and hyphens.
    pub(super) pairs: u64,
    pub(super) dots: u64,
    /// Digits, and what may stand between them.
    pub(super) parts: u64,
    pub(super) base64: u64,
}

/// Marks the blocks from a place on, as far as there are.
#[inline(always)]
pub(super) fn mark<S: Simd>(simd: S, text: &[u8], at: usize, marks: &mut [Marks]) {
    for (to, at) in marks.iter_mut().zip((at..).step_by(BLOCK)) {
        if at >= text.len() {
            *to = Marks::default();
            return;
        }
        *to = Marks::of(Lanes::of(simd, text, at));
    }
}

/// The bits of a block, with those of the next one behind them.
#[inline]
const fn joined(bits: u64, next: u64) -> u128 {
    bits as u128 | (next as u128) << u64::BITS
}

/// Bits moved to the places so many bytes before theirs, with those of the next block behind them.
#[inline]
const fn ahead(bits: u64, next: u64, by: u32) -> u64 {
    bits >> by | next << (u64::BITS - by)
}

impl Marks {
    #[inline(always)]
    fn of<S: Simd>(bytes: Lanes<S>) -> Self {
        let digits = bytes.among(b'0', b'9').bits();
        let letters = bytes.small().among(b'a', b'z').bits();
        let (colons, hyphens) = (bytes.is(b':').bits(), bytes.is(b'-').bits());
        let parentheses = bytes.is_but_for(b'(' ^ b')', b'(');
        let parts = parentheses | bytes.is(b' ') | bytes.among(b'-', b':');
        let signs = bytes.is_but_for(b'+' ^ b'/', b'+') | bytes.is(b'_');
        Self {
            digits,
            letters,
            colons,
            pairs: colons | hyphens,
            dots: bytes.is(b'.').bits(),
            parts: parts.bits(),
            base64: letters | digits | hyphens | signs.bits(),
        }
    }

    /// Where three separators stand as between pairs of digits.
    #[inline]
    pub(super) const fn row(&self, next: &Self) -> u64 {
        let pairs = joined(self.pairs, next.pairs);
        let two = pairs & pairs >> 3;
        (two & two >> 3) as u64
    }

    /// Where addresses of hardware in fours may begin, or separators stand as in ones of the internet with groups that are no
    /// pairs.
    #[inline]
    pub(super) const fn rows(&self, next: &Self) -> u64 {
        let (dots, colons) = (joined(self.dots, next.dots), joined(self.colons, next.colons));
        let fours = (dots & dots >> 5) >> 4;
        let groups = colons & (colons | colons >> 2 | colons >> 3) >> 2;
        (fours | groups) as u64
    }

    /// Where as many digits and separators stand in a row as the shortest number has.
    #[inline]
    pub(super) const fn long(&self, next: &Self) -> u64 {
        let parts = joined(self.parts, next.parts);
        let two = parts & parts >> 1;
        let four = two & two >> 2;
        (four & four >> (MIN_DIGITS - 4)) as u64
    }

    /// Where two colons stand in a row.
    #[inline]
    pub(super) const fn doubles(&self, next: &Self) -> u64 {
        self.colons & ahead(self.colons, next.colons, 1)
    }

    /// Where two letters and two digits stand in a row, and no digit right before them, nor more of a word than the letter of an
    /// escaped line break.
    #[inline]
    pub(super) const fn heads(&self, next: &Self) -> u64 {
        let digits = self.digits & ahead(self.digits, next.digits, 1);
        let next_digits = next.digits & next.digits >> 1;
        let letters = self.letters & ahead(self.letters, next.letters, 1);
        let word = (self.letters | self.digits) << 1;
        letters & ahead(digits, next_digits, 2) & !(self.digits << 1 | word & word << 1)
    }
}
