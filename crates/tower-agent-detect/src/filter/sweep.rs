//! Looks at each byte of a long text for whatever has no word, by a bit for each.
//!
//! It passes over the numbers that are too short for anything, as most are.
//!
//! What it passes over, the recognisers of [`crate::pii`] would find nothing in. Whatever may go on at the end of the text,
//! or may have begun too far before it, it leaves to them.

use fearless_simd::{Simd, dispatch};

use super::{
    Filter, Search,
    marks::{Marks, mark},
};
use crate::{
    bits::{self, BLOCK},
    decode,
    pii::{self, MAX_ACCOUNT, MIN_DIGITS},
    text::{End, Text, is_word},
};

/// How far before what is new a number may begin that is not over there, in bytes. Longer ones are not passed over.
pub(super) const BEFORE: usize = 64;
/// How many letters may stand between digits and the separator of an address that they belong to. Where that is in the next block,
/// nobody has seen it yet.
const MOST_LETTERS: u32 = 4;
/// The fewest dots of an address.
const FEW_DOTS: u32 = 3;

/// The fewest bytes of an address in hexadecimal digits without double colons.
const SHORTEST_ADDRESS: usize = "0011.2233.4455".len();

/// How many blocks are marked before one looks at what the marks say. That cannot be foreseen, and would make the processor begin
/// again with the next ones each time that it turns out otherwise.
const AT_ONCE: usize = 16;

/// A look at a text, block by block.
struct Sweep<'s, 'a, 'h> {
    search: &'s mut Search<'a, 'h>,
    /// Where the block begins.
    at: usize,
    /// Up to where digits have been looked at, and up to where hexadecimal ones have been reported.
    digits_to: usize,
    hex_to: usize,
    /// Whether digits may go on there that belong to a longer number than one sees.
    is_cut: bool,
    /// Digits that begin before this place may belong to an account, or to an address in hexadecimal digits.
    number_to: usize,
    /// So may digits that end behind this one, to an address that goes on behind the text.
    number_from: usize,
    /// How many bytes of Base64 stand right before the block.
    base64: usize,
}

/// Reports the numbers that may be something, and end with what is new; and Base64, if it is asked for.
pub(super) fn sweep(search: &mut Search<'_, '_>, base64: bool) {
    dispatch!(bits::level(), simd => sweep_with(simd, search, base64));
}

#[inline(always)]
fn sweep_with<S: Simd>(simd: S, search: &mut Search<'_, '_>, base64: bool) {
    let at = Filter::swept_from(search.from);
    let text = search.text;
    let mut sweep = Sweep {
        search,
        at,
        digits_to: at,
        hex_to: at,
        is_cut: at > 0,
        number_to: 0,
        number_from: text.len() - parts_at_end(text),
        base64: 0,
    };
    // One cannot see whether there are digits before the first block.
    let mut before = u64::MAX;
    let mut marks = [Marks::default(); AT_ONCE + 1];
    while sweep.at < text.len() {
        mark(simd, text, sweep.at, &mut marks);
        for [block, next] in marks.array_windows() {
            if sweep.at >= text.len() {
                break;
            }
            sweep.look(before, block, next);
            if base64 {
                sweep.base64(block.base64);
            }
            before = block.digits;
            sweep.at += BLOCK;
        }
    }
    if base64 {
        sweep.search.base64(text.len() - sweep.base64, text.len());
    }
    sweep.end();
}

/// Bits from a place on, with those of the next block behind them.
#[inline]
const fn from_place(place: u32, bits: u64, next: u64) -> u64 {
    bits >> place | next << 1 << (u64::BITS - 1 - place)
}

/// The bits before a place.
#[inline]
const fn below(place: u32) -> u64 {
    if place < u64::BITS { (1 << place) - 1 } else { u64::MAX }
}

/// The places of bits.
#[inline]
fn places(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(place as usize)
    })
}

/// What an address in hexadecimal digits is made of.
const fn is_part(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, b':' | b'-' | b'.')
}

/// Whether an address may go on behind digits, by its next separators.
fn is_of_address(rest: &[u8]) -> bool {
    let letters = rest.iter().take(MOST_LETTERS as usize + 1);
    let letters = letters.take_while(|byte| byte.is_ascii_hexdigit()).count();
    let ahead = |by: usize| rest.get(letters + by).copied().unwrap_or(0);
    match ahead(0) {
        b':' => letters > 0,
        b'-' => letters > 0 && matches!(ahead(3), b'-' | b':'),
        b'.' => letters > 0 && ahead(5) == b'.',
        _ => false,
    }
}

