//! From the operator to where the value begins.

use super::{
    Operator, Quote, SPACE, Value, begins, escaped_quote, is_blank, is_quote, is_space,
    name::name_start,
    operator::{Found, pair},
    skip, word,
};
use crate::text::{Stop, Text, Verdict, is_word};

/// The longest type between a colon and an equals sign, in bytes.
const TYPE: usize = 32;
/// Words that name how a value is meant and are no part of it.
const SCHEMES: [&[u8]; 4] = [b"bearer", b"basic", b"token", b"apikey"];

/// The value behind an operator.
pub(super) fn value_behind(
    text: &Text<'_>,
    start: usize,
    end: usize,
    found: Found,
) -> Result<Value, Verdict> {
    let first = first_byte(text, found).map_err(|stop| begins(text, stop))?;
    // From here on a byte that was seen may belong to the value.
    open(text, start, end, found, first).map_err(|stop| Verdict::stopped(stop, first))
}

/// The first byte behind an operator and white space. A line may end there before a quote or a block of YAML.
fn first_byte(text: &Text<'_>, found: Found) -> Result<usize, Stop> {
    let at = skip(text, found.end, SPACE, is_blank)?;
    match text.byte(at)? {
        None => Err(Stop::Nothing),
        Some(b'\n' | b'\r') => next_line(text, at, found.operator),
        Some(b'|' | b'>') if matches!(found.operator, Operator::Colon | Operator::Pair) => {
            block(text, at)
        }
        Some(_) => Ok(at),
    }
}

fn next_line(text: &Text<'_>, at: usize, operator: Operator) -> Result<usize, Stop> {
    let at = skip(text, at, SPACE, is_space)?;
    match operator {
        Operator::Element => Ok(at),
        Operator::Flag | Operator::Is => Err(Stop::Nothing),
        _ if escaped_quote(text, at)?.is_some() => Ok(at),
        _ => Err(Stop::Nothing),
    }
}

/// The first line of a block: `|` or `>`, a sign for how it ends, and a line that is set in.
fn block(text: &Text<'_>, at: usize) -> Result<usize, Stop> {
    let at = skip(text, at.saturating_add(1), 2, |byte| matches!(byte, b'-' | b'+' | b'0'..=b'9'))?;
    let line = skip(text, at, 2, |byte| matches!(byte, b'\n' | b'\r'))?;
    let first = skip(text, line, SPACE, is_blank)?;
    if line > at && first > line && text.byte(first)?.is_some_and(|byte| !is_space(byte)) {
        return Ok(first);
    }
    Err(Stop::Nothing)
}

fn open(
    text: &Text<'_>,
    start: usize,
    end: usize,
    mut found: Found,
    first: usize,
) -> Result<Value, Stop> {
    let mut first = first;
    if found.operator == Operator::Comma
        && let Ok(pair) = answered(pair(text, first, found.quoted))?
    {
        found = pair;
        first = first_byte(text, found)?;
    }
    if found.operator == Operator::Colon
        && let Some(behind) = behind_type(text, first)?
    {
        first = behind;
        found.operator = Operator::Equals;
    }
    let (value, quote) = quote(text, first)?;
    let behind = behind_scheme(text, value)?;
    Ok(Value {
        start: behind.unwrap_or(value),
        operator: found.operator,
        operator_at: found.start,
        quote,
        name: (name_start(text, start)?, end),
        name_quoted: found.quoted,
        scheme: behind.is_some(),
    })
}

/// Tells an answer, be it that nothing is there, from having to wait for one.
fn answered<T>(result: Result<T, Stop>) -> Result<Result<T, ()>, Stop> {
    match result {
        Ok(found) => Ok(Ok(found)),
        Err(Stop::Nothing) => Ok(Err(())),
        Err(Stop::Undecided) => Err(Stop::Undecided),
    }
}

/// The quote behind a type and an equals sign, as in `: &str = "..."`.
fn behind_type(text: &Text<'_>, at: usize) -> Result<Option<usize>, Stop> {
    let known = text.bytes().get(at..at.saturating_add(TYPE));
    if known.is_some_and(|known| memchr::memchr(b'=', known).is_none()) {
        return Ok(None);
    }
    let mut blank = false;
    for at in at..at.saturating_add(TYPE) {
        match text.byte(at)? {
            Some(b'=') if blank => {
                let at = skip(text, at.saturating_add(1), SPACE, is_space)?;
                let (_, quote) = quote(text, at)?;
                return Ok(quote.map(|_| at));
            }
            Some(b' ') if blank => return Ok(None),
            Some(b' ') => blank = true,
            Some(byte) if is_type(byte) => blank = false,
            _ => return Ok(None),
        }
    }
    Ok(None)
}

const fn is_type(byte: u8) -> bool {
    is_word(byte)
        || matches!(byte, b'&' | b'\'' | b'<' | b'>' | b'[' | b']' | b':' | b'?' | b'.' | b'*')
}

/// The place behind the opening quote, if there is one; a letter that says what kind of text it is or a bracket may stand before it.
fn quote(text: &Text<'_>, at: usize) -> Result<(usize, Option<Quote>), Stop> {
    let inside = match text.byte(at)? {
        Some(b'(' | b'[' | b'{') => skip(text, at.saturating_add(1), SPACE, is_space)?,
        Some(b'b' | b'B' | b'r' | b'R' | b'f' | b'F' | b'u' | b'U' | b'L' | b'@' | b'$') => {
            let second = text.byte(at.saturating_add(1))?;
            let prefixed = second.is_some_and(is_quote);
            if prefixed { at.saturating_add(1) } else { at }
        }
        _ => at,
    };
    let Some((quote, mark)) = escaped_quote(text, inside)? else { return Ok((at, None)) };
    let escapes = quote.saturating_sub(inside);
    let behind = quote.saturating_add(1);
    let triple = escapes == 0
        && text.byte(behind)? == Some(mark)
        && text.byte(behind.saturating_add(1))? == Some(mark);
    let behind = if triple { behind.saturating_add(2) } else { behind };
    Ok((behind, Some(Quote { mark, escapes, triple })))
}

/// The place behind a word such as `Bearer` and white space.
fn behind_scheme(text: &Text<'_>, at: usize) -> Result<Option<usize>, Stop> {
    if !matches!(text.byte(at)?, Some(b'b' | b'B' | b't' | b'T' | b'a' | b'A')) {
        return Ok(None);
    }
    for scheme in SCHEMES {
        let Some(end) = word(text, at, scheme)? else { continue };
        let behind = skip(text, end, SPACE, is_blank)?;
        return Ok((behind > end).then_some(behind));
    }
    Ok(None)
}
