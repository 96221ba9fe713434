//! Tools that a model may ask for, and the choice among them.

use std::borrow::Cow;

use tower_agent_core::{Error, Str, ToolChoice, ToolSpec, Tools};

use crate::{
    Loss,
    codec::{
        Flaw, choice_word, is_foreign_tool,
        raw::{Fields, Object, items, string},
        schema_text, take_schema, write_tools,
    },
};

/// Tools that are an object under the name of their kind, with name and description in it.
const NAMED_KINDS: [&str; 2] = ["function", "custom"];

pub(super) fn read_all(fields: &mut Fields<'_>) -> Result<Tools, Flaw> {
    let Some(raw) = fields.take("tools") else { return Ok(Tools::new()) };
    let list = items(&raw).filter(|list| !list.is_empty());
    let Some(list) = list else {
        if raw.starts_with('[') || raw == "null" {
            fields.set("tools", raw);
            return Ok(Tools::new());
        }
        return Err(Flaw::new("tools", "must be an array of objects"));
    };
    let read =
        |(index, raw)| read(raw).map(Into::into).map_err(|flaw: Flaw| flaw.at("tools", index));
    list.into_iter().enumerate().map(read).collect()
}

fn read(raw: &str) -> Result<ToolSpec, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let kind = fields.get("type").and_then(string).unwrap_or_else(|| "function".into());
    let named = NAMED_KINDS.contains(&kind.as_str()).then(|| fields.take(&kind)).flatten();
    let mut spec = ToolSpec::new("", "");
    let Some(named) = named else {
        if kind == "function" {
            return Err(Flaw::new("function", "must be an object with a name"));
        }
        // A tool of the provider's own: kept whole, under a name that policies can go by.
        spec.name = fields.get("name").and_then(string).unwrap_or(kind);
        spec.extra = fields.to_extra();
        return Ok(spec);
    };
    let mut inner =
        Fields::parse(&named).ok_or_else(|| Flaw::new(kind.to_string(), "must be an object"))?;
    spec.name = inner
        .take_str("name")
        .ok_or_else(|| Flaw::new(format!("{kind}.name"), "must be a string"))?;
    spec.description = inner.take_text("description").unwrap_or_default();
    spec.input_schema = take_schema(&mut inner, "parameters");
    if fields.get("type") == Some("\"function\"") {
        fields.take("type");
    }
    if !inner.is_empty() {
        fields.set(kind.to_string(), inner.to_text());
    }
    spec.extra = fields.to_extra();
    Ok(spec)
}

pub(super) fn read_choice(raw: &str) -> Option<ToolChoice> {
    if let Some(choice) = choice_word(raw) {
        return Some(choice);
    }
    // Only the plain form: one with further fields would come back without them.
    let mut fields = Fields::parse(raw)?;
    let kind = fields.take_str("type")?;
    let function = fields.take("function")?;
    let mut function = Fields::parse(&function)?;
    let name: Str = function.take_str("name")?;
    let is_plain = kind == "function" && fields.is_empty() && function.is_empty();
    is_plain.then_some(ToolChoice::Tool(name))
}

pub(super) fn write_all(
    object: &mut Object<'_, '_>,
    tools: &Tools,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    let is_foreign = |spec: &ToolSpec| is_foreign_tool(spec.extra.as_ref(), "");
    write_tools(object, tools, losses, is_foreign, |out, spec, losses| {
        losses.place.push_str(".extra");
        let extra = losses.fields(spec.extra.as_ref());
        write(out, spec, extra)
    })
}

fn write(out: &mut Vec<u8>, spec: &ToolSpec, extra: Fields<'_>) -> Result<(), Error> {
    let kind = extra.get("type").and_then(string).unwrap_or_else(|| "function".into());
    let mut object = Object::new(out, extra);
    if !NAMED_KINDS.contains(&kind.as_str()) {
        object.end();
        return Ok(());
    }
    object.str("type", &kind);
    let rest = object.take(&kind).unwrap_or(Cow::Borrowed("{}"));
    let mut inner = Object::new(object.field(&kind), Fields::parse(&rest).unwrap_or_default());
    inner.str("name", &spec.name);
    if !spec.description.is_empty() {
        inner.str("description", &spec.description);
    }
    let schema = schema_text(&spec.input_schema, &spec.name)?;
    if kind == "function" && schema != "{}" {
        inner.raw("parameters", schema);
    }
    inner.end();
    object.end();
    Ok(())
}
