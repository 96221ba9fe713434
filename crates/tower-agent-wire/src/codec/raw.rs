//! JSON objects as raw fields, so that what nobody looks at is neither parsed nor changed.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use tower_agent_core::{Json, Str};

use super::Flaw;

pub(crate) const NULL: &str = "null";

/// Nested deeper than this, a body is refused; the parser of values has the same limit.
const MAX_DEPTH: u32 = 127;

/// The fields of an object as raw text, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Fields<'a> {
    /// The fields of a whole body.
    pub(crate) fn of_body(body: &'a [u8]) -> Result<Self, Flaw> {
        let text = check(body).map_err(|reason| Flaw::new("", reason))?;
        Self::parse(text).ok_or_else(|| Flaw::new("", "the body is no JSON object"))
    }

    /// The fields of a text that is an object.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The fields of an `extra`; `None` if it is no object.
    pub(crate) fn of(extra: Option<&'a Json>) -> Option<Self> {
        extra.map_or(Some(Self::default()), |json| Self::parse(json.as_str()))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    pub(crate) fn is_null(&self, key: &str) -> bool {
        self.get(key) == Some(NULL)
    }

    /// Removes a field; of a repeated one the last counts.
    pub(crate) fn take(&mut self, key: &str) -> Option<Cow<'a, str>> {
        let mut found = None;
        // `extract_if` would read better, but a field is nearly always there once.
        while let Some(at) = self.0.iter().position(|(name, _)| name == key) {
            found = Some(self.0.remove(at).1);
        }
        found
    }

    /// Removes a field if it can be read; otherwise it stays as it is.
    pub(crate) fn take_if<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = read(self.get(key)?)?;
        self.take(key);
        Some(value)
    }

    /// Removes a field that is a string.
    pub(crate) fn take_str(&mut self, key: &str) -> Option<Str> {
        self.take_if(key, string)
    }

    /// Removes a field that is a string and not empty.
    pub(crate) fn take_text(&mut self, key: &str) -> Option<Str> {
        self.take_if(key, |raw| string(raw).filter(|text| !text.is_empty()))
    }

    /// Removes a field that reads as a type.
    pub(crate) fn take_as<T: for<'de> Deserialize<'de>>(&mut self, key: &str) -> Option<T> {
        self.take_if(key, |raw| serde_json::from_str(raw).ok())
    }

    pub(crate) fn set(&mut self, key: impl Into<Cow<'a, str>>, raw: impl Into<Cow<'a, str>>) {
        let key = key.into();
        self.take(&key);
        self.0.push((key, raw.into()));
    }

    /// Sets a field to what is left of an object, unless nothing is.
    pub(crate) fn set_rest(&mut self, key: &'static str, rest: &Fields<'_>) {
        if !rest.is_empty() {
            self.set(key, rest.to_text());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    pub(crate) fn into_pairs(self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> {
        self.0.into_iter()
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str, &str) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    pub(crate) fn to_text(&self) -> String {
        let mut out = Vec::new();
        Object::new(&mut out, self.clone()).end();
        String::from_utf8(out).unwrap_or_default()
    }

    /// The fields as an `extra`, which is absent when there are none.
    pub(crate) fn to_extra(&self) -> Option<Json> {
        (!self.is_empty()).then(|| Json::from_text(self.to_text()))
    }
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

/// The items of a text that is an array.
pub(crate) fn items(text: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// The text of a text that is a string.
pub(crate) fn string(text: &str) -> Option<Str> {
    // Borrowing saves a copy of a long text; it works only without escapes.
    match serde_json::from_str::<&str>(text) {
        Ok(plain) => Some(plain.into()),
        Err(_) => serde_json::from_str::<String>(text).ok().map(Str::from),
    }
}

/// The body as text, if it is UTF-8 and not nested so deeply that reading it could exhaust the stack.
pub(crate) fn check(body: &[u8]) -> Result<&str, &'static str> {
    let text = std::str::from_utf8(body).map_err(|_| "the body is not UTF-8")?;
    if is_too_deep(body) { Err("the JSON is nested too deeply") } else { Ok(text) }
}

fn is_too_deep(body: &[u8]) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0u32, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

pub(crate) fn write_str(out: &mut Vec<u8>, text: &str) {
    // Writing a string into memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Writes items with commas between them.
pub(crate) fn write_array<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (position, item) in items.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

/// Writes an object straight into a buffer: first the fields of the vocabulary, at the end those of `extra`
/// that were not written yet.
pub(crate) struct Object<'w, 'a> {
    out: &'w mut Vec<u8>,
    extra: Fields<'a>,
    is_first: bool,
}

impl<'w, 'a> Object<'w, 'a> {
    pub(crate) fn new(out: &'w mut Vec<u8>, extra: Fields<'a>) -> Self {
        out.push(b'{');
        Self { out, extra, is_first: true }
    }

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        write_str(self.out, key);
        self.out.push(b':');
    }

    /// Begins a field, whose value the caller writes.
    pub(crate) fn field(&mut self, key: &str) -> &mut Vec<u8> {
        self.extra.take(key);
        self.key(key);
        self.out
    }

    pub(crate) fn str(&mut self, key: &str, text: &str) {
        write_str(self.field(key), text);
    }

    pub(crate) fn raw(&mut self, key: &str, raw: &str) {
        self.field(key).extend_from_slice(raw.as_bytes());
    }

    pub(crate) fn number(&mut self, key: &str, number: impl Into<serde_json::Number>) {
        let number = number.into().to_string();
        self.raw(key, &number);
    }

    /// A field unless `extra` has one.
    pub(crate) fn default_raw(&mut self, key: &str, raw: &str) {
        if self.extra.get(key).is_none() {
            self.raw(key, raw);
        }
    }

    /// What `extra` holds under a key; after it is taken it is not written at the end.
    pub(crate) fn take(&mut self, key: &str) -> Option<Cow<'a, str>> {
        self.extra.take(key)
    }

    pub(crate) fn extra(&self) -> &Fields<'a> {
        &self.extra
    }

    pub(crate) fn end(mut self) {
        for (key, value) in std::mem::take(&mut self.extra).0 {
            self.key(&key);
            self.out.extend_from_slice(value.as_bytes());
        }
        self.out.push(b'}');
    }
}
