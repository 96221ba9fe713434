//! Tools that a model may ask for, and the choice among them.

use tower_agent_core::{Error, Json, ModelRequest, ToolChoice, ToolSpec, Tools};

use super::extra::{SPACE, keep, open};
use crate::{
    Loss,
    codec::{
        Flaw, Losses, is_foreign_tool,
        raw::{Fields, Object, items, string},
        schema_text, take_schema, write_tools,
    },
};

/// Fields of a tool that a user may set beside the dialect's own key.
const KNOWN: [&str; 5] =
    ["allowed_callers", "cache_control", "defer_loading", "input_examples", "strict"];

pub(super) fn read_all(fields: &mut Fields<'_>) -> Result<Tools, Flaw> {
    let Some(raw) = fields.take("tools") else { return Ok(Tools::new()) };
    let list = items(&raw).ok_or_else(|| Flaw::new("tools", "must be an array of objects"))?;
    if list.is_empty() {
        fields.set("tools", raw);
        return Ok(Tools::new());
    }
    let read =
        |(index, raw)| read(raw).map(Into::into).map_err(|flaw: Flaw| flaw.at("tools", index));
    list.into_iter().enumerate().map(read).collect()
}

fn read(raw: &str) -> Result<ToolSpec, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let mut spec = ToolSpec::new("", "").with_input_schema(Json::object());
    let kind = fields.get("type").and_then(string).filter(|kind| *kind != "custom");
    if let Some(kind) = kind {
        // A tool of the provider's own: kept whole, under a name that policies can go by.
        spec.name = fields.get("name").and_then(string).unwrap_or(kind);
        spec.extra = keep(&fields);
        return Ok(spec);
    }
    spec.name = fields.take_str("name").ok_or_else(|| Flaw::new("name", "must be a string"))?;
    spec.description = fields.take_text("description").unwrap_or_default();
    // A literal `{}` stays in the rest: no schema is written as one that takes any object.
    spec.input_schema = take_schema(&mut fields, "input_schema");
    spec.extra = keep(&fields);
    Ok(spec)
}

/// The choice and, inside it, whether several tools may be asked for at once.
pub(super) fn read_choice(fields: &mut Fields<'_>, request: &mut ModelRequest) {
    let Some(raw) = fields.get("tool_choice").map(str::to_owned) else { return };
    let Some((choice, parallel)) = plain_choice(&raw) else { return };
    fields.take("tool_choice");
    request.tool_choice = Some(choice);
    request.sampling.parallel_tool_calls = parallel;
}

/// Only the plain forms: one with further fields would come back without them.
fn plain_choice(raw: &str) -> Option<(ToolChoice, Option<bool>)> {
    let mut choice = Fields::parse(raw)?;
    let parallel = choice.take_as("disable_parallel_tool_use").map(|off: bool| !off);
    let read = match choice.take_str("type")?.as_str() {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Required,
        "none" => ToolChoice::None,
        "tool" => ToolChoice::Tool(choice.take_str("name")?),
        _ => return None,
    };
    choice.is_empty().then_some((read, parallel))
}

pub(super) fn write_choice(object: &mut Object<'_, '_>, request: &ModelRequest) {
    if !request.tools.is_empty() && request.tools.iter().all(|spec| is_foreign(spec)) {
        // A choice among tools that were left out would be refused.
        return;
    }
    let parallel = request.sampling.parallel_tool_calls.filter(|_| !request.tools.is_empty());
    let choice = match (&request.tool_choice, parallel) {
        (Some(choice), _) => choice,
        (None, Some(false)) if object.extra().get("tool_choice").is_none() => &ToolChoice::Auto,
        (None, _) => return,
    };
    let mut field = Object::new(object.field("tool_choice"), Fields::default());
    match choice {
        ToolChoice::None => field.str("type", "none"),
        ToolChoice::Required => field.str("type", "any"),
        ToolChoice::Tool(name) => {
            field.str("type", "tool");
            field.str("name", name);
        }
        _ => field.str("type", "auto"),
    }
    if let Some(parallel) =
        request.sampling.parallel_tool_calls.filter(|_| *choice != ToolChoice::None)
    {
        field.raw("disable_parallel_tool_use", if parallel { "false" } else { "true" });
    }
    field.end();
}

pub(super) fn write_all(
    object: &mut Object<'_, '_>,
    tools: &Tools,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    write_tools(object, tools, losses, is_foreign, write)
}

/// A tool of another provider's own says its type beside this dialect's key, or under its own dialect's.
fn is_foreign(spec: &ToolSpec) -> bool {
    let extra = spec.extra.as_ref();
    is_foreign_tool(extra, SPACE)
        || Fields::of(extra).is_some_and(|fields| fields.get("type").is_some())
}

fn write(out: &mut Vec<u8>, spec: &ToolSpec, losses: &mut Losses<'_>) -> Result<(), Error> {
    let extra = open(spec.extra.as_ref(), &KNOWN, losses);
    let kind = extra.get("type").and_then(string);
    let mut object = Object::new(out, extra);
    if kind.is_some_and(|kind| kind != "custom") {
        object.end();
        return Ok(());
    }
    object.str("name", &spec.name);
    if !spec.description.is_empty() {
        object.str("description", &spec.description);
    }
    match schema_text(&spec.input_schema, &spec.name)? {
        "{}" => object.default_raw("input_schema", r#"{"type":"object"}"#),
        schema => object.raw("input_schema", schema),
    }
    object.end();
    Ok(())
}
