//! A text in pieces is masked as it is whole, and what was masked stays as it is.

use std::{ops::Range, sync::LazyLock};

use tower_agent_detect::{Detector, Finding, Mask, Set, StreamRedactor};

use crate::text::pieces;

static MASKS: LazyLock<[Mask; 3]> =
    LazyLock::new(|| [Mask::label(), Mask::text("***"), Mask::hash("a key of a test")]);

/// Fewer rules, since one of them must not lean on another one.
static CHOICES: LazyLock<[Detector; 4]> = LazyLock::new(|| {
    let rules = Detector::builtin();
    let names = rules.rules().iter().map(|rule| rule.id());
    let some =
        |ids: Vec<&str>| Detector::builder().only(ids).build().expect("there are such rules");
    [
        some(vec!["generic-token"]),
        some(vec!["generic-password", "generic-api-key"]),
        some(names.step_by(2).collect()),
        Detector::builder().set(Set::Pii).build().expect("there are such rules"),
    ]
});

/// Tries the text that an input stands for.
pub fn check(input: &[u8]) {
    check_pieces(&pieces(input, str::to_owned));
}

/// Panics if a text is masked in another way in pieces, or once more.
pub fn check_pieces(pieces: &[String]) {
    let text = pieces.concat();
    for mask in &*MASKS {
        check_mask(&Detector::builtin(), mask, pieces, &text);
    }
    for detector in &*CHOICES {
        check_mask(detector, &Mask::label(), pieces, &text);
    }
}

fn check_mask(detector: &Detector, mask: &Mask, pieces: &[String], text: &str) {
    let whole = detector.mask_with(text, mask);
    let again = detector.mask_with(&whole, mask);
    assert_eq!(again, whole, "{detector:?} {mask:?}: twice, {text:?}");
    let (streamed, found) = streamed(detector, mask, pieces);
    assert_eq!(streamed, whole, "{detector:?} {mask:?}: in pieces, {pieces:?}");
    if format!("{mask:?}") == "Mask(label)" {
        assert_eq!(joined(&found), joined(&detector.find(text)), "findings, {pieces:?}");
    }
}

fn streamed(detector: &Detector, mask: &Mask, pieces: &[String]) -> (String, Vec<Finding>) {
    let mut stream = detector.stream(mask.clone());
    let mut out = String::new();
    for piece in pieces {
        stream.push(piece, &mut out);
        let most = StreamRedactor::MOST_HELD + piece.len();
        assert!(stream.held() <= most, "{} bytes are held", stream.held());
    }
    stream.finish(&mut out);
    assert_eq!(stream.held(), 0, "something is held at the end");
    (out, stream.take_findings())
}

/// What was found, where neighbours of one rule are one: a stream may have let go of the first of them.
fn joined(found: &[Finding]) -> Vec<(String, Range<usize>)> {
    let mut all: Vec<(String, Range<usize>)> = Vec::new();
    for finding in found {
        let (rule, span) = (finding.rule().id(), finding.span());
        match all.last_mut() {
            Some((last, before)) if last == rule && before.end == span.start => {
                before.end = span.end
            }
            _ => all.push((rule.to_owned(), span)),
        }
    }
    all
}
