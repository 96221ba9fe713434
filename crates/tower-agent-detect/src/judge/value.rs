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

/// How many bytes are looked at together.
const PART: usize = 128;

impl Shape {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut shape = Self { length: value.len(), ..Self::default() };
        let mut last = OTHER;
        for part in value.chunks(PART) {
            last = shape.count(part, last);
        }
        let thrice = value
            .array_windows()
            .fold(false, |any, [a, b, c]| any | (a | 32 == b | 32 && b | 32 == c | 32));
        if thrice {
            shape.measure(value);
        }
        shape
    }

    /// Counts what is in a part of the value, behind a byte of some sort. Gives the sort of its last byte.
    ///
    /// What is done for each byte by itself has no branch and depends on nothing else, so that it is done for many at once.
    fn count(&mut self, part: &[u8], last: u8) -> u8 {
        let mut sorts = [OTHER; PART + 1];
        let (first, rest) = sorts.split_at_mut(1);
        first.fill(last);
        for (sort, byte) in rest.iter_mut().zip(part) {
            *sort = SORT_OF.get(usize::from(*byte)).copied().unwrap_or(OTHER);
            self.set |= 1 << (byte & 63);
        }
        let (mut runs, mut changes) = (0_u8, 0_u8);
        for [before, sort] in sorts.array_windows() {
            let begins = sort != before && *sort <= UPPER;
            let begins_word = *before == UPPER && *sort == LOWER;
            runs += u8::from(begins);
            changes += u8::from(begins & (*before <= UPPER) & !begins_word);
        }
        self.runs += usize::from(runs);
        self.changes += usize::from(changes);
        let count = |such: u8| {
            usize::from(
                sorts.iter().skip(1).fold(0_u8, |count, sort| count + u8::from(*sort == such)),
            )
        };
        self.digits += count(DIGIT);
        self.lower += count(LOWER);
        self.upper += count(UPPER);
        self.blanks += count(BLANK);
        self.odd += count(ODD);
        self.foreign += part.iter().filter(|byte| !byte.is_ascii()).count();
        sorts.get(part.len()).copied().unwrap_or(OTHER)
    }

    /// Looks for the longest stretch of one character.
    fn measure(&mut self, value: &[u8]) {
        let (mut same, mut stretch) = (0, 0);
        for byte in value {
            let lower = byte.to_ascii_lowercase();
            stretch = if lower == same { stretch + 1 } else { 1 };
            same = lower;
            if stretch >= 3 {
                self.stretch = self.stretch.max(stretch);
                self.masked |= matches!((lower, stretch), (b'*' | b'.', 3) | (b'x', 4));
            }
        }
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
        || any_pair(value, |one, two| {
            (two == b':') & (one == b':')
                | (two == b'>') & ((one == b'-') | (one == b'='))
                | (two == b'.') & (one == b'?')
        })
}

/// Whether any byte and the next one are such. All are looked at, since that is done for many at once.
fn any_pair(value: &[u8], such: impl Fn(u8, u8) -> bool) -> bool {
    value.array_windows().fold(0, |any, [one, two]| any | u8::from(such(*one, *two))) != 0
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
        || any_pair(value, |one, two| (two == b'=') & ((one == b'=') | (one == b'+')))
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
