use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use tower_agent_core::{
    Conversation, Error, Json, ModelRequest, OutputFormat, Sampling, Str, ToolChoice,
};

use super::{message, tool};
use crate::{
    Encoded, Loss,
    codec::{
        Flaw, Losses, is_foreign_tool,
        number::{take_float, write_float},
        raw::{Fields, NULL, Object, items, string, write_array, write_str},
        schema_text,
    },
};

/// Reads the request of a client.
///
/// # Errors
/// [`ErrorKind::InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) when the body is not JSON, is nested more than 127 levels deep, or lacks what the
/// dialect asks for. The text for models names the field, and an [`ApiError`](super::ApiError) is attached.
pub fn decode_request(body: &[u8]) -> Result<ModelRequest, Error> {
    read(body).map_err(Flaw::in_request)
}

fn read(body: &[u8]) -> Result<ModelRequest, Flaw> {
    let mut fields = Fields::of_body(body)?;
    let mut request = ModelRequest::default();
    request.model =
        fields.take_str("model").ok_or_else(|| Flaw::new("model", "must be a string"))?;
    request.messages = read_messages(&mut fields)?;
    request.tools = tool::read_all(&mut fields)?;
    request.tool_choice = fields.take_if("tool_choice", tool::read_choice);
    request.sampling = read_sampling(&mut fields);
    request.output = read_output(&mut fields);
    request.stream = fields.take_if("stream", |raw| (raw == "true").then_some(true)).is_some();
    request.extra = fields.to_extra();
    Ok(request)
}

fn read_messages(fields: &mut Fields<'_>) -> Result<Conversation, Flaw> {
    let raw = fields.take("messages");
    let items = raw.as_deref().and_then(items);
    let items = items.ok_or_else(|| Flaw::new("messages", "must be an array of objects"))?;
    message::read_all(&items)
}

fn read_sampling(fields: &mut Fields<'_>) -> Sampling {
    let mut sampling = Sampling::default();
    sampling.temperature = take_float(fields, "temperature");
    sampling.top_p = take_float(fields, "top_p");
    sampling.max_output_tokens = take_max_tokens(fields);
    sampling.stop = take_stop(fields);
    sampling.seed = fields.take_as("seed");
    sampling.parallel_tool_calls = fields.take_as("parallel_tool_calls");
    sampling
}

fn take_max_tokens(fields: &mut Fields<'_>) -> Option<u64> {
    let newer = fields.take_as("max_completion_tokens");
    newer.or_else(|| {
        let older = fields.take_as("max_tokens")?;
        fields.set("max_tokens", NULL);
        Some(older)
    })
}

fn take_stop(fields: &mut Fields<'_>) -> Option<Arc<[Str]>> {
    if let Some(one) = fields.take_str("stop") {
        fields.set("stop", NULL);
        return Some([one].into());
    }
    fields.take_if("stop", |raw| items(raw)?.into_iter().map(string).collect())
}

fn read_output(fields: &mut Fields<'_>) -> Option<OutputFormat> {
    let raw = fields.take("response_format")?;
    let mut format = Fields::parse(&raw).unwrap_or_default();
    let output = match format.take_str("type").as_deref() {
        Some("text") => Some(OutputFormat::Text),
        Some("json_object") => Some(OutputFormat::JsonObject),
        Some("json_schema") => read_schema(&mut format),
        _ => None,
    };
    match &output {
        Some(_) => fields.set_rest("response_format", &format),
        None => fields.set("response_format", raw.into_owned()),
    }
    output
}

fn read_schema(format: &mut Fields<'_>) -> Option<OutputFormat> {
    let raw = format.take("json_schema")?;
    let mut fields = Fields::parse(&raw)?;
    let output = OutputFormat::JsonSchema {
        name: fields.take_str("name")?,
        schema: Json::from_text(&*fields.take("schema").filter(|raw| raw.starts_with('{'))?),
        strict: fields.take_as("strict"),
    };
    format.set_rest("json_schema", &fields);
    Some(output)
}

/// Whether the client asked for a usage chunk at the end of the stream.
#[must_use]
pub fn asks_for_usage(request: &ModelRequest) -> bool {
    let Some(fields) = Fields::of(request.extra.as_ref()) else { return false };
    let options = fields.get("stream_options").and_then(Fields::parse);
    options.is_some_and(|options| options.get("include_usage") == Some("true"))
}

