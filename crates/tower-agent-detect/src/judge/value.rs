//! What a value looks like.

use super::{
    name,
    words::{
        ALGORITHMS, FILES, NONE, PROSE, SIGNS, STAND_INS, TELLING, begins_with, ends_with, lists,
    },
};

/// What a value is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub(super) length: usize,
    pub(super) digits: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) blanks: usize,
    /// Signs that are in no ordinary word.
    pub(super) odd: usize,
    /// Bytes of letters of other scripts, which may touch a value without being a part of it.
    foreign: usize,
    /// Places where a letter or digit follows one of another sort, except where a word begins with a capital.
    changes: usize,
    /// Stretches of letters and digits of one sort.
    runs: usize,
    /// The longest stretch of one character, in any case.
    stretch: usize,
    /// Whether asterisks, dots or crosses stand in for what was there.
    masked: bool,
    /// Which characters there are, by six of their bits.
    set: u64,
}

const DIGIT: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const BLANK: u8 = 3;
const ODD: u8 = 4;
/// Signs of ordinary words, and what is not ASCII.
const OTHER: u8 = 5;

const SORT_OF: [u8; 256] = {
    let mut sorts = [OTHER; 256];
    let mut byte = 0;
    let mut rest = sorts.as_mut_slice();
    while let [sort, others @ ..] = rest {
        *sort = match byte {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b' ' | b'\t' => BLANK,
            b'-' | b'\'' | b'/' | b'_' | b'.' | b',' | b':' | 0x80.. => OTHER,
            _ => ODD,
        };
        byte = byte.wrapping_add(1);
        rest = others;
    }
    sorts
};

/// How many there are of each sort, side by side in one number, since adding to places in memory is slow where most
/// bytes are of the same sort.
#[derive(Clone, Copy, Default)]
struct Counts(u64);

impl Counts {
    const BITS: u32 = u64::BITS / 5;
    /// So many bytes are counted before a number may not hold them.
    const MOST: usize = (1 << Self::BITS) - 1;

    const fn add(&mut self, sort: u8) {
        // Nobody asks for the number of the last sort.
        self.0 =
            self.0.wrapping_add(if sort < OTHER { 1 << (sort as u32 * Self::BITS) } else { 0 });
    }

    const fn of(self, sort: u8) -> usize {
        (self.0 >> (sort as u32 * Self::BITS)) as usize & Self::MOST
    }
}

impl Shape {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut shape = Self { length: value.len(), ..Self::default() };
        let (mut last, mut same, mut stretch) = (OTHER, 0, 0);
        for part in value.chunks(Counts::MOST) {
            let mut counts = Counts::default();
            for byte in part {
                let sort = SORT_OF.get(usize::from(*byte)).copied().unwrap_or(OTHER);
                counts.add(sort);
                shape.foreign += usize::from(!byte.is_ascii());
                let begins = sort != last && sort <= UPPER;
                shape.runs += usize::from(begins);
                let begins_word = last == UPPER && sort == LOWER;
                shape.changes += usize::from(begins && last <= UPPER && !begins_word);
                last = sort;
                let lower = byte.to_ascii_lowercase();
                stretch = if lower == same { stretch + 1 } else { 1 };
                same = lower;
                if stretch >= 3 {
                    shape.stretch = shape.stretch.max(stretch);
                    shape.masked |= matches!((lower, stretch), (b'*' | b'.', 3) | (b'x', 4));
                }
                shape.set |= 1 << (byte & 63);
            }
            shape.digits += counts.of(DIGIT);
            shape.lower += counts.of(LOWER);
            shape.upper += counts.of(UPPER);
            shape.blanks += counts.of(BLANK);
            shape.odd += counts.of(ODD);
        }
        shape
    }

    /// Whether it looks generated: letters and digits in no order.
    pub(super) const fn is_random(&self, least: usize) -> bool {
        let (length, changes) = (self.length - self.foreign, self.changes);
        let distinct = self.set.count_ones() as usize;
        let mixed = changes * 4 >= length && (self.digits > 0 || length >= 20);
        let digits = self.digits >= 4
            && self.digits * 4 >= length
            && self.lower + self.upper > 0
            && changes > 0;
        let runs = length >= 16 && self.digits > 0 && self.runs * 2 >= length;
        length >= least && self.blanks == 0 && distinct >= 7 && (mixed || digits || runs)
    }

    /// Whether it is no ordinary word: it has digits, signs, or capitals in odd places.
    pub(super) const fn is_odd(&self) -> bool {
        self.length >= 4 && (self.digits > 0 || self.odd > 0 || self.changes >= 3)
    }

    /// Whether its characters are nearly all the same, or two or three over and over, as in manuals.
    pub(super) const fn is_filler(&self) -> bool {
        self.length >= 8 && self.set.count_ones() <= 3
            || self.stretch >= 12 && self.stretch * 2 >= self.length
    }

    /// Whether capitals stand inside words.
    pub(super) const fn is_mixed(&self) -> bool {
        self.changes >= 2
    }

    pub(super) const fn letters_only(&self) -> bool {
        self.lower + self.upper == self.length
    }
}

