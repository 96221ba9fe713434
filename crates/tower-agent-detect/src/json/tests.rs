use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::{Leaf, LeafKind, edit, is_json};

/// What `edit` says of each leaf: its key, its kind and its text.
fn leaves(text: &str) -> Vec<(Option<String>, LeafKind, String)> {
    let mut leaves = Vec::new();
    let edited = edit(text, &mut |leaf, text| {
        leaves.push((leaf.key.map(str::to_owned), leaf.kind, text.to_owned()));
        None
    });
    assert_eq!(edited, None);
    leaves
}

/// Stars in the place of each `secret`, as a mask would do it.
fn hide(_: &Leaf<'_>, text: &str) -> Option<String> {
    text.contains("secret").then(|| text.replace("secret", "***"))
}

#[test]
fn each_leaf_is_shown_with_the_nearest_key_above_it() {
    let text = r#"{"a": 1, "b": ["x", [true], {"c": null, "d": {}}, "y"], "\u0065": {"f": [[-0.5e+3]]}, "z": "s"}"#;
    let leaf =
        |key: Option<&str>, kind, text: &str| (key.map(str::to_owned), kind, text.to_owned());
    use LeafKind::{Key, Number, Other, String};
    let expected = [
        leaf(None, Key, "a"),
        leaf(Some("a"), Number, "1"),
        leaf(None, Key, "b"),
        leaf(Some("b"), String, "x"),
        leaf(Some("b"), Other, "true"),
        leaf(Some("b"), Key, "c"),
        leaf(Some("c"), Other, "null"),
        leaf(Some("b"), Key, "d"),
        leaf(Some("b"), String, "y"),
        leaf(None, Key, "e"),
        leaf(Some("e"), Key, "f"),
        leaf(Some("f"), Number, "-0.5e+3"),
        leaf(None, Key, "z"),
        leaf(Some("z"), String, "s"),
    ];
    assert_eq!(leaves(text), expected);
}

