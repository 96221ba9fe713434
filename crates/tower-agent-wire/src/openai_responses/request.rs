use std::borrow::Cow;

use bytes::Bytes;
#[cfg(doc)]
use tower_agent_core::ErrorKind;
use tower_agent_core::{Error, Json, ModelRequest, OutputFormat, Sampling};

use super::{extra, input, tool};
use crate::{
    Encoded, Loss, LossRule,
    codec::{
        Flaw, Losses,
        number::{take_float, write_float},
        raw::{Fields, NULL, Object, string},
        schema_text,
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
    let mut fields = Fields::of_body(body)?;
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
    request.extra = keep(fields);
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

/// Fields that chat completions have as well.
const SHARED: [&str; 9] = [
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "top_logprobs",
    "user",
    "web_search_options",
];
/// Fields that chat completions have under another name: the object, the field in it, and that name.
const MOVED: [(&str, &str, &str); 2] =
    [("reasoning", "effort", "reasoning_effort"), ("text", "verbosity", "verbosity")];

fn keep(mut fields: Fields<'_>) -> Option<Json> {
    let mut shared = extra::take_shared(&mut fields, &SHARED);
    for (object, field, name) in MOVED {
        let raw = fields.get(object).unwrap_or_default().to_owned();
        let Some(mut inner) = Fields::parse(&raw) else { continue };
        if let Some(text) = inner.take_if(field, |raw| string(raw).map(|_| raw.to_owned())) {
            shared.set(name, text);
            fields.take(object);
            fields.set_rest(object, &inner);
        }
    }
    extra::keep_beside(&fields, shared)
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
/// let extra = r#"{"store":false,"openai_responses":{"include":["reasoning.encrypted_content"]}}"#;
/// assert_eq!(request.extra.unwrap().as_str(), extra);
/// ```
pub fn store_nothing(request: &mut ModelRequest) {
    let extra = request.extra.take();
    let Some(mut fields) = Fields::of(extra.as_ref()) else {
        request.extra = extra;
        return;
    };
    let mut own = extra::peek(extra.as_ref());
    if fields.get("store").is_none() {
        fields.set("store", "false");
    }
    if fields.get("store") == Some("false") && own.get("include").is_none() {
        own.set("include", r#"["reasoning.encrypted_content"]"#);
    }
    fields.take(extra::SPACE);
    request.extra = extra::keep_beside(&own, fields);
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
    tool::write_all(&mut object, &request.tools, &mut losses)?;
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
    let mut losses = Losses { place: "extra".into(), all: losses };
    let moved = MOVED.map(|(_, _, name)| name);
    // The usage comes unasked here.
    let known = [&SHARED[..], &moved[..], &["stream_options"]].concat();
    let mut fields = extra::open(request.extra.as_ref(), &known, &mut losses);
    if is_usage_wish(&fields) {
        fields.take("stream_options");
    }
    for (object, field, name) in MOVED {
        let Some(raw) = fields.take(name).filter(|raw| raw != NULL) else { continue };
        let text = fields.get(object).unwrap_or_default().to_owned();
        let mut inner = Fields::parse(&text).unwrap_or_default();
        inner.set(field, raw);
        let inner = inner.to_text();
        fields.set(object, inner);
    }
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

fn is_usage_wish(fields: &Fields<'_>) -> bool {
    let options = fields.get("stream_options").and_then(Fields::parse);
    options.is_some_and(|options| options.get("include_usage").is_some())
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
            format.raw("schema", schema_text(schema, name)?);
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
