//! Tools that a model may ask for, and the choice among them.

use tower_agent_core::{Error, ErrorKind, Json, ToolChoice, ToolSpec, Tools};

use crate::{
    Loss, LossRule,
    codec::{
        Flaw,
        raw::{Fields, NULL, Object, items, string, write_array, write_str},
    },
};

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
        spec.extra = fields.to_extra();
        return Ok(spec);
    }
    spec.name = fields.take_str("name").ok_or_else(|| Flaw::new("name", "must be a string"))?;
    spec.description = fields.take_text("description").unwrap_or_default();
    if kind == "function" {
        fields.take("type");
        spec.input_schema = read_schema(&mut fields);
        read_strict(&mut fields);
    }
    spec.extra = fields.to_extra();
    Ok(spec)
}

/// No schema is the empty object, which is not written; a literal `{}` or `null` stays in the rest.
fn read_schema(fields: &mut Fields<'_>) -> Json {
    let schema = fields.take_if("parameters", |raw| {
        let is_given = Fields::parse(raw).is_some_and(|fields| !fields.is_empty());
        is_given.then(|| Json::from_text(raw))
    });
    schema.unwrap_or_else(Json::object)
}

/// Strictness is the provider's choice when nothing is said, so it is said; that nothing was said is marked by `null`.
fn read_strict(fields: &mut Fields<'_>) {
    match fields.get("strict") {
        Some("false") => drop(fields.take("strict")),
        Some(_) => {}
        None => fields.set("strict", NULL),
    }
}

pub(super) fn read_choice(raw: &str) -> Option<ToolChoice> {
    match string(raw).as_deref() {
        Some("auto") => return Some(ToolChoice::Auto),
        Some("none") => return Some(ToolChoice::None),
        Some("required") => return Some(ToolChoice::Required),
        _ => {}
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
    out: &mut Vec<u8>,
    tools: &Tools,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    let mut result = Ok(());
    write_array(out, tools.iter().enumerate(), |out, (index, spec)| {
        let extra = Fields::of(spec.extra.as_ref()).unwrap_or_else(|| {
            losses.push(Loss { rule: LossRule::NotJson, place: format!("tools[{index}].extra") });
            Fields::default()
        });
        if let Err(error) = write(out, spec, extra) {
            result = Err(error);
        }
    });
    result
}

fn write(out: &mut Vec<u8>, spec: &ToolSpec, extra: Fields<'_>) -> Result<(), Error> {
    let kind = extra.get("type").and_then(string).unwrap_or_else(|| "function".into());
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
        if object.extra().is_null("strict") {
            object.take("strict");
        } else {
            object.default_raw("strict", "false");
        }
    }
    object.end();
    Ok(())
}

/// The text of a schema, once it is known to be an object.
pub(super) fn schema_text<'a>(schema: &'a Json, name: &str) -> Result<&'a str, Error> {
    match Fields::parse(schema.as_str()) {
        Some(_) => Ok(schema.as_str()),
        None => Err(Error::new(
            ErrorKind::InvalidArguments,
            format!("the schema of `{name}` is no JSON object"),
        )),
    }
}
