//! Schemas as OpenAPI writes them, with types in capitals and `nullable`, and the JSON Schema that they mean.

use std::borrow::Cow;

use serde_json::Value;

use super::extra::rest;
use crate::codec::raw::{Fields, Object, items, string, write_array, write_str};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    ToJson,
    ToOpenApi,
}

const TYPES: [(&str, &str); 7] = [
    ("\"STRING\"", "\"string\""),
    ("\"NUMBER\"", "\"number\""),
    ("\"INTEGER\"", "\"integer\""),
    ("\"BOOLEAN\"", "\"boolean\""),
    ("\"ARRAY\"", "\"array\""),
    ("\"OBJECT\"", "\"object\""),
    ("\"NULL\"", "\"null\""),
];

/// Numbers that the JSON of protocol buffers writes as strings.
const COUNTS: [&str; 6] =
    ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Takes the schema under one of two keys and leaves in the fields how it was written.
///
/// Under `plain` it is a JSON Schema. Under `open` it is read as one; a `null` is left for a schema that is one
/// already, an empty object for one that can be made again from it, and the schema itself for any other.
pub(super) fn take(fields: &mut Fields<'_>, open: &'static str, plain: &str) -> Option<String> {
    let is_given = |raw: &str| {
        Fields::parse(raw).is_some_and(|fields| !fields.is_empty()).then(|| raw.to_owned())
    };
    match (fields.get(open), fields.get(plain)) {
        (Some(_), Some(_)) => None,
        (None, _) => fields.take_if(plain, is_given),
        (Some(raw), None) => {
            let raw = is_given(raw)?;
            let schema = converted(&raw, Way::ToJson);
            if same(&schema, &raw) {
                fields.set(open, "null");
            } else if same(&converted(&schema, Way::ToOpenApi), &raw) {
                fields.set(open, "{}");
            }
            Some(schema)
        }
    }
}

/// Writes a schema as it was written before, if it is still the same.
pub(super) fn write(object: &mut Object<'_, '_>, open: &str, plain: &str, schema: &str) {
    match object.take(open).as_deref() {
        Some("null") => object.raw(open, schema),
        Some("{}") => object.raw(open, &converted(schema, Way::ToOpenApi)),
        Some(raw) if same(&converted(raw, Way::ToJson), schema) => object.raw(open, raw),
        _ => object.raw(plain, schema),
    }
}

fn same(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<Value>(text).ok();
    one == other || read(one).is_some_and(|one| Some(one) == read(other))
}

fn converted(raw: &str, way: Way) -> String {
    let mut out = Vec::new();
    write_schema(&mut out, raw, way);
    String::from_utf8(out).unwrap_or_default()
}

fn write_schema(out: &mut Vec<u8>, raw: &str, way: Way) {
    let Some(mut fields) = Fields::parse(raw) else { return out.extend_from_slice(raw.as_bytes()) };
    let is_nullable = takes_null(&mut fields, way);
    let mut object = Object::new(out, Fields::default());
    for (key, raw) in fields.iter() {
        match key {
            "type" => write_type(object.field(key), raw, is_nullable, way),
            "properties" | "$defs" | "defs" | "definitions" => {
                write_map(object.field(key), raw, way);
            }
            "items" | "additionalProperties" | "not" => write_schema(object.field(key), raw, way),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => write_list(object.field(key), raw, way),
            key if COUNTS.contains(&key) && way == Way::ToJson => {
                object.raw(key, string(raw).as_deref().unwrap_or(raw));
            }
            key => object.raw(key, raw),
        }
    }
    if is_nullable && way == Way::ToOpenApi {
        object.raw("nullable", "true");
    }
    object.end();
}

/// Whether a schema with a type takes `null` as well, which its own field says no longer.
fn takes_null(fields: &mut Fields<'_>, way: Way) -> bool {
    let Some(kind) = fields.get("type") else { return false };
    if way == Way::ToOpenApi {
        return pair_with_null(kind).is_some();
    }
    let is_one = kind.starts_with('"');
    is_one && fields.take_if("nullable", |raw| (raw == "true").then_some(())).is_some()
}

/// The other type of a list of two with `null`.
fn pair_with_null(raw: &str) -> Option<Cow<'_, str>> {
    match items(raw)?.as_slice() {
        [kind, "\"null\""] => Some(Cow::Borrowed(*kind)),
        _ => None,
    }
}

fn write_type(out: &mut Vec<u8>, raw: &str, is_nullable: bool, way: Way) {
    let name = |raw: &str| {
        let (from, to): (fn(_) -> _, fn(_) -> _) = match way {
            Way::ToJson => (first, second),
            Way::ToOpenApi => (second, first),
        };
        TYPES
            .iter()
            .find(|pair| from(**pair) == raw)
            .map_or(raw.to_owned(), |pair| to(*pair).into())
    };
    match way {
        Way::ToJson if is_nullable => {
            write_array(out, [name(raw), "\"null\"".into()], |out, kind| {
                out.extend_from_slice(kind.as_bytes());
            });
        }
        _ => {
            let kind = pair_with_null(raw).filter(|_| is_nullable);
            out.extend_from_slice(name(kind.as_deref().unwrap_or(raw)).as_bytes());
        }
    }
}

const fn first(pair: (&'static str, &'static str)) -> &'static str {
    pair.0
}

const fn second(pair: (&'static str, &'static str)) -> &'static str {
    pair.1
}

fn write_map(out: &mut Vec<u8>, raw: &str, way: Way) {
    let raw = Cow::Borrowed(raw);
    let fields = rest(Some(&raw));
    out.push(b'{');
    for (position, (key, raw)) in fields.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_str(out, key);
        out.push(b':');
        write_schema(out, raw, way);
    }
    out.push(b'}');
}

fn write_list(out: &mut Vec<u8>, raw: &str, way: Way) {
    match items(raw) {
        Some(list) => write_array(out, list, |out, raw| write_schema(out, raw, way)),
        None => out.extend_from_slice(raw.as_bytes()),
    }
}
