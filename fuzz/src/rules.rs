//! Whatever is written as rules, it makes a detector or an error.

use std::sync::LazyLock;

use tower_agent_detect::{Detector, Mask};

use crate::text::{SAMPLES, text};

/// Every third sample, and a text of which a wrong rule could make much work.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = SAMPLES.iter().step_by(7).map(String::as_str).collect::<Vec<_>>().join("\n");
    text.push_str(&"badge-123456 locker: 4711, ".repeat(20));
    text.push_str(&"a".repeat(2000));
    text
});

/// Tries the text that an input stands for.
pub fn check(input: &[u8]) {
    check_pieces(&[text(input)]);
}

/// Panics if rules make a detector that does not mask in pieces what it masks in a whole text.
pub fn check_pieces(pieces: &[String]) {
    let rules = pieces.concat();
    let Ok(detector) = Detector::builder().none().rules_toml(&rules).build() else { return };
    for rule in detector.rules() {
        assert!(rule.check().is_ok(), "a rule that does not compile was taken: {rule:?}");
    }
    let whole = detector.mask(&TEXT);
    for size in [7, 1000] {
        let streamed = crate::support::streamed(&detector, &Mask::label(), &TEXT, size);
        assert_eq!(streamed, whole, "in pieces of {size}, by {rules:?}");
    }
}
