//! How much of the end of a text that goes on may still become part of something.

use crate::{
    decode::{PADDING, SHORTEST_BASE64},
    filter::{Carry, Filter},
    pii::{self, Kind, Kinds},
    text::{End, Text},
    tree::Tree,
};

/// Words of which the beginning may stand at the end of a text, though it is no word as such.
#[derive(Debug)]
pub(crate) struct Tail {
    /// Their beginnings, as far as these are no [runs](is_run).
    odd: Tree,
    /// The bytes around the last one of a beginning that is part of no run, as [`Around`] has them.
    around: Vec<u64>,
}

/// A byte, the one before it and the one behind it; zero stands for any, and for none.
type Around = [u8; 3];

/// What a byte may be part of: a lane of all ones for each [sort](Lane) of run, and a bit above them for each other
/// thing of interest.
type Class = u64;

/// The sorts of runs, by their lanes.
#[derive(Clone, Copy, Debug)]
enum Lane {
    Run,
    Local,
    Number,
    Hex,
    Account,
}

const LANE: u32 = 8;
const LANES: u32 = 5;
/// One in each lane.
const ONES: Class = 0x01_0101_0101;
/// The longest run that a lane counts.
const COUNTED: usize = 127;

const BASE64: Class = 1 << (LANE * LANES);
/// What a number may begin with.
const LEAD: Class = BASE64 << 1;
const DIGIT: Class = BASE64 << 2;
/// `@` and `%`.
const SIGN: Class = BASE64 << 3;
const WIDE: Class = BASE64 << 4;

/// A run of these may turn out to be a value, or the beginning of one, by what follows it.
pub(crate) const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'~' | b'-')
}

/// A run of these may turn out to be Base64 of something.
#[inline]
pub(crate) const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Nothing looks further back than this from what makes a run a value, in bytes.
pub(crate) const LONGEST_RUN: usize = 64;

/// The longest keyword of a rule, in bytes: so much of it may have come behind such a run.
const LONGEST_WORD: usize = 64;

/// How much of a run is taken for Base64, in bytes.
pub(crate) const LONGEST_BASE64: usize = 4096;

/// Growth of a text up to which its new bytes are looked at one by one.
const SHORT: usize = 64;

/// What the text ends with.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// How much of the text this is about.
    to: usize,
    carry: Carry,
    /// How long the run of each sort is that it ends with, in a lane.
    runs: Class,
    /// Where its last Base64 begins.
    base64: usize,
    /// Where a country and check digits stand, and only parts of an account since.
    head: Option<usize>,
}

/// The class of a byte.
#[inline]
fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(WIDE)
}

#[expect(
    clippy::indexing_slicing,
    reason = "the compiler evaluates it, and would refuse a wrong index"
)]
const CLASSES: [Class; 256] = {
    let mut classes = [WIDE; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = of(byte);
        byte += 1;
    }
    classes
};

const fn of(byte: u8) -> Class {
    let leads = byte.is_ascii_digit() || matches!(byte, b'+' | b'(');
    let number = leads || matches!(byte, b')' | b' ' | b'-' | b'.' | b'/' | b':');
    let hex = byte.is_ascii_hexdigit() || matches!(byte, b':' | b'-' | b'.');
    let account = byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-');
    let sorts = lane(Lane::Run, is_run(byte))
        | lane(Lane::Local, pii::is_local(byte))
        | lane(Lane::Number, number)
        | lane(Lane::Hex, hex)
        | lane(Lane::Account, account);
    let others = flag(BASE64, is_base64(byte))
        | flag(LEAD, leads)
        | flag(DIGIT, byte.is_ascii_digit())
        | flag(SIGN, matches!(byte, b'@' | b'%'));
    sorts | others
}

const fn flag(flag: Class, is: bool) -> Class {
    if is { flag } else { 0 }
}

const fn lane(lane: Lane, is: bool) -> Class {
    if is { 0xff << (LANE * lane as u32) } else { 0 }
}

/// Whether all of a text is part of one run, which is held as a whole; or of a number, if one is held.
#[inline]
pub(crate) fn goes_on(text: &str, number: bool) -> bool {
    let all = text.bytes().fold(Class::MAX, |all, byte| all & class(byte));
    let held = lane(Lane::Run, true) | if number { lane(Lane::Number, true) } else { 0 };
    all & held != 0
}

