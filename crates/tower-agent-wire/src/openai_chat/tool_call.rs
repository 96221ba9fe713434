//! Calls that a model wants made, as they stand in a whole message.

use std::borrow::Cow;

use tower_agent_core::{Json, ToolCallPart};

use crate::codec::{
    Flaw, Losses,
    raw::{Fields, NULL, Object, string, write_str},
};

/// The names of the fields in which a kind of call keeps its name and its arguments.
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) arguments: &'static str,
}

const SHAPES: [Shape; 2] = [
    Shape { kind: "function", arguments: "arguments" },
    Shape { kind: "custom", arguments: "input" },
];

/// The shape of a kind; a missing kind is a function.
pub(super) fn shape(raw_kind: Option<&str>) -> Option<&'static Shape> {
    let kind = raw_kind.map_or(Some("function".into()), string);
    SHAPES.iter().find(|shape| kind.as_deref() == Some(shape.kind))
}

pub(super) fn read(raw: &str) -> Result<ToolCallPart, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let mut call = ToolCallPart::new("", "", "");
    call.id = fields.take_str("id").unwrap_or_default().into();
    let Some(shape) = shape(fields.get("type").filter(|kind| *kind != NULL)) else {
        // A kind that has no name here: kept whole; nobody has a tool without a name.
        call.extra = fields.to_extra();
        return Ok(call);
    };
    read_inner(&mut call, &mut fields, shape)?;
    match fields.get("type") {
        Some("\"function\"") => drop(fields.take("type")),
        Some(_) => {}
        None => fields.set("type", NULL),
    }
    call.extra = fields.to_extra();
    Ok(call)
}

fn read_inner(
    call: &mut ToolCallPart,
    fields: &mut Fields<'_>,
    shape: &'static Shape,
) -> Result<(), Flaw> {
    let raw = fields.take(shape.kind);
    let mut inner = raw
        .as_deref()
        .and_then(Fields::parse)
        .ok_or_else(|| Flaw::new(shape.kind, "must be an object"))?;
    call.name = inner
        .take_str("name")
        .ok_or_else(|| Flaw::new(format!("{}.name", shape.kind), "must be a string"))?;
    call.arguments = read_arguments(&mut inner, shape.arguments);
    fields.set_rest(shape.kind, &inner);
    Ok(())
}

/// Arguments are text. Some servers send the object itself, marked by `{}`, or none, marked by `null`.
fn read_arguments(inner: &mut Fields<'_>, key: &'static str) -> Json {
    if let Some(text) = inner.take_if(key, |raw| serde_json::from_str::<String>(raw).ok()) {
        return Json::from_text(text);
    }
    match inner.take(key).filter(|raw| raw != NULL) {
        Some(raw) => {
            inner.set(key, "{}");
            Json::from_text(&*raw)
        }
        None => {
            inner.set(key, NULL);
            Json::from_text("")
        }
    }
}

pub(super) fn write(out: &mut Vec<u8>, call: &ToolCallPart, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, losses.fields(call.extra.as_ref()));
    object.str("id", call.id.as_str());
    let is_untyped = object.extra().is_null("type");
    let Some(shape) = shape(object.extra().get("type").filter(|kind| *kind != NULL)) else {
        object.end();
        return;
    };
    if is_untyped {
        object.take("type");
    } else {
        object.str("type", shape.kind);
    }
    let rest = object.take(shape.kind).unwrap_or(Cow::Borrowed("{}"));
    let mut inner = Object::new(object.field(shape.kind), Fields::parse(&rest).unwrap_or_default());
    inner.str("name", &call.name);
    write_arguments(&mut inner, call, shape.arguments);
    inner.end();
    object.end();
}

fn write_arguments(inner: &mut Object<'_, '_>, call: &ToolCallPart, key: &'static str) {
    let text = call.arguments.as_str();
    match inner.take(key).as_deref() {
        Some(NULL) if text.is_empty() => {}
        Some("{}") if call.arguments.check().is_ok() => inner.raw(key, text),
        _ => write_str(inner.field(key), text),
    }
}