#[test]
fn all_but_the_replaced_strings_stays_byte_for_byte() {
    let cases = [
        // Order, spaces, duplicate keys, large integers, other strings' escapes.
        (
            " {\"b\" : 12345678901234567890,\r\n\t\"a\":1.50E2, \"a\":[ \"a secret\" ,\"\\u00e9\\/\" ] } \n",
            " {\"b\" : 12345678901234567890,\r\n\t\"a\":1.50E2, \"a\":[ \"a ***\" ,\"\\u00e9\\/\" ] } \n",
        ),
        // A secret behind escapes, and one that is a key.
        (r#"["s\u0065cr\u0065t\n\"\\"]"#, r#"["***\n\"\\"]"#),
        (r#"{"secret": "secret", "x": {"secret\t": 1}}"#, r#"{"***": "***", "x": {"***\t": 1}}"#),
        // Other scripts.
        ("[\"Schlüssel: secret 🗝\", \"ключ\"]", "[\"Schlüssel: *** 🗝\", \"ключ\"]"),
        // A text that is no object or array is JSON, too.
        ("\"secret\"", "\"***\""),
    ];
    for (text, expected) in cases {
        assert_eq!(edit(text, &mut hide).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn what_stands_in_the_place_of_a_number_or_a_word_is_a_string() {
    let mut hide = |leaf: &Leaf<'_>, _: &str| match leaf.kind {
        LeafKind::Number => Some("a\"b".to_owned()),
        LeafKind::Other => Some(String::new()),
        LeafKind::String | LeafKind::Key => None,
    };
    let text = r#"{"pin": 1234, "on": [true, "x", null], "n":-1.0}"#;
    let edited = r#"{"pin": "a\"b", "on": ["", "x", ""], "n":"a\"b"}"#;
    assert_eq!(edit(text, &mut hide).as_deref(), Some(edited));
}

#[test]
fn half_a_surrogate_pair_hides_nothing_and_is_kept() {
    let cases = [
        (r#"["\ud800 s\u0065cret"]"#, r#"["\ud800 ***"]"#),
        ("[\"\u{fffd}\\uDC00\\ud83d\\ude00\\uFFFD secret\"]", "[\"\u{fffd}\\uDC00😀\\uFFFD ***\"]"),
        (r#"["secret \ud83d"]"#, r#"["*** \ud83d"]"#),
        (r#"["\ud83d\u0041secret"]"#, r#"["\ud83dA***"]"#),
        (r#"["\ud83d\nsecret"]"#, r#"["\ud83d\n***"]"#),
        (r#"{"\udfffsecret": "\ud800"}"#, r#"{"\udfff***": "\ud800"}"#),
    ];
    for (text, expected) in cases {
        assert_eq!(edit(text, &mut hide).as_deref(), Some(expected), "{text}");
        assert!(is_json(expected));
    }
    let swallowed =
        edit(r#"["\ud800secret\ud801"]"#, &mut |_, text| Some(text.replace("t\u{fffd}", "")));
    assert_eq!(swallowed.as_deref(), Some("[\"\u{fffd}secre\"]"));
}

#[test]
fn a_string_without_escapes_is_given_without_a_copy() {
    let text = r#"{"key": "value"}"#;
    let whole = text.as_bytes().as_ptr_range();
    edit(text, &mut |_, leaf| {
        assert!(whole.contains(&leaf.as_ptr()));
        None
    });
}

#[test]
fn only_whole_objects_and_arrays_are_json() {
    let json =
        ["{}", " [ ]\n", r#"{"a":[1,-0,0.5,1e9,1E-9,1e+9,true,false,null,"\u00AF\b"]}"#, "[[],{}]"];
    let other = [
        "",
        " ",
        "1",
        "\"a\"",
        "null",
        "{",
        "[",
        "}",
        "]",
        "[}",
        "{]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "[01]",
        "[-]",
        "[1.]",
        "[.5]",
        "[1e]",
        "[+1]",
        "[1e+]",
        "[tru]",
        "[True]",
        "[nulls]",
        "[\"\\x\"]",
        "[\"\\u12g4\"]",
        "[\"\\u12\"]",
        "[\"\n\"]",
        "[\"\u{1f}\"]",
        "[\"a]",
        "[\"a\\\"]",
        "[] []",
        "[]x",
        "{}]",
        "\u{feff}[]",
        "\u{a0}[]",
        "[]\u{c}",
        "['a']",
        "[NaN]",
        "{\"a\":1 \"b\":2}",
        "// []",
        "[\"\\",
    ];
    for text in json {
        assert!(is_json(text), "{text}");
    }
    for text in other {
        assert!(!is_json(text), "{text}");
    }
}

#[test]
fn what_is_no_json_is_not_edited() {
    assert_eq!(edit(r#"["secret""#, &mut hide), None);
    assert_eq!(edit("secret", &mut hide), None);
}

#[test]
fn nesting_of_any_depth_is_read() {
    let depth = 200_000;
    let deep = format!("{}\"secret\"{}", "[".repeat(depth), "]".repeat(depth));
    assert!(is_json(&deep));
    assert_eq!(edit(&deep, &mut hide).unwrap().len(), deep.len() - 3);
    let deep = format!("{}\"secret\"{}", "{\"k\":[".repeat(depth), "]}".repeat(depth));
    assert!(is_json(&deep));
    assert_eq!(edit(&deep, &mut hide).unwrap().len(), deep.len() - 3);
    assert!(!is_json(&"[".repeat(depth)));
}

/// Strings with and without a secret, with what must be escaped, and with what is longer than one byte.
fn strings() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z ]{0,12}",
        Just("secret".to_owned()),
        proptest::sample::select(vec![
            "\"", "\\", "\n", "\u{1}", "\u{7f}", "é", "日", "😀", "\u{fffd}", "{", "/", "\u{2028}"
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        strings().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((strings(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A value as text, with spaces and escapes that nobody needs where `odd` has a bit.
fn write(value: &Value, odd: u64) -> String {
    let plain = if odd & 1 == 1 {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    }
    .unwrap();
    let mut written = String::new();
    for (index, character) in plain.chars().enumerate() {
        // A letter is never part of an escape's digits here: `\u00XX` is written for control characters alone.
        let letter = character == 's' || character == 'é' || character == '日';
        if letter && in_string(&written) && odd >> (index % 64) & 1 == 1 {
            written.push_str(&format!("\\u{:04x}", character as u32));
        } else {
            written.push(character);
        }
    }
    written
}

fn in_string(written: &str) -> bool {
    let mut quotes = 0;
    let mut escaped = false;
    for byte in written.bytes() {
        quotes += usize::from(byte == b'"' && !escaped);
        escaped = byte == b'\\' && !escaped;
    }
    quotes % 2 == 1 && !escaped
}

/// What `hide` makes of a value.
fn hidden(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(text.replace("secret", "***")),
        Value::Array(items) => items.iter().map(hidden).collect(),
        Value::Object(members) => {
            let members =
                members.iter().map(|(key, value)| (key.replace("secret", "***"), hidden(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn an_edited_value_is_the_value_with_its_leaves_edited(value in values(), odd: u64) {
        let text = write(&value, odd);
        prop_assert_eq!(&serde_json::from_str::<Value>(&text).unwrap(), &value);
        match edit(&text, &mut hide) {
            Some(edited) => {
                prop_assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), hidden(&value));
                // What was edited holds nothing any more.
                prop_assert_eq!(edit(&edited, &mut hide), None);
            }
            None => prop_assert_eq!(hidden(&value), value),
        }
    }

    #[test]
    fn one_replaced_leaf_changes_no_other_byte(value in values(), odd: u64, chosen in 0_usize..8) {
        let text = write(&value, odd);
        let mut index = 0;
        let mut old = None;
        let edited = edit(&text, &mut |_, leaf| {
            index += 1;
            (index == chosen + 1).then(|| {
                old = Some(leaf.to_owned());
                "\u{1F511}".to_owned()
            })
        });
        let Some(edited) = edited else { return Ok(()) };
        let (before, after) = edited.split_once("\"\u{1F511}\"").unwrap();
        let literal = text.strip_prefix(before).unwrap().strip_suffix(after).unwrap();
        let decoded: Value = serde_json::from_str(literal).unwrap();
        prop_assert_eq!(decoded.as_str().map_or_else(|| literal.to_owned(), str::to_owned), old.unwrap());
    }

    #[test]
    fn what_is_json_is_what_serde_json_reads(value in values(), odd: u64, at: usize, byte in "[\\x00-\\x7f]|é", cut in 0_usize..3) {
        let mut text: Vec<char> = write(&value, odd).chars().collect();
        let at = at % (text.len() + 1);
        text.splice(at..(at + cut).min(text.len()), byte.chars());
        let text: String = text.into_iter().collect();
        let read = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        prop_assert_eq!(is_json(&text), read && text.trim_ascii_start().starts_with(['{', '[']), "{}", text);
    }

    #[test]
    fn any_text_is_taken(text in "\\PC{0,40}|[\\[\\]{}\",:0-9truefalsn\\\\u ]{0,40}") {
        let _ = edit(&text, &mut hide);
        let read = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        prop_assert_eq!(is_json(&text), read && text.trim_ascii_start().starts_with(['{', '[']));
    }
}
