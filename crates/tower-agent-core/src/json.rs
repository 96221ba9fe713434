use std::{
    error::Error as StdError,
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::Value;
use sha2::{Digest, Sha256};

mod canonical;
mod check;

/// A shared handle of JSON text that is parsed lazily and at most once.
///
/// Untouched JSON is forwarded byte for byte: 64-bit integers, key order, spaces and duplicate keys
/// survive, and so does text that is no JSON at all, which a model may well produce. Only an edit through
/// [`make_mut`](Self::make_mut) makes new text, and it copies the value only while somebody shares it.
///
/// ```
/// use tower_agent_core::Json;
///
/// let arguments = Json::from_text(r#"{"id": 9007199254740993, "b": 1, "a": 2}"#);
/// assert_eq!(arguments.value().unwrap()["id"], 9007199254740993u64);
/// assert_eq!(arguments.as_str(), r#"{"id": 9007199254740993, "b": 1, "a": 2}"#);
///
/// let mut edited = arguments.clone();
/// edited.make_mut().unwrap()["a"] = 3.into();
/// assert_eq!(edited.as_str(), r#"{"a":3,"b":1,"id":9007199254740993}"#);
/// assert_eq!(arguments.value().unwrap()["a"], 2);
/// ```
///
/// # Serde
///
/// Serialised, it is the value itself where that loses nothing, and `{"$json": text}` where it would: other spaces
/// or key order, duplicate keys, text that is no JSON, `null`.
#[derive(Clone)]
pub struct Json(Arc<Inner>);

struct Inner {
    id: u64,
    text: OnceLock<Box<str>>,
    value: OnceLock<Result<Value, JsonError>>,
    digest: OnceLock<[u8; 32]>,
}

impl Default for Inner {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, text: OnceLock::new(), value: OnceLock::new(), digest: OnceLock::new() }
    }
}

impl Clone for Inner {
    /// A copy that was made for an edit is another value.
    fn clone(&self) -> Self {
        let Self { text, value, digest, .. } = self;
        let (text, value, digest) = (text.clone(), value.clone(), digest.clone());
        Self { text, value, digest, ..Self::default() }
    }
}

/// Why a text is no JSON or does not fit a type: the place and the reason. Of the text it names at most the
/// value that does not fit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JsonError {
    line: usize,
    column: usize,
    cut_off: bool,
    reason: Box<str>,
}

impl Json {
    /// Wraps text as it is; whether it is JSON is found out when somebody looks.
    pub fn from_text(text: impl Into<Box<str>>) -> Self {
        let inner = Inner::default();
        let _ = inner.text.set(text.into());
        Self(Arc::new(inner))
    }

