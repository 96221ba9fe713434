//! Whether the value of a name that by itself says "secret" is one.

mod name;
#[cfg(test)]
mod tests;
mod value;
mod words;

use crate::{
    assign::{Operator, Value, value_end, value_of_name},
    text::{Stop, Text, Verdict, is_word},
};
pub(crate) use name::Strength;
use name::{AUTHORIZATION, Kind, PASSWORD};
use value::{
    Shape, begins_with_algorithm, is_code, is_compound, is_filler, is_identifier, is_none,
    is_prose, is_telling_name,
};

/// What the generic names have in them. A name is judged where one of these stands.
pub(crate) const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "pass",
    "_pw",
    "-pw",
    "secret",
    "token",
    "_key",
    "-key",
    "apikey",
    "accesskey",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "accountkey",
    "masterkey",
    "authkey",
    "sharedkey",
    "subscriptionkey",
    "licensekey",
    "sessionkey",
    "api key",
    "access key",
    "private key",
    "credential",
    "_auth",
    "\"auth\"",
    "authorization",
    "bearer",
    "sessionid",
    "session_id",
    "sessid",
    "identified by",
];

/// The most bytes of a value that are judged and masked.
const MAX: usize = 512;
/// How far before a name the beginning of its line is looked for, in bytes.
const LINE: usize = 32;

/// Judges the value of the name that a word of [`NAMES`] stands in, from `start` to `end`; and the id of the rule.
#[inline]
pub(crate) fn generic(
    text: &Text<'_>,
    word: usize,
    start: usize,
    end: usize,
) -> (Verdict, &'static str) {
    let end = match NAMES.get(word) {
        // The quote behind the word is needed once more.
        Some(&"\"auth\"") => end.saturating_sub(1),
        Some(&"bearer") if text.byte(end) == Ok(Some(b' ')) => return bearer(text, start, end),
        Some(&"bearer") if text.byte(end) == Err(Stop::Undecided) => {
            return (Verdict::Undecided(text.len()), AUTHORIZATION);
        }
        _ => end,
    };
    match value_of_name(text, start, end) {
        Ok(value) => of_value(text, &value),
        Err(verdict) => (verdict, PASSWORD),
    }
}

/// What stands behind the word `bearer` and a space.
fn bearer(text: &Text<'_>, start: usize, end: usize) -> (Verdict, &'static str) {
    let value = Value {
        start: end.saturating_add(1),
        operator: Operator::Flag,
        operator_at: end,
        quote: None,
        name: (start, end),
        name_quoted: false,
        scheme: false,
        typed: false,
    };
    of_value(text, &value)
}

fn of_value(text: &Text<'_>, value: &Value) -> (Verdict, &'static str) {
    let name = text.bytes().get(value.name.0..value.name.1).unwrap_or_default();
    let Some(kind) = name::kind(name) else { return (Verdict::Nothing, PASSWORD) };
    let verdict = match judge(text, value, name, kind) {
        Ok(Some(end)) => Verdict::Found(value.start, end),
        Ok(None) => Verdict::Nothing,
        Err(stop) => Verdict::stopped(stop, value.start),
    };
    (verdict, kind.rule)
}

/// A value with what surrounds it.
struct Case<'t, 'a> {
    text: &'t Text<'a>,
    value: &'t Value,
    name: &'t [u8],
    kind: Kind,
    bytes: &'t [u8],
    shape: Shape,
    end: usize,
    /// The byte behind the value.
    after: Option<u8>,
}

/// Where the value ends if it is a secret.
fn judge(text: &Text<'_>, value: &Value, name: &[u8], kind: Kind) -> Result<Option<usize>, Stop> {
    let mut end = value_end(text, value, MAX)?;
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
    let shape = Shape::of(bytes);
    let case = Case { text, value, name, kind, bytes, shape, end, after };
    if is_none(bytes, &case.shape) || kind.rule != PASSWORD && is_filler(bytes, &case.shape) {
        return Ok(None);
    }
    let secret = match value.quote {
        _ if value.scheme && kind.rule == AUTHORIZATION => case.is_credential(),
        Some(_) => case.is_quoted_secret(),
        None if value.operator == Operator::Element => {
            case.is_element()? && case.is_quoted_secret()
        }
        None => case.is_bare_secret()?,
    };
    Ok(secret.then_some(end))
}