/// Whether a value is plainly no secret: empty, a stand-in, a reference, a path, or masked already.
pub(super) fn is_none(value: &[u8], shape: &Shape) -> bool {
    let whole = value;
    let value = value.trim_ascii();
    value.is_empty()
        || lists(NONE, value)
        || shape.masked
        || is_masked(value)
        || is_reference(value)
        || is_address(value, shape)
        || is_encrypted(value)
        || is_expression(whole)
        || is_dotted_number(value, shape)
        || is_algorithm(value, shape)
        || SIGNS.stand_in(value)
        || (!shape.is_random(16) && STAND_INS.stand_in(value))
}

/// Asterisks, dots and the like, also in the middle.
fn is_masked(value: &[u8]) -> bool {
    let telling = value.iter().any(|byte| byte.is_ascii_alphanumeric());
    let bullets = !telling && (value.is_ascii() || value.starts_with(&[0xE2]));
    let crosses = value.len() >= 3
        && value.iter().all(|byte| matches!(byte, b'x' | b'X' | b'-' | b'_' | b' '));
    bullets || crosses
}

/// A variable.
fn is_reference(value: &[u8]) -> bool {
    let (first, rest) = value.split_first().map_or((0, value), |(first, rest)| (*first, rest));
    let word =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    match first {
        b'{' | b'[' | b'<' | b'(' => true,
        b'$' | b'%' | b'@' | b'!' | b'#' | b'&' | b'*' => {
            rest.iter().all(|byte| word(byte) || *byte == first) || first == b'%' && rest.len() < 4
        }
        _ => false,
    }
}

/// A path or the address of something.
fn is_address(value: &[u8], shape: &Shape) -> bool {
    let path = [
        &b"/"[..],
        b"./",
        b"../",
        b"~/",
        b"file:",
        b"env:",
        b"arn:",
        b"projects/",
        b"data:",
        b"urn:",
    ];
    let begins = path.iter().any(|begin| begins_with(value, begin));
    let drive = matches!(value, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    let extension = memchr::memrchr(b'.', value).and_then(|dot| value.get(dot + 1..));
    let file = shape.odd == 0 && extension.is_some_and(|extension| lists(FILES, extension));
    !shape.is_random(16) && (begins || drive || file)
}

fn is_encrypted(value: &[u8]) -> bool {
    let marks = [&b"enc["[..], b"enc(", b"$ansible_vault", b"u2fsdgvk", b"vault:"];
    marks.iter().any(|mark| begins_with(value, mark))
}

/// A regular expression, or what stands between two texts of a program that are put together.
fn is_expression(value: &[u8]) -> bool {
    let joins = match value {
        [b' ' | b'\t', ..] => true,
        [b',' | b';' | b')', rest @ ..] => {
            rest.first().is_none_or(|byte| matches!(byte, b' ' | b')'))
        }
        _ => false,
    };
    joins || value.first() == Some(&b'^')
}

/// The number of an object or a version, an address, or a number of a program.
fn is_dotted_number(value: &[u8], shape: &Shape) -> bool {
    let dotted =
        value.contains(&b'.') && value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let hexadecimal = begins_with(value, b"0x") && shape.length <= 10;
    dotted || hexadecimal
}

/// The name of a cipher or a hash: one such word, and perhaps signs, numbers and more capitals.
fn is_algorithm(value: &[u8], shape: &Shape) -> bool {
    begins_with_algorithm(value) && is_named_plainly(value, shape) || begins_with(value, b"pbewith")
}

fn is_named_plainly(value: &[u8], shape: &Shape) -> bool {
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_/+.".contains(byte));
    let parts = value.iter().any(|byte| b"-_/+".contains(byte));
    let lower = if parts { shape.lower * 2 <= shape.length } else { !shape.is_random(12) };
    plain && (lower || shape.length <= 8)
}

pub(super) fn begins_with_algorithm(value: &[u8]) -> bool {
    ALGORITHMS.begin(value)
}

/// Whether a value is a name itself: a word, or words in one of the ways that programs write them.
pub(super) fn is_identifier(value: &[u8]) -> bool {
    let first = value.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    first && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(byte))
}

