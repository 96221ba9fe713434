//! Tools that a model may ask for, and the choice among them.

use tower_agent_core::{Error, Json, ToolChoice, ToolSpec, Tools};

use super::extra;
use crate::{
    Loss,
    codec::{
        Flaw, Losses, choice_word, is_foreign_tool,
        raw::{Fields, NULL, Object, items, string, write_str},
        schema_text, take_schema, write_tools,
    },
};

/// Strictness as chat completions keep it.
const STRICT: &str = r#"{"strict":true}"#;

/// Kinds of tools that the caller runs.
const NAMED_KINDS: [&str; 2] = ["function", "custom"];

/// Takes the tools; an empty list and `null` stay in the fields.
pub(super) fn read_all(fields: &mut Fields<'_>) -> Result<Tools, Flaw> {
    let Some(raw) = fields.get("tools").filter(|raw| *raw != NULL) else {
        return Ok(Tools::new());
    };
    let list = items(raw).ok_or_else(|| Flaw::new("tools", "must be an array of objects"))?;
    let read =
        |(index, raw)| read(raw).map(Into::into).map_err(|flaw: Flaw| flaw.at("tools", index));
    let tools: Tools = list.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
    if !tools.is_empty() {
        fields.take("tools");
    }
    Ok(tools)
}

fn read(raw: &str) -> Result<ToolSpec, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let kind =
        fields.get("type").and_then(string).ok_or_else(|| Flaw::new("type", "must be a string"))?;
    let mut spec = ToolSpec::new("", "");
    if !NAMED_KINDS.contains(&kind.as_str()) {
        // A tool of the provider's own: kept whole, under a name that policies can go by.
        spec.name = fields.get("name").and_then(string).unwrap_or(kind);
        spec.extra = extra::keep(&fields);
        return Ok(spec);
    }
    let mut shared = Fields::default();
    spec.name = fields.take_str("name").ok_or_else(|| Flaw::new("name", "must be a string"))?;
    spec.description = fields.take_text("description").unwrap_or_default();
    if kind == "function" {
        fields.take("type");
        spec.input_schema = take_schema(&mut fields, "parameters");
        read_strict(&mut fields, &mut shared);
    } else {
        shared.set("type", fields.take("type").unwrap_or_default());
    }
    spec.extra = extra::keep_beside(&fields, shared);
    Ok(spec)
}

/// Strictness is the provider's choice when nothing is said, so it is said; that nothing was said is marked by `null`.
fn read_strict(fields: &mut Fields<'_>, shared: &mut Fields<'_>) {
    match fields.get("strict") {
        Some("false") => drop(fields.take("strict")),
        Some("true") => {
            fields.take("strict");
            shared.set("function", STRICT);
        }
        Some(_) => {}
        None => fields.set("strict", NULL),
    }
}

pub(super) fn read_choice(raw: &str) -> Option<ToolChoice> {
    if let Some(choice) = choice_word(raw) {
        return Some(choice);
    }
    // Only the plain form: one with further fields would come back without them.
    let mut fields = Fields::parse(raw)?;
    let kind = fields.take_str("type")?;
    let name = fields.take_str("name")?;
    (kind == "function" && fields.is_empty()).then_some(ToolChoice::Tool(name))
}

pub(super) fn write_choice(out: &mut Vec<u8>, choice: &ToolChoice) {
    match choice {
        ToolChoice::None => write_str(out, "none"),
        ToolChoice::Required => write_str(out, "required"),
        ToolChoice::Tool(name) => {
            let mut object = Object::new(out, Fields::default());
            object.str("type", "function");
            object.str("name", name);
            object.end();
        }
        _ => write_str(out, "auto"),
    }
}

pub(super) fn write_all(
    object: &mut Object<'_, '_>,
    tools: &Tools,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    let is_foreign = |spec: &ToolSpec| is_foreign(spec.extra.as_ref());
    write_tools(object, tools, losses, is_foreign, write)
}

/// Whether a tool is one of another dialect's provider.
fn is_foreign(extra: Option<&Json>) -> bool {
    let kind = Fields::of(extra).and_then(|fields| string(fields.get("type")?));
    is_foreign_tool(extra, extra::SPACE) || kind.is_some_and(|kind| !NAMED_KINDS.contains(&&*kind))
}

fn write(out: &mut Vec<u8>, spec: &ToolSpec, losses: &mut Losses<'_>) -> Result<(), Error> {
    let mut extra = extra::open(spec.extra.as_ref(), &["type", "function"], losses);
    let kind = extra.get("type").and_then(string).unwrap_or_else(|| "function".into());
    let shared = extra.take("function").unwrap_or_default();
    let mut object = Object::new(out, extra);
    if !NAMED_KINDS.contains(&kind.as_str()) {
        object.end();
        return Ok(());
    }
    object.str("type", &kind);
    object.str("name", &spec.name);
    if !spec.description.is_empty() {
        object.str("description", &spec.description);
    }
    if kind == "function" {
        let schema = schema_text(&spec.input_schema, &spec.name)?;
        if schema != "{}" {
            object.raw("parameters", schema);
        }
        let shared = Fields::parse(&shared).unwrap_or_default();
        match (object.extra().get("strict"), shared.get("strict")) {
            (Some(NULL), _) => drop(object.take("strict")),
            (Some(_), _) => {}
            (None, strict) => object.raw("strict", strict.unwrap_or("false")),
        }
    }
    object.end();
    Ok(())
}
