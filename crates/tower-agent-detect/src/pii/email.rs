//! Addresses of mail.

use super::scan::{Unknown, back, here, peek};
use crate::text::{End, Text, Verdict, is_word};

/// The longest part before the `@`, in bytes.
pub(super) const MAX_LOCAL: usize = 64;
/// The longest part behind it that is looked at.
const MAX_DOMAIN: usize = 128;

/// Looks at the `@` at `at`.
pub(crate) fn email(text: &Text<'_>, at: usize) -> Verdict {
    let Some(start) = local(text, at) else { return Verdict::Nothing };
    match domain(text, at.saturating_add(1)) {
        Ok(Some(end)) if !is_no_mailbox(text, start, at, end) => Verdict::Found(start, end),
        Ok(_) => Verdict::Nothing,
        Err(Unknown) => Verdict::Undecided(start),
    }
}

/// Where an address ends of which the `@` stands at a place, in a text that ends with something that is masked.
pub(crate) fn email_end(bytes: &[u8], at: usize) -> Option<usize> {
    domain(&Text::new(bytes, false, End::Masked), at.saturating_add(1)).ok()?
}

/// Where the local part begins that ends before `at`.
fn local(text: &Text<'_>, at: usize) -> Option<usize> {
    let last = back(text, at);
    if matches!(last, b'.' | b'\'') {
        return None;
    }
    let mut start = run(text, at)?;
    if here(text, start.saturating_sub(1)) == b'\\'
        && start > 0
        && matches!(here(text, start), b'n' | b'r' | b't')
    {
        start = start.saturating_add(1);
    }
    while start < at && !begins_local(here(text, start)) {
        start = start.saturating_add(1);
    }
    (start < at).then_some(start)
}

/// The first of the bytes before `at` that may belong to a local part; none if there are too many.
pub(super) fn run(text: &Text<'_>, at: usize) -> Option<usize> {
    let mut start = at;
    while at.saturating_sub(start) <= MAX_LOCAL {
        match letter_before(text, start) {
            0 => return (back(text, start) != b'_').then_some(start),
            width => start = start.saturating_sub(width),
        }
    }
    None
}

/// How many bytes the character before a place has, if it may belong to a local part.
///
/// Letters of two bytes are those of scripts that set words apart by spaces.
fn letter_before(text: &Text<'_>, at: usize) -> usize {
    let Some(place) = at.checked_sub(1) else { return 0 };
    match here(text, place) {
        byte if is_word(byte) || matches!(byte, b'.' | b'+' | b'-' | b'%' | b'\'') => 1,
        0x80..=0xBF if place > 0 && is_lead(here(text, place.saturating_sub(1))) => 2,
        _ => 0,
    }
}

const fn is_lead(byte: u8) -> bool {
    matches!(byte, 0xC3..=0xDF)
}

fn begins_local(byte: u8) -> bool {
    is_word(byte) || byte >= 0x80
}

/// Where the domain ends that begins at `start`, if it has a top level.
fn domain(text: &Text<'_>, start: usize) -> Result<Option<usize>, Unknown> {
    let (mut at, mut label, mut found) = (start, start, None);
    while at.saturating_sub(start) < MAX_DOMAIN {
        match peek(text, at)? {
            b'.' | b'-' | b'_' if at == label => return Ok(found),
            b'.' => {
                found = top_level(text, start, label, at).or(found);
                label = at.saturating_add(1);
            }
            byte if is_word(byte) || byte == b'-' || byte >= 0x80 && is_letter(text, at)? => {}
            _ => break,
        }
        at = at.saturating_add(1);
    }
    Ok(top_level(text, start, label, at).or(found))
}

/// Whether the byte at a place is part of a letter of two bytes.
fn is_letter(text: &Text<'_>, at: usize) -> Result<bool, Unknown> {
    match peek(text, at)? {
        byte if is_lead(byte) => Ok(matches!(peek(text, at.saturating_add(1))?, 0x80..=0xBF)),
        0x80..=0xBF => Ok(is_lead(back(text, at))),
        _ => Ok(false),
    }
}

