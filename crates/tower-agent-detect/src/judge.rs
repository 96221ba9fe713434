//! Whether the value of a name that by itself says "secret" is one.

mod case;
mod name;
mod structured;
#[cfg(test)]
mod tests;
mod value;
mod words;

use crate::{
    assign::{self, Closing, Operator, Value, value_end, value_of_name},
    key_block,
    runs::Runs,
    text::{Stop, Text, Verdict},
    trail::Trails,
};
use case::Case;
pub(crate) use name::Kind;
use name::PASSWORD;
pub(crate) use structured::{Holds, Part, holds, is_plain, part, singular};
use value::{Shape, is_code, is_none, is_prose, is_telling_name};

/// What the generic names have in them. A name is judged where one of these stands.
#[rustfmt::skip]
pub(crate) const NAMES: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "pwd", "pass", "_pw", "-pw", "secret",
    "token", "_key", "-key", "apikey", "accesskey", "privatekey", "encryptionkey", "signingkey",
    "accountkey", "masterkey", "authkey", "sharedkey", "subscriptionkey", "licensekey",
    "sessionkey", "api key", "access key", "private key", "credential", "_auth", "\"auth\"",
    "authorization", "bearer", "sessionid", "session_id", "sessid", "identified by",
];

/// The most bytes of a value that are judged: a value that is longer is judged by its beginning.
const PROBE: usize = 128;
/// The longest character, in bytes.
const CHARACTER: usize = 4;
/// The most bytes of a value that are found at once. What is longer goes on as a part of its own.
const MAX: usize = key_block::MOST + CHARACTER + assign::ESCAPES;

/// Judges the value of the name that a word of [`NAMES`] stands in, from `start` to `end`; and the id of the rule.
#[inline]
pub(crate) fn generic(
    text: &Text<'_>,
    word: usize,
    (start, end): (usize, usize),
    trails: &mut Trails,
) -> (Verdict, &'static str) {
    match value_of(text, word, (start, end)) {
        // Of several words in a name, each has the same value.
        Ok(value) => match trails.seen().judged(text, &value) {
            Some(judged) => judged,
            None => {
                let judged = of_value(text, &value, trails);
                trails.seen().judge(text, value, judged);
                judged
            }
        },
        Err(verdict) => (verdict, PASSWORD),
    }
}

fn value_of(text: &Text<'_>, word: usize, (start, end): (usize, usize)) -> Result<Value, Verdict> {
    let end = match NAMES.get(word) {
        // The quote behind the word is needed once more.
        Some(&"\"auth\"") => end.saturating_sub(1),
        // Most words that begin so are about something else, or stand in the list themselves.
        Some(&"pass") => match text.byte(end) {
            Ok(Some(byte)) if byte.is_ascii_alphabetic() => return Err(Verdict::Nothing),
            Err(stop) => return Err(Verdict::stopped(stop, text.len())),
            Ok(_) => end,
        },
        _ => end,
    };
    value_of_name(text, start, end)
}

/// What ends the value of such a name.
pub(crate) fn closing(text: &Text<'_>, word: usize, place: (usize, usize)) -> Option<Closing> {
    value_of(text, word, place).ok().map(|value| value.closing())
}

/// What goes on behind a part of a value that was as long as a part may be. What is masked in it ends it.
pub(crate) fn rest(text: &Text<'_>, start: usize, closing: Closing, runs: &mut Runs) -> Verdict {
    let end = match closing.end(text, start, MAX, runs) {
        Ok(end) => part_end(text, (start, end), closing),
        Err(Stop::Nothing) => text.len(),
        Err(Stop::Undecided) => return Verdict::Undecided(start),
    };
    let end = end.min(text.len());
    if end > start { Verdict::Found(start, end) } else { Verdict::Nothing }
}

