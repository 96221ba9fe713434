//! What stands between a name and its value.

use super::{
    Operator, SPACE, escaped_quote, is_blank, is_quote, is_space,
    name::{is_flag, is_scheme, is_tag, name_start},
    skip, word,
};
use crate::text::{Stop, Text, is_word};

/// An operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) operator: Operator,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether a quote closes the name.
    pub(super) quoted: bool,
}

/// How far behind the name the tag that it stands in may end, in bytes.
const TAG: usize = 96;
/// The most backslashes and quotes around a word that is passed over.
const QUOTES: usize = super::ESCAPES + 1;

/// The operator after a name that ends at `end`.
#[inline]
pub(super) fn after_name(text: &Text<'_>, start: usize, end: usize) -> Result<Found, Stop> {
    let Some(byte) = text.byte(end)? else { return Err(Stop::Nothing) };
    let (at, quoted) = match byte {
        b'"' | b'\'' | b'`' | b'\\' => match escaped_quote(text, end)? {
            Some((quote, _)) => (quote.saturating_add(1), true),
            None => return Err(Stop::Nothing),
        },
        _ => (end, false),
    };
    let at = skip_brackets(text, at)?;
    let after = skip(text, at, SPACE, is_blank)?;
    let Some(byte) = text.byte(after)? else { return Err(Stop::Nothing) };
    let found = |(operator, length): (Operator, usize)| Found {
        operator,
        start: after,
        end: after.saturating_add(length),
        quoted,
    };
    if let Some(sign) = sign(text, after, byte)? {
        return Ok(found(sign));
    }
    match byte {
        b'>' if !quoted && after == end && is_tag(text, name_start(text, start)?)? => {
            Ok(found((Operator::Element, 1)))
        }
        b'>' => Ok(found((Operator::Arrow, 1))),
        b'(' if after == at => call(text, after).map(found),
        b'\n' | b'\r' => pair(text, after, quoted),
        _ if after > at => spaced(text, start, after, quoted),
        _ => Err(Stop::Nothing),
    }
}

/// Brackets that close an index or a call around a name: one or two.
fn skip_brackets(text: &Text<'_>, mut at: usize) -> Result<usize, Stop> {
    for _ in 0..2 {
        if !matches!(text.byte(at)?, Some(b']' | b')')) {
            break;
        }
        at = at.saturating_add(1);
    }
    Ok(at)
}

const fn is_sign(byte: u8) -> bool {
    matches!(byte, b'=' | b':' | b'?' | b'|' | b'-' | b',' | b'!')
}

/// How many bytes at the end of a text may be an operator that has not ended.
pub(super) fn signs_at_end(text: &Text<'_>) -> usize {
    text.bytes().iter().rev().take(2).take_while(|byte| is_sign(**byte)).count()
}

/// An operator of signs, and its length.
#[inline]
fn sign(text: &Text<'_>, at: usize, byte: u8) -> Result<Option<(Operator, usize)>, Stop> {
    if !is_sign(byte) {
        return Ok(None);
    }
    if byte == b',' {
        return Ok(Some((Operator::Comma, 1)));
    }
    let next = text.byte(at.saturating_add(1))?;
    let sign = match (byte, next) {
        (b'=' | b'!', Some(b'=' | b'~')) => {
            let third = text.byte(at.saturating_add(2))? == Some(b'=');
            (Operator::Compare, if third { 3 } else { 2 })
        }
        (b'=' | b'-', Some(b'>')) => (Operator::Arrow, 2),
        (b'=', _) => (Operator::Equals, 1),
        (b':', Some(b':')) if text.byte(at.saturating_add(2))? == Some(b'=') => {
            (Operator::Equals, 3)
        }
        // A path, not a value.
        (b':', Some(b':')) => return Err(Stop::Nothing),
        (b':' | b'?', Some(b'=')) => (Operator::Equals, 2),
        (b':', _) => (Operator::Colon, 1),
        (b'?', Some(b':')) => (Operator::Colon, 2),
        (b'?', Some(b'?')) | (b'|', Some(b'|')) => (Operator::Or, 2),
        _ => return Ok(None),
    };
    let (operator, length) = sign;
    let assigns = operator == Operator::Or && text.byte(at.saturating_add(2))? == Some(b'=');
    Ok(Some((operator, if assigns { 3 } else { length })))
}

fn call(text: &Text<'_>, at: usize) -> Result<(Operator, usize), Stop> {
    let inside = skip(text, at.saturating_add(1), SPACE, is_space)?;
    match escaped_quote(text, inside)? {
        Some(_) => Ok((Operator::Call, 1)),
        None => Err(Stop::Nothing),
    }
}

/// What follows a name and white space where no sign does.
fn spaced(text: &Text<'_>, start: usize, at: usize, quoted: bool) -> Result<Found, Stop> {
    let found = |operator, start, end| Found { operator, start, end, quoted };
    let byte = text.byte(at)?.unwrap_or_default();
    if matches!(byte, b'v' | b'V') && quoted {
        return pair(text, at, quoted);
    }
    if !quoted {
        let name = name_start(text, start)?;
        if is_flag(text, name)? || is_scheme(text, start)? {
            return if byte == b'-' {
                Err(Stop::Nothing)
            } else {
                Ok(found(Operator::Flag, at, at))
            };
        }
        if is_word(byte) && is_tag(text, name)? {
            return tag_end(text, at)
                .map(|end| found(Operator::Element, end, end.saturating_add(1)));
        }
    }
    if matches!(byte, b'i' | b'I')
        && let Some(end) = word(text, at, b"is")?
    {
        return is(text, end).map(|end| found(Operator::Is, at, end));
    }
    if (is_quote(byte) || byte == b'\\') && !quoted && escaped_quote(text, at)?.is_some() {
        return Ok(found(Operator::Space, at, at));
    }
    Err(Stop::Nothing)
}

/// The end of the word `is`, and of a colon after it; white space must follow.
fn is(text: &Text<'_>, at: usize) -> Result<usize, Stop> {
    let at = skip(text, at, 1, |byte| byte == b':')?;
    match text.byte(at)? {
        Some(byte) if is_blank(byte) => Ok(at),
        _ => Err(Stop::Nothing),
    }
}

/// The end of a tag, from its attributes on.
fn tag_end(text: &Text<'_>, at: usize) -> Result<usize, Stop> {
    let end = skip(text, at, TAG, |byte| !matches!(byte, b'<' | b'>' | b'\n'))?;
    let closes =
        text.byte(end)? == Some(b'>') && !matches!(text.before(end)?, Some(b'/' | b'-' | b'='));
    if closes { Ok(end) } else { Err(Stop::Nothing) }
}

/// The word `value` and an operator, on the same or the next line.
pub(super) fn pair(text: &Text<'_>, at: usize, quoted: bool) -> Result<Found, Stop> {
    let start = skip(text, at, SPACE, is_space)?;
    let key = skip(text, start, QUOTES, |byte| is_quote(byte) || byte == b'\\')?;
    let Some(end) = word(text, key, b"value")? else { return Err(Stop::Nothing) };
    let end = skip(text, end, QUOTES, |byte| is_quote(byte) || byte == b'\\')?;
    let end = skip(text, end, SPACE, is_blank)?;
    match text.byte(end)? {
        Some(b':' | b'=') => {
            Ok(Found { operator: Operator::Pair, start, end: end.saturating_add(1), quoted })
        }
        _ => Err(Stop::Nothing),
    }
}
