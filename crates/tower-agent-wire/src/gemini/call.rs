//! Calls of functions.

use tower_agent_core::{Json, ToolCallPart};

use super::{
    extra::{keep, open, rest},
    ids::Ids,
    part::KNOWN,
    spelling::in_camel_case,
};
use crate::{
    LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, write_str},
    },
};

/// Reads a call; `None` when its arguments come in pieces.
pub(super) fn read(mut fields: Fields<'_>, ids: &mut Ids) -> Result<Option<ToolCallPart>, Flaw> {
    let flaw = || Flaw::new("functionCall", "must be an object with a name");
    let raw = fields.take("functionCall").ok_or_else(flaw)?;
    let mut call = Fields::parse(&raw).ok_or_else(flaw)?;
    in_camel_case(&mut call, &["partialArgs", "willContinue"]);
    if call.get("partialArgs").is_some() || call.get("willContinue") == Some("true") {
        return Ok(None);
    }
    let name = call.take_text("name").ok_or_else(flaw)?;
    // A literal `null` stays, for no arguments are not written.
    let arguments = call.take_if("args", |raw| (raw != NULL).then(|| raw.to_owned()));
    let arguments = arguments.unwrap_or_default();
    let given = call.take_text("id");
    if given.is_none() && call.get("id").is_none() {
        call.set("id", NULL);
    }
    let id = ids.call(given, &name, &arguments);
    fields.set_rest("functionCall", &call);
    let mut part = ToolCallPart::new(id, name, Json::from_text(arguments));
    part.extra = keep(&fields);
    Ok(Some(part))
}

pub(super) fn write(out: &mut Vec<u8>, call: &ToolCallPart, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, open(call.extra.as_ref(), &KNOWN, losses));
    let raw = object.take("functionCall");
    let mut rest = rest(raw.as_ref());
    let is_made = rest.get("id").is_some() || call.id.is_empty();
    rest.retain(|key, raw| key != "id" || raw != NULL);
    let mut inner = Object::new(object.field("functionCall"), rest);
    if !is_made {
        inner.str("id", call.id.as_str());
    }
    inner.str("name", &call.name);
    if !call.arguments.as_str().trim().is_empty() {
        write_arguments(inner.field("args"), &call.arguments, losses);
    }
    inner.end();
    object.end();
}

/// Arguments are an object; a text that is none goes into one.
fn write_arguments(out: &mut Vec<u8>, arguments: &Json, losses: &mut Losses<'_>) {
    if Fields::parse(arguments.as_str()).is_some() {
        out.extend_from_slice(arguments.as_str().as_bytes());
    } else {
        losses.note(LossRule::Arguments);
        let mut object = Object::new(out, Fields::default());
        write_str(object.field("invalid_json"), arguments.as_str());
        object.end();
    }
}
