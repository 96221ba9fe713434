//! The values of a JSON text, in slices of it.

use crate::json_text::{is_json, string_end};

/// A value of a JSON text, in slices of it.
#[derive(Debug)]
pub(super) enum Node<'a> {
    /// A number, `true`, `false` or `null`.
    Scalar(&'a str),
    /// A string with its quotes and escapes.
    Text(&'a str),
    /// The items of an array.
    Array(Vec<Self>),
    /// The members of an object; keys have their quotes and escapes.
    Object(Vec<(&'a str, Self)>),
}

impl<'a> Node<'a> {
    /// Reads a text of which [`is_json`] holds, so that it is not nested deeply either.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        is_json(text).then(|| Reader { rest: text }.value()).flatten()
    }

    /// Writes it without spaces.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Scalar(text) | Self::Text(text) => out.push_str(text),
            Self::Array(items) => {
                out.push('[');
                for (position, item) in items.iter().enumerate() {
                    comma(out, position);
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (position, (key, value)) in members.iter().enumerate() {
                    comma(out, position);
                    out.push_str(key);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn comma(out: &mut String, position: usize) {
    if position > 0 {
        out.push(',');
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Option<Node<'a>> {
        self.rest = self.rest.trim_ascii_start();
        Some(match self.rest.as_bytes().first()? {
            b'"' => Node::Text(self.string()?),
            b'[' => {
                let mut items = Vec::new();
                while self.goes_on(']')? {
                    items.push(self.value()?);
                }
                Node::Array(items)
            }
            b'{' => {
                let mut members = Vec::new();
                while self.goes_on('}')? {
                    let key = self.string()?;
                    self.rest = self.rest.trim_ascii_start().strip_prefix(':')?;
                    members.push((key, self.value()?));
                }
                Node::Object(members)
            }
            _ => Node::Scalar(self.scalar()?),
        })
    }

    /// Steps over the bracket or comma before the next item; false at the closing bracket.
    fn goes_on(&mut self, close: char) -> Option<bool> {
        self.rest = self.rest.trim_ascii_start();
        if let Some(rest) = self.rest.strip_prefix(close) {
            self.rest = rest;
            return Some(false);
        }
        self.rest = self.rest.strip_prefix([',', '[', '{'])?.trim_ascii_start();
        if let Some(rest) = self.rest.strip_prefix(close) {
            self.rest = rest;
            return Some(false);
        }
        Some(true)
    }

    fn string(&mut self) -> Option<&'a str> {
        let length = string_end(self.rest)?;
        self.take(length)
    }

    fn scalar(&mut self) -> Option<&'a str> {
        let end = |byte: u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
        let length = self.rest.bytes().position(end).unwrap_or(self.rest.len());
        self.take(length)
    }

    fn take(&mut self, length: usize) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn compact(text: &str) -> Option<String> {
        let mut out = String::new();
        Node::parse(text)?.write(&mut out);
        Some(out)
    }

    #[test]
    fn spaces_go_and_everything_else_stays_as_it_is_written() {
        let text = " { \"b\" : [ 1.50 , 1e400, {} , [ ] , null ] , \"a\\\"\" : \"\\u0041 \\\\\" , \"b\" : 12345678901234567890 } ";
        assert_eq!(
            compact(text).unwrap(),
            r#"{"b":[1.50,1e400,{},[],null],"a\"":"\u0041 \\","b":12345678901234567890}"#
        );
    }

    #[test]
    fn what_is_no_json_is_left_to_others() {
        for text in ["", "12", "true", "{", "{]", "[1,]", "{\"a\":1} x", "\"", "text"] {
            assert!(compact(text).is_none(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn the_value_is_the_same_before_and_after(value in json()) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                match compact(&text) {
                    Some(out) => prop_assert_eq!(&serde_json::from_str::<Value>(&out).unwrap(), &value),
                    None => prop_assert!(!value.is_array() && !value.is_object() && !value.is_string()),
                }
            }
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,40}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 60, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::btree_map(".{0,6}", inner, 0..8)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }
}
