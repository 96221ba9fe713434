//! Tools that a model may ask for, and the choice among them.

use tower_agent_core::{Error, Json, ModelRequest, ToolChoice, ToolSpec, Tools};

use super::{
    extra::{keep, open, peek, rest},
    part::list_of,
    schema,
    spelling::in_camel_case,
};
use crate::{
    Loss, LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, Object, items, string, write_array, write_str},
        schema_text,
    },
};

const FUNCTIONS: &str = "functionDeclarations";
const CONFIG: &str = "toolConfig";
const CALLING: &str = "functionCallingConfig";

/// Fields of a function that a user may set beside the dialect's own key.
const KNOWN: [&str; 1] = ["behavior"];

pub(super) fn read_all(fields: &mut Fields<'_>) -> Result<Tools, Flaw> {
    let Some(raw) = fields.get("tools").filter(|raw| *raw != "null").map(str::to_owned) else {
        return Ok(Tools::new());
    };
    let list = list_of(&raw).ok_or_else(|| Flaw::new("tools", "must be an array of objects"))?;
    let mut tools = Tools::new();
    for (index, raw) in list.into_iter().enumerate() {
        read(raw, &mut tools).map_err(|flaw| flaw.at("tools", index))?;
    }
    // A list that says nothing stays as it was.
    if !tools.is_empty() {
        fields.take("tools");
    }
    Ok(tools)
}

fn read(raw: &str, tools: &mut Tools) -> Result<(), Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    in_camel_case(&mut fields, &[FUNCTIONS]);
    for (key, raw) in fields.iter() {
        if key != FUNCTIONS {
            tools.push(of_provider(key, raw));
            continue;
        }
        let list =
            list_of(raw).ok_or_else(|| Flaw::new(FUNCTIONS, "must be an array of objects"))?;
        for (index, raw) in list.into_iter().enumerate() {
            tools.push(read_function(raw).map_err(|flaw| flaw.at(FUNCTIONS, index))?);
        }
    }
    Ok(())
}

/// A tool of the provider's own: kept whole, under a name that policies can go by.
fn of_provider(name: &str, raw: &str) -> ToolSpec {
    let mut tool = Fields::default();
    tool.set(name, raw);
    let mut fields = Fields::default();
    fields.set("tools", format!("[{}]", tool.to_text()));
    let mut spec = ToolSpec::new(name, "").with_input_schema(Json::object());
    spec.extra = keep(&fields);
    spec
}

fn read_function(raw: &str) -> Result<ToolSpec, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    in_camel_case(&mut fields, &["parametersJsonSchema", "responseJsonSchema"]);
    let name = fields.take_text("name").ok_or_else(|| Flaw::new("name", "must be a string"))?;
    let mut spec = ToolSpec::new(name, fields.take_text("description").unwrap_or_default());
    let schema = schema::take(&mut fields, "parameters", "parametersJsonSchema");
    spec.input_schema = schema.map_or_else(Json::object, Json::from_text);
    spec.extra = keep(&fields);
    Ok(spec)
}

/// How one tool is written.
enum Written<'a> {
    Function(usize, &'a ToolSpec),
    OfProvider(String),
}

pub(super) fn write_all(
    object: &mut Object<'_, '_>,
    tools: &Tools,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    let (mut functions, mut others) = (Vec::new(), Vec::new());
    let mut at_functions = None;
    for (index, spec) in tools.iter().enumerate() {
        match written(index, spec) {
            Some(Written::Function(index, spec)) => {
                at_functions.get_or_insert(others.len());
                functions.push((index, spec));
            }
            Some(Written::OfProvider(raw)) => others.push(raw),
            None => {
                losses.push(Loss { rule: LossRule::Foreign, place: format!("tools[{index}]") });
            }
        }
    }
    if let Some(at) = at_functions {
        others.insert(at, functions_text(&functions, losses)?);
    }
    if !others.is_empty() {
        write_array(object.field("tools"), others, |out, raw| {
            out.extend_from_slice(raw.as_bytes());
        });
    }
    Ok(())
}