/// Where the domain that begins at `start` ends, if the label from `label` to `at` may be its last one. What follows a
/// hyphen there is the text's.
fn top_level(text: &Text<'_>, start: usize, label: usize, at: usize) -> Option<usize> {
    let bytes = text.bytes().get(label..at)?;
    let host = text.bytes().get(start..label).unwrap_or_default();
    // Neither versions nor names of variables are hosts.
    if !host.iter().any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80) || host.contains(&b'_')
    {
        return None;
    }
    if bytes.len() > 4 && bytes.get(..4).is_some_and(|head| head.eq_ignore_ascii_case(b"xn--")) {
        return Some(at);
    }
    let letters = bytes.iter().position(|byte| matches!(byte, b'-' | b'_')).unwrap_or(bytes.len());
    let name = bytes.get(..letters)?;
    (letters >= 2 && !name.iter().any(u8::is_ascii_digit)).then_some(label.saturating_add(letters))
}

/// Whether this names a repository, a file, a host or a cipher rather than a person: `git@host:path`, `icon@2x.png`.
fn is_no_mailbox(text: &Text<'_>, start: usize, at: usize, end: usize) -> bool {
    let bytes = text.bytes();
    let local = bytes.get(start..at).unwrap_or_default();
    let domain = bytes.get(at.saturating_add(1)..end).unwrap_or_default();
    let is_git = local == b"git" && matches!(bytes.get(end), Some(b':' | b'/'));
    let is_image = matches!(domain, [b'1'..=b'4', b'x', b'.', ..]);
    is_git
        || is_image
        || is_algorithm(local, domain)
        || is_message(text, start, local)
        // A password of a single letter, or the end of a path.
        || local.len() == 1 && matches!(back(text, start), b':' | b'/')
        || is_login(text, start)
}

/// Whether this is the name of a cipher or the like that those who made it added their domain to, as SSH asks for:
/// `aes256-gcm@openssh.com`.
fn is_algorithm(local: &[u8], domain: &[u8]) -> bool {
    let is_namespace = [&b"openssh.com"[..], b"libssh.org", b"ssh.com", b"lysator.liu.se"]
        .iter()
        .any(|name| domain.eq_ignore_ascii_case(name));
    is_namespace && local.iter().any(|byte| *byte == b'-' || byte.is_ascii_digit())
}

/// Whether this is a message in an archive: a part of a path with the digits of a time or of chance.
fn is_message(text: &Text<'_>, start: usize, local: &[u8]) -> bool {
    const MIN_DIGITS: usize = 12;
    back(text, start) == b'/'
        && local.iter().filter(|byte| byte.is_ascii_digit()).count() >= MIN_DIGITS
}

/// Whether this is how one logs in to a host, with a name and perhaps a password: `scheme://name:password@host`.
fn is_login(text: &Text<'_>, start: usize) -> bool {
    // With the longest local part, this stays within what is kept.
    const MOST: usize = Text::BEHIND - MAX_LOCAL - 8;
    let before = |at: usize| at.checked_sub(1).map_or(0, |at| here(text, at));
    let mut at = start;
    while start.saturating_sub(at) < MOST && is_login_part(before(at)) {
        at = at.saturating_sub(1);
    }
    // Part of it was masked, such as the name: the rest is a login still.
    if at == 0 && start > 0 && text.before(0).is_err() {
        return true;
    }
    for expected in *b"//:" {
        if before(at) != expected {
            return false;
        }
        at = at.saturating_sub(1);
        // Slashes may be escaped, as in JSON.
        at = at.saturating_sub(usize::from(before(at) == b'\\'));
    }
    true
}

/// Whether a byte may stand in the name or the password before a host.
const fn is_login_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(
            byte,
            b':' | b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&' | b'(' | b')' | b'*'
        )
        || byte == b'+'
}
