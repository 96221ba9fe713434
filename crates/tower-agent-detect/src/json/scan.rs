//! Reads JSON once, from its beginning to its end, without recursion.

use std::ops::Range;

use super::LeafKind;

/// What is told of each part of a JSON text. Literals of strings have their quotes; `escaped` says whether there is an escape.
pub(super) trait Visit {
    fn object_begins(&mut self);
    fn object_ends(&mut self);
    fn array_begins(&mut self);
    fn array_ends(&mut self);
    fn key(&mut self, literal: Range<usize>, escaped: bool);
    fn string(&mut self, literal: Range<usize>, escaped: bool);
    fn scalar(&mut self, literal: Range<usize>, kind: LeafKind);
}

/// Reads a text as far as it is JSON; whether it is JSON as a whole.
pub(super) fn scan(text: &str, visit: &mut impl Visit) -> bool {
    Scan { bytes: text.as_bytes(), at: 0, open: Vec::new() }.document(visit).is_some()
}

/// Nothing is done with the parts.
impl Visit for () {
    fn object_begins(&mut self) {}
    fn object_ends(&mut self) {}
    fn array_begins(&mut self) {}
    fn array_ends(&mut self) {}
    fn key(&mut self, _: Range<usize>, _: bool) {}
    fn string(&mut self, _: Range<usize>, _: bool) {}
    fn scalar(&mut self, _: Range<usize>, _: LeafKind) {}
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Open {
    Object,
    Array,
}

/// Each step is none where the text is no JSON.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    open: Vec<Open>,
}

impl Scan<'_> {
    fn document(&mut self, visit: &mut impl Visit) -> Option<()> {
        loop {
            if self.value(visit)? && self.after(visit)? {
                return Some(());
            }
        }
    }

    /// A whole value, or the beginning of an object or array up to its first value; whether it is whole.
    fn value(&mut self, visit: &mut impl Visit) -> Option<bool> {
        match self.next_visible()? {
            b'"' => {
                let (literal, escaped) = self.string()?;
                visit.string(literal, escaped);
            }
            b'{' => return self.object(visit),
            b'[' => return self.array(visit),
            b't' => self.word(b"true", visit)?,
            b'f' => self.word(b"false", visit)?,
            b'n' => self.word(b"null", visit)?,
            _ => {
                let start = self.at;
                self.number()?;
                visit.scalar(start..self.at, LeafKind::Number);
            }
        }
        Some(true)
    }

    fn object(&mut self, visit: &mut impl Visit) -> Option<bool> {
        self.at += 1;
        visit.object_begins();
        if self.next_visible()? == b'}' {
            self.at += 1;
            visit.object_ends();
            return Some(true);
        }
        self.open.push(Open::Object);
        self.key(visit)?;
        Some(false)
    }

    fn array(&mut self, visit: &mut impl Visit) -> Option<bool> {
        self.at += 1;
        visit.array_begins();
        if self.next_visible()? == b']' {
            self.at += 1;
            visit.array_ends();
            return Some(true);
        }
        self.open.push(Open::Array);
        Some(false)
    }

    /// What follows a value, up to the next one; whether the text ends there.
    fn after(&mut self, visit: &mut impl Visit) -> Option<bool> {
        loop {
            let Some(open) = self.open.last().copied() else {
                return self.next_visible().is_none().then_some(true);
            };
            match (self.next_visible()?, open) {
                (b',', Open::Object) => {
                    self.at += 1;
                    self.next_visible()?;
                    self.key(visit)?;
                    return Some(false);
                }
                (b',', Open::Array) => {
                    self.at += 1;
                    return Some(false);
                }
                (b'}', Open::Object) => visit.object_ends(),
                (b']', Open::Array) => visit.array_ends(),
                _ => return None,
            }
            self.at += 1;
            self.open.pop();
        }
    }

    /// A key and its colon.
    fn key(&mut self, visit: &mut impl Visit) -> Option<()> {
        let (literal, escaped) = self.string()?;
        visit.key(literal, escaped);
        (self.next_visible()? == b':').then(|| self.at += 1)
    }

    #[inline]
    fn next_visible(&mut self) -> Option<u8> {
        loop {
            let byte = self.peek()?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn word(&mut self, word: &[u8], visit: &mut impl Visit) -> Option<()> {
        let start = self.at;
        self.at += word.len();
        (self.bytes.get(start..self.at)? == word)
            .then(|| visit.scalar(start..self.at, LeafKind::Other))
    }

    fn number(&mut self) -> Option<()> {
        self.skip(|byte| byte == b'-');
        match self.peek()? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.skip(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.skip(|byte| byte | 0x20 == b'e') {
            self.skip(|byte| byte == b'+' || byte == b'-');
            self.digits()?;
        }
        Some(())
    }

    #[inline]
    fn skip(&mut self, skipped: impl Fn(u8) -> bool) -> bool {
        let there = self.peek().is_some_and(skipped);
        self.at += usize::from(there);
        there
    }

    /// One digit or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// A string with its quotes, and whether it has escapes.
    #[inline]
    fn string(&mut self) -> Option<(Range<usize>, bool)> {
        let start = self.at;
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        let mut escaped = false;
        loop {
            self.at += plain(self.bytes.get(self.at..)?);
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some((start..self.at, escaped));
                }
                b'\\' => self.escape()?,
                _ => return None,
            }
            escaped = true;
        }
    }

    fn escape(&mut self) -> Option<()> {
        let length = match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?
            }
            _ => return None,
        };
        self.at += length;
        Some(())
    }
}

/// How many bytes stand before the first quote, backslash or control character, eight bytes at a time.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (index, chunk) in chunks.iter().enumerate() {
        let special = special(u64::from_le_bytes(*chunk));
        if special != 0 {
            return index * chunk.len() + special.trailing_zeros() as usize / 8;
        }
    }
    let plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
    bytes.len() - rest.len() + rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len())
}

/// The high bit of the first byte, in memory, that is a quote, a backslash or a control character. Bits of bytes after it
/// mean nothing.
#[inline]
const fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * b' ' as u64) & !word;
    let zero = (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
    (zero | control) & HIGH
}
