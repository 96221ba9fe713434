use std::{fmt, sync::Arc};

use serde::Deserialize;

/// A value that is never printed and never serialised, such as an API key.
///
/// It can be read from configuration (`Deserialize`), but there is deliberately no `Serialize`:
///
/// ```compile_fail
/// let key = tower_agent_core::Secret::new("sk-1");
/// serde_json::to_string(&key).unwrap();
/// ```
///
/// `Debug` and `Display` print the same fixed text whatever the value is.
///
/// ```
/// let key = tower_agent_core::Secret::new("sk-1");
/// assert_eq!(format!("{key} {key:?}"), "[secret] [secret]");
/// assert_eq!(key.expose(), "sk-1");
/// ```
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Keeps a value.
    pub fn new(value: impl Into<Arc<str>>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the one place that must send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
