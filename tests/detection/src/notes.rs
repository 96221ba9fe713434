//! What people say of what was measured, read from the two files beside this package.

use std::collections::BTreeMap;

use globset::{Glob, GlobMatcher};
use serde::{Deserialize, de::DeserializeOwned};

use crate::Result;

/// Why a verdict of others is not met, by the row's id.
#[derive(Debug)]
pub struct Differences {
    reasons: BTreeMap<String, String>,
}

/// Which finds in other people's sources are real.
#[derive(Debug)]
pub struct Judgements {
    judgements: Vec<Judgement>,
}

#[derive(Debug)]
struct Judgement {
    package: GlobMatcher,
    file: GlobMatcher,
    rule: GlobMatcher,
    /// All lines, if none is named.
    lines: Vec<usize>,
    real: bool,
}

impl Differences {
    /// The reasons that are known.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or gives two reasons for one row.
    pub fn known() -> Result<Self> {
        #[derive(Deserialize)]
        struct Raw {
            rows: Vec<String>,
            reason: String,
        }
        let mut reasons = BTreeMap::new();
        for raw in list::<Raw>(include_str!("../differences.toml"), "difference")? {
            for row in raw.rows {
                if reasons.insert(row.clone(), raw.reason.clone()).is_some() {
                    return Err(format!("differences.toml names {row} twice").into());
                }
            }
        }
        Ok(Self { reasons })
    }

    /// Why a row's verdict is not met.
    #[must_use]
    pub fn reason(&self, row: &str) -> Option<&str> {
        self.reasons.get(row).map(String::as_str)
    }

    /// The rows that have a reason.
    pub fn rows(&self) -> impl Iterator<Item = &str> {
        self.reasons.keys().map(String::as_str)
    }
}

impl Judgements {
    /// The judgements that were made.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn known() -> Result<Self> {
        Self::read(include_str!("../judgements.toml"))
    }

    fn read(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Raw {
            package: String,
            file: String,
            rule: String,
            #[serde(default)]
            lines: Vec<usize>,
            real: bool,
        }
        let judgements = list::<Raw>(text, "judgement")?.into_iter().map(|raw| {
            let glob = |text: &str| Result::Ok(Glob::new(text)?.compile_matcher());
            let (package, file, rule) = (glob(&raw.package)?, glob(&raw.file)?, glob(&raw.rule)?);
            Ok(Judgement { package, file, rule, lines: raw.lines, real: raw.real })
        });
        Ok(Self { judgements: judgements.collect::<Result<_>>()? })
    }

    /// Whether a find is real; nothing where nobody judged it. The first judgement that fits holds.
    #[must_use]
    pub fn real(&self, package: &str, file: &str, line: usize, rule: &str) -> Option<bool> {
        let fits = |one: &&Judgement| {
            (one.lines.is_empty() || one.lines.contains(&line))
                && one.rule.is_match(rule)
                && one.package.is_match(package)
                && one.file.is_match(file)
        };
        self.judgements.iter().find(fits).map(|one| one.real)
    }
}

/// The tables of one name.
fn list<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>> {
    let mut lists: BTreeMap<String, Vec<T>> = toml::from_str(text)?;
    let list = lists.remove(name).unwrap_or_default();
    match lists.into_keys().next() {
        Some(other) => Err(format!("`{other}` stands where only `{name}` may").into()),
        None => Ok(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_can_be_read() {
        Differences::known().unwrap();
        Judgements::known().unwrap();
    }

    #[test]
    fn the_first_judgement_that_fits_holds() {
        let text = r#"
            [[judgement]]
            package = "one"
            file = "tests/*"
            rule = "email"
            lines = [3, 4]
            real = false
            [[judgement]]
            package = "*"
            file = "*"
            rule = "email"
            real = true
        "#;
        let judgements = Judgements::read(text).unwrap();
        assert_eq!(judgements.real("one", "tests/deep/a.rs", 4, "email"), Some(false));
        assert_eq!(judgements.real("one", "tests/deep/a.rs", 5, "email"), Some(true));
        assert_eq!(judgements.real("one", "Cargo.toml", 3, "email"), Some(true));
        assert_eq!(judgements.real("one", "Cargo.toml", 3, "phone"), None);
    }

    #[test]
    fn a_table_that_is_misspelt_is_no_table() {
        assert!(Judgements::read("judgment = []").is_err());
    }
}
