//! JSON reaches its reader as it was written.
#![cfg(test)]

use proptest::prelude::*;
use serde_json::{Value, json};
use tower_agent_core::{Error, ErrorKind, Json, ToolCall};
use tower_agent_test::strategies;

const EXACT: &[&str] = &[
    r#"{"id": 9007199254740993}"#,
    r#"{"max":18446744073709551615,"min":-9223372036854775808}"#,
    r#"{"z":1,"a":2,"m":3}"#,
    "{ \"spaced\" :\t[ 1 ,\n2 ] }",
    r#"{"twice":1,"twice":2}"#,
    r#"{"float":1.0,"exp":1e2,"long":0.1000000000000000055511151231257827}"#,
    r#"{"huge":123456789012345678901234567890}"#,
    r#"{"escape":"\u00e9\/\ud83d\ude00"}"#,
    r#"{"path": "a.t"#,
    r#"{"a": }"#,
    "not json",
    "[1] [2]",
    "null",
    r#"{"$json": "{}"}"#,
];

fn through_serde(json: &Json) -> Json {
    serde_json::from_str(&serde_json::to_string(json).unwrap()).unwrap()
}

#[test]
fn arguments_survive_byte_for_byte_in_a_call_its_clone_and_its_stored_form() {
    for text in EXACT {
        let call = ToolCall::new("tool", *text).with_id("c1");
        let _ = (
            call.arguments.value().is_ok(),
            call.arguments.digest(),
            call.arguments.check().is_ok(),
        );
        assert_eq!(call.clone().arguments.as_str(), *text);
        let stored = serde_json::to_string(&call).unwrap();
        let back: ToolCall = serde_json::from_str(&stored).unwrap();
        assert_eq!(back.arguments.as_str(), *text);
        assert_eq!((back.id, back.name), (call.id, call.name));
    }
}

#[test]
fn no_arguments_at_all_are_an_empty_object() {
    for blank in ["", " ", " \r\n\t"] {
        assert_eq!(ToolCall::new("tool", blank).arguments.as_str(), "{}");
    }
    assert_eq!(Json::default().as_str(), "{}");
    assert_eq!(ToolCall::new("tool", r#""""#).arguments.as_str(), r#""""#);
}

#[test]
fn a_malformed_text_is_an_error_that_names_the_place_but_not_the_text() {
    let arguments = Json::from_text("{\"path\": \"hunter2\",\n \"mode\": ]}");
    let error = arguments.value().unwrap_err();
    assert_eq!((error.line(), error.column(), error.is_cut_off()), (2, 10, false));
    assert_eq!(error.to_string(), "expected value at line 2 column 10");
    assert_eq!(arguments.check().unwrap_err(), error);

    let error = Error::from(error.clone());
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert!(error.model_text().contains("line 2 column 10"), "{}", error.model_text());
    assert!(error.model_text().contains("did not run"), "{}", error.model_text());
    assert!(!format!("{error} {error:?} {}", error.model_text()).contains("hunter2"));
}

#[test]
fn a_text_that_was_cut_off_says_so_wherever_the_cut_is() {
    let whole = r#"{"path": "a.txt", "n": [1, true, {"k": null}], "e": 1.5e3}"#;
    for end in 1..whole.len() {
        let text = whole.get(..end).unwrap();
        let cut = Json::from_text(text);
        let error = cut.value().unwrap_err();
        assert!(error.is_cut_off(), "{cut}: {error}");
        assert_eq!(error.line(), 1);
        assert!(cut.read::<Value>().unwrap_err().is_cut_off());
        assert!(cut.check().unwrap_err().is_cut_off());
        assert_eq!(cut.as_str(), text);
    }
}

#[test]
fn nesting_that_is_too_deep_is_an_error_and_no_crash() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deep = |levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
        assert!(Json::from_text(deep(127)).value().is_ok());
        for levels in [128, 100_000] {
            let text = deep(levels);
            let json = Json::from_text(text.as_str());
            assert!(json.check().is_err());
            assert!(json.read::<Value>().is_err());
            assert!(json.value().is_err());
            assert!(json.clone().make_mut().is_err());
            let _ = json.digest();
            assert_eq!(json.as_str(), text);
            assert_eq!(through_serde(&json).as_str(), text);
        }
    }
}

#[test]
fn a_failed_edit_changes_nothing() {
    let mut json = Json::from_text("{broken");
    assert!(json.make_mut().is_err());
    assert_eq!(json.as_str(), "{broken");
}

