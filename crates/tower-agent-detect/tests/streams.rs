//! A text that comes in pieces is masked as the whole is, byte for byte.
#![cfg(test)]

mod support;
#[path = "support/texts.rs"]
mod texts;

use std::sync::LazyLock;

use proptest::{prelude::*, sample::select};
use tower_agent_detect::{Detector, Finding, Mask, Set, StreamRedactor};

use crate::{
    support::{expand, streamed},
    texts::{cases, long_text, pieces, sizes, text},
};

/// Masks, and whether masking what they wrote once more is known to change nothing.
static MASKS: LazyLock<Vec<(Mask, bool)>> = LazyLock::new(|| {
    let with = |found: &tower_agent_detect::Masked<'_>| format!("<{}>", found.value().len());
    vec![
        (Mask::label(), true),
        (Mask::label(), true),
        (Mask::text("[REDACTED]"), true),
        (Mask::text("***"), true),
        (Mask::text("[REDACTED:mine]"), true),
        // What stands beside letters may be there by chance.
        (Mask::text("XXXX"), false),
        (Mask::text("<masked>"), true),
        (Mask::hash("a key of our own"), true),
        (Mask::keep_last(4), false),
        (Mask::remove(), false),
        (Mask::with(with), false),
    ]
});

static DETECTORS: LazyLock<Vec<Detector>> = LazyLock::new(|| {
    let built = |builder: tower_agent_detect::Builder| builder.build().unwrap();
    vec![
        Detector::builtin(),
        Detector::builtin(),
        Detector::builtin(),
        built(Detector::builder().set(Set::Secrets)),
        built(Detector::builder().set(Set::Pii)),
        built(Detector::builder().rules_toml(include_str!("data/own-rules.toml"))),
        built(
            Detector::builder()
                .allow_values(["hunter2", "a@b.co", "p4ssw0rd", "192.0.2.17"])
                .allow_pattern("ghp_.*")
                .allow_pattern("[0-9 -]+"),
        ),
    ]
});

fn spans(findings: &[Finding]) -> Vec<(String, usize, usize)> {
    let span = |it: &Finding| (it.rule().id().to_owned(), it.span().start, it.span().end);
    findings.iter().map(span).collect()
}

/// Masks a text in pieces, and checks what must hold after each of them.
fn checked_stream(stream: &mut StreamRedactor, pieces: &[&str]) -> String {
    let mut out = String::new();
    for piece in pieces {
        stream.push(piece, &mut out);
        assert!(stream.held() <= StreamRedactor::MOST_HELD, "{} held", stream.held());
    }
    stream.finish(&mut out);
    assert_eq!(stream.held(), 0);
    out
}

fn check(detector: &Detector, mask: &Mask, again: bool, text: &str, sizes: &[usize]) {
    let whole = detector.mask_with(text, mask);
    let mut stream = detector.stream(mask.clone());
    let pieces = pieces(text, sizes);
    let out = checked_stream(&mut stream, &pieces);
    assert_eq!(out, whole, "{mask:?} of {text:?} in {sizes:?}");
    // What is wrapped is read so much at once: of a longer word, a mask moves where the next part begins.
    if again && text.split_ascii_whitespace().all(|word| word.len() < 900) {
        let twice = detector.mask_with(&whole, mask);
        assert_eq!(twice, whole, "{mask:?} twice of {text:?}");
    }
    if format!("{mask:?}") == "Mask(label)" {
        let found = detector.find(text);
        assert_eq!(spans(&stream.take_findings()), spans(&found), "{text:?} in {sizes:?}");
        check_findings(text, &found, &whole);
    }
}

/// Findings are whole characters, in order; and what is written in their places is their label and nothing else.
fn check_findings(text: &str, found: &[Finding], masked: &str) {
    let mut expected = String::new();
    let mut done = 0;
    for (rule, start, end) in spans(found) {
        assert!(done <= start && start < end, "{found:?} in {text:?}");
        expected += &text[done..start];
        expected += &format!("[REDACTED:{rule}]");
        done = end;
    }
    expected += &text[done..];
    assert_eq!(masked, expected, "{found:?} in {text:?}");
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn any_pieces_of_a_text_give_what_the_whole_gives(
        text in text(),
        sizes in sizes(),
        mask in select(&MASKS[..]),
        detector in select(&DETECTORS[..]),
    ) {
        check(&detector, &mask.0, mask.1, &text, &sizes);
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn any_pieces_of_a_long_text_give_what_the_whole_gives(
        text in long_text(),
        sizes in sizes(),
        mask in select(&MASKS[..]),
        detector in select(&DETECTORS[..]),
    ) {
        check(&detector, &mask.0, mask.1, &text, &sizes);
    }
}
