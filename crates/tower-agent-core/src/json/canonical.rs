//! The canonical form of RFC 8785: sorted keys (by UTF-16 units), no spaces, ECMAScript numbers.

use serde_json::{Number, Value};

pub(super) fn to_string(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
        Value::Number(number) => write_number(out, number),
        Value::Array(items) => write_joined(out, '[', items.iter(), ']', write),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            write_joined(out, '{', entries.into_iter(), '}', |out, (key, value)| {
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write(out, value);
            });
        }
    }
}

fn write_joined<T>(
    out: &mut String,
    open: char,
    items: impl Iterator<Item = T>,
    close: char,
    mut write: impl FnMut(&mut String, T),
) {
    out.push(open);
    for (position, item) in items.enumerate() {
        if position > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(close);
}

fn write_number(out: &mut String, number: &Number) {
    match number.as_f64() {
        Some(float) if number.is_f64() => out.push_str(ryu_js::Buffer::new().format(float)),
        _ => out.push_str(&number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::to_string;

    #[test]
    fn the_example_of_the_rfc_comes_out_as_printed_there() {
        let text = r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"€$\nA'B\"\\\\\"/","literals":[null,true,false]}"#;
        let value = serde_json::from_str(text).unwrap();
        let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\nA'B\"\\\\\"/"}"#;
        assert_eq!(to_string(&value), expected);
    }

    #[test]
    fn keys_sort_by_utf16_units_and_large_integers_stay_apart() {
        let value = serde_json::json!({"\u{fb33}": 1, "\u{1f600}": 2, "a": u64::MAX});
        assert_eq!(
            to_string(&value),
            "{\"a\":18446744073709551615,\"\u{1f600}\":2,\"\u{fb33}\":1}"
        );
    }
}
