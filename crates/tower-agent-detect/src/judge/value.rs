//! What a value looks like.

use super::{
    name,
    words::{ALGORITHMS, FILES, NONE, PROSE, STAND_INS, begins_with, ends_with, holds, lists},
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
    /// Places where a letter or digit follows one of another sort, except where a word begins with a capital.
    changes: usize,
    /// Stretches of letters and digits of one sort.
    runs: usize,
    /// Which ASCII characters there are.
    set: u128,
}

impl Shape {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut shape = Self { length: value.len(), ..Self::default() };
        let mut last = 0;
        for byte in value {
            let sort = match byte {
                b'0'..=b'9' => 1,
                b'a'..=b'z' => 2,
                b'A'..=b'Z' => 3,
                _ => 0,
            };
            match byte {
                b'0'..=b'9' => shape.digits += 1,
                b'a'..=b'z' => shape.lower += 1,
                b'A'..=b'Z' => shape.upper += 1,
                b' ' | b'\t' => shape.blanks += 1,
                b'-' | b'\'' | b'/' | b'_' | b'.' | b',' | b':' | 0x80.. => {}
                _ => shape.odd += 1,
            }
            shape.changes +=
                usize::from(sort != last && sort * last != 0 && (last, sort) != (3, 2));
            shape.runs += usize::from(sort != last && sort != 0);
            shape.set |= 1_u128.checked_shl(u32::from(*byte)).unwrap_or_default();
            last = sort;
        }
        shape
    }

    /// Whether it looks generated: letters and digits in no order.
    pub(super) const fn is_random(&self, least: usize) -> bool {
        let (length, changes) = (self.length, self.changes);
        let distinct = self.set.count_ones() as usize;
        let mixed = changes * 100 >= length * 28 && (self.digits > 0 || length >= 20);
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

    /// Whether it is one character, or two or three, over and over.
    pub(super) const fn is_uniform(&self) -> bool {
        self.length >= 8 && self.set.count_ones() <= 3
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
        || is_masked(value)
        || is_reference(value)
        || is_address(value, shape)
        || is_encrypted(value)
        || is_expression(whole)
        || is_dotted_number(value, shape)
        || is_algorithm(value, shape)
        || (!shape.is_random(16) && is_stand_in(value))
}

/// A key whose characters are nearly all the same one, as in manuals.
pub(super) fn is_filler(value: &[u8], shape: &Shape) -> bool {
    let run = value.chunk_by(|one, other| one == other).map(<[u8]>::len).max().unwrap_or_default();
    shape.is_uniform() || run >= 12 && run * 2 >= value.len()
}

/// Asterisks, dots and the like, also in the middle.
fn is_masked(value: &[u8]) -> bool {
    let telling = value.iter().any(|byte| byte.is_ascii_alphanumeric());
    let bullets = !telling && (value.is_ascii() || value.starts_with(&[0xE2]));
    let run = |byte: u8, least: usize| {
        value.windows(least).any(|part| part.iter().all(|other| other.eq_ignore_ascii_case(&byte)))
    };
    let crosses = value.iter().all(|byte| matches!(byte, b'x' | b'X' | b'-' | b'_' | b' '));
    bullets
        || run(b'*', 3)
        || run(b'.', 3)
        || run(b'x', 4)
        || crosses
        || holds(value, b"\xE2\x80\xA6")
        || holds(value, b"\xE2\x80\xA2\xE2\x80\xA2")
        || holds(value, b"[redacted")
}

/// A variable, or a text that one is put into.
fn is_reference(value: &[u8]) -> bool {
    let holds_any = |parts: &[&[u8]]| parts.iter().any(|part| holds(value, part));
    let (first, rest) = value.split_first().map_or((0, value), |(first, rest)| (*first, rest));
    let word =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    match first {
        b'{' | b'[' | b'<' | b'(' => return true,
        b'$' | b'%' | b'@' | b'!' | b'#' | b'&' | b'*'
            if rest.iter().all(|byte| word(byte) || *byte == first) =>
        {
            return true;
        }
        b'%' if rest.len() < 4 => return true,
        _ => {}
    }
    holds_any(&[
        b"${",
        b"#{",
        b"{{",
        b"$(",
        b"<%",
        b"%(",
        b"%{",
        b"%s",
        b"{}",
        b"process.env",
        b"environ",
        b"getenv",
    ])
}

/// A path or the address of something.
fn is_address(value: &[u8], shape: &Shape) -> bool {
    let scheme = value.windows(3).any(|part| part == b"://");
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
    let extension = value.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let file = extension.len() < value.len() && shape.odd == 0 && lists(FILES, extension);
    scheme || !shape.is_random(16) && (begins || drive || file)
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
    let classes = [&b"[a-z"[..], b"[0-9", b"[^", b"(?", b"\\d", b"\\w", b"\\s", b".*", b".+"];
    joins || value.first() == Some(&b'^') || classes.iter().any(|class| holds(value, class))
}

/// The number of an object or a version, an address, or a number of a program.
fn is_dotted_number(value: &[u8], shape: &Shape) -> bool {
    let dotted =
        value.contains(&b'.') && value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let hexadecimal = begins_with(value, b"0x") && shape.length <= 10;
    dotted || hexadecimal
}

fn is_stand_in(value: &[u8]) -> bool {
    STAND_INS.iter().any(|part| holds(value, part.as_bytes()))
}

/// The name of a cipher or a hash: one such word, and perhaps signs, numbers and more capitals.
fn is_algorithm(value: &[u8], shape: &Shape) -> bool {
    let named = begins_with_algorithm(value);
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_/+.".contains(byte));
    let parts = value.iter().any(|byte| b"-_/+".contains(byte));
    let lower = if parts { shape.lower * 2 <= shape.length } else { !shape.is_random(12) };
    named && plain && (lower || shape.length <= 8) || begins_with(value, b"pbewith")
}

pub(super) fn begins_with_algorithm(value: &[u8]) -> bool {
    ALGORITHMS.iter().any(|name| begins_with(value, name.as_bytes()))
}

/// Whether a value is a name itself: a word, or words in one of the ways that programs write them.
pub(super) fn is_identifier(value: &[u8]) -> bool {
    let first = value.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    first && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(byte))
}

