//! JSON objects as raw fields, so that what nobody looks at is neither parsed nor changed.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use tower_agent_core::{Json, Str};

/// The fields of an object in their order; values are raw text.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Fields<'a> {
    /// The fields of a text that is an object.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Removes a field that reads as a type. One that does not, or that stands there twice, stays as it is.
    pub(crate) fn take<T>(&mut self, key: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let mut found = self.0.iter().enumerate().filter(|(_, (name, _))| name == key);
        let (at, (_, raw)) = found.next()?;
        if found.next().is_some() {
            return None;
        }
        let value = read(raw)?;
        self.0.remove(at);
        Some(value)
    }

    pub(crate) fn take_str(&mut self, key: &str) -> Option<Str> {
        self.take(key, |raw| read::<Cow<'_, str>>(raw).map(|text| Str::from(&*text)))
    }

    pub(crate) fn take_bool(&mut self, key: &str) -> Option<bool> {
        self.take(key, read)
    }

    pub(crate) fn take_json(&mut self, key: &str) -> Option<Json> {
        self.take(key, |raw| Some(Json::from_text(raw)))
    }

    /// Puts what is left of an object back where it was.
    pub(crate) fn put_rest(&mut self, key: &'static str, rest: &Fields<'_>) {
        if let Some(text) = rest.to_text() {
            self.0.push((key.into(), text.into()));
        }
    }

    /// Sets a field, in the place of all of its name.
    pub(crate) fn set(&mut self, key: &'static str, raw: impl Into<Cow<'a, str>>) {
        self.0.retain(|(name, _)| name != key);
        self.0.push((key.into(), raw.into()));
    }

    /// Adds the fields of names that are not there yet.
    #[cfg(feature = "client")]
    pub(crate) fn add(&mut self, more: &Fields<'_>) {
        for (name, raw) in &more.0 {
            if !self.0.iter().any(|(known, _)| known == name) {
                self.0.push((name.to_string().into(), raw.to_string().into()));
            }
        }
    }

    /// Keeps the fields of these names.
    #[cfg(feature = "client")]
    pub(crate) fn keep(&mut self, names: &[&str]) {
        self.0.retain(|(name, _)| names.contains(&&**name));
    }

    /// The names and the text of all fields.
    #[cfg(feature = "client")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, raw)| (&**name, &**raw))
    }

    /// Whether there are no other fields than these.
    pub(crate) fn are_among(&self, names: &[&str]) -> bool {
        self.0.iter().all(|(name, _)| names.contains(&&**name))
    }

    fn to_text(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let fields: Vec<String> = self
            .0
            .iter()
            .map(|(key, raw)| format!("{}:{raw}", serde_json::Value::from(&**key)))
            .collect();
        Some(format!("{{{}}}", fields.join(",")))
    }

    /// What is left, which is nothing when all was taken.
    pub(crate) fn into_extra(self) -> Option<Json> {
        self.to_text().map(Json::from_text)
    }
}

fn read<T: DeserializeOwned>(raw: &str) -> Option<T> {
    serde_json::from_str(raw).ok()
}

/// The items of a text that is an array.
pub(crate) fn items(text: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            fields.push((key, Cow::Borrowed(value.get())));
        }
        Ok(Fields(fields))
    }
}
