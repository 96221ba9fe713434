//! Where a value ends.

use std::sync::LazyLock;

use super::{Operator, Quote, Value};
use crate::{
    runs::{Class, Runs},
    text::{Stop, Text},
};

/// How the punctuation of Chinese and Japanese begins, which stands beside words without white space.
const IDEOGRAPHIC: (u8, u8) = (0xe3, 0x80);

/// How far back one looks for what a sign in the middle of a value belongs to, in bytes.
const RESUMED: usize = 128;

/// Where a value ends: at its closing quote, at the end of its line, or, without quotes, before white space or a delimiter.
/// One that is longer than `max` bytes ends there, though not inside a character.
pub(crate) fn value_end(
    text: &Text<'_>,
    value: &Value,
    max: usize,
    runs: &mut Runs,
) -> Result<usize, Stop> {
    let start = value.start;
    match value.closing() {
        Closing::Quote(quote) => {
            let limit = start.saturating_add(max);
            let end = closing_quote(text, (start, 0), quote, (Some(start), limit))?;
            whole_part(text, start, end, limit)
        }
        closing => closing.end(text, start, max, runs),
    }
}

/// What ends a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Closing {
    Quote(Quote),
    Tag,
    /// White space or a delimiter.
    Sign,
}

impl Value {
    /// What ends it.
    pub(crate) fn closing(&self) -> Closing {
        match self.quote {
            Some(quote) => Closing::Quote(quote),
            None if self.operator == Operator::Element => Closing::Tag,
            None => Closing::Sign,
        }
    }
}

impl Closing {
    /// Where a value ends that goes on at a place, or that part of it that is no longer than `max` bytes.
    pub(crate) fn end(
        self,
        text: &Text<'_>,
        start: usize,
        max: usize,
        runs: &mut Runs,
    ) -> Result<usize, Stop> {
        let limit = start.saturating_add(max);
        let end = match self {
            Self::Quote(quote) => {
                closing_quote(text, quote.resumed(text, start), quote, (None, limit))?
            }
            Self::Tag => element_end(text, start, limit)?,
            Self::Sign => bare_end(text, start, limit, runs)?,
        };
        whole_part(text, start, end, limit)
    }
}

impl Quote {
    /// Where to look on from a place in a value, and how many backslashes stand before that.
    fn resumed(self, text: &Text<'_>, start: usize) -> (usize, usize) {
        let before = text.bytes().get(start.saturating_sub(RESUMED)..start).unwrap_or_default();
        let last = |bytes: &[u8], sign| bytes.iter().rev().take_while(|it| **it == sign).count();
        let quotes = last(before, self.mark);
        let unquoted = before.get(..before.len().saturating_sub(quotes)).unwrap_or_default();
        let escaped = last(unquoted, b'\\') % 2;
        let doubled = self.mark == b'\'' && self.escapes == 0 && !self.triple;
        if doubled && quotes > escaped && (quotes - escaped) % 2 == 1 {
            return (start.saturating_add(1), 0);
        }
        (start, last(before, b'\\'))
    }
}

fn whole_part(
    text: &Text<'_>,
    start: usize,
    end: Option<usize>,
    limit: usize,
) -> Result<usize, Stop> {
    match end {
        Some(end) => Ok(end),
        None => whole_characters(text, start, limit),
    }
}

/// The place where the backslashes of the closing quote begin. `begin`: where the value does, if one looks from there.
fn closing_quote(
    text: &Text<'_>,
    (mut at, mut backslashes): (usize, usize),
    quote: Quote,
    (begin, limit): (Option<usize>, usize),
) -> Result<Option<usize>, Stop> {
    let period = quote.escapes.saturating_add(1).saturating_mul(2);
    while at < limit {
        match text.byte(at)? {
            None => return Ok(Some(at)),
            Some(b'\n' | b'\r') if !quote.triple => return Ok(Some(at)),
            Some(b'\\') => backslashes += 1,
            Some(byte) => {
                // As many as an escaped quote has, or fewer: then an outer text ends.
                let own = backslashes % period;
                backslashes = 0;
                if byte == quote.mark && own <= quote.escapes {
                    match closes(text, at, begin == Some(at), quote)? {
                        true => return Ok(Some(at.saturating_sub(own))),
                        // A doubled quote stands for one.
                        false => at = at.saturating_add(usize::from(!quote.triple)),
                    }
                }
            }
        }
        at = at.saturating_add(1);
    }
    Ok(None)
}

fn closes(text: &Text<'_>, at: usize, is_first: bool, quote: Quote) -> Result<bool, Stop> {
    let next = |offset| Ok(text.byte(at.saturating_add(offset))? == Some(quote.mark));
    if quote.triple {
        return Ok(next(1)? && next(2)?);
    }
    Ok(is_first || quote.mark != b'\'' || quote.escapes > 0 || !next(1)?)
}

fn element_end(text: &Text<'_>, start: usize, limit: usize) -> Result<Option<usize>, Stop> {
    let mut end = start;
    for at in start..limit {
        match text.byte(at)? {
            None | Some(b'<' | b'\n' | b'\r') => return Ok(Some(end)),
            Some(b' ' | b'\t') => {}
            Some(_) => end = at.saturating_add(1),
        }
    }
    Ok(None)
}

/// The bytes of which a value without quotes is made, whatever follows them.
static PLAIN: LazyLock<Class> = LazyLock::new(|| {
    let plain = |byte: &u8| !is_delimiter(*byte) && *byte != b'\\' && *byte != IDEOGRAPHIC.0;
    (0..=u8::MAX).filter(plain).collect()
});

fn bare_end(
    text: &Text<'_>,
    start: usize,
    limit: usize,
    runs: &mut Runs,
) -> Result<Option<usize>, Stop> {
    let mut at = runs.value.place(start);
    let end = bare_end_from(text, &mut at, limit, runs);
    runs.value.note(start, at);
    end
}

/// As [`bare_end`], from a place on, which is moved along.
fn bare_end_from(
    text: &Text<'_>,
    at: &mut usize,
    limit: usize,
    runs: &mut Runs,
) -> Result<Option<usize>, Stop> {
    while *at < limit {
        *at = runs.end(text.bytes(), &PLAIN, *at, limit);
        if *at >= limit {
            break;
        }
        let ends = match text.byte(*at)? {
            Some(b'\\') => text.byte(at.saturating_add(1))?.is_none_or(is_escape),
            Some(byte) if byte == IDEOGRAPHIC.0 => {
                text.byte(at.saturating_add(1))? == Some(IDEOGRAPHIC.1)
            }
            None => true,
            // Anything else here is what touches a mask.
            Some(byte) => is_delimiter(byte),
        };
        if ends {
            return Ok(Some(*at));
        }
        *at = at.saturating_add(1);
    }
    Ok(None)
}

const fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(
            byte,
            b',' | b';' | b'&' | b')' | b'}' | b']' | b'<' | b'>' | b'"' | b'\'' | b'`' | b'|'
        )
}

/// Whether a backslash before this byte is part of an escape of JSON, so that the value ends before it.
const fn is_escape(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'n' | b'r' | b't' | b'b' | b'f' | b'u' | b'"' | b'\'' | b'/' | b'\\')
}

/// The last border of a character up to `limit`.
fn whole_characters(text: &Text<'_>, start: usize, limit: usize) -> Result<usize, Stop> {
    let mut end = limit;
    while end > start && text.byte(end)?.is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000) {
        end = end.saturating_sub(1);
    }
    Ok(end)
}