fn of_value(text: &Text<'_>, value: &Value, trails: &mut Trails) -> (Verdict, &'static str) {
    let name = text.bytes().get(value.name.0..value.name.1).unwrap_or_default();
    let kind = trails.seen().kind(text.bytes(), value.name, name::kind);
    let Some(kind) = kind else { return (Verdict::Nothing, PASSWORD) };
    if trails.seen().swallows(value, kind.rule) {
        return (Verdict::Nothing, kind.rule);
    }
    let verdict = match judge(text, value, (name, kind), trails.runs()) {
        Ok(Some(end)) if end <= text.len() => Verdict::Found(value.start, end),
        // It would reach into what was masked.
        Ok(Some(_)) => Verdict::Nothing,
        Ok(None) => Verdict::Nothing,
        Err(stop) => Verdict::stopped(stop, value.start),
    };
    (verdict, kind.rule)
}

/// Where the value ends if it is a secret.
fn judge(
    text: &Text<'_>,
    value: &Value,
    (name, kind): (&[u8], Kind),
    runs: &mut Runs,
) -> Result<Option<usize>, Stop> {
    let mut end = value_end(text, value, PROBE, runs)?;
    let mut bytes = text.bytes().get(value.start..end).unwrap_or_default();
    while value.operator == Operator::Is
        && let [before @ .., b'.' | b'!' | b'?' | b':'] = bytes
    {
        bytes = before;
        end = end.saturating_sub(1);
    }
    if bytes.is_empty() {
        return Ok(None);
    }
    let after = text.byte(end)?;
    let case = Case { text, value, name, kind, bytes, shape: Shape::of(bytes), end, after };
    if !case.is_secret()? {
        return Ok(None);
    }
    if !goes_on(bytes) {
        return Ok(Some(end));
    }
    let end = value_end(text, value, MAX, runs)?;
    Ok(Some(part_end(text, (value.start, end), value.closing())))
}

/// Where a part of a value ends that is as long as it may be: the backslashes there may belong to the closing quote.
fn part_end(text: &Text<'_>, (start, end): (usize, usize), closing: Closing) -> usize {
    let Closing::Quote(quote) = closing else { return end };
    if !is_part(end.saturating_sub(start)) {
        return end;
    }
    let before = text.bytes().get(start..end).unwrap_or_default().iter().rev();
    let escapes = before.take(quote.escapes).take_while(|byte| **byte == b'\\').count();
    end.saturating_sub(escapes)
}

/// Whether what was found of a value is as long as a part may be, so that more of it may follow.
pub(crate) const fn is_part(length: usize) -> bool {
    length >= key_block::MOST
}

/// Whether a value of this length without quotes ends where any other one does that begins within it.
pub(crate) const fn is_whole(length: usize) -> bool {
    !is_part(length)
}

/// Whether more may follow what is judged of a value.
const fn goes_on(bytes: &[u8]) -> bool {
    bytes.len().saturating_add(CHARACTER) > PROBE
}

/// For structured data: whether a key says by itself that its value is a secret: `access_token`, `X-Api-Key`, `DB_PASSWORD`.
pub(crate) fn is_sensitive_key(key: &str) -> bool {
    let key = structured::behind_mask(key).as_bytes();
    let exact = [&b"auth"[..], b"bearer"];
    if exact.iter().any(|word| key.eq_ignore_ascii_case(word)) {
        return false;
    }
    name::kind(key).is_some() || words::lists(&["cookie", "set-cookie"], key)
}

/// Whether a text under such a key is a secret, and neither empty nor a stand-in, a flag, a path or a reference. One without quotes
/// must have more than letters.
pub(crate) fn is_secret_value(value: &str, quoted: bool) -> bool {
    let value = value.as_bytes();
    let shape = Shape::of(value);
    let named = is_telling_name(value, &shape);
    let prose = shape.blanks > 0 && is_prose(value);
    let code = !quoted && !shape.is_random(16) && (is_code(value) || !shape.is_odd());
    !is_none(value, &shape) && !named && !prose && !code
}
