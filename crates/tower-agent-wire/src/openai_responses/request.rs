use std::borrow::Cow;

use bytes::Bytes;
#[cfg(doc)]
use tower_agent_core::ErrorKind;
use tower_agent_core::{Error, Json, ModelRequest, OutputFormat, Sampling};

use super::{input, tool};
use crate::{
    Encoded, Loss, LossRule,
    codec::{
        Flaw,
        raw::{self, Fields, NULL, Object},
    },
};

/// Reads the request of a client.
///
/// # Errors
/// [`ErrorKind::InvalidArguments`] when the body is not JSON, is nested more than 127 levels deep, or lacks what the
/// dialect asks for. The text for models names the field, and an [`ApiError`](super::ApiError) is attached.
pub fn decode_request(body: &[u8]) -> Result<ModelRequest, Error> {
    read(body).map_err(Flaw::in_request)
}

fn read(body: &[u8]) -> Result<ModelRequest, Flaw> {
    let text = raw::check(body).map_err(|reason| Flaw::new("", reason))?;
    let mut fields =
        Fields::parse(text).ok_or_else(|| Flaw::new("", "the body is no JSON object"))?;
    let mut request = ModelRequest::default();
    request.model =
        fields.take_str("model").ok_or_else(|| Flaw::new("model", "must be a string"))?;
    request.instructions = fields.take_text("instructions");
    request.messages = input::read(&mut fields)?;
    request.tools = tool::read_all(&mut fields)?;
    request.tool_choice = fields.take_if("tool_choice", tool::read_choice);
    request.sampling = read_sampling(&mut fields);
    request.output = read_output(&mut fields);
    request.stream = fields.take_if("stream", |raw| (raw == "true").then_some(true)).is_some();
    request.extra = fields.to_extra();
    Ok(request)
}

fn read_sampling(fields: &mut Fields<'_>) -> Sampling {
    let mut sampling = Sampling::default();
    sampling.temperature = take_float(fields, "temperature");
    sampling.top_p = take_float(fields, "top_p");
    sampling.max_output_tokens = fields.take_as("max_output_tokens");
    sampling.parallel_tool_calls = fields.take_as("parallel_tool_calls");
    sampling
}

/// A whole number is written as an integer, so the spelling `1.0` has to be marked.
fn take_float(fields: &mut Fields<'_>, key: &'static str) -> Option<f64> {
    let is_marked = fields.get(key)?.contains(['.', 'e', 'E']);
    let float: f64 = fields.take_as(key)?;
    if is_marked && float.fract() == 0.0 {
        fields.set(key, NULL);
    }
    Some(float)
}

/// The form of the answer; how long it should be and the like stay in `text`.
fn read_output(fields: &mut Fields<'_>) -> Option<OutputFormat> {
    let raw = fields.get("text")?.to_owned();
    let mut text = Fields::parse(&raw)?;
    let format = text.get("format")?.to_owned();
    let mut format = Fields::parse(&format)?;
    let output = match format.take_str("type").as_deref() {
        Some("text") => OutputFormat::Text,
        Some("json_object") => OutputFormat::JsonObject,
        Some("json_schema") => OutputFormat::JsonSchema {
            name: format.take_str("name")?,
            schema: Json::from_text(&*format.take("schema").filter(|raw| raw.starts_with('{'))?),
            strict: format.take_as("strict"),
        },
        _ => return None,
    };
    text.take("format");
    text.set_rest("format", &format);
    fields.take("text");
    fields.set_rest("text", &text);
    Some(output)
}

