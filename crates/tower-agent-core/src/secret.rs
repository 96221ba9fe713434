use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

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
#[derive(Clone)]
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

impl<'de> Deserialize<'de> for Secret {
    /// Takes text only, and complains about anything else without repeating it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Asked for text outright, a format would itself complain about a number, and quote it.
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Text)
        } else {
            deserializer.deserialize_string(Text)
        }
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret as text")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Secret, E> {
        Ok(Secret::new(value))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Secret, E> {
        Err(not_text())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Secret, E> {
        Err(not_text())
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<Secret, E> {
        Err(not_text())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Secret, E> {
        Err(not_text())
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<Secret, E> {
        Err(not_text())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Secret, E> {
        Err(not_text())
    }
}

/// serde's own message would quote the value.
fn not_text<E: Error>() -> E {
    E::custom("a secret must be text")
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
