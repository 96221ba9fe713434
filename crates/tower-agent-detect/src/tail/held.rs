//! What a text ends with, carried on from byte to byte.

use super::{
    COUNTED, LONGEST_BASE64, LONGEST_RUN,
    class::{self, AT, Class, DIGIT, LANE, LEAD, Lane, ONES, PERCENT, WIDE, class, lane},
    is_base64,
};
use crate::{
    decode::{PADDING, SHORTEST_BASE64},
    filter::{Carry, Filter, Met},
    pii::{self, Kind, Kinds},
    text::{End, Text},
};

/// What the text ends with.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(super) carry: Carry,
    /// How long the run of each sort is that it ends with, in a lane.
    pub(super) runs: Class,
    /// Where its last Base64 begins.
    pub(super) base64: usize,
    /// Where a country and check digits stand, and only parts of an account since.
    pub(super) head: Option<usize>,
}

/// What some bytes are, one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    runs: Class,
    pub(super) carry: Carry,
    seen: Class,
    met: Met,
    /// As in [`News`].
    ends: u64,
    /// A bit for each byte that is no Base64, in the same order.
    others: u64,
}

/// What has come since the last look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct News {
    seen: Class,
    /// A bit for each byte with which a word may end that the filter looks for; the lowest one for the last byte.
    pub(crate) ends: u64,
    /// Whether a number may begin among the bytes, or up to two before them.
    pub(crate) numbers: bool,
    /// Whether Base64 has ended, or is so long that it is not waited for.
    pub(crate) base64: bool,
}

/// The fewest bytes of Base64 that are looked into.
const LEAST_BASE64: usize = SHORTEST_BASE64 - PADDING;

impl News {
    /// Growth of a text up to which its new bytes are looked at one by one.
    pub(crate) const MOST: usize = u64::BITS as usize;

    /// Whether nothing that anything begins with is among them, and no Base64 that ends.
    #[inline]
    pub(crate) const fn is_quiet(self) -> bool {
        self.ends == 0 && self.seen & (AT | PERCENT) == 0 && !self.numbers && !self.base64
    }

    pub(crate) const fn has_at_sign(self) -> bool {
        self.seen & AT != 0
    }

    pub(crate) const fn has_percent(self) -> bool {
        self.seen & PERCENT != 0
    }
}

impl Walk {
    /// Whether nothing that anything begins with is among the bytes, and the last one belongs to nothing that would have to be
    /// held.
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.met.is_nothing()
            && self.seen & (AT | PERCENT | DIGIT | WIDE) == 0
            && self.others & 1 == 1
            && is_nothing(self.runs)
    }
}

impl Held {
    /// Looks at some bytes that follow the text, [`News::MOST`] or fewer.
    #[inline(always)]
    pub(crate) fn walk(&self, new: &[u8], filter: &Filter) -> Walk {
        let (mut runs, mut carry) = (self.runs, self.carry);
        let (mut seen, mut met, mut ends, mut others) = (0, Met::default(), 0_u64, 0_u64);
        for byte in new {
            let class = class(*byte);
            let here = filter.next(&mut carry, class::of_filter(class));
            seen |= class;
            met = met.or(here);
            ends = ends << 1 | u64::from(here.is_word());
            others = others << 1 | class::other(class);
            runs = (runs + ONES) & class;
        }
        Walk { runs, carry, seen, met, ends, others }
    }

    /// Whether nothing comes of the bytes that a text now ends with, as far as is easy to see: up to its end, nothing has to be
    /// held but what a word may begin with.
    #[inline(always)]
    pub(super) fn may_pass(&self, walk: &Walk, end: usize) -> bool {
        walk.is_nothing() && end <= self.base64 + LEAST_BASE64 && self.head.is_none()
    }

    /// Takes in such bytes.
    #[inline(always)]
    pub(super) const fn pass(&mut self, walk: &Walk, end: usize) {
        (self.runs, self.carry, self.base64) = (saturated(walk.runs), walk.carry, end);
    }

