use std::borrow::Cow;

use bytes::Bytes;
use tower_agent_core::{Error, Json, ModelRequest, OutputFormat, Sampling};

use super::{
    extra::{keep, open},
    message, tool,
};
use crate::{
    Encoded, Loss, LossRule,
    codec::{
        Flaw, Losses,
        number::{take_float, write_float},
        raw::{Fields, Object, items, string, write_array, write_str},
        schema_text,
    },
};

/// The token limit of a request that has none, since the dialect asks for one.
pub const DEFAULT_MAX_TOKENS: u64 = 8192;

/// Fields that a user may set beside the dialect's own key.
const KNOWN: [&str; 9] = [
    "cache_control",
    "container",
    "context_management",
    "inference_geo",
    "mcp_servers",
    "output_config",
    "speed",
    "thinking",
    "top_k",
];

/// Reads the request of a client.
///
/// # Errors
/// [`ErrorKind::InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) when the body is not JSON, is nested
/// more than 127 levels deep, or lacks what the dialect asks for. The text for models names the field, and an
/// [`ApiError`](super::ApiError) is attached.
pub fn decode_request(body: &[u8]) -> Result<ModelRequest, Error> {
    read(body).map_err(Flaw::in_request)
}

fn read(body: &[u8]) -> Result<ModelRequest, Flaw> {
    let mut fields = Fields::of_body(body)?;
    let mut request = ModelRequest::default();
    request.model =
        fields.take_str("model").ok_or_else(|| Flaw::new("model", "must be a string"))?;
    let first = message::read_system(&mut request, &mut fields)?;
    let list = fields.take("messages");
    let list = list.as_deref().and_then(items);
    let list = list.ok_or_else(|| Flaw::new("messages", "must be an array of objects"))?;
    request.messages = message::read_all(&list, first)?.into();
    request.tools = tool::read_all(&mut fields)?;
    request.sampling = read_sampling(&mut fields);
    tool::read_choice(&mut fields, &mut request);
    request.output = read_output(&mut fields);
    request.stream = fields.take_if("stream", |raw| (raw == "true").then_some(true)).is_some();
    request.extra = keep(&fields);
    Ok(request)
}

fn read_sampling(fields: &mut Fields<'_>) -> Sampling {
    let mut sampling = Sampling::default();
    sampling.temperature = take_float(fields, "temperature");
    sampling.top_p = take_float(fields, "top_p");
    sampling.max_output_tokens = fields.take_as("max_tokens");
    sampling.stop =
        fields.take_if("stop_sequences", |raw| items(raw)?.into_iter().map(string).collect());
    sampling
}

/// The schema has no name in this dialect.
const SCHEMA_NAME: &str = "output";

fn read_output(fields: &mut Fields<'_>) -> Option<OutputFormat> {
    let raw = fields.get("output_config")?.to_owned();
    let mut config = Fields::parse(&raw)?;
    let format = config.take("format")?;
    let mut format = Fields::parse(&format)?;
    let schema = format.take("schema").filter(|raw| raw.starts_with('{'))?;
    let is_plain = format.take_str("type")?.as_str() == "json_schema" && format.is_empty();
    let schema = is_plain.then(|| Json::from_text(&*schema))?;
    fields.take("output_config");
    if !config.is_empty() {
        fields.set("output_config", config.to_text());
    }
    Some(OutputFormat::JsonSchema { name: SCHEMA_NAME.into(), schema, strict: None })
}

/// Writes a request for a provider.
///
/// # Errors
/// [`ErrorKind::InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) when a tool's schema or that of the
/// output is no JSON object, so that the request would mean something else without it.
pub fn encode_request(request: &ModelRequest) -> Result<Encoded, Error> {
    let mut all = Vec::new();
    let mut out = Vec::new();
    let fields =
        open(request.extra.as_ref(), &KNOWN, &mut Losses { place: "extra".into(), all: &mut all });
    let mut object = Object::new(&mut out, fields);
    object.str("model", &request.model);
    write_max_tokens(&mut object, &request.sampling, &mut all);
    message::write_system(&mut object, request, &mut all);
    message::write_all(object.field("messages"), request, &mut all);
    tool::write_all(&mut object, &request.tools, &mut all)?;
    tool::write_choice(&mut object, request);
    write_sampling(&mut object, &request.sampling, &mut all);
    write_output(&mut object, request.output.as_ref(), &mut all)?;
    if request.stream {
        object.raw("stream", "true");
    }
    object.end();
    Ok(Encoded { bytes: Bytes::from(out), losses: all })
}

fn write_max_tokens(object: &mut Object<'_, '_>, sampling: &Sampling, losses: &mut Vec<Loss>) {
    if let Some(tokens) = sampling.max_output_tokens {
        object.number("max_tokens", tokens);
    } else if object.extra().get("max_tokens").is_none() {
        losses.push(Loss { rule: LossRule::MaxTokens, place: "sampling".into() });
        object.number("max_tokens", DEFAULT_MAX_TOKENS);
    }
}

fn write_sampling(object: &mut Object<'_, '_>, sampling: &Sampling, losses: &mut Vec<Loss>) {
    let too_hot = sampling.temperature.is_some_and(|temperature| temperature > 1.0);
    for _ in [sampling.seed.is_some(), too_hot].into_iter().filter(|is_lost| *is_lost) {
        losses.push(Loss { rule: LossRule::Parameter, place: "sampling".into() });
    }
    write_float(object, "temperature", sampling.temperature.map(|heat| heat.min(1.0)));
    write_float(object, "top_p", sampling.top_p);
    if let Some(stop) = &sampling.stop {
        write_array(object.field("stop_sequences"), stop.iter(), |out, stop| write_str(out, stop));
    }
}

fn write_output(
    object: &mut Object<'_, '_>,
    output: Option<&OutputFormat>,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    let (schema, name) = match output {
        None | Some(OutputFormat::Text) => return Ok(()),
        Some(OutputFormat::JsonSchema { schema, name, .. }) => (schema, name),
        Some(_) => {
            losses.push(Loss { rule: LossRule::OutputFormat, place: "output".into() });
            return Ok(());
        }
    };
    let schema = schema_text(schema, name)?;
    let rest = object.take("output_config").unwrap_or(Cow::Borrowed("{}"));
    let rest = Fields::parse(&rest).unwrap_or_default();
    let mut config = Object::new(object.field("output_config"), rest);
    let mut format = Object::new(config.field("format"), Fields::default());
    format.str("type", "json_schema");
    format.raw("schema", schema);
    format.end();
    config.end();
    Ok(())
}