/// How many bytes of the end of a text may be an address that has begun: none is longer than a block.
fn parts_at_end(text: &[u8]) -> usize {
    text.iter().rev().take(BLOCK).take_while(|byte| is_part(**byte)).count()
}

impl Sweep<'_, '_, '_> {
    /// Looks for runs of Base64 that are long enough.
    #[inline(always)]
    fn base64(&mut self, marks: u64) {
        let len = BLOCK.min(self.search.text.len() - self.at) as u32;
        let first = marks.trailing_ones();
        if first == len {
            self.base64 += len as usize;
            return;
        }
        if (self.base64 + first as usize >= decode::RUN) | (decode::long(marks) != 0) {
            self.runs(marks, len);
        }
        self.base64 = (marks << (u64::BITS - len)).leading_ones() as usize;
    }

    /// Reports the runs of Base64 that end in a block, if they are long enough.
    #[inline(never)]
    fn runs(&mut self, marks: u64, len: u32) {
        let first = marks.trailing_ones();
        if self.base64 + first as usize >= decode::RUN {
            self.search.base64(self.at - self.base64, self.at + first as usize);
        }
        let mut left = decode::long(marks) & !below(first);
        while left != 0 {
            let start = left.trailing_zeros();
            let end = start + (marks >> start).trailing_ones();
            if end == len {
                return;
            }
            self.search.base64(self.at + start as usize, self.at + end as usize);
            left &= !below(end);
        }
    }

    /// Looks at a block. `before`: the digits of the one before it.
    #[inline(always)]
    fn look(&mut self, before: u64, marks: &Marks, next: &Marks) {
        let row = marks.row(next);
        // Whatever is a number has a digit in one of these blocks; or is an address of nothing but letters.
        if before | marks.digits | next.digits | row == 0 {
            return;
        }
        let (rows, doubles) = (row | marks.rows(next), marks.doubles(next));
        if rows | doubles != 0 {
            self.addresses(rows, doubles);
        }
        places(marks.heads(next)).for_each(|place| self.head(self.at + place));
        self.digits(marks, next);
    }

    #[inline(never)]
    fn addresses(&mut self, rows: u64, doubles: u64) {
        for place in places(rows | doubles) {
            let at = self.at + place;
            if rows >> place & 1 != 0 {
                self.address(at, SHORTEST_ADDRESS);
            }
            if doubles >> place & 1 != 0 && at >= self.hex_to && self.may_be_address(at) {
                self.address(at, 0);
            }
        }
    }

    /// Whether the hexadecimal digits around two colons may be an address of the internet: behind it no word goes on, and
    /// in it there is a decimal digit.
    fn may_be_address(&self, at: usize) -> bool {
        let is_part = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b':';
        let (before, behind) = self.search.text.split_at_checked(at).unwrap_or_default();
        let len = behind.iter().take(BEFORE).take_while(is_part).count();
        if behind.get(len).is_some_and(|byte| is_word(*byte)) {
            return len == BEFORE;
        }
        let before = before.iter().rev().take(BEFORE).take_while(is_part);
        let part = behind.iter().take(len);
        len == behind.len() || before.chain(part).any(u8::is_ascii_digit)
    }

    /// Reports everything that may belong to an address of which a part stands at a place, if it is long enough.
    fn address(&mut self, at: usize, shortest: usize) {
        if at < self.hex_to {
            return;
        }
        let before = self.search.text.get(self.hex_to..at).unwrap_or(&[]);
        let from = at - before.iter().rev().take_while(|byte| is_part(**byte)).count();
        let behind = self.search.rest(at).iter().take_while(|byte| is_part(**byte)).count();
        let to = at + behind;
        if to - from >= shortest || to == self.search.text.len() {
            self.hex_to = to;
            self.number_to = self.number_to.max(to);
            (from..to).for_each(|place| self.search.hex(place));
        }
    }

    /// Notes that an account may begin at a place.
    #[inline(never)]
    fn head(&mut self, at: usize) {
        if pii::may_be_account(&Text::new(self.search.text, false, End::More), at) {
            self.number_to = self.number_to.max(at + MAX_ACCOUNT);
        }
    }

    /// Reports the digits that begin in the block, unless they are too few for anything.
    #[inline(always)]
    fn digits(&mut self, marks: &Marks, next: &Marks) {
        let done = self.digits_to.saturating_sub(self.at).min(BLOCK) as u32;
        let mut is_rest = self.is_cut && self.digits_to >= self.at;
        let may_be_any =
            is_rest || self.at < self.number_to || self.at + 2 * BLOCK >= self.search.text.len();
        let long = if may_be_any { u64::MAX } else { marks.long(next) };
        let mut left = marks.digits & long & !below(done);
        while left != 0 {
            let from = left.trailing_zeros();
            let len = from_place(from, marks.parts, next.parts).trailing_ones();
            left &= !below((from + len).min(u64::BITS));
            let at = self.at + from as usize;
            self.digits_to = at + len as usize;
            self.is_cut = len == u64::BITS;
            is_rest &= below(from) & !below(done) & !marks.parts == 0;
            let is_last = self.is_cut || self.digits_to >= self.search.text.len();
            let number = Number {
                at,
                len,
                digits: from_place(from, marks.digits, next.digits),
                dots: from_place(from, marks.dots, next.dots),
            };
            let may_go_on = from + len + MOST_LETTERS >= u64::BITS
                && is_of_address(self.search.rest(self.digits_to));
            let is_part = may_go_on || at < self.number_to || self.digits_to > self.number_from;
            let must_be = is_rest | is_last | is_part;
            if must_be || number.may_be(self.search.text) && !self.is_nothing(at) {
                self.number(&number, from_place(from, marks.parts, next.parts));
            }
        }
    }

    /// Whether the digits at a place, before which no account begins, are joined to a word and too few then.
    fn is_nothing(&self, at: usize) -> bool {
        pii::is_joined_to_word(&Text::new(self.search.text, false, End::More), at)
    }

    /// Reports a number, of which each byte is one of the `parts`.
    #[inline(never)]
    fn number(&mut self, number: &Number, parts: u64) {
        if self.is_cut {
            return (number.at..self.digits_to).for_each(|place| self.search.digits(place));
        }
        let digits = number.digits & below(number.len);
        let begins = digits & parts >> 1 & digits >> 2;
        places(begins).for_each(|place| self.search.digits(number.at + place));
    }

    /// Reports what may go on behind the text.
    fn end(&mut self) {
        // What anything else stands behind was reported already.
        if self.search.text.last().is_some_and(|byte| is_part(*byte)) {
            self.address(self.search.text.len() - 1, 0);
        }
    }
}

