//! Ordinary text stays as it is.
#![cfg(test)]

#[allow(dead_code, reason = "others use the rest of it")]
mod support;

use std::collections::BTreeMap;

use tower_agent_detect::{Detector, Mask};

use crate::support::{expand, streamed};

fn groups() -> BTreeMap<String, Vec<String>> {
    toml::from_str(include_str!("data/precision.toml")).unwrap()
}

#[test]
fn ordinary_lines_stay_as_they_are() {
    let detector = Detector::builtin();
    let mut wrong = Vec::new();
    for (group, lines) in groups() {
        for line in lines.iter().map(|line| expand(line)) {
            let found = detector.find(&line);
            let rules: Vec<_> = found
                .iter()
                .map(|it| format!("{}: {}", it.rule().id(), &line[it.span()]))
                .collect();
            wrong.extend((!found.is_empty()).then(|| format!("{group}: {line}\n  {rules:?}")));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn ordinary_lines_stay_as_they_are_beside_each_other() {
    let detector = Detector::builtin();
    for (group, lines) in groups() {
        let text: String = lines.iter().map(|line| expand(line) + "\n").collect();
        assert_eq!(detector.mask(&text), text, "{group}");
        assert_eq!(streamed(&detector, &Mask::label(), &text, 5), text, "{group}");
    }
}
