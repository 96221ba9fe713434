//! What is found, what is not, and that a text in pieces says the same as the whole.

pub(crate) mod driver;
mod kinds;
mod pieces;
mod quiet;

use super::Kind;

/// What is found of a kind in a text.
fn all(kind: Kind, text: &str) -> Vec<&str> {
    driver::whole(text.as_bytes())
        .into_iter()
        .filter(|found| found.kind == kind)
        .filter_map(|found| text.get(found.start..found.end))
        .collect()
}

/// Asserts that each text holds what stands beside it, and nothing else of that kind.
fn assert_finds(kind: Kind, samples: &[(&str, &[&str])]) {
    for (text, expected) in samples {
        assert_eq!(all(kind, text), *expected, "in `{text}`");
    }
}

/// Asserts that none of the texts holds anything of a kind.
fn assert_no(kind: Kind, samples: &[&str]) {
    for text in samples {
        assert_eq!(all(kind, text), [""; 0], "in `{text}`");
    }
}
