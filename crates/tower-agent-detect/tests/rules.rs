//! What the rules say of themselves.
#![cfg(test)]

mod support;

use std::collections::BTreeMap;

use tower_agent_detect::{Detector, Mask, Rule, Set};

use crate::support::{expand, streamed};

fn samples(rule: &Rule) -> impl Iterator<Item = String> + '_ {
    rule.samples_hit().iter().map(|sample| expand(sample))
}

fn ids(detector: &Detector, text: &str) -> Vec<String> {
    detector.find(text).iter().map(|finding| finding.rule().id().to_owned()).collect()
}

#[test]
fn there_are_rules_for_what_agents_are_given_each_with_its_source_and_samples() {
    let detector = Detector::builtin();
    let mut seen = BTreeMap::new();
    for rule in detector.rules() {
        *seen.entry(rule.id()).or_insert(0) += 1;
        assert!(rule.source().starts_with("https://"), "{} has no source", rule.id());
        assert!(!rule.description().is_empty() && rule.tags().count() > 0, "{}", rule.id());
        assert!(!rule.samples_hit().is_empty(), "{} has no sample", rule.id());
        assert!(!rule.samples_miss().is_empty(), "{} has no counter-sample", rule.id());
    }
    assert!(seen.values().all(|count| *count == 1), "{seen:?}");
    let count = |set| detector.rules().iter().filter(|rule| rule.set() == set).count();
    assert!(count(Set::Secrets) >= 220);
    assert_eq!(count(Set::Pii), 8);
}

#[test]
fn every_rule_compiles() {
    let wrong: Vec<_> =
        Detector::builtin().rules().iter().filter_map(|rule| rule.check().err()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn every_rule_finds_its_samples_and_none_of_its_counter_samples() {
    let mut wrong = Vec::new();
    for rule in Detector::builtin().rules() {
        let alone = Detector::builder().only([rule.id()]).build().unwrap();
        let missed = samples(rule).filter(|sample| alone.find(sample).is_empty());
        wrong.extend(missed.map(|sample| format!("{} misses {sample}", rule.id())));
        let misses = rule.samples_miss().iter().map(|sample| expand(sample));
        let found = misses.filter(|sample| !alone.find(sample).is_empty());
        wrong.extend(found.map(|sample| format!("{} finds {sample}", rule.id())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn beside_all_others_every_rule_still_has_its_samples_masked() {
    let detector = Detector::builtin();
    let mut wrong = Vec::new();
    for rule in detector.rules() {
        let alone = Detector::builder().only([rule.id()]).build().unwrap();
        for sample in samples(rule) {
            let masked = detector.mask(&sample);
            let values = alone
                .find(&sample)
                .into_iter()
                .map(|finding| sample.get(finding.span()).unwrap().to_owned());
            let shown = values.filter(|value| masked.contains(value));
            wrong.extend(shown.map(|value| format!("{}: {value} in {masked}", rule.id())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn in_pieces_of_any_size_every_sample_is_masked_as_it_is_whole() {
    let detector = Detector::builtin();
    for sample in detector.rules().iter().flat_map(|rule| samples(rule)) {
        let text = format!("before it, {sample}\nand after");
        let whole = detector.mask(&text);
        for size in [1, 2, 3, 5, 8, 13, 34] {
            assert_eq!(streamed(&detector, &Mask::label(), &text, size), whole, "{size}: {text}");
        }
    }
}

#[test]
fn cut_in_two_at_any_place_every_sample_is_masked_as_it_is_whole() {
    let detector = Detector::builtin();
    for rule in detector.rules() {
        let Some(text) = samples(rule).min_by_key(String::len) else { continue };
        let whole = detector.mask(&text);
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)).take(160) {
            let (head, tail) = text.split_at(cut);
            let mut stream = detector.stream(Mask::label());
            let mut out = String::new();
            stream.push(head, &mut out);
            stream.push(tail, &mut out);
            stream.finish(&mut out);
            assert_eq!(out, whole, "{} cut at {cut}: {text}", rule.id());
        }
    }
}

#[test]
fn masking_twice_is_masking_once_for_every_sample_and_every_mask() {
    let detector = Detector::builtin();
    let masks = [Mask::label(), Mask::text("[REDACTED]"), Mask::text("***"), Mask::hash("key")];
    for sample in detector.rules().iter().flat_map(|rule| samples(rule)) {
        for mask in &masks {
            let once = detector.mask_with(&sample, mask);
            assert_eq!(detector.mask_with(&once, mask), once, "{mask:?}: {sample}");
        }
    }
}

#[test]
fn a_sample_is_found_wherever_it_stands() {
    let detector = Detector::builtin();
    let around = [
        ("", ""),
        ("x ", " y"),
        ("\"", "\""),
        ("é", "é"),
        ("密钥：", "。"),
        ("a\n", "\nb"),
        ("[", "]"),
        ("(", " )"),
    ];
    let mut wrong = Vec::new();
    for rule in detector.rules() {
        let Some(sample) = rule.samples_hit().first().map(|sample| expand(sample)) else {
            continue;
        };
        for (before, after) in around {
            let text = format!("{before}{sample}{after}");
            if ids(&detector, &text).is_empty() {
                wrong.push(format!("{}: {text}", rule.id()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
