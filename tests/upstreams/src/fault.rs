//! The table of faults.

use serde::Deserialize;
use serde_json::Value;

use crate::Result;

const TABLE: &str = include_str!("../faults.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    #[serde(rename = "fault")]
    pub(crate) faults: Vec<Fault>,
    #[serde(rename = "cut")]
    pub(crate) cuts: Vec<Trouble>,
    #[serde(rename = "call")]
    pub(crate) calls: Vec<Trouble>,
}

/// What llmock has a name for, and the error that comes of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trouble {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) answer: String,
}

/// What an upstream does wrong, and what comes of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    pub(crate) name: String,
    /// What llmock is told to do.
    #[serde(default)]
    pub(crate) does: Vec<Value>,
    pub(crate) asked: Asked,
    /// The dialects that have it; all of them without this.
    #[serde(default)]
    pub(crate) only: Vec<String>,
    /// The first answer of the service: `reply`, or kind and effect of its error.
    pub(crate) answer: String,
    /// How often it is asked; once means that nothing is retried.
    pub(crate) attempts: usize,
    /// Whether a reply comes in the end.
    pub(crate) ends_well: bool,
    /// What llmock minds; nothing without this.
    #[serde(default)]
    pub(crate) findings: Vec<String>,
    /// How many attempts are allowed.
    #[serde(default = "four")]
    pub(crate) allowed: u32,
    /// How many milliseconds of silence are.
    #[serde(default = "a_minute")]
    pub(crate) patience: u64,
    #[serde(default)]
    pub(crate) request: Request,
    /// Why it is right all the same, for the table in the docs.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "the docs alone show it"))]
    note: String,
}

/// Which of both forms of an answer is asked for.
#[derive(Clone, Copy, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asked {
    Whole,
    Streamed,
    Both,
}

impl Fault {
    pub(crate) fn concerns(&self, dialect: &str, stream: bool) -> bool {
        let form = match self.asked {
            Asked::Whole => !stream,
            Asked::Streamed => stream,
            Asked::Both => true,
        };
        form && (self.only.is_empty() || self.only.iter().any(|name| name == dialect))
    }
}

/// What is asked.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// A greeting.
    #[default]
    Short,
    /// More than the model can read.
    Long,
    /// A greeting again, after one that used up the quota.
    AfterAll,
}

const fn four() -> u32 {
    4
}

const fn a_minute() -> u64 {
    60_000
}

pub(crate) fn table() -> Result<Table> {
    Ok(toml::from_str(TABLE)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCS: &str = include_str!("../../../docs/upstreams.md");

    fn row(fault: &Fault) -> String {
        let asked = match fault.asked {
            Asked::Whole => "whole",
            Asked::Streamed => "streamed",
            Asked::Both => "both",
        };
        let end = if fault.ends_well { "a reply" } else { "the error" };
        let codes: Vec<_> = fault.findings.iter().map(|code| format!("`{code}`")).collect();
        let verdict = match (&*codes.join(", "), &*fault.note) {
            ("", _) => "nothing".to_owned(),
            (codes, note) => format!("{codes}: {note}"),
        };
        let Fault { name, answer, attempts, .. } = fault;
        format!("| {name} | {asked} | {answer} | {attempts} | {end} | {verdict} |")
    }

    /// The rows below the header of a table with so many columns, which is the only such one.
    fn shown(columns: usize) -> &'static str {
        let header = format!("\n|{}\n", " --- |".repeat(columns));
        DOCS.split_once(&header).unwrap().1.split("\n\n").next().unwrap()
    }

    #[test]
    fn the_docs_show_these_tables_and_nothing_else() {
        let table = table().unwrap();
        let late =
            |cut: &Trouble| if cut.kind == "malformed" { "the error" } else { "the whole text" };
        let triple = |cut: &Trouble| format!("| {} | {} | {} |", cut.name, cut.answer, late(cut));
        let pair = |trouble: &Trouble| format!("| {} | {} |", trouble.name, trouble.answer);
        let faults: Vec<_> = table.faults.iter().map(row).collect();
        let cuts: Vec<_> = table.cuts.iter().map(triple).collect();
        let calls: Vec<_> = table.calls.iter().map(pair).collect();
        for (columns, rows) in [(6, faults), (3, cuts), (2, calls)] {
            let rows = rows.join("\n");
            assert_eq!(shown(columns), rows, "docs/upstreams.md should have:\n{rows}\n");
        }
    }

    #[test]
    fn whatever_llmock_minds_has_a_reason() {
        for fault in table().unwrap().faults {
            assert_eq!(fault.findings.is_empty(), fault.note.is_empty(), "{}", fault.name);
        }
    }
}
