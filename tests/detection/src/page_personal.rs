//! The sections about personal data.

use detection_quality::{
    Differences,
    personal::{Counted, WHOLE_SET},
    verdicts,
};

use crate::{
    markdown::{Table, code, list, set},
    page_secrets::{differences, met},
};

pub(crate) fn sentences(counted: &[Counted], sentences: usize) -> String {
    let mut table = Table::new(&[
        "rule",
        "found",
        "extra",
        "presidio found",
        "extra",
        "of all, presidio found",
        "extra",
        "<missed",
        "<extra",
    ]);
    for one in counted {
        let (same, whole) = (one.kind.presidio, one.kind.presidio_whole);
        table.row(&[
            &code(one.kind.rule),
            &one.found,
            &one.extra,
            &same.found,
            &same.extra,
            &whole.found,
            &whole.extra,
            &list(&one.misses),
            &set(&one.extras),
        ]);
    }
    format!(
        "### Personal data: the sentences of presidio-evaluator 0.3.2\n\nThese are {sentences} of its {WHOLE_SET} \
         sentences, for presidio too; what it finds of all {WHOLE_SET} stands beside it.\n\n{}",
        table.end()
    )
}

pub(crate) fn tables(report: &verdicts::Report, known: &Differences) -> String {
    format!(
        "### Personal data: the verdicts of presidio-analyzer's tests\n\n{}{}",
        met(report, "kind"),
        differences(report, known)
    )
}
