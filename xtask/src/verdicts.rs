//! What the conformance suite finds of a server, and where that of two servers is not the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::Value;

use crate::Result;

/// What the suite puts before the name of a scenario in the name of a folder.
const PREFIX: &str = "server-";
/// What it puts after it, such as `-2026-12-01T09-30-00-120Z`.
const STAMP: usize = 25;

/// Of each scenario, what each of its checks came to.
#[derive(Debug, Default)]
pub(crate) struct Verdicts(BTreeMap<String, Vec<String>>);

/// The scenarios that may differ, each with the reason.
pub(crate) type Reasons = BTreeMap<String, String>;

impl Verdicts {
    /// Reads what the suite wrote into a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut verdicts = BTreeMap::new();
        let entries = fs::read_dir(folder)
            .map_err(|error| format!("the suite wrote nothing: {}: {error}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().and_then(scenario);
            let name = name.ok_or_else(|| format!("{:?} is no scenario", entry.path()))?;
            let checks = fs::read(entry.path().join("checks.json"))?;
            verdicts.insert(name.to_owned(), statuses(&serde_json::from_slice(&checks)?));
        }
        Ok(Self(verdicts))
    }

    /// Compares them with those of the same server behind something, and says what is not as it should be: a difference
    /// without a reason, and a reason without a difference. Without any, it answers how many differ with reason.
    pub(crate) fn compare(&self, through: &Self, reasons: &Reasons) -> Result<usize> {
        let names = self.0.keys().chain(through.0.keys()).chain(reasons.keys());
        let mut wrong = Vec::new();
        for name in names.collect::<BTreeSet<_>>() {
            let (one, other) = (self.0.get(name), through.0.get(name));
            match (one == other, reasons.contains_key(name)) {
                (false, false) => {
                    wrong.push(format!("`{name}` is [{}], but [{}]", list(one), list(other)));
                }
                (true, true) => wrong.push(format!("`{name}` is the same, against its reason")),
                (true, false) | (false, true) => {}
            }
        }
        if wrong.is_empty() { Ok(reasons.len()) } else { Err(wrong.join("; ").into()) }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

fn scenario(folder: &str) -> Option<&str> {
    let name = folder.strip_prefix(PREFIX)?;
    name.get(..name.len().checked_sub(STAMP)?)
}

fn statuses(checks: &Value) -> Vec<String> {
    let text = |check: &Value, key| check.get(key).and_then(Value::as_str).map(str::to_owned);
    let status = |check: &Value| Some(format!("{} {}", text(check, "id")?, text(check, "status")?));
    let mut statuses: Vec<_> = checks.as_array().into_iter().flatten().filter_map(status).collect();
    statuses.sort_unstable();
    statuses
}

fn list(statuses: Option<&Vec<String>>) -> String {
    statuses.map_or_else(|| "not run".to_owned(), |statuses| statuses.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdicts(scenarios: &[(&str, &str)]) -> Verdicts {
        let of = |&(name, status): &(&str, &str)| {
            (name.to_owned(), statuses(&json!([{ "id": "check", "status": status }])))
        };
        Verdicts(scenarios.iter().map(of).collect())
    }

    fn reasons(names: &[&str]) -> Reasons {
        names.iter().map(|&name| (name.to_owned(), "so it is".to_owned())).collect()
    }

    #[test]
    fn a_folder_is_named_by_its_scenario_and_the_time() {
        assert_eq!(scenario("server-tools-list-2026-12-01T09-30-00-120Z"), Some("tools-list"));
        assert_eq!(scenario("tools-list-2026-12-01T09-30-00-120Z"), None);
        assert_eq!(scenario("server-ping"), None);
    }

    #[test]
    fn what_is_the_same_needs_no_reason() {
        let one = verdicts(&[("ping", "SUCCESS"), ("prompts", "FAILURE")]);
        assert_eq!(one.compare(&one, &reasons(&[])).unwrap(), 0);
    }

    #[test]
    fn a_difference_needs_a_reason() {
        let direct = verdicts(&[("ping", "SUCCESS"), ("log", "SUCCESS")]);
        let through = verdicts(&[("ping", "SUCCESS"), ("log", "FAILURE")]);
        let error = direct.compare(&through, &reasons(&[])).unwrap_err().to_string();
        assert_eq!(error, "`log` is [check SUCCESS], but [check FAILURE]");
        assert_eq!(direct.compare(&through, &reasons(&["log"])).unwrap(), 1);
    }

    #[test]
    fn a_scenario_that_did_not_run_is_a_difference() {
        let direct = verdicts(&[("log", "SUCCESS")]);
        let error = direct.compare(&Verdicts::default(), &reasons(&[])).unwrap_err().to_string();
        assert_eq!(error, "`log` is [check SUCCESS], but [not run]");
    }

    #[test]
    fn a_reason_needs_a_difference() {
        let one = verdicts(&[("ping", "SUCCESS")]);
        let error = one.compare(&one, &reasons(&["ping"])).unwrap_err().to_string();
        assert_eq!(error, "`ping` is the same, against its reason");
        assert!(one.compare(&one, &reasons(&["gone"])).is_err());
    }
}