impl Held {
    /// Looks at the bytes that have come since the last time. Says whether nothing that anything begins with is among
    /// them, and no Base64 that ends; of what was there before, `floor` is where new Base64 may begin.
    #[inline]
    pub(crate) fn take(&mut self, bytes: &[u8], filter: &Filter, floor: usize) -> bool {
        let from = std::mem::replace(&mut self.to, bytes.len());
        let new = bytes.get(from..).unwrap_or_default();
        if new.len() > SHORT {
            self.look_back(bytes, filter);
            return false;
        }
        let (mut base64, mut runs, mut carry) = (self.base64.max(floor), self.runs, self.carry);
        let (mut seen, mut met, mut ended) = (0, false, false);
        for (at, byte) in (from..).zip(new) {
            let class = class(*byte);
            seen |= class;
            met |= filter.next(&mut carry, *byte);
            runs += ONES;
            runs = (runs - (runs >> (LANE - 1) & ONES)) & class;
            let is_base64 = class & BASE64 != 0;
            ended |= !is_base64 & (at >= base64 + SHORTEST_BASE64 - PADDING);
            base64 = if is_base64 { base64 } else { at + 1 };
        }
        (self.base64, self.runs, self.carry) = (base64, runs, carry);
        if seen & WIDE != 0 {
            self.look_back(bytes, filter);
        } else if seen & DIGIT != 0 || self.head.is_some() {
            let account = bytes.len() - self.run(Lane::Account);
            self.head = self.head.filter(|head| *head >= account);
            if self.head.is_none() {
                self.look_for_head(bytes, from.saturating_sub(3));
            }
        }
        !met && !ended && seen & SIGN == 0 && bytes.len() < base64 + LONGEST_BASE64
    }

    /// Looks at the end of a text of which the beginning was not looked at.
    #[inline(never)]
    fn look_back(&mut self, bytes: &[u8], filter: &Filter) {
        let last = bytes.get(bytes.len().saturating_sub(COUNTED)..).unwrap_or_default();
        self.runs = 0;
        for byte in last {
            self.runs += ONES;
            self.runs = (self.runs - (self.runs >> (LANE - 1) & ONES)) & class(*byte);
        }
        let local = (bytes.len() - pii::local(bytes)).min(COUNTED) as Class;
        self.runs = self.runs & !lane(Lane::Local, true) | local << (LANE * Lane::Local as u32);
        let base64 = bytes.iter().rev().take(LONGEST_BASE64).take_while(|byte| is_base64(**byte));
        self.base64 = bytes.len() - base64.count();
        self.carry = filter.carry(bytes);
        self.head = None;
        self.look_for_head(bytes, bytes.len().saturating_sub(pii::MAX_ACCOUNT));
    }

    fn look_for_head(&mut self, bytes: &[u8], from: usize) {
        let text = Text::new(bytes, false, End::More);
        let account = bytes.len() - self.run(Lane::Account);
        let last = bytes.len().saturating_sub(3);
        self.head = (from.max(account)..last).find(|at| pii::is_head(&text, *at));
    }

    /// How much of the end may become personal data, besides runs and accounts, in bytes.
    #[inline]
    fn personal(&self, bytes: &[u8], kinds: Kinds) -> usize {
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
    const fn run(&self, lane: Lane) -> usize {
        (self.runs >> (LANE * lane as u32)) as usize & COUNTED
    }

    /// Where the Base64 begins that the text ends with.
    pub(crate) const fn base64(&self) -> usize {
        self.base64
    }

    /// Forgets the front of the text.
    pub(crate) fn shift(&mut self, by: usize) {
        self.to = self.to.saturating_sub(by);
        self.base64 = self.base64.saturating_sub(by);
        self.head = self.head.map(|head| head.saturating_sub(by));
    }
}

impl Tail {
    /// For words that are themselves the beginning of what is masked.
    pub(crate) fn new<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut beginnings: Vec<&[u8]> = Vec::new();
        for word in words.map(str::as_bytes) {
            let parts = (1..word.len()).filter_map(|length| word.get(..length));
            beginnings.extend(parts.filter(|part| !part.iter().copied().all(is_run)));
        }
        beginnings.sort_unstable();
        beginnings.dedup();
        let mut known = vec![0; 1 << 8];
        for part in &beginnings {
            let odd = part.iter().rposition(|byte| !is_run(*byte)).unwrap_or(0);
            let place = hash(around(part, odd));
            if let Some(word) = known.get_mut(place >> 6) {
                *word |= 1_u64 << (place & 63);
            }
        }
        Self { odd: Tree::new(beginnings.into_iter().zip(0..)), around: known }
    }

