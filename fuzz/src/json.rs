//! Masked JSON is JSON of the same shape, and what is no JSON is not masked as such.

use std::sync::LazyLock;

use serde::de::IgnoredAny;
use tower_agent_detect::{Detector, Mask};

use crate::text::pieces;

static MASKS: LazyLock<[Mask; 2]> = LazyLock::new(|| {
    [Mask::label(), Mask::with(|found| format!("\"\\\n[REDACTED:{}]", found.rule()))]
});

/// Tries the text that an input stands for. Of a text that an odd byte begins, samples are quoted, so that JSON stays JSON.
pub fn check(input: &[u8]) {
    check_pieces(&texts(input));
}

/// The one text that an input stands for.
pub fn texts(input: &[u8]) -> [String; 1] {
    match input.split_first() {
        Some((first, rest)) if first % 2 == 1 => [pieces(rest, quoted).concat()],
        Some((_, rest)) => [pieces(rest, str::to_owned).concat()],
        None => [String::new()],
    }
}

/// Panics if a text is masked as JSON and is none, or the other way round, or is other JSON than before.
pub fn check_pieces(pieces: &[String]) {
    let text = pieces.concat();
    let detector = Detector::builtin();
    for mask in &*MASKS {
        let mut count = 0;
        let masked = detector.mask_json(&text, mask, &mut |_| count += 1);
        assert_eq!(masked.is_some(), is_json(&text), "whether it is JSON: {text:?}");
        let Some(masked) = masked else { return };
        assert_eq!(count == 0, masked == text, "{count} found, {masked:?} of {text:?}");
        assert_shape(&text, &masked);
        if format!("{mask:?}") == "Mask(label)" {
            let again = detector.mask_json(&masked, mask, &mut |_| {});
            assert_eq!(again.as_deref(), Some(&*masked), "masking twice differs, of {text:?}");
        }
    }
}

/// Panics if one text is not JSON of the shape of another one.
pub(crate) fn assert_shape(before: &str, after: &str) {
    assert!(is_json(after), "no JSON any more: {after:?} of {before:?}");
    assert_eq!(shape(after), shape(before), "another shape: {after:?} of {before:?}");
}

/// Whether it is JSON, of any depth, and with any number.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// A text of JSON without its strings and numbers, byte for byte.
fn shape(text: &str) -> String {
    let mut out = String::new();
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                while let Some(byte) = bytes.next().filter(|byte| *byte != b'"') {
                    if byte == b'\\' {
                        bytes.next();
                    }
                }
                out.push('s');
            }
            b'-' | b'0'..=b'9' => {
                while bytes.next_if(|byte| b"+-.eE0123456789".contains(byte)).is_some() {}
                out.push('s');
            }
            _ => out.push(char::from(byte)),
        }
    }
    out
}

/// A text as it stands in a string of JSON.
pub(crate) fn quoted(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted[1..quoted.len() - 1].to_owned()
}
