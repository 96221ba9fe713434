//! How to sample, and the form of the answer.

use tower_agent_core::{Error, Json, OutputFormat, Sampling};

use super::{extra::rest, schema, spelling::in_camel_case};
use crate::{
    Loss, LossRule,
    codec::{
        Flaw,
        number::{take_float, write_float},
        raw::{Fields, NULL, Object, items, string, write_array, write_str},
        schema_text,
    },
};

const FIELD: &str = "generationConfig";
const NAMES: [&str; 9] = [
    "topP",
    "topK",
    "maxOutputTokens",
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "candidateCount",
    "thinkingConfig",
];
const JSON: &str = "application/json";
/// The schema has no name in this dialect.
const SCHEMA_NAME: &str = "output";

pub(super) fn read(fields: &mut Fields<'_>) -> Result<(Sampling, Option<OutputFormat>), Flaw> {
    let mut sampling = Sampling::default();
    let Some(raw) = fields.get(FIELD).filter(|raw| ![NULL, "{}"].contains(raw)) else {
        return Ok((sampling, None));
    };
    let raw = raw.to_owned();
    let mut config = Fields::parse(&raw).ok_or_else(|| Flaw::new(FIELD, "must be an object"))?;
    in_camel_case(&mut config, &NAMES);
    sampling.temperature = take_float(&mut config, "temperature");
    sampling.top_p = take_float(&mut config, "topP");
    sampling.max_output_tokens = config.take_as("maxOutputTokens");
    sampling.stop =
        config.take_if("stopSequences", |raw| items(raw)?.into_iter().map(string).collect());
    sampling.seed = config.take_as("seed");
    let output = read_output(&mut config);
    fields.take(FIELD);
    fields.set_rest(FIELD, &config);
    Ok((sampling, output))
}

fn read_output(config: &mut Fields<'_>) -> Option<OutputFormat> {
    let mime = config.get("responseMimeType").and_then(string)?;
    if mime != JSON {
        return None;
    }
    let schemas = ["responseSchema", "responseJsonSchema"];
    if schemas.iter().all(|key| config.get(key).is_none()) {
        config.take("responseMimeType");
        return Some(OutputFormat::JsonObject);
    }
    let schema = schema::take(config, "responseSchema", "responseJsonSchema")?;
    config.take("responseMimeType");
    let (name, schema) = (SCHEMA_NAME.into(), Json::from_text(schema));
    Some(OutputFormat::JsonSchema { name, schema, strict: None })
}

pub(super) fn write(
    object: &mut Object<'_, '_>,
    sampling: &Sampling,
    output: Option<&OutputFormat>,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    if sampling.parallel_tool_calls == Some(false) {
        losses.push(Loss { rule: LossRule::Parameter, place: "sampling".into() });
    }
    let raw = object.take(FIELD);
    let rest = rest(raw.as_ref());
    let says_nothing = rest.is_empty() && raw.is_none();
    let output = output.filter(|output| **output != OutputFormat::Text);
    let mut plain = sampling.clone();
    plain.parallel_tool_calls = None;
    if says_nothing && plain == Sampling::default() && output.is_none() {
        return Ok(());
    }
    let mut config = Object::new(object.field(FIELD), rest);
    write_float(&mut config, "temperature", sampling.temperature);
    write_float(&mut config, "topP", sampling.top_p);
    if let Some(tokens) = sampling.max_output_tokens {
        config.number("maxOutputTokens", tokens);
    }
    if let Some(stop) = &sampling.stop {
        write_array(config.field("stopSequences"), stop.iter(), |out, stop| write_str(out, stop));
    }
    if let Some(seed) = sampling.seed {
        config.number("seed", seed);
    }
    let written = write_output(&mut config, output, losses);
    config.end();
    written
}

fn write_output(
    config: &mut Object<'_, '_>,
    output: Option<&OutputFormat>,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    match output {
        None => {}
        Some(OutputFormat::JsonObject) => {
            config.str("responseMimeType", JSON);
            // A layer took the schema away.
            config.take("responseSchema");
            config.take("responseJsonSchema");
        }
        Some(OutputFormat::JsonSchema { schema, name, .. }) => {
            config.str("responseMimeType", JSON);
            let schema = schema_text(schema, name)?;
            schema::write(config, "responseSchema", "responseJsonSchema", schema);
        }
        Some(_) => losses.push(Loss { rule: LossRule::OutputFormat, place: "output".into() }),
    }
    Ok(())
}
