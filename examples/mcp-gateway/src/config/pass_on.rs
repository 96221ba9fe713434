//! `pass_on`: what of a server reaches clients beside its results.

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use tower_agent_mcp::client::Ask;

const LOGS: &str = "logs";
const WHAT: &str = "a list of \"logs\", \"elicitation\", \"sampling\" and \"roots\", true or false";

/// All of it, unless the file says otherwise.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PassOn {
    pub(crate) logs: bool,
    /// What the server may ask of clients.
    pub(crate) asks: Vec<Ask>,
}

impl Default for PassOn {
    fn default() -> Self {
        Self { logs: true, asks: Ask::ALL.to_vec() }
    }
}

impl PassOn {
    const fn nothing() -> Self {
        Self { logs: false, asks: Vec::new() }
    }

    fn of_words(words: &BTreeSet<String>) -> Self {
        let is_there = |word: &str| words.contains(word);
        let asks = Ask::ALL.into_iter().filter(|ask| is_there(ask.capability()));
        Self { logs: is_there(LOGS), asks: asks.collect() }
    }
}

fn is_known(word: &str) -> bool {
    word == LOGS || Ask::ALL.iter().any(|ask| ask.capability() == word)
}

impl<'de> Deserialize<'de> for PassOn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PassOnVisitor)
    }
}

struct PassOnVisitor;

impl<'de> Visitor<'de> for PassOnVisitor {
    type Value = PassOn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WHAT)
    }

    fn visit_bool<E: de::Error>(self, all: bool) -> Result<PassOn, E> {
        Ok(if all { PassOn::default() } else { PassOn::nothing() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<PassOn, A::Error> {
        let mut known = BTreeSet::new();
        while let Some(word) = words.next_element::<String>()? {
            if !is_known(&word) {
                return Err(de::Error::custom(format!("{word:?} is none of {WHAT}")));
            }
            known.insert(word);
        }
        Ok(PassOn::of_words(&known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Table {
        pass_on: PassOn,
    }

    #[test]
    fn what_is_passed_on_is_a_list_or_all_or_nothing() {
        let all = PassOn::default();
        let table: [(&str, Option<PassOn>); 7] = [
            ("true", Some(all)),
            ("false", Some(PassOn::nothing())),
            ("[]", Some(PassOn::nothing())),
            (r#"["logs"]"#, Some(PassOn { logs: true, asks: Vec::new() })),
            (
                r#"["roots", "elicitation"]"#,
                Some(PassOn { logs: false, asks: vec![Ask::Elicitation, Ask::Roots] }),
            ),
            (r#"["log"]"#, None),
            (r#""logs""#, None),
        ];
        for (text, expected) in table {
            let read = toml::from_str::<Table>(&format!("pass_on = {text}"));
            assert_eq!(read.ok().map(|table| table.pass_on), expected, "{text}");
        }
    }
}
