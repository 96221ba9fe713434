//! Masked JSON is JSON of the same shape.
#![cfg(test)]

#[allow(dead_code, reason = "others use the rest of it")]
mod support;
#[allow(dead_code, reason = "others use the rest of it")]
#[path = "support/texts.rs"]
mod texts;

use proptest::{prelude::*, sample::select};
use serde::Deserialize;
use serde_json::Value;
use tower_agent_detect::{Detector, Mask};

use crate::{
    support::expand,
    texts::{cases, text},
};

#[derive(Deserialize)]
struct Documents {
    document: Vec<Document>,
}

#[derive(Deserialize)]
struct Document {
    text: String,
    mask: Option<String>,
}

#[test]
fn a_value_is_masked_for_the_name_that_it_belongs_to_wherever_that_stands() {
    let documents: Documents = toml::from_str(include_str!("data/json.toml")).unwrap();
    let detector = Detector::builtin();
    let masked =
        |text: &str| detector.mask_json(text, &Mask::text("#"), &mut |_| {}).unwrap().into_owned();
    let mut wrong = Vec::new();
    for Document { text, mask } in documents.document {
        let text = expand(&text);
        let expected = mask.unwrap_or_else(|| text.clone());
        // However it is written.
        for (text, expected) in [(text.clone(), expected.clone()), (escaped_all(&text), expected)] {
            let shape = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            let found = masked(&text);
            if shape(&found) != shape(&expected) {
                wrong.push(format!("{text}\n  gives {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_value_waits_for_its_name_however_much_stands_between_them() {
    let depth = 20_000;
    let (before, after) = (r#"{"value":"hunter2x","a":["#, r#"],"name":"DB_PASSWORD"}"#);
    let text = format!("{}{}", before.repeat(depth), after.repeat(depth));
    let masked = Detector::builtin().mask_json(&text, &Mask::text("#"), &mut |_| {}).unwrap();
    assert_eq!(masked, text.replace("hunter2x", "#"));
}

/// A text with the first letter of each string as an escape.
fn escaped_all(json: &str) -> String {
    let parts: Vec<&str> = json.split('"').collect();
    let escape = |(at, part): (usize, &&str)| {
        let mut letters = part.chars();
        match letters.next() {
            Some(first) if at % 2 == 1 && first.is_ascii_alphabetic() => {
                format!("\\u{:04x}{}", first as u32, letters.as_str())
            }
            _ => (*part).to_owned(),
        }
    };
    parts.iter().enumerate().map(escape).collect::<Vec<_>>().join("\"")
}

fn key() -> impl Strategy<Value = String> {
    let names = [
        "password",
        "api_key",
        "token",
        "name",
        "id",
        "Authorization",
        "url",
        "max_tokens",
        "data",
        "auth",
        "x-api-key",
        "key",
        "value",
        "Value",
        "passwords",
        "api_keys",
        "credentials",
        "access_tokens",
    ];
    prop_oneof![4 => select(names.to_vec()).prop_map(str::to_owned), 2 => "[a-z_-]{1,12}", 1 => text()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(vec![4_111_111_111_111_111_u64, 536_904_399, 2_125_551_234]).prop_map(Value::from),
        select(vec!["DB_PASSWORD", "api_keys", "max_tokens", "x token"]).prop_map(Value::from),
        text().prop_map(Value::from),
        text().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn written() -> impl Strategy<Value = String> {
    (value(), 0..3_u8).prop_map(|(value, how)| match how {
        0 => value.to_string(),
        1 => serde_json::to_string_pretty(&value).unwrap(),
        // Everything that can be escaped is.
        _ => escaped(&value.to_string()),
    })
}

fn escaped(json: &str) -> String {
    let escape = |letter: char| match letter {
        '\u{80}'.. => {
            letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }
        plain => plain.to_string(),
    };
    json.chars().map(escape).collect()
}

/// Whether two texts are of one shape: the same members and elements; a number may have become a string.
fn same_shape(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| same_shape(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.iter().all(|(key, one)| match other.get(key) {
                Some(other) => same_shape(one, other),
                // The key itself was masked.
                None => other.keys().any(|key| key.contains("[REDACTED")),
            })
        }
        (Value::Number(_), Value::String(_)) => true,
        (Value::String(_), Value::String(_)) => true,
        _ => one == other,
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn masked_json_is_json_of_the_same_shape_and_stays_as_it_is(text in written()) {
        let detector = Detector::builtin();
        for mask in [Mask::label(), Mask::text("[REDACTED]"), Mask::hash("a key")] {
            let mut found = 0;
            let masked = detector.mask_json(&text, &mask, &mut |_| found += 1).unwrap();
            prop_assert_eq!(found == 0, masked == text.as_str());
            let (one, other) = (serde_json::from_str(&text).unwrap(), serde_json::from_str(&masked));
            let other = other.unwrap();
            prop_assert!(same_shape(&one, &other), "{} became {}", text, masked);
            let mut again = 0;
            let twice = detector.mask_json(&masked, &mask, &mut |_| again += 1).unwrap();
            prop_assert_eq!(&twice, &masked, "{:?} of {}", mask, text);
            prop_assert_eq!(again, 0);
        }
    }

    #[test]
    fn what_is_found_in_a_string_alone_is_masked_in_json(text in text()) {
        let detector = Detector::builtin();
        let json = Value::from(text.clone()).to_string();
        let masked = detector.mask_json(&json, &Mask::label(), &mut |_| {}).unwrap();
        let masked: Value = serde_json::from_str(&masked).unwrap();
        let plain = detector.mask(&text);
        prop_assert_eq!(masked.as_str(), Some(&*plain));
    }

    #[test]
    fn no_text_at_all_makes_it_fail(text in any::<String>(), depth in 0..2_000_usize) {
        let detector = Detector::builtin();
        for text in [text.clone(), format!("{}{text}{}", "[".repeat(depth), "]".repeat(depth))] {
            let masked = detector.mask_json(&text, &Mask::label(), &mut |_| {});
            if let Some(masked) = &masked {
                prop_assert!(depth > 100 || serde_json::from_str::<Value>(masked).is_ok());
            } else {
                prop_assert!(serde_json::from_str::<Value>(&text).is_err());
            }
        }
    }
}
