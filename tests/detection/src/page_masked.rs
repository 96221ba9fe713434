//! The section about masked texts.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    markdown::{Table, code, list},
    masked::Judged,
};

pub(crate) fn write(judged: &[Judged]) -> String {
    let mut table = Table::new(&[
        "scanner",
        "texts",
        "with a find before",
        "finds in what was masked",
        "of them a label only",
        "finds in what was not",
    ]);
    for one in judged {
        let (inside, outside) = (one.inside.len(), one.outside.len());
        table.row(&[&one.name, &one.texts, &one.before, &inside, &one.labels, &outside]);
    }
    format!(
        "### After masking\n\n{}{}{}",
        table.end(),
        rows("Finds in what was masked", judged, |one| &one.inside),
        rows("Finds in what the engine left", judged, |one| &one.outside)
    )
}

/// One line for each row, with what each scanner found in it.
fn rows(what: &str, judged: &[Judged], of: fn(&Judged) -> &BTreeSet<(String, String)>) -> String {
    let mut rows: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in judged {
        for (row, rule) in of(one) {
            rows.entry(row).or_default().push(format!("{} {}", one.name, code(rule)));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["row", "<found by"]);
    for (row, found) in &rows {
        table.row(&[row, &list(found)]);
    }
    format!("{what}:\n\n{}", table.end())
}
