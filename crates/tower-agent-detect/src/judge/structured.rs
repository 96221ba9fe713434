//! What the keys of structured data say of more than the value beside them.

use super::{
    is_sensitive_key,
    name::{self, API_KEY, PASSWORD, PRIVATE_KEY, SECRET, Strength, TOKEN},
    words::{TAILS, begins_with, lists},
};
use crate::mask::OPENING;

/// Which values under a key are its own, if what stands there is an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Holds {
    /// The one that is called so: `{"db_password": {"value": ..}}`.
    One,
    /// That and `key`: `{"api_keys": [{"id": .., "key": ..}]}`.
    Parts,
    /// All texts but those that tell of others: `{"passwords": {"prod": .., "test": ..}}`.
    All,
}

/// What a member is in its object.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Part {
    /// It may be the name of the value beside it.
    Name,
    /// It may be that, or a value itself.
    Key,
    /// It may be the value of the name beside it.
    Value,
    #[default]
    Other,
}

/// What tells of secrets, but is none.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "$ref", "algorithm", "annotations", "backend", "comment", "created", "created_at", "createdat", "description",
    "encoding", "engine", "expires", "expires_at", "expiresat", "expiry", "file", "format", "id", "kind", "labels",
    "last_used", "meta", "metadata", "method", "mode", "namespace", "note", "notes", "operation", "path", "policy",
    "provider", "region", "shape", "status", "tags", "title", "type", "updated", "updated_at", "updatedat", "uri",
    "url", "version",
];

/// Words before `keys` that make all of them secrets. Many keys of the others are public, or names of what is stored.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "access", "aes", "api", "auth", "consumer", "decryption", "encryption", "hmac", "jwt", "license", "master", "priv",
    "private", "secret", "service", "signing", "subscription", "webhook",
];

/// Words before `tokens` that make all of them credentials, and neither words of a text nor a number of those.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "access", "api", "auth", "authentication", "bearer", "deploy", "git", "github", "gitlab", "hf", "jwt", "npm", "oauth",
    "personal", "private", "pypi", "refresh", "security", "service", "session", "slack", "vault",
];

/// How the name of something that is done with secrets begins, as that of a method.
const DOINGS: &[&str] =
    &["create", "delete", "describe", "get", "import", "list", "put", "set", "update"];

/// What a member of this key is.
pub(crate) fn part(key: &str) -> Part {
    let (names, values): (&[&str], &[&str]) = match key.len() {
        // As in the tables of DynamoDB.
        1 if key == "S" => return Part::Value,
        3 if key.eq_ignore_ascii_case("key") => return Part::Key,
        4 => (&["name"], &[]),
        5 => (&["field", "label", "param"], &["value"]),
        6 => (&["header"], &[]),
        8 => (&["property", "variable"], &[]),
        9 => (&["attribute", "outputkey", "parameter"], &[]),
        10 => (&["optionname"], &[]),
        11 => (&[], &["outputvalue", "stringvalue"]),
        12 => (&["parameterkey"], &["string_value"]),
        13 => (&["parametername"], &["resolvedvalue"]),
        14 => (&[], &["parametervalue"]),
        _ => return Part::Other,
    };
    let is = |word: &&str| key.eq_ignore_ascii_case(word);
    match (names.iter().any(is), values.iter().any(is)) {
        (true, _) => Part::Name,
        (_, true) => Part::Value,
        _ => Part::Other,
    }
}

/// Whether a member of this key tells of a secret, but is none.
pub(crate) fn is_plain(key: &str) -> bool {
    lists(PLAIN, key.as_bytes())
}

/// What an object under this key holds; none if the key says nothing of that, or if it is a [plural](singular).
pub(crate) fn holds(key: &str) -> Option<Holds> {
    if !is_sensitive_key(key) {
        return None;
    }
    let key = behind_mask(key).as_bytes();
    let (_, last) = name::pop(key);
    if lists(&["credential", "credentials", "creds"], last) {
        return Some(Holds::Parts);
    }
    // A token may be one of a grammar.
    name::kind(key).filter(|kind| kind.strength > Strength::Weak).map(|_| Holds::One)
}

/// The name of one of the secrets that a key is the name of, as far as the plural alone says so: `api_key` of `api_keys`.
pub(crate) fn singular(key: &str) -> Option<&str> {
    let one = key.strip_suffix(['s', 'S'])?;
    // So end all of them, and few other words.
    let end = one.as_bytes().last_chunk::<2>()?.map(|byte| byte.to_ascii_lowercase());
    if !matches!(&end, b"rd" | b"wd" | b"se" | b"de" | b"et" | b"ey" | b"en") {
        return None;
    }
    let name = behind_mask(one).as_bytes();
    let kind = name::kind(name)?;
    let (rest, last) = name::pop(name);
    let which = |word: &[u8], list| {
        let joined = last.get(..last.len().saturating_sub(word.len())).unwrap_or_default();
        lists(list, if joined.is_empty() { name::pop(rest).1 } else { joined })
    };
    let secret = match kind.rule {
        PASSWORD | SECRET => !lists(TAILS, last),
        API_KEY | PRIVATE_KEY => which(b"key", KEYS),
        TOKEN => which(b"token", TOKENS),
        _ => false,
    };
    (secret && !is_doing(name)).then_some(one)
}

/// Whether a name begins with the word for something that is done: `list_secrets`, `GetApiKeys`.
fn is_doing(name: &[u8]) -> bool {
    DOINGS.iter().any(|word| {
        let behind = name.get(word.len().saturating_sub(1)..).unwrap_or_default();
        let ends = match behind {
            [_, b'_' | b'-' | b'.', ..] => true,
            [last, next, ..] => last.is_ascii_lowercase() && next.is_ascii_uppercase(),
            _ => false,
        };
        ends && begins_with(name, word.as_bytes())
    })
}

/// What stands in a key behind what was masked in it: the name of a rule says nothing of a value.
pub(super) fn behind_mask(key: &str) -> &str {
    let masked = key.rfind(OPENING).and_then(|at| key.get(at..));
    masked.and_then(|rest| rest.split_once(']')).map_or(key, |(_, behind)| behind)
}

#[cfg(test)]
pub(super) const LISTS: [&[&str]; 4] = [PLAIN, KEYS, TOKENS, DOINGS];
