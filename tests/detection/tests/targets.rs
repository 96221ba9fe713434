//! The engine is held to what is aimed at, on the samples that `TOWER_AGENT_SHARED` names.
//!
//! Without that variable there is nothing to measure. With it, samples that are missing are a failure.
#![cfg(test)]

use std::io::Write;

use detection_quality::{Corpora, Differences, Engine, Share, personal, secrets, verdicts};

/// The samples, and the engine.
fn given() -> Option<(Corpora, Engine)> {
    let Some(corpora) = Corpora::read().unwrap() else {
        // Not `eprintln`, which the harness would keep to itself.
        let _ = writeln!(
            std::io::stderr(),
            "TOWER_AGENT_SHARED is not set: the quality of detection is not measured"
        );
        return None;
    };
    Some((corpora, Engine::new().unwrap()))
}

#[test]
fn secrets_are_found_and_little_else_is_taken_for_one() {
    let Some((corpora, engine)) = given() else { return };
    let report = secrets::measure(&engine, &corpora.secrets);
    let Share { whole, .. } = report.found;
    assert!(whole > 1000, "only {whole} positives");
    assert!(report.found.percent() >= secrets::FOUND, "found: {}", report.found);
    assert!(report.agreed.percent() >= secrets::AGREED, "found of the agreed: {}", report.agreed);
    assert!(report.flagged.percent() <= secrets::FLAGGED, "falsely found: {}", report.flagged);
}

#[test]
fn the_verdicts_of_detect_secrets_are_met_or_there_is_a_reason() {
    let Some((corpora, engine)) = given() else { return };
    assert_met_or_explained(&verdicts::measure(&engine, &corpora.verdicts));
}

#[test]
fn the_verdicts_of_presidio_are_met_or_there_is_a_reason() {
    let Some((corpora, engine)) = given() else { return };
    let report = verdicts::measure_due(&engine, &corpora.tables, &personal::TABLES);
    assert_eq!(report.detectors.len(), personal::TABLES.len(), "a kind has no table");
    assert_met_or_explained(&report);
}

fn assert_met_or_explained(report: &verdicts::Report) {
    let reasons = Differences::known().unwrap();
    let open = report.differences.iter().filter(|one| reasons.reason(&one.id).is_none());
    let open: Vec<_> = open.map(|one| (&one.id, &one.kind, one.positive, &one.rules)).collect();
    assert!(open.is_empty(), "met: {}; not explained: {open:#?}", report.met());
}

#[test]
fn a_reason_is_dropped_once_its_verdict_is_met() {
    let Some((corpora, engine)) = given() else { return };
    let mut differing = verdicts::measure(&engine, &corpora.verdicts).differences;
    let due = verdicts::measure_due(&engine, &corpora.tables, &personal::TABLES);
    differing.extend(due.differences);
    let reasons = Differences::known().unwrap();
    let stale: Vec<_> =
        reasons.rows().filter(|row| !differing.iter().any(|one| one.id == *row)).collect();
    assert!(stale.is_empty(), "reasons for verdicts that are met: {stale:?}");
}

#[test]
fn as_much_personal_data_is_found_as_presidio_finds_and_no_more_extra() {
    let Some((corpora, engine)) = given() else { return };
    for counted in personal::measure(&engine, &corpora.sentences) {
        let personal::Kind { rule, presidio, .. } = counted.kind;
        let found = counted.found;
        assert_eq!(found.whole, presidio.found.whole, "not the sentences that presidio read");
        assert!(found.part >= presidio.found.part, "{rule}: {found}, presidio {}", presidio.found);
        let extra = counted.extra;
        assert!(extra <= presidio.extra, "{rule}: {extra} extra, presidio {}", presidio.extra);
    }
}
