//! Calls that the model wants made: functions, and tools that take any text.

use tower_agent_core::{Json, ToolCallPart};

use super::{extra, item::Reader};
use crate::codec::{
    Flaw, Losses,
    raw::{Fields, NULL, Object, write_str},
};

/// The names that a kind of call has.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) arguments: &'static str,
    pub(super) output: &'static str,
    pub(super) delta: &'static str,
    pub(super) done: &'static str,
    /// The prefix of its ids.
    pub(super) prefix: &'static str,
}

pub(super) const SHAPES: [Shape; 2] = [
    Shape {
        kind: "function_call",
        arguments: "arguments",
        output: "function_call_output",
        delta: "response.function_call_arguments.delta",
        done: "response.function_call_arguments.done",
        prefix: "fc",
    },
    Shape {
        kind: "custom_tool_call",
        arguments: "input",
        output: "custom_tool_call_output",
        delta: "response.custom_tool_call_input.delta",
        done: "response.custom_tool_call_input.done",
        prefix: "ctc",
    },
];
pub(super) const FUNCTION: &Shape = &SHAPES[0];
pub(super) const CUSTOM: &Shape = &SHAPES[1];
const CUSTOM_TYPE: &str = "\"custom\"";

/// The shape of a kind that is one.
pub(super) fn shape(kind: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.kind == kind)
}

/// The shape that the extra of a call names, in a word of chat completions; a function where it names none.
fn shape_of(extra: &Fields<'_>) -> &'static Shape {
    if extra.get("type") == Some(CUSTOM_TYPE) { CUSTOM } else { FUNCTION }
}

/// The shape of a call with such an extra.
pub(super) fn shape_in(extra: Option<&Json>) -> &'static Shape {
    shape_of(&Fields::of(extra).unwrap_or_default())
}

/// Whether a call is one of a tool that takes any text.
pub(super) fn is_custom(call: &ToolCallPart) -> bool {
    shape_in(call.extra.as_ref()).kind == CUSTOM.kind
}

pub(super) fn read(mut fields: Fields<'_>) -> Result<ToolCallPart, Flaw> {
    let kind = fields.take_str("type").unwrap_or_default();
    let shape = shape(&kind).unwrap_or(FUNCTION);
    let mut call = ToolCallPart::new("", "", "");
    call.id =
        fields.take_str("call_id").ok_or_else(|| Flaw::new("call_id", "must be a string"))?.into();
    call.name = fields.take_str("name").ok_or_else(|| Flaw::new("name", "must be a string"))?;
    call.arguments = read_arguments(&mut fields, shape.arguments);
    call.extra = keep(&fields, shape);
    Ok(call)
}

/// The fields of a call, with its kind in a word of chat completions.
pub(super) fn keep(fields: &Fields<'_>, shape: &Shape) -> Option<Json> {
    let mut shared = Fields::default();
    if shape.kind == CUSTOM.kind {
        shared.set("type", CUSTOM_TYPE);
    }
    extra::keep_beside(fields, shared)
}

/// Arguments are text. Some servers send the object itself, marked by `{}`, or none, marked by `null`.
fn read_arguments(fields: &mut Fields<'_>, key: &'static str) -> Json {
    if let Some(text) = fields.take_if(key, |raw| serde_json::from_str::<String>(raw).ok()) {
        return Json::from_text(text);
    }
    match fields.take(key).filter(|raw| raw != NULL) {
        Some(raw) => {
            fields.set(key, "{}");
            Json::from_text(&*raw)
        }
        None => {
            fields.set(key, NULL);
            Json::from_text("")
        }
    }
}

pub(super) fn write(
    out: &mut Vec<u8>,
    call: &ToolCallPart,
    at: usize,
    reader: Reader<'_>,
    losses: &mut Losses<'_>,
) {
    let mut object = Object::new(out, extra::open(call.extra.as_ref(), &["type"], losses));
    let shape = shape_of(object.extra());
    object.str("type", shape.kind);
    if let Some(id) = reader.id(shape.prefix, at).filter(|_| object.extra().get("id").is_none()) {
        object.str("id", &id);
    }
    match reader.id("call", at).filter(|_| call.id.is_empty()) {
        Some(id) => object.str("call_id", &id),
        None => object.str("call_id", call.id.as_str()),
    }
    object.str("name", &call.name);
    write_arguments(&mut object, call, shape.arguments);
    if reader.is_client() {
        object.default_raw("status", "\"completed\"");
    }
    object.end();
}

fn write_arguments(object: &mut Object<'_, '_>, call: &ToolCallPart, key: &'static str) {
    let text = call.arguments.as_str();
    match object.take(key).as_deref() {
        Some(NULL) if text.is_empty() => {}
        Some("{}") if call.arguments.check().is_ok() => object.raw(key, text),
        _ => write_str(object.field(key), text),
    }
}