/// Whether a value names a secret instead of being one: `user_password`, `X-Api-Key`, `TRAFFIC_SECRET_0`.
pub(super) fn is_telling_name(value: &[u8], shape: &Shape) -> bool {
    let short = ["auth", "key", "pass", "passwd", "pw", "pwd", "tok"];
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let numbered = (1..=2).contains(&digits)
        && value.iter().rev().nth(digits).is_some_and(|byte| matches!(byte, b'_' | b'-'));
    is_identifier(value)
        && (shape.digits == 0 || numbered && shape.digits == digits)
        && (TELLING.stand_in(value) && !is_mine(value) || lists(&short, name::pop(value).1))
}

/// Whether a name of a secret is one word behind a word that names nothing, as careless secrets are: `mysecret`.
fn is_mine(value: &[u8]) -> bool {
    let whose = ["admin", "my", "our", "root", "super", "the", "very"];
    value.iter().all(u8::is_ascii_lowercase)
        && whose.iter().any(|word| begins_with(value, word.as_bytes()))
}

/// Whether a value is a name of several words, without digits.
pub(super) fn is_compound(value: &[u8], shape: &Shape) -> bool {
    let parts = value.iter().any(|byte| matches!(byte, b'_' | b'-' | b'.'));
    parts && shape.digits == 0 && !shape.is_random(16) && is_identifier(value)
}

/// Whether a value has the signs of a call, an index or a path of a program.
pub(super) fn is_call(value: &[u8]) -> bool {
    memchr::memchr2(b'(', b'[', value).is_some()
        || memchr::memchr3_iter(b':', b'>', b'.', value).any(|at| {
            let pair = at.checked_sub(1).and_then(|before| value.get(before..=at));
            matches!(pair, Some(b"::" | b"->" | b"=>" | b"?."))
        })
}

/// Whether a value is a piece of a program: a member, an operator.
pub(super) fn is_code(value: &[u8]) -> bool {
    let member = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_alphabetic) || part.first() == Some(&b'_')
    };
    let members = value.contains(&b'.')
        && is_identifier(value)
        && value.split(|byte| *byte == b'.').all(member);
    members
        || memchr::memchr_iter(b'=', value).any(|at| {
            let before = at.checked_sub(1).and_then(|before| value.get(before));
            matches!(before, Some(b'=' | b'+'))
        })
        || matches!(
            value.first(),
            Some(b'&' | b'*' | b'!' | b'=' | b'-' | b'+' | b'/' | b'#' | b'?' | b'.' | b':')
        )
}

/// Whether several words are a sentence, a label or a message and no passphrase.
pub(super) fn is_prose(value: &[u8]) -> bool {
    let mut words = value
        .split(|byte| !byte.is_ascii_alphabetic() && *byte != b'\'')
        .filter(|word| !word.is_empty());
    let ends = matches!(value.trim_ascii_end().last(), Some(b'.' | b':' | b'?' | b','));
    ends || words.any(|word| lists(PROSE, word)) || ends_with(value, b"...")
}
