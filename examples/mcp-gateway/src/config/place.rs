//! Where something stands in the file, in words for whoever wrote it.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::ConfigError;

/// From how alike two keys must be on, between 0 and 1, for one to be a misspelt other.
const ALIKE: f64 = 0.7;

/// A file and its text.
pub(super) struct Place<'a> {
    path: &'a Path,
    text: &'a str,
}

impl<'a> Place<'a> {
    pub(super) const fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, text }
    }

    /// A path of the configuration, which starts at its directory.
    pub(super) fn resolve(&self, path: &Path) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    /// `FILE: WHAT`
    pub(super) fn flaw_of_all(&self, what: &str) -> String {
        format!("{}: {what}", self.path.display())
    }

    /// `FILE:LINE: KEY: WHAT`
    pub(super) fn flaw(&self, span: &Range<usize>, what: &str) -> String {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let key = self.key(span.start).map(|key| format!("{key}: ")).unwrap_or_default();
        format!("{}:{line}: {key}{what}", self.path.display())
    }

    pub(super) fn explain(&self, error: &toml::de::Error) -> ConfigError {
        let span = error.span().unwrap_or(0..0);
        let what = match (error.message(), self.text.get(span.clone())) {
            ("duplicate key", Some(key)) => format!("the key `{key}` is there twice"),
            (message, _) => unknown_key(message)
                .unwrap_or_else(|| message.lines().collect::<Vec<_>>().join("; ")),
        };
        ConfigError(vec![self.flaw(&span, &what)])
    }

    /// The key that something belongs to, such as `server[0].timeout`, as far as the text is TOML.
    fn key(&self, at: usize) -> Option<String> {
        let (table, _) = DeTable::parse_recoverable(self.text);
        key_in_table(table.get_ref(), at)
    }
}

fn key_in_table(table: &DeTable<'_>, at: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref();
        if key.span().contains(&at) {
            return Some(name.to_string());
        }
        match key_in_value(value, at) {
            Some(inner) if inner.starts_with('[') => Some(format!("{name}{inner}")),
            Some(inner) => Some(format!("{name}.{inner}")),
            None => value.span().contains(&at).then(|| name.to_string()),
        }
    })
}

fn key_in_value(value: &Spanned<DeValue<'_>>, at: usize) -> Option<String> {
    match value.get_ref() {
        DeValue::Table(table) => key_in_table(table, at),
        DeValue::Array(items) => {
            items.iter().enumerate().find_map(|(number, item)| match key_in_value(item, at) {
                Some(inner) if inner.starts_with('[') => Some(format!("[{number}]{inner}")),
                Some(inner) => Some(format!("[{number}].{inner}")),
                None => item.span().contains(&at).then(|| format!("[{number}]")),
            })
        }
        _ => None,
    }
}

/// serde's words for a key that nobody knows, with the one that was probably meant.
fn unknown_key(message: &str) -> Option<String> {
    let mut quoted = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let unknown = quoted.next()?;
    let known: Vec<_> = quoted.collect();
    let likeness = |key: &str| strsim::jaro_winkler(unknown, key);
    let nearest =
        known.iter().copied().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let meant = nearest
        .filter(|key| likeness(key) >= ALIKE)
        .map(|key| format!("; did you mean `{key}`?"))
        .unwrap_or_default();
    Some(format!("this key is not known here{meant} (known: {})", known.join(", ")))
}