    /// The place from which the text has to be held back.
    #[inline]
    pub(crate) fn hold(&self, bytes: &[u8], held: &mut Held, kinds: Kinds) -> usize {
        let run = held.run(Lane::Run);
        let mut most = run.min(LONGEST_RUN).max((bytes.len() - held.base64).min(LONGEST_BASE64));
        if let Some(odd) = bytes.len().checked_sub(run + 1)
            && self.may_be_odd(bytes, odd)
        {
            most = most.max(bytes.len() - self.odd(bytes));
        }
        let hold = bytes.len() - most.max(held.personal(bytes, kinds));
        if held.head.is_none() || !kinds.contains(Kind::Iban) {
            return hold;
        }
        let last = bytes.len().saturating_sub(pii::MAX_ACCOUNT);
        if held.head.is_some_and(|head| head < last) {
            held.look_for_head(bytes, last);
        }
        held.head.map_or(hold, |head| hold.min(head))
    }

    /// Whether the beginning of a word may stand at the end of a text, of which the last byte that is part of no run
    /// stands at a place.
    #[inline]
    fn may_be_odd(&self, bytes: &[u8], at: usize) -> bool {
        let [before, byte, after] = around(bytes, at);
        self.is_known([0, byte, after]) || self.is_known([before, byte, after])
    }

    #[inline]
    fn is_known(&self, around: Around) -> bool {
        let place = hash(around);
        self.around.get(place >> 6).is_some_and(|word| word >> (place & 63) & 1 != 0)
    }

    /// Where the run begins that stands before the beginning of a word at the end.
    #[inline(never)]
    fn odd(&self, bytes: &[u8]) -> usize {
        let mut longest = bytes.len();
        self.odd.each(bytes, |_, start| longest = start);
        run_at_end(bytes.get(..longest).unwrap_or_default())
    }
}

/// The bytes around a place.
#[inline]
fn around(bytes: &[u8], at: usize) -> Around {
    let byte = |at: usize| bytes.get(at).map_or(0, u8::to_ascii_lowercase);
    [at.checked_sub(1).map_or(0, byte), byte(at), byte(at + 1)]
}

#[inline]
const fn hash([before, byte, after]: Around) -> usize {
    let bytes = u32::from_le_bytes([before, byte, after, 0]);
    (bytes.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

/// Where the run that a text ends with begins.
fn run_at_end(text: &[u8]) -> usize {
    let longest = LONGEST_RUN + LONGEST_WORD;
    let run = text.iter().rev().take(longest).take_while(|byte| is_run(**byte)).count();
    let base64 =
        text.iter().rev().take(LONGEST_BASE64).take_while(|byte| is_base64(**byte)).count();
    text.len() - run.max(base64)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::LazyLock;

    use super::*;

    static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::new(&[], true));

    fn held(bytes: &[u8]) -> Held {
        let mut held = Held::default();
        for end in 0..=bytes.len() {
            held.take(&bytes[..end], &FILTER, 0);
        }
        held
    }

    /// The place from which a text that came byte by byte has to be held back, as far as personal data asks for it.
    pub(crate) fn personal(bytes: &[u8], kinds: Kinds) -> usize {
        bytes.len() - held(bytes).personal(bytes, kinds)
    }

    /// The place from which such a text has to be held back.
    pub(crate) fn hold(bytes: &[u8], kinds: Kinds) -> usize {
        Tail::new(std::iter::empty()).hold(bytes, &mut held(bytes), kinds)
    }

    #[test]
    fn looking_back_says_the_same_as_looking_on() {
        let text = "Call +44 (20) 7946 0958, or https://a.b/c?d=%41, fe80::1 and GB29 NWBK 60. ";
        for end in 0..text.len() {
            let mut back = Held::default();
            back.look_back(&text.as_bytes()[..end], &FILTER);
            let on = held(&text.as_bytes()[..end]);
            assert_eq!((back.runs, back.base64, back.head), (on.runs, on.base64, on.head), "{end}");
        }
    }

    #[test]
    fn the_beginning_of_a_word_with_a_sign_is_held_in_any_case() {
        let tail = Tail::new(["https://", "--pat ", "ab:cd"].into_iter());
        for (text, kept) in [("see HTTPS:/", 4), ("a ab:", 2), ("ab:c", 0), ("ab:x", 3), ("b: ", 3)]
        {
            let bytes = text.as_bytes();
            assert_eq!(tail.hold(bytes, &mut held(bytes), Kinds::none()), kept, "{text}");
        }
    }
}
