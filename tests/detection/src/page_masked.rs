//! The section about masked texts.

use std::collections::BTreeSet;

use crate::{
    markdown::{Table, code},
    masked::Judged,
};

pub(crate) fn write(judged: &[Judged]) -> String {
    let mut table = Table::new(&[
        "scanner",
        "texts",
        "with a find before",
        "finds in what was masked",
        "finds in what was not",
    ]);
    for one in judged {
        table.row(&[&one.name, &one.texts, &one.before, &one.inside.len(), &one.outside.len()]);
    }
    let mut text = format!("### After masking\n\n{}", table.end());
    let (inside, outside) = (rows(judged, |one| &one.inside), rows(judged, |one| &one.outside));
    for (what, rows) in
        [("Finds in what was masked", inside), ("Finds in what the engine left", outside)]
    {
        if let Some(rows) = rows {
            text += &format!("{what}:\n\n{rows}");
        }
    }
    text
}

fn rows(judged: &[Judged], of: impl Fn(&Judged) -> &BTreeSet<(String, String)>) -> Option<String> {
    let mut table = Table::new(&["row", "<scanner", "<its rule"]);
    let all: BTreeSet<_> =
        judged.iter().flat_map(|one| of(one).iter().map(move |found| (found, one.name))).collect();
    for ((row, rule), name) in &all {
        table.row(&[row, name, &code(rule)]);
    }
    (!all.is_empty()).then(|| table.end())
}
