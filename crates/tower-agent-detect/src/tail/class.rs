//! What a byte may be part of.

use crate::{filter::LastOfThree, pii};

/// A lane of all ones for each [sort](Lane) of run that a byte may be part of, and bits above them for what else is of
/// interest.
pub(crate) type Class = u64;

/// The sorts of runs, by their lanes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lane {
    Run,
    Local,
    Number,
    Hex,
    Account,
    /// What may stand in a number, and is none that one begins with.
    Between,
}

pub(super) const LANE: u32 = 8;
const LANES: u32 = 6;
/// One in each lane.
pub(super) const ONES: Class = 0x0101_0101_0101;

/// What a number may begin with.
pub(super) const LEAD: Class = 1 << (LANE * LANES);
pub(super) const DIGIT: Class = LEAD << 1;
/// `@`.
pub(super) const AT: Class = LEAD << 2;
/// `%`.
pub(super) const PERCENT: Class = LEAD << 3;
pub(super) const WIDE: Class = LEAD << 4;
/// What our own placeholders begin with.
const BRACKET: Class = LEAD << 5;
/// Where the filter's class of the byte stands: right below the last bit.
const FILTER: u32 = 58;
/// No Base64. The last bit.
const OTHER: Class = 1 << 63;

/// Whether a byte of this class is no Base64: one or zero.
#[inline]
pub(super) const fn other(class: Class) -> u64 {
    class >> OTHER.trailing_zeros()
}

/// A run of these may turn out to be a value, or the beginning of one, by what follows it.
pub(crate) const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'~' | b'-')
}

/// A run of these may turn out to be Base64 of something.
#[inline]
pub(crate) const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The class of a byte.
#[inline]
pub(super) fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(WIDE)
}

/// The same as [`is_run`], of a byte among many.
#[inline]
pub(super) fn is_part_of_run(byte: u8) -> bool {
    class(byte) & lane(Lane::Run, true) != 0
}

/// The same as [`is_base64`], of a byte among many.
#[inline]
pub(super) fn is_part_of_base64(byte: u8) -> bool {
    class(byte) & OTHER == 0
}

/// Whether a byte is a part of either.
#[inline]
pub(super) fn is_part_of_both(byte: u8) -> bool {
    const RUN: Class = 1 << (LANE * Lane::Run as u32);
    class(byte) & (RUN | OTHER) == RUN
}

/// Whether a byte is a part of one of the two.
#[inline]
pub(super) fn is_part_of_either(byte: u8) -> bool {
    const RUN: Class = 1 << (LANE * Lane::Run as u32);
    class(byte) & (RUN | OTHER) != OTHER
}

/// What the filter makes of a byte of this class.
#[inline]
pub(super) const fn of_filter(class: Class) -> LastOfThree {
    LastOfThree::of((class >> (FILTER - LastOfThree::SHIFT)) as u16)
}

#[expect(
    clippy::indexing_slicing,
    reason = "the compiler evaluates it, and would refuse a wrong index"
)]
const CLASSES: [Class; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while let Some(next) = byte.checked_add(1) {
        classes[byte as usize] = of(byte);
        byte = next;
    }
    classes[255] = of(255);
    classes
};

const fn of(byte: u8) -> Class {
    let leads = byte.is_ascii_digit() || matches!(byte, b'+' | b'(');
    let number = leads || matches!(byte, b')' | b' ' | b'-' | b'.' | b'/' | b':');
    let hex = byte.is_ascii_hexdigit() || matches!(byte, b':' | b'-' | b'.');
    let account = byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-');
    let local = byte.is_ascii() && pii::is_local(byte);
    let sorts = lane(Lane::Run, is_run(byte))
        | lane(Lane::Local, local)
        | lane(Lane::Number, number)
        | lane(Lane::Hex, hex)
        | lane(Lane::Account, account)
        | lane(Lane::Between, number && !leads);
    let others = flag(LEAD, leads)
        | flag(DIGIT, byte.is_ascii_digit())
        | flag(AT, byte == b'@')
        | flag(PERCENT, byte == b'%')
        | flag(WIDE, !byte.is_ascii())
        | flag(BRACKET, byte == b'[')
        | flag(OTHER, !is_base64(byte));
    sorts | others | (LastOfThree::of_byte(byte).bits() as Class) << (FILTER - LastOfThree::SHIFT)
}

const fn flag(flag: Class, is: bool) -> Class {
    if is { flag } else { 0 }
}

pub(super) const fn lane(lane: Lane, is: bool) -> Class {
    if is { 0xff << (LANE * lane as u32) } else { 0 }
}

/// What some bytes are, taken together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    all: Class,
    any: Class,
}

impl Bytes {
    const NONE: Self = Self { all: Class::MAX, any: 0 };
    /// They may be anything.
    const SOME: Self = Self { all: 0, any: Class::MAX };
    /// How many are worth a look, in bytes.
    const MOST: usize = 64;

    #[inline]
    pub(crate) fn of(text: &str) -> Self {
        if text.len() > Self::MOST {
            return Self::SOME;
        }
        text.bytes().fold(Self::NONE, |bytes, byte| bytes.with(class(byte)))
    }

    #[inline]
    const fn with(self, class: Class) -> Self {
        Self { all: self.all & class, any: self.any | class }
    }

    #[inline]
    pub(crate) fn one(byte: u8) -> Self {
        Self::NONE.with(class(byte))
    }

    /// Whether all of them only go on with something that is held.
    #[inline]
    pub(crate) const fn go_on(self, waits: Waits) -> bool {
        self.all & waits.0 != 0
    }

    #[inline]
    pub(crate) const fn are_ascii(self) -> bool {
        self.any & WIDE == 0
    }

    /// Whether they are ASCII, and none of our own placeholders begins among them.
    #[inline]
    pub(crate) const fn are_plain(self) -> bool {
        self.any & (WIDE | BRACKET) == 0
    }

    /// Whether one of our own placeholders may begin among them.
    #[inline]
    pub(crate) const fn may_begin_placeholder(self) -> bool {
        self.any & BRACKET != 0
    }
}

/// What goes on with what is held: with a run, which is held as a whole; and with a number, if one is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits(Class);

impl Waits {
    pub(crate) const fn new(number: bool) -> Self {
        Self(lane(Lane::Run, true) | lane(Lane::Number, number))
    }
}

impl Default for Waits {
    fn default() -> Self {
        Self::new(false)
    }
}
