//! What a name says of its value.

use super::words::{CHANCE, KEYS, OTHER, TAILS, TOKENS, ends_with, lists};

/// How much a name says by itself.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Strength {
    /// The value must look like a key.
    Weak,
    /// So it must in code and prose, but not in data.
    Medium,
    /// The value is a secret unless it is plainly none.
    Strong,
}

/// What a name is the name of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Kind {
    pub(super) strength: Strength,
    /// The id of the rule.
    pub(super) rule: &'static str,
}

pub(super) const PASSWORD: &str = "generic-password";
pub(super) const SECRET: &str = "generic-secret";
pub(super) const TOKEN: &str = "generic-token";
pub(super) const API_KEY: &str = "generic-api-key";
pub(super) const PRIVATE_KEY: &str = "generic-private-key";
pub(super) const AUTHORIZATION: &str = "generic-authorization";
pub(super) const CREDENTIAL: &str = "generic-credential";

/// What a name is the name of, by its last words: `DB_PASSWORD`, `clientSecret`, `x-api-key2`.
pub(super) fn kind(name: &[u8]) -> Option<Kind> {
    let (mut rest, mut last) = pop(name);
    for _ in 0..2 {
        if rest.is_empty() || !lists(TAILS, last) {
            break;
        }
        (rest, last) = pop(rest);
    }
    let (before, previous) = pop(rest);
    let kind = kind_of(last, previous)?;
    let (_, first) = pop(before);
    let other = lists(OTHER, previous) || lists(OTHER, first);
    (!other).then_some(kind)
}

fn kind_of(last: &[u8], previous: &[u8]) -> Option<Kind> {
    use Strength::{Strong, Weak};
    let some = |strength, rule| Some(Kind { strength, rule });
    let is = |word: &[u8]| last.eq_ignore_ascii_case(word);
    let ends = |word: &[u8]| ends_with(last, word);
    if lists(CHANCE, last) {
        return None;
    }
    match last.last()?.to_ascii_lowercase() {
        b'd' if ends(b"password") || ends(b"passwd") || ends(b"pwd") => some(Strong, PASSWORD),
        b'd' if is(b"word") && previous.eq_ignore_ascii_case(b"pass") => some(Strong, PASSWORD),
        b'd' if is(b"id") && previous.eq_ignore_ascii_case(b"session") => some(Weak, CREDENTIAL),
        b'd' if ends(b"sessionid") || ends(b"sessid") => some(Weak, CREDENTIAL),
        b'e' if ends(b"passphrase") || ends(b"passcode") => some(Strong, PASSWORD),
        b'e' if is(b"phrase") && previous.eq_ignore_ascii_case(b"pass") => some(Strong, PASSWORD),
        b's' if is(b"pass") || ends(b"dbpass") || ends(b"userpass") => some(Strong, PASSWORD),
        b's' if is(b"credentials") || is(b"creds") => some(Weak, CREDENTIAL),
        b'w' if is(b"pw") => some(Strong, PASSWORD),
        b'y' if is(b"by") && previous.eq_ignore_ascii_case(b"identified") => some(Strong, PASSWORD),
        b'y' if ends(b"key") => key(last, previous),
        b't' if ends(b"secret") => some(Strong, SECRET),
        b'n' if is(b"authorization") => some(Weak, AUTHORIZATION),
        b'n' if ends(b"token") => token(last, previous),
        b'l' if is(b"credential") => some(Weak, CREDENTIAL),
        b'h' if is(b"auth") => some(Weak, CREDENTIAL),
        b'r' if is(b"bearer") => some(Weak, AUTHORIZATION),
        _ => None,
    }
}

fn key(last: &[u8], previous: &[u8]) -> Option<Kind> {
    let which = last.get(..last.len().saturating_sub(3)).unwrap_or_default();
    let which = if which.is_empty() { previous } else { which };
    let listed = lists(KEYS, which)
        || ends_with(which, b"api")
        || ends_with(which, b"secret")
        || ends_with(which, b"access");
    let rule = if lists(&["priv", "private"], which) { PRIVATE_KEY } else { API_KEY };
    if ends_with(which, b"secret") {
        return Some(Kind { strength: Strength::Strong, rule: SECRET });
    }
    listed.then_some(Kind { strength: Strength::Medium, rule })
}

fn token(last: &[u8], previous: &[u8]) -> Option<Kind> {
    let which = last.get(..last.len().saturating_sub(5)).unwrap_or_default();
    let which = if which.is_empty() { previous } else { which };
    let strength = if lists(TOKENS, which) { Strength::Medium } else { Strength::Weak };
    (!lists(OTHER, which)).then_some(Kind { strength, rule: TOKEN })
}

/// Takes the last word off a name, without the digits and signs behind it: words end at signs and before capitals.
pub(super) fn pop(name: &[u8]) -> (&[u8], &[u8]) {
    let letters =
        name.iter().rposition(u8::is_ascii_alphabetic).map_or(0, |at| at.saturating_add(1));
    let name = name.get(..letters).unwrap_or_default();
    let mut start = name.len();
    while let Some(byte) = start.checked_sub(1).and_then(|at| name.get(at)) {
        let next = name.get(start);
        let inner_capital = |next: &u8| next.is_ascii_uppercase() && !byte.is_ascii_uppercase();
        let last_capital = |next: &u8| {
            next.is_ascii_uppercase()
                && name.get(start.saturating_add(1)).is_some_and(u8::is_ascii_lowercase)
        };
        if !byte.is_ascii_alphabetic()
            || next.is_some_and(|next| inner_capital(next) || last_capital(next))
        {
            break;
        }
        start = start.saturating_sub(1);
    }
    (name.get(..start).unwrap_or_default(), name.get(start..).unwrap_or_default())
}
