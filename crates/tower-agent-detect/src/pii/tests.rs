mod contexts;
mod driver;
mod kinds;
mod pieces;
mod quiet;

use self::driver::whole;
use super::Kind;

/// Asserts what is found of one kind in each text.
fn assert_finds(kind: Kind, samples: &[(&str, &[&str])]) {
    for (text, expected) in samples {
        assert_eq!(found(kind, text), *expected, "in `{text}`");
    }
}

/// Asserts that nothing of one kind is found in any of the texts.
fn assert_no(kind: Kind, texts: &[&str]) {
    for text in texts {
        assert_eq!(found(kind, text), [""; 0], "in `{text}`");
    }
}

fn found(kind: Kind, text: &str) -> Vec<&str> {
    let found = whole(text.as_bytes());
    found
        .iter()
        .filter(|found| found.kind == kind)
        .map(|found| text.get(found.start..found.end).unwrap())
        .collect()
}