/// Digits, and what stands between them.
struct Number {
    at: usize,
    len: u32,
    /// A bit for each of the digits, and for each of the dots, and for what stands behind all this.
    digits: u64,
    dots: u64,
}

impl Number {
    /// Whether this is anything as far as the count of its digits and dots tells.
    #[inline(always)]
    fn may_be(&self, text: &[u8]) -> bool {
        (self.digits_alone(text).count_ones() as usize >= MIN_DIGITS)
            | ((self.dots & below(self.len)).count_ones() >= FEW_DOTS)
    }

    /// The digits but for those that touch a word: no number begins or ends in one. The letter of an escaped line break may
    /// stand before a number, and the sign of an extension behind it.
    #[inline(always)]
    fn digits_alone(&self, text: &[u8]) -> u64 {
        let digits = self.digits & below(self.len);
        let touches = |at: usize, word: Words| {
            text.get(at).is_some_and(|byte| {
                TOUCHING.get(usize::from(*byte)).is_some_and(|it| it & word != 0)
            })
        };
        let first = if touches(self.at.wrapping_sub(1), BEFORE_NUMBER) {
            digits.trailing_ones()
        } else {
            0
        };
        let behind = digits << (u64::BITS - self.len);
        let last = if touches(self.at + self.len as usize, BEHIND_NUMBER) {
            behind.leading_ones()
        } else {
            0
        };
        digits & !below(first) & below(self.len - last)
    }
}

/// Whether a byte belongs to a word if it stands before a number, or behind it.
type Words = u8;
const BEFORE_NUMBER: Words = 1;
const BEHIND_NUMBER: Words = 2;

#[expect(
    clippy::indexing_slicing,
    reason = "the compiler evaluates it, and would refuse a wrong index"
)]
const TOUCHING: [Words; 256] = {
    let mut touching = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        if is_word(byte) {
            let before = !matches!(byte, b'n' | b'r' | b't') as Words * BEFORE_NUMBER;
            let behind = !matches!(byte, b'x' | b'X') as Words * BEHIND_NUMBER;
            touching[byte as usize] = before | behind;
        }
        byte += 1;
    }
    touching
};