#[test]
fn an_edit_copies_the_value_only_while_somebody_shares_it() {
    let mut json = Json::from_text(r#"{"b": 1, "a": 2}"#);
    let place = std::ptr::from_ref(json.value().unwrap());
    assert_eq!(std::ptr::from_ref(json.make_mut().unwrap()), place);

    let shared = json.clone();
    assert!(json.ptr_eq(&shared));
    assert_ne!(std::ptr::from_ref(json.make_mut().unwrap()), place);
    assert_eq!(std::ptr::from_ref(shared.value().unwrap()), place);
}

#[test]
fn an_edit_shows_in_the_text_the_value_and_the_digest_and_nowhere_else() {
    let before = Json::from_text(r#"{"b": 1, "a": 9007199254740993}"#);
    let digest = before.digest();
    let mut after = before.clone();
    after.make_mut().unwrap()["b"] = json!("new");

    assert_eq!(after.as_str(), r#"{"a":9007199254740993,"b":"new"}"#);
    assert_ne!(after.digest(), digest);
    assert_eq!(before.as_str(), r#"{"b": 1, "a": 9007199254740993}"#);
    assert_eq!(before.digest(), digest);
}

#[test]
fn equal_json_has_an_equal_digest_whatever_its_layout() {
    let digest = |text: &str| Json::from_text(text).digest();
    let plain = digest(r#"{"a":[1,2.5,"é"],"b":{"c":null}}"#);
    assert_eq!(plain, digest("{ \"b\": {\"c\": null},\n \"a\": [1, 2.50, \"\\u00e9\"] }"));
    assert_eq!(plain, Json::from_value(json!({"b": {"c": null}, "a": [1, 2.5, "é"]})).digest());
    assert_ne!(plain, digest(r#"{"a":[2.5,1,"é"],"b":{"c":null}}"#));
}

#[test]
fn large_integers_that_a_double_would_confuse_have_different_digests() {
    let digest = |id: &str| Json::from_text(format!(r#"{{"id":{id}}}"#)).digest();
    assert_ne!(digest("9007199254740992"), digest("9007199254740993"));
    assert_ne!(digest("18446744073709551615"), digest("18446744073709551614"));
    assert_ne!(digest("-9223372036854775808"), digest("-9223372036854775807"));
}

#[test]
fn texts_that_are_no_json_are_equal_only_to_themselves() {
    let (one, other) = (Json::from_text("{one"), Json::from_text("{other"));
    assert_ne!(one, other);
    assert_ne!(one.digest(), other.digest());
    assert_eq!(one, Json::from_text("{one"));
    assert_ne!(one, Json::object());
}

fn shuffled(value: &Value, spaces: &str) -> String {
    match value {
        Value::Object(map) => {
            let entries = map.iter().rev().map(|(key, value)| {
                format!("{}{spaces}:{}", Value::from(key.as_str()), shuffled(value, spaces))
            });
            format!("{{{spaces}{}{spaces}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| shuffled(item, spaces)).collect::<Vec<_>>();
            format!("[{spaces}{}]", items.join(&format!("{spaces},")))
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn any_text_survives_looking_storing_and_reading(text in strategies::json_text()) {
        let json = Json::from_text(text.as_str());
        let valid = json.value().is_ok();
        prop_assert_eq!(json.check().is_ok(), valid);
        prop_assert_eq!(json.read::<Value>().is_ok(), valid);
        prop_assert_eq!(json.as_str(), &text);
        let stored = through_serde(&json);
        prop_assert_eq!(stored.as_str(), &text);
        let optional = serde_json::to_string(&Some(&json)).unwrap();
        let back = serde_json::from_str::<Option<Json>>(&optional).unwrap().unwrap();
        prop_assert_eq!(back.as_str(), text);
    }

    #[test]
    fn any_value_survives_as_text_and_stored(value in strategies::json_value()) {
        let json = Json::from_value(value.clone());
        let again = Json::from_text(json.as_str());
        prop_assert_eq!(again.value().unwrap(), &value);
        let back = through_serde(&json);
        prop_assert_eq!(back.value().unwrap(), &value);
        prop_assert_eq!(back.as_str(), json.as_str());
        prop_assert_eq!(json.read::<Value>().unwrap(), value);
    }

    #[test]
    fn key_order_and_spaces_change_neither_equality_nor_digest(value in strategies::json_value()) {
        let json = Json::from_value(value.clone());
        for spaces in ["", " ", "\r\n\t"] {
            let other = Json::from_text(shuffled(&value, spaces));
            prop_assert_eq!(&other, &json);
            prop_assert_eq!(other.digest(), json.digest());
        }
    }

    #[test]
    fn different_integers_have_different_digests(one in any::<i64>(), other in any::<u64>()) {
        let digests = (Json::from_value(json!(one)).digest(), Json::from_value(json!(other)).digest());
        prop_assert_eq!(digests.0 == digests.1, i128::from(one) == i128::from(other));
        let next = Json::from_value(json!(other.wrapping_add(1)));
        prop_assert_ne!(digests.1, next.digest());
    }

    #[test]
    fn an_edit_never_reaches_a_handle_that_was_cloned_before(
        text in strategies::json_text(),
        new in strategies::json_value(),
    ) {
        let before = Json::from_text(text.as_str());
        let mut after = before.clone();
        if let Ok(value) = after.make_mut() {
            *value = new.clone();
            prop_assert_eq!(after.value().unwrap(), &new);
            prop_assert_eq!(after.as_str(), new.to_string());
            prop_assert_eq!(after.digest(), Json::from_value(new).digest());
        }
        prop_assert_eq!(before.as_str(), text);
    }
}

#[test]
fn a_handle_that_was_replaced_is_another_one_even_at_the_same_place() {
    let mut json = Json::from_text("{}");
    let before = json.handle_id();
    drop(std::mem::take(&mut json));
    json = Json::from_text("{broken");
    assert_ne!(json.handle_id(), before);
    assert_eq!(json.clone().handle_id(), json.handle_id());
}