    /// Wraps a value; its text is made when somebody asks for it.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        let inner = Inner::default();
        let _ = inner.value.set(Ok(value));
        Self(Arc::new(inner))
    }

    /// Converts anything that serialises.
    ///
    /// # Errors
    /// When it has no JSON form, such as a map whose keys are not strings.
    pub fn from_serialize(value: &(impl Serialize + ?Sized)) -> Result<Self, JsonError> {
        serde_json::to_value(value)
            .map(Self::from_value)
            .map_err(|error| JsonError::from_serde(&error))
    }

    /// The empty object.
    #[must_use]
    pub fn object() -> Self {
        Self::from_text("{}")
    }

    /// The text: the original one unless it was edited, then a compact one with sorted keys.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.text.get_or_init(|| match self.0.value.get() {
            Some(Ok(value)) => value.to_string().into(),
            _ => Box::default(),
        })
    }

    /// The parsed value.
    ///
    /// # Errors
    /// When the text is malformed, cut off, or nested deeper than 127 levels.
    pub fn value(&self) -> Result<&Value, JsonError> {
        self.0
            .value
            .get_or_init(|| {
                serde_json::from_str(self.as_str()).map_err(|error| JsonError::from_serde(&error))
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Whether the text is JSON; cheaper than [`value`](Self::value) where nobody needs the value.
    ///
    /// # Errors
    /// As for [`value`](Self::value).
    pub fn check(&self) -> Result<(), JsonError> {
        match self.0.value.get() {
            Some(parsed) => parsed.as_ref().map(|_| ()).map_err(Clone::clone),
            None => check::check(self.as_str()).map_err(|error| JsonError::from_serde(&error)),
        }
    }

    /// Reads the JSON into a type.
    ///
    /// # Errors
    /// When the text is malformed or does not fit the type; the error names the place.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        match self.0.text.get() {
            Some(text) => serde_json::from_str(text),
            None => T::deserialize(self.value()?),
        }
        .map_err(|error| JsonError::from_serde(&error))
    }

    /// Access for an edit. The text, the value and the digest are made anew afterwards.
    ///
    /// # Errors
    /// When the text is no JSON; then nothing changes.
    pub fn make_mut(&mut self) -> Result<&mut Value, JsonError> {
        self.value()?;
        let inner = Arc::make_mut(&mut self.0);
        inner.text = OnceLock::new();
        inner.digest = OnceLock::new();
        match inner.value.get_mut() {
            Some(Ok(value)) => Ok(value),
            Some(Err(error)) => Err(error.clone()),
            None => Err(JsonError::lost()),
        }
    }

    /// SHA-256 of the canonical form (RFC 8785), so that equal JSON has an equal digest whatever its
    /// spaces and key order. Integers are kept exact, also beyond 2^53 where the RFC would round them.
    /// Text that is no JSON is digested as it is.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *self.0.digest.get_or_init(|| match self.value() {
            Ok(value) => Sha256::digest(canonical::to_string(value).as_bytes()).into(),
            Err(_) => Sha256::digest(self.as_str().as_bytes()).into(),
        })
    }

    /// Whether it is a JSON object, by its first character where it was not parsed yet.
    #[must_use]
    pub fn is_object(&self) -> bool {
        match self.0.value.get() {
            Some(value) => value.as_ref().is_ok_and(Value::is_object),
            None => self.as_str().trim_ascii_start().starts_with('{'),
        }
    }

    /// Whether there is no text but spaces, which as arguments means that there are none.
    pub(crate) fn is_blank(&self) -> bool {
        self.0.text.get().is_some_and(|text| text.trim_ascii().is_empty())
    }

    /// Whether two handles share one allocation, so that nothing was edited between them.
    #[inline]
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A number that clones of a handle share and no other handle has.
    ///
    /// It tells that a handle was replaced without holding a clone of it. An edit in place keeps it.
    #[must_use]
    pub fn handle_id(&self) -> u64 {
        self.0.id
    }

    /// Whether the value prints to just this text, so that the value alone would lose nothing.
    fn is_plain(&self, value: &Value) -> bool {
        let escaped = match value {
            // Where a field is optional, a plain null would be read as its absence.
            Value::Null => true,
            Value::Object(map) => map.len() == 1 && map.contains_key(ESCAPE),
            _ => false,
        };
        let printed = value.to_string();
        !escaped && self.0.text.get().is_none_or(|text| *printed == **text)
    }
}

const ESCAPE: &str = "$json";

#[derive(Serialize)]
struct Escaped<'a> {
    #[serde(rename = "$json")]
    text: &'a str,
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value() {
            Ok(value) if self.is_plain(value) => value.serialize(serializer),
            _ => Escaped { text: self.as_str() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if let Value::Object(map) = &value
            && map.len() == 1
            && let Some(Value::String(text)) = map.get(ESCAPE)
        {
            return Ok(Self::from_text(text.as_str()));
        }
        Ok(Self::from_value(value))
    }
}

/// Equal text is equal; otherwise equal values are.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.ptr_eq(other)
            || match (self.value(), other.value()) {
                (Ok(ours), Ok(theirs)) => ours == theirs,
                (Err(_), Err(_)) => self.as_str() == other.as_str(),
                _ => false,
            }
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Default for Json {
    fn default() -> Self {
        Self::object()
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from_value(value)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::from_text(text)
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::from_text(text)
    }
}

impl JsonError {
    pub(crate) fn from_serde(error: &serde_json::Error) -> Self {
        // serde_json appends the place, which we keep apart.
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or_default();
        Self {
            line: error.line(),
            column: error.column(),
            cut_off: error.is_eof(),
            reason: reason.into(),
        }
    }

    fn lost() -> Self {
        Self { line: 0, column: 0, cut_off: false, reason: "no value".into() }
    }

    /// The line of the fault, from 1; 0 when the fault has no place in a text.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column of the fault in bytes, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// Whether the text ended too early, as a reply does that ran into its token limit.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if self.line > 0 {
            write!(f, " at line {} column {}", self.line, self.column)?;
        }
        Ok(())
    }
}

impl StdError for JsonError {}
