//! What a text ends with, carried on from byte to byte.

use super::{
    COUNTED, LONGEST_BASE64, LONGEST_RUN,
    class::{self, AT, Class, DIGIT, LANE, LEAD, Lane, ONES, OTHER, PERCENT, WIDE, class, lane},
    is_base64,
};
use crate::{
    decode::{PADDING, SHORTEST_BASE64},
    filter::{Carry, Filter},
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

/// What has come since the last look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct News {
    seen: Class,
    /// A bit for each byte with which something may end that the filter looks for; the lowest one for the first byte.
    pub(crate) ends: u64,
    /// Whether Base64 has ended, or is so long that it is not waited for.
    pub(crate) base64: bool,
}

impl News {
    /// Growth of a text up to which its new bytes are looked at one by one.
    pub(crate) const MOST: usize = u64::BITS as usize;

    /// Whether nothing that anything begins with is among them, and no Base64 that ends.
    #[inline]
    pub(crate) const fn is_quiet(self) -> bool {
        self.ends == 0 && self.seen & (AT | PERCENT) == 0 && !self.base64
    }

    pub(crate) const fn has_at_sign(self) -> bool {
        self.seen & AT != 0
    }

    pub(crate) const fn has_percent(self) -> bool {
        self.seen & PERCENT != 0
    }
}

impl Held {
    /// Looks at the bytes from a place on, which are [`News::MOST`] or fewer; of what was there before, `floor` is where
    /// new Base64 may begin.
    #[inline]
    pub(crate) fn take(
        &mut self,
        bytes: &[u8],
        from: usize,
        filter: &Filter,
        floor: usize,
    ) -> News {
        let new = bytes.get(from..).unwrap_or_default();
        let (mut runs, mut carry) = (self.runs, self.carry);
        let (mut seen, mut ends, mut others) = (0, 0_u64, 0_u64);
        for byte in new {
            let class = class(*byte);
            seen |= class;
            ends = ends >> 1 | u64::from(filter.next(&mut carry, class::of_filter(class))) << 63;
            others = others >> 1 | class & OTHER;
            runs = count(runs, class);
        }
        (self.runs, self.carry) = (runs, carry);
        let unused = (News::MOST - new.len()) as u32;
        let placed = |bits: u64| bits.checked_shr(unused).unwrap_or(0);
        let base64 = self.base64_ends(from, placed(others), floor);
        if seen & WIDE != 0 {
            self.count_local(bytes);
        }
        if seen & DIGIT != 0 || self.head.is_some() {
            self.take_head(bytes, from);
        }
        News {
            seen,
            ends: placed(ends),
            base64: base64 || bytes.len() >= self.base64.max(floor) + LONGEST_BASE64,
        }
    }

    /// Whether a run of Base64 that is long enough ends with the bytes from a place on, of which there is a bit for each
    /// that is none.
    #[inline]
    fn base64_ends(&mut self, from: usize, others: u64, floor: usize) -> bool {
        const LEAST: usize = SHORTEST_BASE64 - PADDING;
        let begins = self.base64.max(floor);
        self.base64 = begins;
        if others == 0 {
            return false;
        }
        self.base64 = from + News::MOST - others.leading_zeros() as usize;
        let first = from + others.trailing_zeros() as usize;
        first >= begins + LEAST || self.base64 > first + LEAST && has_run(others, LEAST as u32)
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
        self.runs = last.iter().fold(0, |runs, byte| count(runs, class(*byte)));
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

    /// Whether the text ends with no run of any sort that would have to be held, as far as is easy to see. A number that
    /// may begin with its last byte is a run.
    #[inline]
    pub(super) fn is_nothing(&self, bytes: &[u8]) -> bool {
        const HELD: Class = lane(Lane::Run, true) | lane(Lane::Local, true) | lane(Lane::Hex, true);
        self.runs & HELD == 0
            && self.base64 >= bytes.len()
            && self.run(Lane::Number) <= 1
            && bytes.last().is_none_or(|last| class(*last) & LEAD == 0)
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
        if kinds.numbers() {
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

/// How long each run is with one byte more.
#[inline]
const fn count(runs: Class, class: Class) -> Class {
    let runs = runs + ONES;
    (runs - (runs >> (LANE - 1) & ONES)) & class
}

/// Whether before any bit that is set there are so many that are not, 16 to 32.
const fn has_run(bits: u64, least: u32) -> bool {
    let mut none = !bits;
    let mut length = 1;
    while length < 16 {
        none &= none << length;
        length *= 2;
    }
    (none & none << (least - 16)) << 1 & bits != 0
}
