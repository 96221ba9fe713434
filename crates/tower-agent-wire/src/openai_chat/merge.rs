//! Puts together the fields of streamed messages that have no name in the vocabulary.

use serde_json::{Map, Value};

/// Fields that are said again, not continued.
const FIXED: [&str; 7] = ["id", "type", "index", "role", "name", "format", "expires_at"];

/// Adds the fields of a piece: texts go on, lists grow, items with an `index` go on with the item of that index, and
/// anything else replaces what was there.
pub(super) fn object(whole: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, value) in piece {
        match whole.get_mut(&key) {
            Some(before) if !FIXED.contains(&key.as_str()) => merge(before, value),
            _ => drop(whole.insert(key, value)),
        }
    }
}

fn merge(whole: &mut Value, piece: Value) {
    match (whole, piece) {
        (Value::String(whole), Value::String(piece)) => whole.push_str(&piece),
        (Value::Object(whole), Value::Object(piece)) => object(whole, piece),
        (Value::Array(whole), Value::Array(piece)) => {
            for item in piece {
                item_of(whole, item);
            }
        }
        (whole, piece) => *whole = piece,
    }
}

fn item_of(list: &mut Vec<Value>, item: Value) {
    let index = item.get("index").cloned();
    let same =
        list.iter_mut().find(|before| index.is_some() && before.get("index") == index.as_ref());
    match (same, item) {
        (Some(Value::Object(whole)), Value::Object(piece)) => object(whole, piece),
        (_, item) => list.push(item),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn items_with_an_index_go_on_and_others_are_added() {
        let mut whole =
            json!({"details": [{"index": 0, "type": "t", "text": "a"}], "refusal": "No"});
        let piece = json!({"details": [{"index": 0, "type": "t", "text": "b"}, {"index": 1, "text": "c"}, {"text": "d"}],
            "refusal": ", sorry", "seen": true});
        super::object(whole.as_object_mut().unwrap(), piece.as_object().unwrap().clone());
        assert_eq!(
            whole,
            json!({"details": [{"index": 0, "type": "t", "text": "ab"}, {"index": 1, "text": "c"}, {"text": "d"}],
                "refusal": "No, sorry", "seen": true})
        );
    }
}
