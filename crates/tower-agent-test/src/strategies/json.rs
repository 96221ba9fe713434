use proptest::{collection, prelude::*};
use serde_json::{Map, Value};
use tower_agent_core::{Json, Str};

/// Text of any characters, control characters included.
pub fn text() -> BoxedStrategy<Str> {
    let any = collection::vec(any::<char>(), 0..12).prop_map(String::from_iter);
    prop_oneof![4 => "[a-z ]{0,12}", 2 => any, 1 => Just(String::new())].prop_map(Str::from).boxed()
}

/// Any JSON value, a few levels deep.
pub fn json_value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has finite numbers only", |f| f.is_finite())
            .prop_map(Value::from),
        text().prop_map(|text| Value::from(text.as_str())),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![4 => "[a-z]{0,4}", 1 => Just("$json".to_owned())];
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::vec((key, inner), 0..4)
                .prop_map(|entries| Value::Object(Map::from_iter(entries))),
        ]
    })
    .boxed()
}

/// What a model may write where JSON belongs: JSON in any layout, and what is none.
pub fn json_text() -> BoxedStrategy<String> {
    let fixed = [
        "",
        " \n",
        "{}",
        r#"{"a": 1, "a": 2}"#,
        r#"{"id": 9007199254740993, "max": 18446744073709551615, "min": -9223372036854775808}"#,
        r#"{"z":1,"a":[1.0,1e0,100000000000000000000000000000001]}"#,
        r#"{"path": "a.t"#,
        "{\"path\": }",
        r#""\u00e9\ud83d\ude00""#,
        "[1] trailing",
        r#"{"$json": "{}"}"#,
    ];
    prop_oneof![
        2 => json_value().prop_map(|value| value.to_string()),
        2 => json_value().prop_map(|value| format!("{value:#}")),
        2 => proptest::sample::select(fixed.map(str::to_owned).to_vec()),
        1 => text().prop_map(String::from),
    ]
    .boxed()
}

/// A handle of JSON: made of text or of a value.
pub fn json() -> BoxedStrategy<Json> {
    prop_oneof![json_text().prop_map(Json::from_text), json_value().prop_map(Json::from_value)]
        .boxed()
}

/// Fields of a dialect, usually none.
pub(super) fn extra() -> BoxedStrategy<Option<Json>> {
    proptest::option::weighted(0.3, json()).boxed()
}
