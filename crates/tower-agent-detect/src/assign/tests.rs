use super::*;
use crate::{runs::Runs, text::End};

/// The value, and the operator, of the first keyword `key` in a text.
fn found(text: &str, wide: bool) -> Option<(String, Operator)> {
    let start = text.to_ascii_lowercase().find("key").unwrap();
    at(text, start, wide)
}

fn at(text: &str, start: usize, wide: bool) -> Option<(String, Operator)> {
    let whole = Text::whole(text.as_bytes());
    let after = if wide { value_after } else { value_of_name };
    let value = after(&whole, start, start + 3).ok()?;
    let end = value_end(&whole, &value, 64, &mut Runs::default()).unwrap();
    Some((text.get(value.start..end).unwrap().to_owned(), value.operator))
}

const SHAPES: &[(&str, &str, Operator)] = &[
    ("key = value", "value", Operator::Equals),
    ("KEY=value", "value", Operator::Equals),
    ("key: value", "value", Operator::Colon),
    ("key := value", "value", Operator::Equals),
    ("KEY ?= value", "value", Operator::Equals),
    ("key ::= 'value'", "value", Operator::Equals),
    ("key => 'value'", "value", Operator::Arrow),
    ("key->value", "value", Operator::Arrow),
    (r#"{"key": "value"}"#, "value", Operator::Colon),
    (r#"{"my_key2" : "value"}"#, "value", Operator::Colon),
    (r#"{\"key\":\"value\"}"#, "value", Operator::Colon),
    (r#"{\\\"key\\\": \\\"va\\\\\\\"lue\\\"}"#, r#"va\\\\\\\"lue"#, Operator::Colon),
    (r#""key": "va\"lue\\", "a""#, r#"va\"lue\\"#, Operator::Colon),
    ("key='multi word value' x", "multi word value", Operator::Equals),
    ("key = 'it''s' x", "it''s", Operator::Equals),
    ("export KEY=value\n", "value", Operator::Equals),
    ("<key>value</key>", "value", Operator::Element),
    ("<a:key>two words &amp; </a:key>", "two words &amp;", Operator::Element),
    ("<key attr=\"x\">value</key>", "value", Operator::Element),
    ("env[\"KEY\"] = \"value\"", "value", Operator::Equals),
    ("setting(\"key\", \"value\")", "value", Operator::Comma),
    ("set_key(\"value\")", "value", Operator::Call),
    ("run --key value x", "value", Operator::Flag),
    ("run --key=value x", "value", Operator::Equals),
    ("run --key 'value x'", "value x", Operator::Flag),
    ("[\"--key\", \"value\"]", "value", Operator::Comma),
    ("- key: value", "value", Operator::Colon),
    ("key: |\n  value\nother: x", "value", Operator::Colon),
    ("key: >-\n  value\n", "value", Operator::Colon),
    ("\"key\":\n    \"value\"", "value", Operator::Colon),
    ("const KEY: &'static str =\n    \"value\";", "value", Operator::Equals),
    ("key: str = b\"value\"", "value", Operator::Equals),
    ("key: Optional[str] = \"value\"", "value", Operator::Equals),
    ("/x?key=value&a=b", "value", Operator::Equals),
    ("X-Api-Key: value", "value", Operator::Colon),
    ("Api-Key: Bearer value", "value", Operator::Colon),
    ("key 'value'", "value", Operator::Space),
    ("the key is value.", "value.", Operator::Is),
    ("the key is: value", "value", Operator::Is),
    ("key = \"\"\"a\nb\"\"\"", "a\nb", Operator::Equals),
    ("env.KEY || \"value\"", "value", Operator::Or),
    ("env.KEY ?? \"value\"", "value", Operator::Or),
    ("if key == \"value\"", "value", Operator::Compare),
    ("\"name\": \"KEY\", \"value\": \"x y\"", "x y", Operator::Pair),
    ("- name: KEY\n  value: x\n", "x", Operator::Pair),
    ("- name: \"KEY\"\n  value: x\n", "x", Operator::Pair),
    ("<add key=\"x.key\" value=\"x y\" />", "x.key", Operator::Equals),
    ("<add name=\"key\" value=\"x y\" />", "x y", Operator::Pair),
    ("key = [\"value\"]", "value", Operator::Equals),
    ("{\"msg\":\"key=value\\nother\"}", "value", Operator::Equals),
    ("key=p@ss:w0rd;x=1", "p@ss:w0rd", Operator::Equals),
    ("key = \"value", "value", Operator::Equals),
    ("key = \"value\nnext", "value", Operator::Equals),
    ("key='' x", "", Operator::Equals),
];

#[test]
fn a_value_is_found_in_each_shape() {
    for (text, value, operator) in SHAPES {
        let expected = Some(((*value).to_owned(), *operator));
        assert_eq!(found(text, false), expected, "{text}");
        assert_eq!(found(text, true), expected, "{text} with a wide gap");
    }
}

#[test]
fn a_name_of_several_words_needs_a_wide_gap() {
    for text in [
        "key cloud sts access id: value",
        "keycloud_sts access-id  = 'value'",
        "key cloud -> value",
        "the key of mine is value",
        "the key of mine is: value",
    ] {
        assert_eq!(found(text, true).unwrap().0, "value", "{text}");
        assert_eq!(found(text, false), None, "{text}");
    }
}

#[test]
fn the_word_bearer_needs_no_operator() {
    let text = Text::whole(b"-H 'bearer abc'");
    for after in [value_after, value_of_name] {
        let value = after(&text, 4, 10).unwrap();
        assert_eq!((value.start, value.operator), (11, Operator::Flag));
        assert_eq!(value_end(&text, &value, 64, &mut Runs::default()), Ok(14));
    }
}

#[test]
fn nothing_is_found_without_an_operator() {
    for text in [
        "key",
        "key ",
        "key\n",
        "key;",
        "key value",
        "key\nvalue",
        "key::Comma",
        "a key. A value: x",
        "key)",
        "key(value)",
        "key = ",
        "key =\nvalue",
        "key: \nvalue",
        "keykey",
        "key\"key\"",
        "key + 1",
        "run --key --other",
        "key\\value",
        "<key/>",
        "<key a=\"b\"/>",
    ] {
        assert_eq!(found(text, false), None, "{text}");
    }
    assert_eq!(found(&format!("key{}= value", " x".repeat(30)), true), None);
}

#[test]
fn what_has_come_says_the_same_as_the_whole_or_waits() {
    for (text, ..) in SHAPES {
        let start = text.to_ascii_lowercase().find("key").unwrap();
        for after in [value_after, value_of_name] {
            let whole = after(&Text::whole(text.as_bytes()), start, start + 3);
            for cut in start + 3..=text.len() {
                let part = Text::new(&text.as_bytes()[..cut], false, End::More);
                match after(&part, start, start + 3) {
                    Err(Verdict::Undecided(place)) => {
                        assert!(whole.is_err() || place <= whole.unwrap().start, "{text} at {cut}");
                    }
                    answer => assert_eq!(answer, whole, "{text} at {cut}"),
                }
            }
        }
    }
}

#[test]
fn a_long_value_ends_at_a_border_of_a_character() {
    let text = format!("key={}", "é".repeat(300));
    let whole = Text::whole(text.as_bytes());
    let value = value_of_name(&whole, 0, 3).unwrap();
    assert_eq!(value_end(&whole, &value, 513, &mut Runs::default()), Ok(4 + 512));
}
