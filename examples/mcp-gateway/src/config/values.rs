//! What can stand behind a key.

use std::{fmt, path::PathBuf, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{self, Error as _, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use tower_agent::{Names, NamesError, truncate::Keep};

/// A setting, or `false` for none of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Choice<T> {
    Off,
    On(T),
}

impl<T> Choice<T> {
    pub(super) fn on(self) -> Option<T> {
        match self {
            Self::Off => None,
            Self::On(setting) => Some(setting),
        }
    }
}

/// What can be written in a [`Choice`] beside `false`.
pub(super) trait Setting: Sized {
    /// In words, such as `a duration`.
    const WHAT: &'static str;

    /// What `true` means.
    fn usual() -> Option<Self> {
        None
    }

    fn of_text(_: &str) -> Result<Self, String> {
        Err(format!("expected {}", Self::WHAT))
    }

    fn of_number(_: u64) -> Result<Self, String> {
        Err(format!("expected {}", Self::WHAT))
    }

    fn of_table<'de, A: MapAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::custom(format!("expected {}", Self::WHAT)))
    }
}

impl<'de, T: Setting> Deserialize<'de> for Choice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ChoiceVisitor(std::marker::PhantomData))
    }
}

struct ChoiceVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Setting> Visitor<'de> for ChoiceVisitor<T> {
    type Value = Choice<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, or false", T::WHAT)
    }

    fn visit_bool<E: de::Error>(self, on: bool) -> Result<Self::Value, E> {
        if !on {
            return Ok(Choice::Off);
        }
        T::usual()
            .map(Choice::On)
            .ok_or_else(|| E::custom(format!("expected {}, or false", T::WHAT)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        T::of_text(text).map(Choice::On).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        let number = u64::try_from(number)
            .map_err(|_| E::custom(format!("expected {}, or false", T::WHAT)))?;
        T::of_number(number).map(Choice::On).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::of_table(map).map(Choice::On)
    }
}

/// How long something may take, such as `"30s"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Period(pub(crate) Duration);

impl Setting for Period {
    const WHAT: &'static str = "a duration such as \"30s\", \"500ms\" or \"2m\"";

    fn of_text(text: &str) -> Result<Self, String> {
        let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let milliseconds = match unit.trim() {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => 0,
        };
        let number: u64 = number.parse().unwrap_or(0);
        match number.checked_mul(milliseconds) {
            Some(duration @ 1..) => Ok(Self(Duration::from_millis(duration))),
            _ => Err(format!("{text:?} is not {}", Self::WHAT)),
        }
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of_text(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Setting for PathBuf {
    const WHAT: &'static str = "a path";

    fn of_text(text: &str) -> Result<Self, String> {
        Ok(Self::from(text))
    }
}

/// How many calls at a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Calls(pub(crate) usize);

impl Setting for Calls {
    const WHAT: &'static str = "a number of calls, 1 or more";

    fn of_number(number: u64) -> Result<Self, String> {
        match usize::try_from(number) {
            Ok(calls @ 1..) => Ok(Self(calls)),
            _ => Err(format!("{number} is not {}", Self::WHAT)),
        }
    }
}

/// How long a result may be, and what of it stays.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Truncation {
    pub(crate) bytes: usize,
    #[serde(default, deserialize_with = "keep")]
    pub(crate) keep: Keep,
}

impl Setting for Truncation {
    const WHAT: &'static str = "a number of bytes, or a table with `bytes` and `keep`";

    fn of_number(number: u64) -> Result<Self, String> {
        let bytes = usize::try_from(number).map_err(|error| error.to_string())?;
        Ok(Self { bytes, keep: Keep::Head })
    }

    fn of_table<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(map))
    }
}

fn keep<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Keep, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Part {
        Head,
        Tail,
        Both,
    }
    Ok(match Part::deserialize(deserializer)? {
        Part::Head => Keep::Head,
        Part::Tail => Keep::Tail,
        Part::Both => Keep::HeadAndTail,
    })
}

/// What is masked, and how.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Redaction {
    pub(crate) set: RuleSet,
    pub(crate) rules: Option<PathBuf>,
    pub(crate) mask: MaskKind,
    pub(crate) arguments: ArgumentsKind,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RuleSet {
    #[default]
    Secrets,
    Pii,
    All,
    None,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MaskKind {
    #[default]
    Label,
    Last4,
    Remove,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ArgumentsKind {
    #[default]
    Keep,
    Mask,
    Block,
}

impl Setting for Redaction {
    const WHAT: &'static str =
        "\"secrets\", \"pii\" or \"all\", or a table with `set`, `rules`, `mask` and `arguments`";

    fn usual() -> Option<Self> {
        Some(Self::default())
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let set = match text {
            "secrets" => RuleSet::Secrets,
            "pii" => RuleSet::Pii,
            "all" => RuleSet::All,
            _ => return Err(format!("{text:?} is not {}", Self::WHAT)),
        };
        Ok(Self { set, ..Self::default() })
    }

    fn of_table<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Names of tools and globs of such names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Globs {
    names: Names,
    patterns: Vec<String>,
}

impl Globs {
    fn new(patterns: Vec<String>) -> Result<Self, NamesError> {
        let names = Names::new(&patterns)?;
        Ok(Self { names, patterns })
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Each as it is written.
    pub(crate) fn patterns(&self) -> &[String] {
        &self.patterns
    }
}

impl<'de> Deserialize<'de> for Globs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(GlobsVisitor)
    }
}

struct GlobsVisitor;

impl<'de> Visitor<'de> for GlobsVisitor {
    type Value = Globs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a tool, or a list of names")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Globs, E> {
        Globs::new(vec![name.to_owned()]).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Globs, A::Error> {
        let mut patterns = Vec::new();
        while let Some(name) = names.next_element()? {
            patterns.push(name);
        }
        Globs::new(patterns).map_err(A::Error::custom)
    }
}

/// A text, or `env:NAME` for what an environment variable holds. It may be secret.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Value(pub(crate) String);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix("env:") {
            None => Ok(Self(text)),
            Some(name) => std::env::var(name).map(Self).map_err(|_| {
                D::Error::custom(format!("the environment variable {name} is not set"))
            }),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[..]")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Period, Setting};

    #[test]
    fn durations_have_a_number_and_a_unit() {
        let read = |text| Period::of_text(text).map(|period| period.0);
        for (text, milliseconds) in
            [("500ms", 500), ("30s", 30_000), ("2m", 120_000), ("1h", 3_600_000), ("1 s", 1_000)]
        {
            assert_eq!(read(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        let odd =
            ["", "30", "s", "0s", "-1s", "1.5s", "1d", "30ss", "18446744073709551615h", "\u{663}s"];
        for text in odd {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
