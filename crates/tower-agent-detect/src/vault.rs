//! Values that a model passes on without seeing them.

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use memchr::memmem;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    json,
    keyed::Keyed,
    mask::{self, OPENING, Standing},
};

/// How the last part of each placeholder of a vault begins.
const PREFIX: &str = "vault-";

/// Keeps the values that were masked, so that a model can pass a credential on without seeing it.
///
/// [`Mask::vault`](crate::Mask::vault) writes a placeholder such as `[REDACTED:aws-access-token:vault-1f3a9c0e5b7d2468]` in the
/// place of a value, and [`open`](Self::open) puts the value back where the model hands the placeholder on. Within a vault
/// the same value has the same placeholder, and nobody can guess one: it is made with a random key that never leaves the vault.
///
/// Whoever opens a text decides who gets the values: open what goes to a tool that needs them, and nothing that goes to a model, a
/// user or a log.
///
/// ```
/// use tower_agent_detect::Vault;
///
/// let vault = Vault::default();
/// assert_eq!(vault.open("no placeholder in here")?, "no placeholder in here");
/// assert!(vault.open("curl -H 'x-key: [REDACTED:api-key:vault-0123456789abcdef]'").is_err());
/// # Ok::<_, tower_agent_detect::UnknownPlaceholder>(())
/// ```
///
/// Clones are the same vault. It holds a bounded number of values, and what it does not take is masked for good. Values
/// are overwritten in memory when the last clone is dropped; copies of them that others made are not. `Debug` shows counts only.
#[derive(Clone)]
pub struct Vault {
    shared: Arc<Shared>,
}

struct Shared {
    /// None where the system has no randomness; then nothing is taken.
    key: Option<Keyed>,
    capacity: usize,
    sealed: Mutex<HashMap<u64, Sealed>>,
}

#[derive(Clone)]
struct Sealed {
    placeholder: Arc<str>,
    value: Arc<Zeroizing<Box<str>>>,
}

/// A placeholder that the vault did not make, or whose value it was told to forget.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the vault has no value for the placeholder `{placeholder}`")]
pub struct UnknownPlaceholder {
    placeholder: Box<str>,
}

impl Vault {
    /// How many values a vault holds unless told otherwise.
    pub const CAPACITY: usize = 256;

    /// The longest value that a vault takes, in bytes. What is longer may be but the first part of a value.
    pub const LONGEST: usize = 16 * 1024 - 1;

    /// A vault for so many different values.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let mut key = [0; 32];
        let filled = getrandom::fill(&mut key);
        let shared = Shared {
            key: filled.ok().and_then(|()| Keyed::new(&key)),
            capacity,
            sealed: Mutex::default(),
        };
        key.zeroize();
        Self { shared: Arc::new(shared) }
    }

    /// The placeholder for a value; none if the vault does not take it.
    pub(crate) fn seal(&self, rule: &str, value: &str) -> Option<String> {
        if value.len() > Self::LONGEST {
            return None;
        }
        let tag = self.shared.key.as_ref()?.tag(value);
        let mut all = self.lock();
        if let Some(sealed) = all.get(&tag) {
            // Two values with one tag: which of them is meant could not be told any more.
            return (***sealed.value == *value).then(|| String::from(&*sealed.placeholder));
        }
        if all.len() >= self.shared.capacity {
            return None;
        }
        let placeholder = format!("{OPENING}:{}:{PREFIX}{tag:016x}]", mask::name(rule));
        let value = Arc::new(Zeroizing::new(Box::from(value)));
        all.insert(tag, Sealed { placeholder: Arc::from(&*placeholder), value });
        Some(placeholder)
    }

    /// Puts the values back in the place of their placeholders.
    ///
    /// What was put back is not searched again. Placeholders that are not of a vault's form stay.
    ///
    /// # Errors
    ///
    /// If a placeholder of that form is none of this vault's, the error names the first of them, and nothing is put back.
    pub fn open<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, UnknownPlaceholder> {
        let mut out = String::new();
        let mut done = 0;
        for (at, placeholder) in placeholders(text) {
            let value = self.value(placeholder)?;
            out.push_str(text.get(done..at).unwrap_or_default());
            out.push_str(&value);
            done = at + placeholder.len();
        }
        if done == 0 {
            return Ok(Cow::Borrowed(text));
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Ok(Cow::Owned(out))
    }

    /// Puts the values back in the strings of a JSON text, escaped as JSON asks for. Everything else, keys included, stays as
    /// it is written, and so does a text that is no JSON.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_json<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, UnknownPlaceholder> {
        let mut failed = None;
        let opened = json::edit(text, &mut |leaf, string| {
            if leaf.kind != json::LeafKind::String || failed.is_some() {
                return None;
            }
            match self.open(string) {
                Ok(Cow::Owned(opened)) => Some(opened),
                Ok(Cow::Borrowed(_)) => None,
                Err(unknown) => {
                    failed = Some(unknown);
                    None
                }
            }
        });
        match failed {
            Some(unknown) => Err(unknown),
            None => Ok(opened.map_or(Cow::Borrowed(text), Cow::Owned)),
        }
    }

    /// How many values it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether it holds no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all values. Placeholders that were written for them cannot be opened any more, unless the same value is masked
    /// again.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn value(&self, placeholder: &str) -> Result<Arc<Zeroizing<Box<str>>>, UnknownPlaceholder> {
        let all = self.lock();
        let sealed = tag(placeholder).and_then(|tag| all.get(&tag));
        match sealed.filter(|sealed| *sealed.placeholder == *placeholder) {
            Some(sealed) => Ok(Arc::clone(&sealed.value)),
            None => Err(UnknownPlaceholder { placeholder: placeholder.into() }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Sealed>> {
        self.shared.sealed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The placeholders of vaults in a text, and where they stand.
fn placeholders(text: &str) -> impl Iterator<Item = (usize, &str)> {
    memmem::find_iter(text.as_bytes(), OPENING).filter_map(|at| {
        let Standing::Ends(end) = mask::placeholder_at(text.as_bytes(), at, true) else {
            return None;
        };
        let placeholder = text.get(at..end)?;
        extra(placeholder)?.starts_with(PREFIX).then_some((at, placeholder))
    })
}

fn extra(placeholder: &str) -> Option<&str> {
    placeholder.strip_suffix(']')?.split(':').nth(2)
}

fn tag(placeholder: &str) -> Option<u64> {
    u64::from_str_radix(extra(placeholder)?.strip_prefix(PREFIX)?, 16).ok()
}

impl Default for Vault {
    fn default() -> Self {
        Self::new(Self::CAPACITY)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut vault = f.debug_struct("Vault");
        vault.field("len", &self.len()).field("capacity", &self.shared.capacity).finish()
    }
}

impl UnknownPlaceholder {
    /// The placeholder as it was written.
    #[must_use]
    pub fn placeholder(&self) -> &str {
        &self.placeholder
    }
}

#[cfg(test)]
mod tests;
