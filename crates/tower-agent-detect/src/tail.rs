//! How much of the end of a text that goes on may still become part of something.

use crate::{
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
    /// By the last byte of a beginning that is no part of a run: how much of a run follows it at most. Of the ones
    /// before which anything stands, and of all.
    first: [u8; 256],
    pairs: Vec<u64>,
}

/// What a byte may be part of.
type Class = u16;

const RUN: Class = 1;
const BASE64: Class = 2;
const LOCAL: Class = 4;
const NUMBER: Class = 8;
/// What a number may begin with.
const LEAD: Class = 16;
const HEX: Class = 32;
const ACCOUNT: Class = 64;
const DIGIT: Class = 128;
/// `@` and `%`.
const SIGN: Class = 256;
const WIDE: Class = 512;

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

/// How much of a run is taken for Base64, in bytes.
pub(crate) const LONGEST_BASE64: usize = 4096;

/// What is shorter in Base64 holds no secret that would be known without its name.
pub(crate) const SHORTEST_BASE64: usize = 24;

/// Growth of a text up to which its new bytes are looked at one by one.
const SHORT: usize = 64;

/// Where what the text ends with begins, of each sort: nothing else was since.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// How much of the text this is about.
    to: usize,
    carry: Carry,
    run: usize,
    base64: usize,
    local: usize,
    /// The first place at which a number may begin, among bytes that may be parts of one.
    number: Option<usize>,
    hex: usize,
    account: usize,
    /// Where a country and check digits stand.
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
    let mut class = 0;
    if is_run(byte) {
        class |= RUN;
    }
    if is_base64(byte) {
        class |= BASE64;
    }
    if pii::is_local(byte) {
        class |= LOCAL;
    }
    if byte.is_ascii_digit() || matches!(byte, b'+' | b'(') {
        class |= NUMBER | LEAD;
    }
    if matches!(byte, b')' | b' ' | b'-' | b'.' | b'/' | b':') {
        class |= NUMBER;
    }
    if byte.is_ascii_hexdigit() || matches!(byte, b':' | b'-' | b'.') {
        class |= HEX;
    }
    if byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-') {
        class |= ACCOUNT;
    }
    if byte.is_ascii_digit() {
        class |= DIGIT;
    }
    if matches!(byte, b'@' | b'%') {
        class |= SIGN;
    }
    class
}

