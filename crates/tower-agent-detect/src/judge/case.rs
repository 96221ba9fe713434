//! A value and what surrounds it.

use super::{
    CHARACTER, MAX, goes_on,
    name::{AUTHORIZATION, Kind, PASSWORD, Strength},
    value::{
        Shape, begins_with_algorithm, is_call, is_code, is_compound, is_identifier, is_none,
        is_prose, is_telling_name,
    },
};
use crate::{
    assign::{Operator, Value, value_end},
    runs::Runs,
    text::{End, Stop, Text, is_word},
};

/// How far before a name the beginning of its line is looked for, in bytes.
const LINE: usize = 32;

/// A value with what surrounds it.
pub(super) struct Case<'t, 'a> {
    pub(super) text: &'t Text<'a>,
    pub(super) value: &'t Value,
    pub(super) name: &'t [u8],
    pub(super) kind: Kind,
    pub(super) bytes: &'t [u8],
    pub(super) shape: Shape,
    pub(super) end: usize,
    /// The byte behind the value.
    pub(super) after: Option<u8>,
}

impl Case<'_, '_> {
    pub(super) fn is_secret(&self) -> Result<bool, Stop> {
        let secret = match self.value.quote {
            _ if self.is_authorization() => self.is_credential(),
            None if self.value.operator != Operator::Element => self.is_bare_secret()?,
            None => self.is_quoted_secret() && self.is_element()?,
            Some(_) => self.is_quoted_secret(),
        };
        let filler = self.kind.rule != PASSWORD && self.shape.is_filler();
        Ok(secret && !filler && !is_none(self.bytes, &self.shape))
    }

    /// Whether it stands behind words such as `Authorization: Bearer`.
    fn is_authorization(&self) -> bool {
        self.value.scheme
            && self.kind.rule == AUTHORIZATION
            && self.value.operator != Operator::Flag
    }

    fn is_credential(&self) -> bool {
        let word = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
        let rest = self.bytes.iter().skip_while(|byte| word(byte));
        let ends = rest.copied().all(|byte| matches!(byte, b'=' | b':' | b'.' | b'!' | b'?'));
        let number = self.shape.digits == self.shape.length && self.shape.length < 8;
        let token = self.shape.length >= 4 && self.shape.blanks == 0 && !number;
        token && (self.shape.is_mixed() || !ends)
    }

    /// Whether a closing tag follows. Where one is looked for no longer, none needs to.
    fn is_element(&self) -> Result<bool, Stop> {
        let mut end = self.end;
        if goes_on(self.bytes) {
            end = value_end(self.text, self.value, MAX, &mut Runs::default())?;
            if end.saturating_sub(self.value.start) > MAX - CHARACTER {
                return Ok(true);
            }
        }
        let mut at = end;
        while at < end.saturating_add(LINE)
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
        if !self.is_paired() {
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
        let secret = match kind.strength {
            Strength::Strong if shape.blanks > 0 => {
                assigned && (self.is_data() || kind.rule == PASSWORD) && !is_prose(bytes)
            }
            Strength::Strong if self.is_data() => {
                kind.rule == PASSWORD && !bytes.contains(&b'_') || !is_compound(bytes, shape)
            }
            Strength::Strong if assigned && kind.rule == PASSWORD => true,
            Strength::Strong if assigned => shape.is_odd(),
            Strength::Strong => shape.is_odd() && shape.digits > 0,
            Strength::Medium if self.is_data() => {
                let word = shape.upper == 1 && shape.letters_only() && !shape.is_mixed();
                shape.blanks == 0 && shape.length >= 3 && !word && !is_compound(bytes, shape)
            }
            Strength::Medium => shape.is_random(10),
            Strength::Weak => shape.is_random(16),
        };
        secret && !is_telling_name(bytes, shape) && !self.repeats_name()
    }

    /// Whether the value is its own name, and perhaps a sign behind it: `password = "password\n"`.
    fn repeats_name(&self) -> bool {
        let rest = self.bytes.split_at_checked(self.name.len());
        rest.is_some_and(|(value, rest)| {
            value.eq_ignore_ascii_case(self.name)
                && matches!(rest, [] | [b'\\', _] | [b'.' | b':' | b' ' | b'!'])
        })
    }

    /// What looks like a secret without quotes, unless it is a piece of a program.
    fn is_bare_secret(&self) -> Result<bool, Stop> {
        let bytes = self.bytes;
        if !self.is_bare_candidate()? || is_call(bytes) || is_identifier(bytes) && self.is_type()? {
            return Ok(false);
        }
        let program = || is_code(bytes) || begins_with_algorithm(bytes) || self.names_a_secret();
        Ok(self.shape.is_random(16) || !program())
    }

    fn is_bare_candidate(&self) -> Result<bool, Stop> {
        let shape = &self.shape;
        let operator = self.value.operator;
        if !matches!(
            operator,
            Operator::Equals | Operator::Colon | Operator::Flag | Operator::Is | Operator::Pair
        ) {
            return Ok(false);
        }
        match self.kind.strength {
            Strength::Weak => Ok(shape.is_random(16)),
            Strength::Medium => Ok(shape.is_random(10)
                || shape.length >= 8
                    && shape.digits > 0
                    && self.is_tight()
                    && self.ends_openly()?),
            Strength::Strong if shape.is_random(16) => Ok(true),
            Strength::Strong => match operator {
                Operator::Equals => self.is_assigned(),
                Operator::Colon => self.is_entry(),
                Operator::Flag | Operator::Pair => self.is_word_or_odd(),
                _ => Ok(self.kind.rule == PASSWORD && shape.is_odd() && shape.digits > 0),
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
            Operator::Comma => self.is_pair_of_arguments(),
            Operator::Space => quote != b'`' && !short,
            Operator::Call => !short,
            _ => true,
        }
    }

    /// Whether name and value are the first two of a call or a tuple, or a flag and its argument.
    fn is_pair_of_arguments(&self) -> bool {
        let before = |at| self.text.before(at).ok().flatten();
        let quoted = matches!(before(self.value.operator_at), Some(b'"' | b'\'' | b'`'));
        let opens = self
            .value
            .name
            .0
            .checked_sub(1)
            .is_some_and(|quote| matches!(before(quote), Some(b'(' | b'[' | b'{')));
        quoted && (opens || self.name.starts_with(b"-"))
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
            // As in the manual of a program: `--password=PASSWORD`.
            let stands_in = self.name.starts_with(b"-") && shape.lower + shape.digits == 0;
            let member = self.name.starts_with(b"self.") || self.name.starts_with(b"this.");
            let plain = shape.digits > 0 && shape.length >= 4 || !word && shape.is_odd();
            let letters = shape.length >= 3 && (self.is_constant() || !self.bytes.contains(&b'_'));
            return Ok(!member
                && !stands_in
                && (plain && !self.is_argument()? || letters && self.ends_openly()?));
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
            Some(b';') => {
                let next = self.end.saturating_add(1);
                // What is masked there did not begin the next pair, or this value would be masked, too.
                let is_masked = self.text.end() == End::Masked && next >= self.text.len();
                !is_masked && self.text.byte(next)?.is_some_and(is_word)
            }
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
