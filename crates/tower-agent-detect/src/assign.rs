//! A name, an operator and a value.

mod name;
mod open;
mod operator;
#[cfg(test)]
mod tests;
mod value;

use crate::text::{Stop, Text, Verdict};

pub(crate) use value::{Closing, value_end};

/// What stands between a name and its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Operator {
    /// `=`, `:=`, `::=` or `?=`.
    Equals,
    /// `:` or `?:`.
    Colon,
    /// `==`, `!=` and the like.
    Compare,
    /// `=>`, `->`, or a `>` that ends no tag.
    Arrow,
    /// `||` or `??`, before a value that stands in for a missing one.
    Or,
    /// `,`.
    Comma,
    /// `(` and a quote.
    Call,
    /// White space after a name that begins with a dash, or after the word `bearer`.
    Flag,
    /// The end of the tag that the name stands in.
    Element,
    /// The word `value` and an operator, after a name that is itself a value.
    Pair,
    /// White space and a quote.
    Space,
    /// The word `is`, in prose.
    Is,
}

/// A quote that opens a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Quote {
    /// The quote itself.
    pub(crate) mark: u8,
    /// How many backslashes stand before it, as in JSON inside JSON.
    pub(crate) escapes: usize,
    /// Whether it stands three times.
    pub(crate) triple: bool,
}

/// A value that follows a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Value {
    /// Where the value begins.
    pub(crate) start: usize,
    pub(crate) operator: Operator,
    /// Where the operator begins.
    pub(crate) operator_at: usize,
    /// The quote that opens the value.
    pub(crate) quote: Option<Quote>,
    /// The whole name around the keyword: letters, digits, `_`, `-` and `.`, at most [`NAME`] bytes back.
    pub(crate) name: (usize, usize),
    /// Whether a quote closes the name.
    pub(crate) name_quoted: bool,
    /// Whether a word such as `Bearer` was passed over between the quote and the value.
    pub(crate) scheme: bool,
}

impl Value {
    /// Whether it ends before white space or a delimiter, wherever it begins.
    pub(crate) fn is_bare(&self) -> bool {
        self.quote.is_none() && self.operator != Operator::Element
    }
}

/// How much of a name is looked at before its keyword, in bytes.
const NAME: usize = 64;
/// How far behind a keyword the end of the name is looked for, in bytes.
const GAP: usize = 40;
/// How much white space is passed over in one place, in bytes.
const SPACE: usize = 64;
/// The most backslashes before a quote: JSON inside JSON, four times.
pub(crate) const ESCAPES: usize = 15;

/// The value of a name that a keyword stands in, in which case up to [`GAP`] bytes of further words may follow the keyword.
///
/// # Errors
/// What to say of the place instead: that nothing is there, or that what follows decides.
#[inline]
pub(crate) fn value_after(text: &Text<'_>, start: usize, end: usize) -> Result<Value, Verdict> {
    let end = name::words_end(text, start, end).map_err(|stop| begins(text, stop))?;
    value_from(text, start, end)
}

/// As [`value_after`], for a name of one word: only letters, digits, `_`, `-` and `.` may follow the keyword.
///
/// # Errors
/// As there.
#[inline]
pub(crate) fn value_of_name(text: &Text<'_>, start: usize, end: usize) -> Result<Value, Verdict> {
    let end = name::name_end(text, end).map_err(|stop| begins(text, stop))?;
    value_from(text, start, end)
}

fn value_from(text: &Text<'_>, start: usize, end: usize) -> Result<Value, Verdict> {
    // What may be an operator may also be how a value begins, behind a flag.
    let found = operator::after_name(text, start, end)
        .map_err(|stop| Verdict::stopped(stop, text.len() - operator::signs_at_end(text)))?;
    open::value_behind(text, start, end, found)
}

/// Where no value has begun, none begins before what follows.
fn begins(text: &Text<'_>, stop: Stop) -> Verdict {
    Verdict::stopped(stop, text.len())
}

const fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The first place from `at` on that holds no such byte; nothing if there are more than `most` of them.
#[inline]
fn skip(text: &Text<'_>, at: usize, most: usize, such: fn(u8) -> bool) -> Result<usize, Stop> {
    for at in at..=at.saturating_add(most) {
        if !text.byte(at)?.is_some_and(such) {
            return Ok(at);
        }
    }
    Err(Stop::Nothing)
}

/// Where a lower-case word ends that stands here in any case; none if it does not.
fn word(text: &Text<'_>, at: usize, word: &[u8]) -> Result<Option<usize>, Stop> {
    for (offset, expected) in word.iter().enumerate() {
        match text.byte(at.saturating_add(offset))? {
            Some(byte) if byte.eq_ignore_ascii_case(expected) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(at.saturating_add(word.len())))
}

/// Where the backslashes end that stand before a quote, and the quote; none if no quote follows them.
fn escaped_quote(text: &Text<'_>, at: usize) -> Result<Option<(usize, u8)>, Stop> {
    let mut quote = at;
    while text.byte(quote)? == Some(b'\\') {
        quote = quote.saturating_add(1);
        if quote.saturating_sub(at) > ESCAPES {
            return Ok(None);
        }
    }
    Ok(text.byte(quote)?.filter(|byte| is_quote(*byte)).map(|mark| (quote, mark)))
}