    /// Takes in the bytes from a place on; of what was there before, `floor` is where new Base64 may begin.
    #[inline(always)]
    pub(crate) fn take(&mut self, bytes: &[u8], from: usize, walk: &Walk, floor: usize) -> News {
        let Walk { runs, carry, seen, met, ends, others } = *walk;
        (self.runs, self.carry) = (saturated(runs), carry);
        let begins = self.base64.max(floor);
        self.base64 = begins;
        let mut ends_base64 = false;
        if others != 0 {
            self.base64 = bytes.len() - others.trailing_zeros() as usize;
            ends_base64 = bytes.len() > begins + LEAST_BASE64
                && has_long(others, from.saturating_sub(begins), bytes.len() - from);
        }
        if seen & WIDE != 0 {
            self.count_local(bytes);
        }
        if seen & DIGIT != 0 || self.head.is_some() {
            self.take_head(bytes, from);
        }
        News {
            seen,
            ends,
            numbers: met.is_number(),
            base64: ends_base64 || bytes.len() >= self.base64 + LONGEST_BASE64,
        }
    }

    #[cold]
    fn count_local(&mut self, bytes: &[u8]) {
        let local = (bytes.len() - pii::local(bytes)).min(COUNTED) as Class;
        self.runs = self.runs & !lane(Lane::Local, true) | local << (LANE * Lane::Local as u32);
    }

    fn take_head(&mut self, bytes: &[u8], from: usize) {
        let account = bytes.len() - self.run(Lane::Account);
        self.head = self.head.filter(|head| *head >= account);
        if self.head.is_none() {
            self.look_for_head(bytes, from.saturating_sub(3));
        }
    }

    /// Looks at the end of a text of which the beginning was not looked at.
    #[inline(never)]
    pub(crate) fn look_back(&mut self, bytes: &[u8], filter: &Filter) {
        let last = bytes.get(bytes.len().saturating_sub(COUNTED)..).unwrap_or_default();
        self.runs = last.iter().fold(0, |runs, byte| saturated((runs + ONES) & class(*byte)));
        self.count_local(bytes);
        let base64 = bytes.iter().rev().take(LONGEST_BASE64).take_while(|byte| is_base64(**byte));
        self.base64 = bytes.len() - base64.count();
        self.carry = filter.carry(bytes);
        self.head = None;
        self.look_for_head(bytes, bytes.len().saturating_sub(pii::MAX_ACCOUNT));
    }

    pub(super) fn look_for_head(&mut self, bytes: &[u8], from: usize) {
        let text = Text::new(bytes, false, End::More);
        let account = bytes.len() - self.run(Lane::Account);
        let last = bytes.len().saturating_sub(3);
        self.head = (from.max(account)..last).find(|at| pii::is_head(&text, *at));
    }

    /// Whether the text ends with no run of any sort that would have to be held, as far as is easy to see.
    #[inline]
    pub(super) fn is_nothing(&self, bytes: &[u8]) -> bool {
        self.base64 >= bytes.len() && is_nothing(self.runs)
    }

    /// Where the account begins that has to be held, whose head stands somewhere.
    pub(super) fn account(&mut self, bytes: &[u8]) -> usize {
        let last = bytes.len().saturating_sub(pii::MAX_ACCOUNT);
        if self.head.is_some_and(|head| head < last) {
            self.look_for_head(bytes, last);
        }
        self.head.unwrap_or(bytes.len())
    }

    /// How much of the end are runs that have to be held, in bytes.
    #[inline(never)]
    pub(super) fn runs(&self, bytes: &[u8], kinds: Kinds) -> usize {
        let run = self.run(Lane::Run).min(LONGEST_RUN);
        let base64 = (bytes.len() - self.base64).min(LONGEST_BASE64);
        run.max(base64).max(self.personal(bytes, kinds))
    }

    /// How much of the end may become personal data, besides runs and accounts, in bytes.
    #[inline]
    pub(super) fn personal(&self, bytes: &[u8], kinds: Kinds) -> usize {
        let mut most = 0;
        if kinds.contains(Kind::Email) && self.run(Lane::Local) < LONGEST_RUN + 2 {
            most = most.max(self.run(Lane::Local));
        }
        if kinds.numbers() && self.run(Lane::Number) > self.run(Lane::Between) {
            let number = self.run(Lane::Number).min(pii::MAX_NUMBER);
            let bytes = bytes.get(bytes.len() - number..).unwrap_or_default();
            let before = bytes.iter().take_while(|byte| class(**byte) & LEAD == 0).count();
            most = most.max(number - before);
        }
        if kinds.hex() {
            most = most.max(self.run(Lane::Hex).min(pii::MAX_NUMBER));
        }
        most
    }