/// Asks for a usage chunk at the end of a stream, unless the request already says whether it wants one.
///
/// ```
/// use tower_agent_core::ModelRequest;
/// use tower_agent_wire::openai_chat::{ask_for_usage, asks_for_usage};
///
/// let mut request = ModelRequest::default();
/// request.stream = true;
/// ask_for_usage(&mut request);
/// assert!(asks_for_usage(&request));
/// ```
pub fn ask_for_usage(request: &mut ModelRequest) {
    let extra = request.extra.take();
    if request.stream
        && let Some(mut fields) = Fields::of(extra.as_ref())
    {
        let raw = fields.take("stream_options").unwrap_or(Cow::Borrowed("{}"));
        let mut options = Fields::parse(&raw).unwrap_or_default();
        if options.get("include_usage").is_none() {
            options.set("include_usage", "true");
        }
        fields.set("stream_options", options.to_text());
        request.extra = fields.to_extra();
    } else {
        request.extra = extra;
    }
}

/// Writes a request for a provider.
///
/// # Errors
/// [`ErrorKind::InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) when a tool's schema or that of the output is no JSON object, so that the request
/// would mean something else without it.
pub fn encode_request(request: &ModelRequest) -> Result<Encoded, Error> {
    let mut losses = Vec::new();
    let mut out = Vec::new();
    let mut object = Object::new(&mut out, fields_of(request, &mut losses));
    object.str("model", &request.model);
    message::write_all(object.field("messages"), request, &mut losses);
    tool::write_all(&mut object, &request.tools, &mut losses)?;
    // A choice among tools that were left out would be refused.
    let is_left_out = !request.tools.is_empty()
        && request.tools.iter().all(|spec| is_foreign_tool(spec.extra.as_ref(), ""));
    if let Some(choice) = request.tool_choice.as_ref().filter(|_| !is_left_out) {
        write_choice(object.field("tool_choice"), choice);
    }
    write_sampling(&mut object, &request.sampling);
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
    let mut fields = Losses { place: "extra".into(), all: losses }.fields(request.extra.as_ref());
    if !request.stream {
        // A layer may have turned streaming off; providers refuse its options then.
        fields.take("stream_options");
    }
    fields
}

fn write_choice(out: &mut Vec<u8>, choice: &ToolChoice) {
    match choice {
        ToolChoice::None => write_str(out, "none"),
        ToolChoice::Required => write_str(out, "required"),
        ToolChoice::Tool(name) => {
            let mut object = Object::new(out, Fields::default());
            object.str("type", "function");
            let mut function = Object::new(object.field("function"), Fields::default());
            function.str("name", name);
            function.end();
            object.end();
        }
        _ => write_str(out, "auto"),
    }
}

fn write_sampling(object: &mut Object<'_, '_>, sampling: &Sampling) {
    write_float(object, "temperature", sampling.temperature);
    write_float(object, "top_p", sampling.top_p);
    if let Some(tokens) = sampling.max_output_tokens {
        let is_older = object.extra().is_null("max_tokens");
        object.number(if is_older { "max_tokens" } else { "max_completion_tokens" }, tokens);
    }
    match sampling.stop.as_deref() {
        Some([one]) if object.extra().is_null("stop") => object.str("stop", one),
        Some(all) => write_array(object.field("stop"), all, |out, stop| write_str(out, stop)),
        None => {}
    }
    if let Some(seed) = sampling.seed {
        object.number("seed", seed);
    }
    if let Some(parallel) = sampling.parallel_tool_calls {
        object.raw("parallel_tool_calls", if parallel { "true" } else { "false" });
    }
}

fn write_output(object: &mut Object<'_, '_>, output: &OutputFormat) -> Result<(), Error> {
    let rest = object.take("response_format").unwrap_or(Cow::Borrowed("{}"));
    let mut rest = Fields::parse(&rest).unwrap_or_default();
    let schema_rest = rest.take("json_schema").unwrap_or(Cow::Borrowed("{}"));
    let mut format = Object::new(object.field("response_format"), rest);
    match output {
        OutputFormat::JsonObject => format.str("type", "json_object"),
        OutputFormat::JsonSchema { name, schema, strict } => {
            format.str("type", "json_schema");
            let rest = Fields::parse(&schema_rest).unwrap_or_default();
            let mut object = Object::new(format.field("json_schema"), rest);
            object.str("name", name);
            object.raw("schema", schema_text(schema, name)?);
            if let Some(strict) = strict {
                object.raw("strict", if *strict { "true" } else { "false" });
            }
            object.end();
        }
        _ => format.str("type", "text"),
    }
    format.end();
    Ok(())
}
