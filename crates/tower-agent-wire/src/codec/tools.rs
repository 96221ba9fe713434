//! Tools that a model may ask for, where dialects write them alike.

use tower_agent_core::{Error, Json, ToolChoice, ToolSpec, Tools};

use super::{
    Losses,
    raw::{Fields, Object, string, write_array},
};
use crate::{Loss, LossRule};

/// Takes the schema of a tool. None is the empty object; a literal `{}` or `null` stays in the rest.
pub(crate) fn take_schema(fields: &mut Fields<'_>, key: &str) -> Json {
    let schema = fields.take_if(key, |raw| {
        let is_given = Fields::parse(raw).is_some_and(|fields| !fields.is_empty());
        is_given.then(|| Json::from_text(raw))
    });
    schema.unwrap_or_else(Json::object)
}

/// A choice among tools that is one word, as OpenAI's dialects have it.
pub(crate) fn choice_word(raw: &str) -> Option<ToolChoice> {
    match string(raw)?.as_str() {
        "auto" => Some(ToolChoice::Auto),
        "none" => Some(ToolChoice::None),
        "required" => Some(ToolChoice::Required),
        _ => None,
    }
}

/// Writes the list of tools, if any are left without those of other dialects.
pub(crate) fn write_tools(
    object: &mut Object<'_, '_>,
    tools: &Tools,
    losses: &mut Vec<Loss>,
    is_foreign: impl Fn(&ToolSpec) -> bool,
    write: impl Fn(&mut Vec<u8>, &ToolSpec, &mut Losses<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (foreign, own): (Vec<_>, Vec<_>) =
        tools.iter().enumerate().partition(|(_, spec)| is_foreign(spec));
    for (index, _) in foreign {
        losses.push(Loss { rule: LossRule::Foreign, place: format!("tools[{index}]") });
    }
    if own.is_empty() {
        return Ok(());
    }
    let mut result = Ok(());
    write_array(object.field("tools"), own, |out, (index, spec)| {
        let mut losses = Losses { place: format!("tools[{index}]"), all: losses };
        if let Err(error) = write(out, spec, &mut losses) {
            result = Err(error);
        }
    });
    result
}