    /// How long the run of a sort is, in bytes; no more is counted than [`COUNTED`].
    #[inline]
    pub(super) const fn run(&self, lane: Lane) -> usize {
        (self.runs >> (LANE * lane as u32)) as usize & COUNTED
    }

    /// Where the Base64 begins that the text ends with.
    pub(crate) const fn base64(&self) -> usize {
        self.base64
    }

    /// Forgets the front of the text.
    pub(crate) fn shift(&mut self, by: usize) {
        self.base64 = self.base64.saturating_sub(by);
        self.head = self.head.map(|head| head.saturating_sub(by));
    }
}

/// Whether none of the runs has to be held.
#[inline]
const fn is_nothing(runs: Class) -> bool {
    const HELD: Class = lane(Lane::Run, true) | lane(Lane::Local, true) | lane(Lane::Hex, true);
    // What may stand in a number stands behind none.
    let others = (runs >> (LANE * Lane::Number as u32)) ^ (runs >> (LANE * Lane::Between as u32));
    runs & HELD == 0 && others & COUNTED as Class == 0
}

/// No more than [`COUNTED`] in any lane. Up to [`News::MOST`] more than that there is room for.
#[inline]
const fn saturated(runs: Class) -> Class {
    let over = runs >> (LANE - 1) & ONES;
    if over == 0 {
        return runs;
    }
    (runs | (over * COUNTED as Class)) & (ONES * COUNTED as Class)
}

/// Whether a run of Base64 that is long enough ends with so many bytes, of which there is a bit for each that is none, the lowest
/// one for the last byte. `before`: how many bytes of the run stand before all these.
#[inline(never)]
fn has_long(others: u64, before: usize, bytes: usize) -> bool {
    let rest = (u64::BITS - others.leading_zeros()) as usize;
    before + bytes - rest >= LEAST_BASE64 || has_run(others, LEAST_BASE64 as u32)
}

/// Whether between two bits that are set there are so many that are not, 16 to 32.
const fn has_run(bits: u64, least: u32) -> bool {
    let between = u64::MAX >> bits.leading_zeros() & u64::MAX << bits.trailing_zeros();
    let mut none = !bits & between;
    let mut length = 1;
    while length < 16 {
        none &= none >> length;
        length *= 2;
    }
    none & none >> (least - 16) != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by looking at each byte.
    fn plain_has_long(others: &[bool], before: usize) -> bool {
        let mut run = before;
        others.iter().any(|is_other| {
            let ends = *is_other && run >= LEAST_BASE64;
            run = if *is_other { 0 } else { run + 1 };
            ends
        })
    }

    proptest! {
        #[test]
        fn long_runs_that_end_are_told_by_their_bits(
            runs in prop::collection::vec(0_usize..30, 1..5),
            last in 0_usize..30,
            before in 0_usize..30,
        ) {
            let run = |length: usize| std::iter::repeat_n(false, length);
            let ended = runs.iter().flat_map(|length| run(*length).chain([true]));
            let others: Vec<bool> = ended.chain(run(last)).take(News::MOST).collect();
            let bits = others.iter().fold(0, |bits, other| bits << 1 | u64::from(*other));
            let said = has_long(bits, before, others.len());
            prop_assert_eq!(said, plain_has_long(&others, before));
        }

        #[test]
        fn runs_are_counted_up_to_what_a_lane_holds(
            lengths in prop::collection::vec(0_u64..=127 + 64, 6),
        ) {
            let lanes = |lengths: &mut dyn Iterator<Item = u64>| {
                lengths.zip(0..).fold(0, |runs, (length, lane)| runs | length << (LANE * lane))
            };
            let counted = lanes(&mut lengths.iter().map(|length| (*length).min(COUNTED as u64)));
            prop_assert_eq!(saturated(lanes(&mut lengths.iter().copied())), counted);
        }
    }
}