/// `None` for a tool of another dialect's provider, which says its type.
fn written(index: usize, spec: &ToolSpec) -> Option<Written<'_>> {
    let own = peek(spec.extra.as_ref());
    if let Some([raw]) = own.get("tools").and_then(items).as_deref() {
        return Some(Written::OfProvider((*raw).to_owned()));
    }
    (!is_foreign(spec)).then_some(Written::Function(index, spec))
}

fn is_foreign(spec: &ToolSpec) -> bool {
    let is_kind = |fields: &Fields<'_>| {
        let kind = fields.get("type").and_then(string);
        kind.is_some_and(|kind| kind != "custom" && kind != "function")
    };
    let fields = Fields::of(spec.extra.as_ref()).unwrap_or_default();
    is_kind(&fields)
        || fields.iter().any(|(_, raw)| Fields::parse(raw).is_some_and(|inner| is_kind(&inner)))
}

fn functions_text(
    functions: &[(usize, &ToolSpec)],
    losses: &mut Vec<Loss>,
) -> Result<String, Error> {
    let mut out = Vec::new();
    let mut result = Ok(());
    let mut object = Object::new(&mut out, Fields::default());
    write_array(object.field(FUNCTIONS), functions, |out, (index, spec)| {
        let mut losses = Losses { place: format!("tools[{index}]"), all: losses };
        if let Err(error) = write_function(out, spec, &mut losses) {
            result = Err(error);
        }
    });
    object.end();
    result.map(|()| String::from_utf8(out).unwrap_or_default())
}

fn write_function(
    out: &mut Vec<u8>,
    spec: &ToolSpec,
    losses: &mut Losses<'_>,
) -> Result<(), Error> {
    let mut object = Object::new(out, open(spec.extra.as_ref(), &KNOWN, losses));
    object.str("name", &spec.name);
    if !spec.description.is_empty() {
        object.str("description", &spec.description);
    }
    let schema = schema_text(&spec.input_schema, &spec.name)?;
    if schema != "{}" {
        schema::write(&mut object, "parameters", "parametersJsonSchema", schema);
    }
    object.end();
    Ok(())
}

/// Takes the choice, if it is one of the vocabulary's; any other stays.
pub(super) fn read_choice(fields: &mut Fields<'_>) -> Option<ToolChoice> {
    let raw = fields.get(CONFIG)?.to_owned();
    let mut config = Fields::parse(&raw)?;
    in_camel_case(&mut config, &[CALLING]);
    let calling = config.take(CALLING)?;
    let choice = plain_choice(&calling)?;
    fields.take(CONFIG);
    fields.set_rest(CONFIG, &config);
    Some(choice)
}

/// Only the plain forms: one with further fields would come back without them.
fn plain_choice(raw: &str) -> Option<ToolChoice> {
    let mut calling = Fields::parse(raw)?;
    in_camel_case(&mut calling, &["allowedFunctionNames"]);
    let mode = calling.take_str("mode")?;
    let names = calling.take("allowedFunctionNames");
    if !calling.is_empty() {
        return None;
    }
    match (mode.as_str(), names) {
        ("AUTO", None) => Some(ToolChoice::Auto),
        ("NONE", None) => Some(ToolChoice::None),
        ("ANY", None) => Some(ToolChoice::Required),
        ("ANY", Some(names)) => match items(&names)?.as_slice() {
            [name] => string(name).map(ToolChoice::Tool),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn write_choice(object: &mut Object<'_, '_>, request: &ModelRequest) {
    let Some(choice) = &request.tool_choice else { return };
    let raw = object.take(CONFIG);
    let mut config = Object::new(object.field(CONFIG), rest(raw.as_ref()));
    let mut calling = Object::new(config.field(CALLING), Fields::default());
    calling.str(
        "mode",
        match choice {
            ToolChoice::None => "NONE",
            ToolChoice::Required | ToolChoice::Tool(_) => "ANY",
            _ => "AUTO",
        },
    );
    if let ToolChoice::Tool(name) = choice {
        write_array(calling.field("allowedFunctionNames"), [name], |out, name| {
            write_str(out, name);
        });
    }
    calling.end();
    config.end();
}
