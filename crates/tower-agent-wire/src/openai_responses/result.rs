//! What came of calls.

use tower_agent_core::ToolResultPart;

use super::{
    call::{self, Shape},
    content, extra,
};
use crate::{
    LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, Object, string},
    },
};

/// Reads the result of a call; `None` if the fields are not one.
pub(super) fn read(mut fields: Fields<'_>) -> Option<Result<ToolResultPart, Flaw>> {
    let kind = fields.get("type").and_then(string)?;
    let shape = call::SHAPES.iter().find(|shape| kind == shape.output)?;
    if shape.kind == "function_call" {
        fields.take("type");
    }
    Some(read_fields(fields))
}

fn read_fields(mut fields: Fields<'_>) -> Result<ToolResultPart, Flaw> {
    let call_id =
        fields.take_str("call_id").ok_or_else(|| Flaw::new("call_id", "must be a string"))?;
    let content = content::read_output(&mut fields)?;
    Ok(ToolResultPart {
        call_id: call_id.into(),
        name: None,
        content,
        structured: None,
        is_error: false,
        extra: extra::keep(&fields),
    })
}

/// Writes the result of a call of a shape. That it failed has no place; its text must say so.
pub(super) fn write(
    out: &mut Vec<u8>,
    result: &ToolResultPart,
    shape: &'static Shape,
    losses: &mut Losses<'_>,
) {
    if result.is_error {
        losses.note(LossRule::ErrorFlag);
    }
    let mut object = Object::new(out, extra::open(result.extra.as_ref(), &[], losses));
    let given = object.take("type").and_then(|raw| string(&raw));
    object.str("type", given.as_deref().unwrap_or(shape.output));
    object.str("call_id", result.call_id.as_str());
    content::write_output(&mut object, result, losses);
    object.end();
}
