//! Two real scanners, which look through a folder.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use detection_quality::Result;
use serde_json::Value;

/// A scanner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner {
    /// Its program.
    pub(crate) name: &'static str,
    /// What it is told beside the folder and the file for its report. None of them may ask the network.
    arguments: &'static [&'static str],
    /// How it ends when all went well, with finds or without.
    ends: &'static [i32],
    read: fn(&Value) -> Option<Reported>,
}

/// What a scanner found.
#[derive(Debug)]
pub(crate) struct Reported {
    /// The file's name without its ending.
    pub(crate) file: String,
    /// The scanner's rule.
    pub(crate) rule: String,
    /// What it takes for a secret. It may have decoded it, and then it does not stand in the file.
    pub(crate) value: String,
    /// The first and the last line, from one.
    pub(crate) lines: (usize, usize),
}

pub(crate) const ALL: [Scanner; 2] = [
    Scanner {
        name: "betterleaks",
        arguments: &["--no-banner", "--no-color", "--no-allow-signatures", "--exit-code=0"],
        ends: &[0],
        read: betterleaks,
    },
    Scanner {
        name: "kingfisher",
        arguments: &[
            "scan",
            "--no-validate",
            "--no-update-check",
            "--no-dedup",
            "--no-ignore",
            "--format=jsonl",
        ],
        ends: &[0, 200],
        read: kingfisher,
    },
];

impl Scanner {
    /// Looks through a folder.
    pub(crate) fn scan(&self, programs: &Path, folder: &Path) -> Result<Vec<Reported>> {
        let report = folder.with_extension(format!("{}.jsonl", self.name));
        if report.exists() {
            fs::remove_file(&report)?;
        }
        let status = self.command(programs, folder, &report).status()?;
        if !status.code().is_some_and(|code| self.ends.contains(&code)) {
            return Err(format!("{} failed ({status})", self.name).into());
        }
        let text = fs::read_to_string(&report)?;
        fs::remove_file(&report)?;
        let mut found = Vec::new();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line)?;
            found.extend((self.read)(&line));
        }
        Ok(found)
    }

    fn command(&self, programs: &Path, folder: &Path, report: &Path) -> Command {
        let mut command = Command::new(programs.join(self.name));
        command.args(self.arguments).arg(folder).arg("--output").arg(report);
        if self.name == "kingfisher" {
            command.arg("--rule-cache-dir").arg(folder.with_extension("rules"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// A line of its report; nothing for the summary.
fn betterleaks(line: &Value) -> Option<Reported> {
    let finding = line.get("finding").filter(|finding| finding.is_object())?;
    let place = |name| line_number(finding.pointer(name)?);
    Some(Reported {
        file: stem(finding.pointer("/location/path")?)?,
        rule: finding.get("rule_id")?.as_str()?.to_owned(),
        value: finding.pointer("/match/value")?.as_str()?.to_owned(),
        lines: (place("/location/start_line")?, place("/location/end_line")?),
    })
}

/// A line of its report; nothing for the summary.
fn kingfisher(line: &Value) -> Option<Reported> {
    let finding = line.get("finding").filter(|finding| finding.is_object())?;
    let value = finding.get("snippet")?.as_str()?;
    let first = line_number(finding.get("line")?)?;
    Some(Reported {
        file: stem(finding.get("path")?)?,
        rule: line.pointer("/rule/name")?.as_str()?.to_owned(),
        value: value.to_owned(),
        lines: (first, first + value.matches('\n').count()),
    })
}

fn line_number(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn stem(path: &Value) -> Option<String> {
    let path = PathBuf::from(path.as_str()?);
    path.file_stem().and_then(OsStr::to_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_find_is_read_from_either_report() {
        let line = json!({"finding": {
            "rule_id": "jwt",
            "match": {"full": "x = value", "value": "value"},
            "location": {"path": "out/bl-1.txt", "start_line": 2, "end_line": 3},
        }});
        let found = betterleaks(&line).unwrap();
        assert_eq!(
            (found.file.as_str(), found.rule.as_str(), found.lines),
            ("bl-1", "jwt", (2, 3))
        );
        let line = json!({
            "rule": {"name": "jwt"},
            "finding": {"snippet": "two\nlines", "line": 2, "path": "out/bl-1.txt"},
        });
        let found = kingfisher(&line).unwrap();
        assert_eq!(
            (found.file.as_str(), found.rule.as_str(), found.lines),
            ("bl-1", "jwt", (2, 3))
        );
    }

    #[test]
    fn a_summary_is_no_find() {
        assert!(betterleaks(&json!({"scan": {"state": "complete"}})).is_none());
        assert!(kingfisher(&json!({"audit": {}})).is_none());
    }
}
