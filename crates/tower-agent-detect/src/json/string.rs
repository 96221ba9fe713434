//! Strings as they are written in JSON.

/// What stands for half a surrogate pair, which is JSON but no text.
const HALF: char = char::REPLACEMENT_CHARACTER;

/// The text of a string without its quotes. Its escapes are known to be right.
pub(super) fn decode(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    for (written, character) in (Pieces { rest: inner }) {
        match character {
            Some(character) => text.push(character),
            None => text.push_str(written),
        }
    }
    text
}

/// A text as a JSON string, in its quotes, in the place of an old one without them. Half surrogate pairs are written as they
/// were if all of them are still there.
pub(super) fn encode(text: &str, old: &str) -> String {
    let written = serde_json::Value::from(text).to_string();
    let halves = halves(old);
    let all = written.matches(HALF).count() == halves.len();
    if !all || halves.iter().all(|half| half.len() == HALF.len_utf8()) {
        return written;
    }
    let mut out = String::with_capacity(written.len() + 3 * halves.len());
    for (piece, half) in written.split(HALF).zip(halves.into_iter().chain([""])) {
        out.push_str(piece);
        out.push_str(half);
    }
    out
}

/// How each half of a surrogate pair, and what looks like one once it is decoded, is written.
fn halves(inner: &str) -> Vec<&str> {
    let mut halves = Vec::new();
    if !inner.contains("\\u") {
        return halves;
    }
    for (written, character) in (Pieces { rest: inner }) {
        match character {
            Some(HALF) => halves.push(written),
            Some(_) => {}
            None => halves.extend(written.matches(HALF)),
        }
    }
    halves
}

/// The escapes of a string, each with its character, and what stands between them.
struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a str, Option<char>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (length, character) = match memchr::memchr(b'\\', self.rest.as_bytes()) {
            Some(0) => {
                let (length, character) = escape(self.rest);
                (length, Some(character))
            }
            Some(plain) => (plain, None),
            None => (self.rest.len(), None),
        };
        let (written, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        (!written.is_empty()).then_some((written, character))
    }
}

/// How long the escape is that a text begins with, and its character.
fn escape(text: &str) -> (usize, char) {
    let plain = match text.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(text),
        Some(itself) => char::from(*itself),
        None => HALF,
    };
    (2, plain)
}

fn unicode(text: &str) -> (usize, char) {
    let units = unit(text).into_iter().chain(text.get(6..).and_then(unit));
    match char::decode_utf16(units).next() {
        Some(Ok(character)) if character.len_utf16() == 2 => (12, character),
        Some(Ok(character)) => (6, character),
        _ => (6, HALF),
    }
}

/// The number of the `\u` that a text begins with.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}