/// Whether all of a text is part of one run, which is held as a whole; or of a number, if one is held.
#[inline]
pub(crate) fn goes_on(text: &str, number: bool) -> bool {
    let all = text.bytes().fold(Class::MAX, |all, byte| all & class(byte));
    all & RUN != 0 || number && all & NUMBER != 0
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
        let mut base64 = self.base64.max(floor);
        let (mut seen, mut met, mut ended) = (0, false, false);
        for (at, byte) in (from..).zip(new) {
            let class = class(*byte);
            seen |= class;
            met |= filter.next(&mut self.carry, *byte);
            let start = |of: Class, start: usize| if class & of == 0 { at + 1 } else { start };
            ended |= class & BASE64 == 0 && at - base64.min(at) >= SHORTEST_BASE64;
            base64 = start(BASE64, base64);
            self.run = start(RUN, self.run);
            self.local = start(LOCAL, self.local);
            self.hex = start(HEX, self.hex);
            self.account = start(ACCOUNT, self.account);
            self.number = match self.number {
                None if class & LEAD != 0 => Some(at),
                number if class & NUMBER != 0 => number,
                _ => None,
            };
        }
        self.base64 = base64;
        if seen & WIDE != 0 {
            self.look_back(bytes, filter);
        } else {
            self.head = self.head.filter(|head| *head >= self.account);
            if seen & DIGIT != 0 && self.head.is_none() {
                self.look_for_head(bytes, from.saturating_sub(3));
            }
        }
        !met && !ended && seen & SIGN == 0 && bytes.len() - base64.min(bytes.len()) < LONGEST_BASE64
    }

    /// Looks at the end of a text of which the beginning was not looked at.
    #[inline(never)]
    fn look_back(&mut self, bytes: &[u8], filter: &Filter) {
        let run = |most: usize, of: Class| {
            let run = bytes.iter().rev().take(most).take_while(|byte| class(**byte) & of != 0);
            bytes.len() - run.count()
        };
        self.carry = filter.carry(bytes);
        self.run = run(2 * LONGEST_RUN, RUN);
        self.base64 = run(LONGEST_BASE64, BASE64);
        self.local = pii::local(bytes);
        self.hex = run(LONGEST_RUN, HEX);
        self.account = run(LONGEST_RUN, ACCOUNT);
        let number = run(pii::MAX_NUMBER, NUMBER);
        let numbers = bytes.get(number..).unwrap_or_default();
        let lead = numbers.iter().position(|byte| class(*byte) & LEAD != 0);
        self.number = lead.map(|lead| number + lead);
        self.head = None;
        self.look_for_head(bytes, bytes.len().saturating_sub(pii::MAX_ACCOUNT));
    }

    fn look_for_head(&mut self, bytes: &[u8], from: usize) {
        let text = Text::new(bytes, false, End::More);
        let last = bytes.len().saturating_sub(3);
        self.head = (from.max(self.account)..last).find(|at| pii::is_head(&text, *at));
    }

    /// Where the Base64 begins that the text ends with.
    pub(crate) const fn base64(&self) -> usize {
        self.base64
    }

    /// Forgets the front of the text.
    pub(crate) fn shift(&mut self, by: usize) {
        let places = [&mut self.to, &mut self.run, &mut self.base64, &mut self.local];
        for place in places.into_iter().chain([&mut self.hex, &mut self.account]) {
            *place = place.saturating_sub(by);
        }
        for place in [&mut self.number, &mut self.head] {
            *place = place.map(|place| place.saturating_sub(by));
        }
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
        let mut first = [0; 256];
        let mut pairs = vec![0_u64; 1 << 10];
        for part in &beginnings {
            let Some(odd) = part.iter().rposition(|byte| !is_run(*byte)) else { continue };
            let Some(byte) = part.get(odd) else { continue };
            match odd.checked_sub(1).and_then(|before| part.get(before)) {
                Some(before) => {
                    for before in [before.to_ascii_lowercase(), before.to_ascii_uppercase()] {
                        let pair = usize::from(before) << 8 | usize::from(*byte);
                        if let Some(word) = pairs.get_mut(pair >> 6) {
                            *word |= 1 << (pair & 63);
                        }
                    }
                }
                None => {
                    if let Some(most) = first.get_mut(usize::from(*byte)) {
                        *most = (*most).max(part.len() as u8);
                    }
                }
            }
        }
        Self { odd: Tree::new(beginnings.into_iter().zip(0..)), first, pairs }
    }

    /// The place from which the text has to be held back.
    #[inline]
    pub(crate) fn hold(&self, bytes: &[u8], held: &mut Held, kinds: Kinds) -> usize {
        let last = |most: usize| bytes.len().saturating_sub(most);
        let mut hold = held.run.max(last(LONGEST_RUN)).min(held.base64.max(last(LONGEST_BASE64)));
        if self.may_be_odd(bytes, held.run) {
            hold = hold.min(self.odd(bytes));
        }
        if kinds.contains(Kind::Email) && held.local + LONGEST_RUN + 2 >= bytes.len() {
            hold = hold.min(held.local);
        }
        if let Some(number) = held.number
            && kinds.numbers()
        {
            hold = hold.min(number.max(last(pii::MAX_NUMBER)));
        }
        if kinds.hex() {
            hold = hold.min(held.hex.max(last(pii::MAX_NUMBER)));
        }
        if held.head.is_some_and(|head| head < last(pii::MAX_ACCOUNT)) {
            held.look_for_head(bytes, last(pii::MAX_ACCOUNT));
        }
        match held.head {
            Some(head) if kinds.contains(Kind::Iban) => hold.min(head),
            _ => hold,
        }
    }

    /// Whether the beginning of a word may stand at the end of a text, of which the last run begins at a place.
    #[inline]
    fn may_be_odd(&self, bytes: &[u8], run: usize) -> bool {
        let Some(&byte) = run.checked_sub(1).and_then(|at| bytes.get(at)) else { return false };
        let most = self.first.get(usize::from(byte)).copied().unwrap_or(0);
        if bytes.len() - run < usize::from(most) {
            return true;
        }
        let Some(&before) = run.checked_sub(2).and_then(|at| bytes.get(at)) else { return false };
        let pair = usize::from(before) << 8 | usize::from(byte);
        self.pairs.get(pair >> 6).is_some_and(|word| word >> (pair & 63) & 1 != 0)
    }

    /// Where the run begins that stands before the beginning of a word at the end.
    #[inline(never)]
    fn odd(&self, bytes: &[u8]) -> usize {
        let mut longest = bytes.len();
        self.odd.each(bytes, |_, start| longest = start);
        run_at_end(bytes.get(..longest).unwrap_or_default())
    }
}

/// Where the run that a text ends with begins.
fn run_at_end(text: &[u8]) -> usize {
    let run = text.iter().rev().take(LONGEST_RUN).take_while(|byte| is_run(**byte)).count();
    let base64 =
        text.iter().rev().take(LONGEST_BASE64).take_while(|byte| is_base64(**byte)).count();
    text.len() - run.max(base64)
}
