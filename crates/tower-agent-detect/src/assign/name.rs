//! Where a name begins and ends.

use super::{GAP, NAME, is_blank, word};
use crate::text::{Stop, Text, is_word};

/// The longest prefix of the name of a tag, in bytes.
const PREFIX: usize = 32;

/// Whether a byte stands in a name that is not in quotes.
const fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b'.')
}

/// Whether nothing but a name stands here for more than a gap, as in rows of words with signs between them.
#[inline]
fn is_long(text: &Text<'_>, end: usize) -> bool {
    let ahead = text.bytes().get(end..=end.saturating_add(GAP)).unwrap_or_default();
    let is_name = |byte: &u8| IS_NAME.get(usize::from(*byte)).is_some_and(|it| *it);
    // Most names end soon, which a few bytes tell.
    ahead.last().is_some_and(is_name)
        && ahead.iter().step_by(GAP / 5).all(is_name)
        && ahead.iter().fold(true, |all, byte| all & is_name(byte))
}

const IS_NAME: [bool; 256] = {
    let mut such = [false; 256];
    let mut byte = 0;
    let mut rest = such.as_mut_slice();
    while let [first, others @ ..] = rest {
        *first = is_name(byte);
        byte = byte.wrapping_add(1);
        rest = others;
    }
    such
};

/// Where a name of one word ends. Nothing if it goes on for more than a gap.
#[inline]
pub(super) fn name_end(text: &Text<'_>, end: usize) -> Result<usize, Stop> {
    if is_long(text, end) { Err(Stop::Nothing) } else { one_word(text, end) }
}

fn one_word(text: &Text<'_>, end: usize) -> Result<usize, Stop> {
    for at in end..end.saturating_add(GAP) {
        match text.byte(at)? {
            Some(b'-') if text.byte(at.saturating_add(1))? == Some(b'>') => return Ok(at),
            Some(byte) if is_name(byte) => {}
            _ => return Ok(at),
        }
    }
    Err(Stop::Nothing)
}

/// Where a name of several words ends. That of a flag or a tag has one word.
#[inline]
pub(super) fn words_end(text: &Text<'_>, start: usize, end: usize) -> Result<usize, Stop> {
    if is_long(text, end) { Err(Stop::Nothing) } else { several_words(text, start, end) }
}

fn several_words(text: &Text<'_>, start: usize, end: usize) -> Result<usize, Stop> {
    let mut last = end;
    let mut several = false;
    for at in end..end.saturating_add(GAP) {
        match text.byte(at)? {
            Some(b'-') if text.byte(at.saturating_add(1))? == Some(b'>') => return Ok(last),
            Some(byte) if is_blank(byte) => {
                if !several && is_marked(text, start)? || is_verb(text, at.saturating_add(1))? {
                    return Ok(last);
                }
                several = true;
            }
            Some(byte) if is_name(byte) => last = at.saturating_add(1),
            _ => return Ok(last),
        }
    }
    Err(Stop::Nothing)
}

/// Whether the word `is` stands here, by itself.
fn is_verb(text: &Text<'_>, at: usize) -> Result<bool, Stop> {
    let Some(end) = word(text, at, b"is")? else { return Ok(false) };
    Ok(text.byte(end)?.is_some_and(|byte| is_blank(byte) || byte == b':'))
}

/// Whether what stands before a name says that it is only one word.
fn is_marked(text: &Text<'_>, start: usize) -> Result<bool, Stop> {
    let name = name_start(text, start)?;
    Ok(is_flag(text, name)? || is_tag(text, name)? || is_scheme(text, start)?)
}

/// Whether the word `bearer` stands here, which white space alone parts from its value.
pub(super) fn is_scheme(text: &Text<'_>, start: usize) -> Result<bool, Stop> {
    let Some(end) = word(text, start, b"bearer")? else { return Ok(false) };
    Ok(text.byte(end)?.is_some_and(is_blank))
}

/// Where the name begins that goes on at `start`.
pub(super) fn name_start(text: &Text<'_>, start: usize) -> Result<usize, Stop> {
    let mut at = start;
    while text.before(at)?.is_some_and(is_name) {
        at = at.saturating_sub(1);
        if start.saturating_sub(at) >= NAME {
            break;
        }
    }
    Ok(at)
}

/// Whether a name is that of a flag, as in `--name value`.
pub(super) fn is_flag(text: &Text<'_>, name: usize) -> Result<bool, Stop> {
    if text.byte(name)? != Some(b'-') {
        return Ok(false);
    }
    Ok(text.before(name)?.is_none_or(|byte| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'[' | b'(')
    }))
}

/// Whether a name stands at the beginning of a tag, perhaps after a prefix: `<name>` or `<ns:name>`.
pub(super) fn is_tag(text: &Text<'_>, name: usize) -> Result<bool, Stop> {
    let before = text.before(name)?;
    if before != Some(b':') {
        return Ok(before == Some(b'<'));
    }
    let prefix = name.saturating_sub(1);
    let mut at = prefix;
    while text.before(at)?.is_some_and(is_word) && prefix.saturating_sub(at) < PREFIX {
        at = at.saturating_sub(1);
    }
    Ok(text.before(at)? == Some(b'<'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::End;

    proptest! {
        #[test]
        fn a_long_name_is_none_as_if_it_were_walked(
            text in "[a-c_.-]{30,50}[> a=-]{0,2}[a-c_.-]{0,50}",
            end in 0_usize..60,
            last in prop_oneof![Just(End::More), Just(End::Final), Just(End::Masked)],
        ) {
            let text = Text::new(text.as_bytes(), false, last);
            if is_long(&text, end) {
                prop_assert_eq!(one_word(&text, end), Err(Stop::Nothing));
                prop_assert_eq!(several_words(&text, end, end), Err(Stop::Nothing));
            }
        }
    }
}