/// Asks a provider to store nothing, and to give its thoughts back encrypted, without which it could not go on from
/// them; unless the request says otherwise.
///
/// ```
/// use tower_agent_core::ModelRequest;
/// use tower_agent_wire::openai_responses::store_nothing;
///
/// let mut request = ModelRequest::default();
/// store_nothing(&mut request);
/// assert_eq!(request.extra.unwrap().as_str(), r#"{"store":false,"include":["reasoning.encrypted_content"]}"#);
/// ```
pub fn store_nothing(request: &mut ModelRequest) {
    let extra = request.extra.take();
    let Some(mut fields) = Fields::of(extra.as_ref()) else {
        request.extra = extra;
        return;
    };
    if fields.get("store").is_none() {
        fields.set("store", "false");
    }
    if fields.get("store") == Some("false") && fields.get("include").is_none() {
        fields.set("include", r#"["reasoning.encrypted_content"]"#);
    }
    request.extra = fields.to_extra();
}

/// Writes a request for a provider.
///
/// # Errors
/// [`ErrorKind::InvalidArguments`] when a tool's schema or that of the output is no JSON object, so that the request
/// would mean something else without it.
pub fn encode_request(request: &ModelRequest) -> Result<Encoded, Error> {
    let mut losses = Vec::new();
    let mut out = Vec::new();
    let mut object = Object::new(&mut out, fields_of(request, &mut losses));
    object.str("model", &request.model);
    if let Some(text) = request.instructions.as_ref().filter(|text| !text.is_empty()) {
        object.str("instructions", text);
    }
    input::write(&mut object, request, &mut losses);
    if !request.tools.is_empty() {
        tool::write_all(object.field("tools"), &request.tools, &mut losses)?;
    }
    if let Some(choice) = &request.tool_choice {
        tool::write_choice(object.field("tool_choice"), choice);
    }
    write_sampling(&mut object, &request.sampling, &mut losses);
    if let Some(output) = &request.output {
        write_output(&mut object, output)?;
    }
    if request.stream {
        object.raw("stream", "true");
    }
    object.end();
    Ok(Encoded { bytes: Bytes::from(out), losses })
}

fn fields_of<'a>(request: &'a ModelRequest, losses: &mut Vec<Loss>) -> Fields<'a> {
    let mut fields = Fields::of(request.extra.as_ref()).unwrap_or_else(|| {
        losses.push(Loss { rule: LossRule::NotJson, place: "extra".into() });
        Fields::default()
    });
    if !request.stream {
        // A layer may have turned streaming off; providers refuse its options then.
        fields.take("stream_options");
    }
    fields
}

fn write_sampling(object: &mut Object<'_, '_>, sampling: &Sampling, losses: &mut Vec<Loss>) {
    write_float(object, "temperature", sampling.temperature);
    write_float(object, "top_p", sampling.top_p);
    if let Some(tokens) = sampling.max_output_tokens {
        object.number("max_output_tokens", tokens);
    }
    if let Some(parallel) = sampling.parallel_tool_calls {
        object.raw("parallel_tool_calls", if parallel { "true" } else { "false" });
    }
    let unsaid = [("stop", sampling.stop.is_some()), ("seed", sampling.seed.is_some())];
    for (name, _) in unsaid.into_iter().filter(|(_, is_set)| *is_set) {
        losses.push(Loss { rule: LossRule::Parameter, place: name.into() });
    }
}

fn write_float(object: &mut Object<'_, '_>, key: &str, float: Option<f64>) {
    let Some(number) = float.and_then(serde_json::Number::from_f64) else { return };
    let text = number.to_string();
    let whole = text.strip_suffix(".0").filter(|_| !object.extra().is_null(key));
    object.raw(key, whole.unwrap_or(&text));
}

fn write_output(object: &mut Object<'_, '_>, output: &OutputFormat) -> Result<(), Error> {
    let rest = object.take("text").unwrap_or(Cow::Borrowed("{}"));
    let mut rest = Fields::parse(&rest).unwrap_or_default();
    let format_rest = rest.take("format").unwrap_or(Cow::Borrowed("{}"));
    let mut text = Object::new(object.field("text"), rest);
    let format_rest = match output {
        OutputFormat::JsonSchema { .. } => Fields::parse(&format_rest).unwrap_or_default(),
        _ => Fields::default(),
    };
    let mut format = Object::new(text.field("format"), format_rest);
    match output {
        OutputFormat::JsonObject => format.str("type", "json_object"),
        OutputFormat::JsonSchema { name, schema, strict } => {
            format.str("type", "json_schema");
            format.str("name", name);
            format.raw("schema", tool::schema_text(schema, name)?);
            if let Some(strict) = strict {
                format.raw("strict", if *strict { "true" } else { "false" });
            }
        }
        _ => format.str("type", "text"),
    }
    format.end();
    text.end();
    Ok(())
}
