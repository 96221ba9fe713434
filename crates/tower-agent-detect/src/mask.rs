//! What stands in the place of what was found.

mod standing;

use std::{fmt, fmt::Write as _, sync::Arc};

use self::standing::Fixed;
pub(crate) use self::standing::{OPENING, Standing, is_name, placeholder_at};
use crate::{keyed::Keyed, vault::Vault};

/// What is written in the place of what was found: `[REDACTED:rule-id]`, the [label](Mask::label), unless another mask is chosen.
///
/// A text that is masked once more stays as it is: texts of the forms `[REDACTED]`, `[REDACTED:id]` and `[REDACTED:id:tag]`,
/// in which `id` is that of a rule, and `tag` is as [`hash`](Self::hash) and [`vault`](Self::vault) write it, are never
/// touched, whoever wrote them. So is the text of [`Mask::text`].
///
/// ```
/// use tower_agent_detect::Mask;
///
/// let mask = Mask::with(|found| format!("<a {} of {} bytes>", found.rule(), found.value().len()));
/// assert_eq!(format!("{mask:?}"), "Mask(with)");
/// ```
///
/// Cheap to clone. `Debug` shows no key and no value.
#[derive(Clone)]
pub struct Mask(Kind);

#[derive(Clone)]
enum Kind {
    Label,
    Text(Arc<Fixed>),
    KeepLast(usize),
    Hash(Arc<Option<Keyed>>),
    Remove,
    With(Arc<dyn Fn(&Masked<'_>) -> String + Send + Sync>),
    Vault(Vault),
}

/// Something that is about to be masked, as a function given to [`Mask::with`] sees it.
///
/// `Debug` does not show the value.
#[derive(Clone, Copy)]
pub struct Masked<'a> {
    rule: &'a str,
    set: &'a str,
    value: &'a str,
}

impl Mask {
    /// The id of the rule: `[REDACTED:aws-access-token]`. The default.
    #[must_use]
    pub const fn label() -> Self {
        Self(Kind::Label)
    }

    /// The same text for everything, taken literally. An empty text is `[REDACTED]`.
    ///
    /// The text counts as masked already where it stands by itself: `XXXX` does, and so does `XXXXXXXX`, which may be two of it, but
    /// `aXXXXb` and `XXXXX` do not. A text of fewer than 3 bytes never counts, as it may stand within a secret by chance.
    #[must_use]
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self(Kind::Text(Arc::new(Fixed::new(text.into()))))
    }

    /// Four asterisks, whatever the length of the value, and its last characters: `****1234`.
    ///
    /// Where they would be more than a quarter of the value's characters, none is shown. What stands there is not known as
    /// masked when the text is masked once more.
    #[must_use]
    pub const fn keep_last(count: usize) -> Self {
        Self(Kind::KeepLast(count))
    }

    /// The id of the rule and a keyed hash of the value: `[REDACTED:aws-access-token:1f3a9c0e5b7d2468]`.
    ///
    /// Equal values have equal hashes, under any rule, so that a reader can tell them apart. Without the key nobody can try
    /// values: take 16 random bytes or more, and keep them secret. The hash is the first 8 bytes of HMAC-SHA-256. With an
    /// empty key, everybody could compute it, so the [label](Self::label) is written.
    #[must_use]
    pub fn hash(key: impl AsRef<[u8]>) -> Self {
        Self(Kind::Hash(Arc::new(Keyed::new(key.as_ref()))))
    }

    /// Nothing. What stood before and after the value then touches.
    #[must_use]
    pub const fn remove() -> Self {
        Self(Kind::Remove)
    }

    /// What a function makes of what was found.
    ///
    /// For a text that is masked once more to stay as it is, write it in one of the [forms](Self) that are never touched.
    #[must_use]
    pub fn with(mask: impl Fn(&Masked<'_>) -> String + Send + Sync + 'static) -> Self {
        Self(Kind::With(Arc::new(mask)))
    }

    /// A placeholder which the vault can [open](Vault::open): `[REDACTED:aws-access-token:vault-1f3a9c0e5b7d2468]`.
    ///
    /// What the vault does not take (it is full, or the value too long) gets the [label](Self::label), and is gone.
    #[must_use]
    pub fn vault(vault: &Vault) -> Self {
        Self(Kind::Vault(vault.clone()))
    }

    /// Writes what stands in the place of something found.
    pub(crate) fn write(&self, found: &Masked<'_>, out: &mut String) {
        match &self.0 {
            Kind::Label => label(found.rule, out),
            Kind::Text(text) => out.push_str(text.as_str()),
            Kind::KeepLast(count) => keep_last(*count, found.value, out),
            Kind::Hash(keyed) => match keyed.as_ref() {
                Some(keyed) => hash(keyed, found, out),
                None => label(found.rule, out),
            },
            Kind::Remove => {}
            Kind::With(mask) => out.push_str(&mask(found)),
            Kind::Vault(vault) => match vault.seal(found.rule, found.value) {
                Some(placeholder) => out.push_str(&placeholder),
                None => label(found.rule, out),
            },
        }
    }

    /// Whether it writes this text for everything.
    pub(crate) fn is_always(&self, text: &str) -> bool {
        self.fixed().is_some_and(|fixed| fixed.as_str() == text)
    }

    fn fixed(&self) -> Option<&Fixed> {
        match &self.0 {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Whether a text is what a mask adds to an id: a keyed hash, or the mark of a vault and one.
pub(crate) fn is_tag(text: &str) -> bool {
    let tag = text.strip_prefix("vault-").unwrap_or(text);
    tag.len() == 16 && tag.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The id of a rule, or what stands for one that no placeholder may hold.
pub(crate) fn name(rule: &str) -> &str {
    if is_name(rule) { rule } else { "value" }
}

fn label(rule: &str, out: &mut String) {
    for part in [OPENING, ":", name(rule), "]"] {
        out.push_str(part);
    }
}

fn hash(keyed: &Keyed, found: &Masked<'_>, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{OPENING}:{}:{:016x}]", name(found.rule), keyed.tag(found.value));
}

fn keep_last(count: usize, value: &str, out: &mut String) {
    out.push_str("****");
    let most = value.chars().count() / 4;
    if (1..=most).contains(&count) {
        let from = value.char_indices().rev().nth(count - 1);
        out.push_str(from.and_then(|(from, _)| value.get(from..)).unwrap_or_default());
    }
}

impl<'a> Masked<'a> {
    pub(crate) const fn new(rule: &'a str, set: &'a str, value: &'a str) -> Self {
        Self { rule, set, value }
    }

    /// The id of the rule that found it.
    #[must_use]
    pub const fn rule(&self) -> &'a str {
        self.rule
    }

    /// The set that the rule is of: `secrets` or `pii`.
    #[must_use]
    pub const fn set(&self) -> &'a str {
        self.set
    }

    /// What was found.
    #[must_use]
    pub const fn value(&self) -> &'a str {
        self.value
    }
}

impl Default for Mask {
    fn default() -> Self {
        Self::label()
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Label => f.write_str("Mask(label)"),
            Kind::Text(text) => write!(f, "Mask(text {:?})", text.as_str()),
            Kind::KeepLast(count) => write!(f, "Mask(keep_last {count})"),
            Kind::Hash(_) => f.write_str("Mask(hash)"),
            Kind::Remove => f.write_str("Mask(remove)"),
            Kind::With(_) => f.write_str("Mask(with)"),
            Kind::Vault(vault) => write!(f, "Mask({vault:?})"),
        }
    }
}

impl fmt::Debug for Masked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut masked = f.debug_struct("Masked");
        masked.field("rule", &self.rule).field("set", &self.set).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