impl Case<'_, '_> {
    /// Behind `Authorization: Bearer`.
    fn is_credential(&self) -> bool {
        let letters =
            |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'=' | b':');
        self.shape.length >= 4 && (self.shape.is_mixed() || !self.bytes.iter().all(letters))
    }

    /// Whether a closing tag follows.
    fn is_element(&self) -> Result<bool, Stop> {
        let mut at = self.end;
        while at < self.end.saturating_add(LINE)
            && self.text.byte(at)?.is_some_and(|byte| byte.is_ascii_whitespace())
        {
            at = at.saturating_add(1);
        }
        Ok(self.text.byte(at)? == Some(b'<') && self.text.byte(at.saturating_add(1))? == Some(b'/'))
    }

    /// Whether names and values are told apart by the form of the text, as in JSON, and not by a program.
    fn is_data(&self) -> bool {
        match self.value.operator {
            Operator::Colon => self.value.name_quoted,
            Operator::Element | Operator::Pair => true,
            _ => false,
        }
    }

    fn is_quoted_secret(&self) -> bool {
        let Self { bytes, shape, kind, .. } = self;
        if is_telling_name(bytes, shape) || !self.is_paired() {
            return false;
        }
        let assigned = matches!(
            self.value.operator,
            Operator::Equals
                | Operator::Colon
                | Operator::Pair
                | Operator::Element
                | Operator::Flag
        );
        match kind.strength {
            Strength::Strong if shape.blanks > 0 => {
                assigned && (self.is_data() || kind.rule == PASSWORD) && !is_prose(bytes)
            }
            Strength::Strong if self.is_data() => {
                !bytes.contains(&b'_') || !is_compound(bytes, shape)
            }
            Strength::Strong if assigned && kind.rule == PASSWORD => true,
            Strength::Strong if assigned => shape.is_odd(),
            Strength::Strong => shape.is_odd() && shape.digits > 0,
            Strength::Medium if self.is_data() => {
                shape.blanks == 0 && shape.length >= 3 && !is_compound(bytes, shape)
            }
            Strength::Medium => shape.is_random(10),
            Strength::Weak => shape.is_random(16),
        }
    }

    fn is_bare_secret(&self) -> Result<bool, Stop> {
        let Self { bytes, shape, kind, .. } = self;
        let generated = shape.is_random(16);
        let operator = self.value.operator;
        if !generated && (is_code(bytes) || begins_with_algorithm(bytes) || self.names_a_secret()) {
            return Ok(false);
        }
        if is_identifier(bytes) && self.is_type()? {
            return Ok(false);
        }
        let passes = matches!(
            operator,
            Operator::Equals | Operator::Colon | Operator::Flag | Operator::Is | Operator::Pair
        );
        match kind.strength {
            _ if !passes => Ok(false),
            Strength::Weak => Ok(generated),
            Strength::Medium if self.is_tight() && self.ends_openly()? => {
                Ok(shape.is_random(10) || shape.length >= 8 && shape.digits > 0)
            }
            Strength::Medium => Ok(shape.is_random(10)),
            Strength::Strong if generated => Ok(true),
            Strength::Strong => match operator {
                Operator::Equals => self.is_assigned(),
                Operator::Colon => self.is_entry(),
                Operator::Flag | Operator::Pair => self.is_word_or_odd(),
                _ => Ok(kind.rule == PASSWORD && shape.is_odd() && shape.digits > 0),
            },
        }
    }

    /// Whether what follows says that the value is a type: its parameters, or the value proper.
    fn is_type(&self) -> Result<bool, Stop> {
        let mut at = self.end;
        while at < self.end.saturating_add(LINE) && self.text.byte(at)? == Some(b' ') {
            at = at.saturating_add(1);
        }
        let next = self.text.byte(at)?;
        Ok(self.after == Some(b'<')
            || self.value.operator == Operator::Colon && at > self.end && next == Some(b'='))
    }

    /// Whether a quote or a mark of its own says that these are a name and a value.
    fn is_paired(&self) -> bool {
        let quote = self.value.quote.map_or(0, |quote| quote.mark);
        let short = self.name.iter().rev().take(4).rev().all(|byte| b"pasPAS".contains(byte));
        match self.value.operator {
            Operator::Comma => {
                matches!(self.text.before(self.value.operator_at), Ok(Some(b'"' | b'\'' | b'`')))
            }
            Operator::Space => quote != b'`' && !short,
            Operator::Call => !short,
            _ => true,
        }
    }

    /// Whether the value is a name like `password2`, where no environment is set.
    fn names_a_secret(&self) -> bool {
        let set = self.is_constant() && self.is_tight() && self.shape.digits > 0;
        !set && is_telling_name(self.bytes, &Shape::default())
            || is_telling_name(self.bytes, &self.shape)
    }

    /// `name=value`.
    fn is_assigned(&self) -> Result<bool, Stop> {
        let shape = &self.shape;
        let word = is_identifier(self.bytes);
        if self.is_tight() {
            let member = self.name.starts_with(b"self.") || self.name.starts_with(b"this.");
            let plain = shape.digits > 0 && shape.length >= 4 || !word && shape.is_odd();
            let letters = shape.length >= 3 && (self.is_constant() || !self.bytes.contains(&b'_'));
            return Ok(!member && (plain && !self.is_argument()? || letters && self.ends_openly()?));
        }
        if word && shape.digits == 0 {
            return Ok(self.begins_line() && self.ends_line()? && self.is_small_word());
        }
        let number = shape.digits == shape.length;
        let odd = shape.digits > 0 || self.kind.rule == PASSWORD && shape.is_odd();
        Ok(shape.is_odd()
            && odd
            && !number
            && (!word || self.ends_openly()? || self.after == Some(b',')))
    }

    /// `name: value`.
    fn is_entry(&self) -> Result<bool, Stop> {
        let shape = &self.shape;
        if shape.digits == shape.length {
            return Ok(!self.value.name_quoted && self.kind.rule == PASSWORD && shape.length >= 5);
        }
        if shape.digits == 0 && is_identifier(self.bytes) {
            let one_space = self.value.start == self.value.operator_at.saturating_add(2);
            return Ok(one_space
                && self.begins_line()
                && self.ends_line()?
                && self.is_small_word());
        }
        let trimmed = self.bytes.trim_ascii_end();
        let end = trimmed
            .iter()
            .rposition(|byte| !matches!(byte, b'.' | b'!' | b'?' | b':'))
            .unwrap_or_default();
        let odd = Shape::of(trimmed.get(..=end).unwrap_or_default()).is_odd();
        Ok(odd && !self.is_argument()?)
    }

    /// `--name value`, or `name: NAME` and `value: value`.
    fn is_word_or_odd(&self) -> Result<bool, Stop> {
        let shape = &self.shape;
        Ok(shape.is_odd() || shape.length >= 6 && self.is_small_word() && self.ends_line()?)
    }

    fn is_small_word(&self) -> bool {
        self.shape.length >= 4
            && self.bytes.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-')
    }

    /// Whether the name is in capitals, as those of the environment are.
    fn is_constant(&self) -> bool {
        !self.name.iter().any(u8::is_ascii_lowercase)
    }

    /// Whether no white space stands around the operator.
    fn is_tight(&self) -> bool {
        self.value.operator == Operator::Equals
            && self.value.start == self.value.operator_at.saturating_add(1)
            && self.value.operator_at <= self.value.name.1.saturating_add(1)
    }

    /// Whether what follows is that of an argument or a statement in a program.
    fn is_argument(&self) -> Result<bool, Stop> {
        let next = self.end.saturating_add(1);
        Ok(is_identifier(self.bytes)
            && match self.after {
                Some(b')' | b'(') => true,
                Some(b',' | b';') => {
                    self.text.byte(next)?.is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
                }
                _ => false,
            })
    }

    /// Whether what follows is white space, the next pair of a query or of a connection, or the end of an outer text.
    fn ends_openly(&self) -> Result<bool, Stop> {
        Ok(match self.after {
            Some(b';') => self.text.byte(self.end.saturating_add(1))?.is_some_and(is_word),
            after => after.is_none_or(|byte| {
                byte.is_ascii_whitespace() || matches!(byte, b'&' | b'"' | b'\'' | b'`' | b'\\')
            }),
        })
    }

    /// Whether the value ends its line, but for a remark.
    fn ends_line(&self) -> Result<bool, Stop> {
        let mut at = self.end;
        while at < self.end.saturating_add(LINE)
            && matches!(self.text.byte(at)?, Some(b' ' | b'\t'))
        {
            at = at.saturating_add(1);
        }
        Ok(match self.text.byte(at)? {
            Some(b'#') => at > self.end,
            byte => byte.is_none_or(|byte| matches!(byte, b'\n' | b'\r')),
        })
    }

    /// Whether the name begins its line, but for white space and dashes.
    fn begins_line(&self) -> bool {
        let start = self.value.name.0;
        (start.saturating_sub(LINE)..=start).rev().find_map(|at| match self.text.before(at) {
            Ok(Some(b' ' | b'\t' | b'-')) => None,
            Ok(byte) => Some(byte.is_none_or(|byte| byte == b'\n')),
            Err(_) => Some(false),
        }) == Some(true)
    }
}

/// For structured data: whether a key says by itself that its value is a secret: `access_token`, `X-Api-Key`, `DB_PASSWORD`.
pub(crate) fn is_sensitive_key(key: &str) -> bool {
    let key = key.as_bytes();
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
