//! What a vault sealed it opens, and nothing else.

use serde_json::Value;
use tower_agent_detect::{Detector, Mask, Vault};

use crate::{
    json::{assert_shape, is_json, texts},
    text::pieces,
};

/// Tries the text that an input stands for.
pub fn check(input: &[u8]) {
    check_pieces(&pieces_of(input));
}

/// The pieces of the text that an input stands for: those of a stream, or a text that may be JSON.
pub fn pieces_of(input: &[u8]) -> Vec<String> {
    match input.split_first() {
        Some((2.., _)) => texts(input).to_vec(),
        _ => pieces(input.get(1..).unwrap_or_default(), str::to_owned),
    }
}

/// Panics if what was sealed is not what is opened.
pub fn check_pieces(pieces: &[String]) {
    let text = pieces.concat();
    // Who writes placeholders of a vault into a text gets an error for it, which is tried below.
    if text.contains("vault-") {
        check_forged(&text);
        return;
    }
    // A value that is too long for a vault is gone for good, and a long text may be one value.
    if text.len() > Vault::LONGEST {
        return;
    }
    let vault = Vault::new(100_000);
    check_text(&text, pieces, &vault);
    if is_json(&text) {
        check_json(&text, &vault);
    }
    check_small(&text);
}

fn check_text(text: &str, pieces: &[String], vault: &Vault) {
    let detector = Detector::builtin();
    let mask = Mask::vault(vault);
    let sealed = detector.mask_with(text, &mask);
    assert_eq!(vault.open(&sealed).as_deref(), Ok(text), "opened from {sealed:?}");
    assert_eq!(detector.mask_with(&sealed, &mask), sealed, "sealing twice differs, of {text:?}");
    let mut stream = detector.stream(mask);
    let mut streamed = String::new();
    pieces.iter().for_each(|piece| stream.push(piece, &mut streamed));
    stream.finish(&mut streamed);
    assert_eq!(vault.open(&streamed).as_deref(), Ok(text), "opened from {streamed:?}");
    let other = Vault::default();
    let strange = other.open(&sealed);
    assert_eq!(strange.is_err(), sealed.contains(":vault-"), "another vault opens {sealed:?}");
    let forged = forged(&sealed);
    assert_eq!(vault.open(&forged).is_ok(), forged == *sealed, "{forged:?} is opened");
}

/// A placeholder in which one digit is another one.
fn forged(sealed: &str) -> String {
    let Some((before, after)) = sealed.split_once(":vault-") else { return sealed.to_owned() };
    let digit = if after.starts_with('0') { '1' } else { '0' };
    format!("{before}:vault-{digit}{}", &after[1..])
}

fn check_json(text: &str, vault: &Vault) {
    let detector = Detector::builtin();
    let sealed = detector.mask_json(text, &Mask::vault(vault), &mut |_| {}).expect("it is JSON");
    let opened = vault.open_json(&sealed).expect("it is of this vault");
    assert_shape(text, &opened);
    let values = [text, &opened].map(serde_json::from_str::<Value>);
    if let [Ok(before), Ok(after)] = values {
        assert!(same(&before, &after), "{opened:?} of {text:?}");
    }
}

/// Whether two values hold the same. Keys stay masked, and two of them may be one afterwards.
fn same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Array(before), Value::Array(after)) => {
            before.iter().zip(after).all(|(before, after)| same(before, after))
        }
        (Value::Object(before), Value::Object(after)) => {
            before.len() != after.len()
                || before.values().zip(after.values()).all(|(before, after)| same(before, after))
        }
        (Value::Number(before), Value::String(after)) => {
            serde_json::from_str(after).is_ok_and(|after: serde_json::Number| after == *before)
        }
        _ => before == after,
    }
}

/// A vault that takes one value only says so by labels, and opens the rest.
fn check_small(text: &str) {
    let vault = Vault::new(1);
    let sealed = Detector::builtin().mask_with(text, &Mask::vault(&vault));
    assert!(vault.len() <= 1);
    assert!(vault.open(&sealed).is_ok(), "{sealed:?} is not opened");
}

/// Nothing that the vault did not write is opened.
fn check_forged(text: &str) {
    let vault = Vault::default();
    if let Ok(opened) = vault.open(text) {
        assert_eq!(opened, text, "a vault without a value opened something");
    }
    let opened = vault.open_json(text);
    assert!(opened.is_err() || opened.as_deref() == Ok(text), "an empty vault opened {text:?}");
}