/// Whether a value names a secret instead of being one: `user_password`, `X-Api-Key`, `TRAFFIC_SECRET_0`.
pub(super) fn is_telling_name(value: &[u8], shape: &Shape) -> bool {
    let telling = [
        &b"password"[..],
        b"passwd",
        b"passphrase",
        b"secret",
        b"token",
        b"apikey",
        b"api_key",
        b"api-key",
        b"credential",
    ];
    let short = ["auth", "key", "pass", "passwd", "pw", "pwd", "tok"];
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let numbered = digits > 0
        && value.iter().rev().nth(digits).is_some_and(|byte| matches!(byte, b'_' | b'-'));
    is_identifier(value)
        && (shape.digits == 0 || numbered && shape.digits == digits)
        && (telling.iter().any(|word| holds(value, word)) || lists(&short, name::pop(value).1))
}

/// Whether a value is a name of several words, without digits.
pub(super) fn is_compound(value: &[u8], shape: &Shape) -> bool {
    let parts = value.iter().any(|byte| matches!(byte, b'_' | b'-' | b'.'));
    parts && shape.digits == 0 && !shape.is_random(16) && is_identifier(value)
}

/// Whether a value is a piece of a program: a path, a call, a member.
pub(super) fn is_code(value: &[u8]) -> bool {
    let holds_any = |parts: &[&[u8]]| parts.iter().any(|part| holds(value, part));
    let member = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_alphabetic) || part.first() == Some(&b'_')
    };
    let members = value.contains(&b'.')
        && is_identifier(value)
        && value.split(|byte| *byte == b'.').all(|part| member(part));
    members
        || holds_any(&[b"::", b"->", b"=>", b"(", b"[", b"==", b"+=", b"?."])
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
