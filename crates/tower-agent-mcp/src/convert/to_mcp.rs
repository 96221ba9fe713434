//! From the vocabulary to the protocol's types.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tower_agent_core::{
    Annotations, Content, Json, Media, MediaSource, Outcome, Resource, TextPart, ToolOutput,
    ToolSpec,
};

/// A tool's description, or why MCP cannot have it.
pub(crate) fn tool(spec: &ToolSpec) -> Result<Tool, NoObject> {
    let mut tool = Tool::default();
    tool.name = spec.name.to_string().into();
    tool.title = spec.title.as_ref().map(ToString::to_string);
    tool.description = (!spec.description.is_empty()).then(|| spec.description.to_string().into());
    tool.input_schema = schema(&spec.input_schema).ok_or(NoObject("input"))?;
    if let Some(output) = &spec.output_schema {
        tool.output_schema = Some(schema(output).ok_or(NoObject("output"))?);
    }
    let mut extra = extra_of(spec.extra.as_ref());
    tool.annotations = annotations(spec.annotations, extra.remove("annotations"));
    tool.icons = extra.remove("icons").and_then(read);
    tool.meta = extra.remove("_meta").and_then(read);
    if !extra.is_empty() {
        let fields: Vec<_> = extra.keys().collect();
        tracing::warn!(tool = %spec.name, ?fields, "these fields of a tool have no place in MCP");
    }
    Ok(tool)
}

/// Which schema of a tool is no JSON object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoObject(pub(crate) &'static str);

fn schema(json: &Json) -> Option<Arc<JsonObject>> {
    let mut schema = json.value().ok()?.as_object()?.clone();
    // Both generations of the protocol ask for it, and what takes nothing or anything may leave it out.
    schema.entry("type").or_insert_with(|| "object".into());
    Some(Arc::new(schema))
}

fn annotations(hints: Annotations, extra: Option<Value>) -> Option<ToolAnnotations> {
    let mut mcp: ToolAnnotations = extra.and_then(read).unwrap_or_default();
    mcp.read_only_hint = hints.read_only;
    mcp.destructive_hint = hints.destructive;
    mcp.idempotent_hint = hints.idempotent;
    mcp.open_world_hint = hints.open_world;
    (mcp != ToolAnnotations::default()).then_some(mcp)
}

/// What came of a call. Whatever is no success is an error that the model reads.
pub(crate) fn result(output: ToolOutput) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.is_error = Some(!output.outcome.is_success());
    result.content = output.content.into_iter().map(block).collect();
    if result.content.is_empty()
        && let Some(text) = told(&output.outcome)
    {
        result.content.push(ContentBlock::text(text));
    }
    result.structured_content =
        output.structured.and_then(|json| whole(&json, "structured output"));
    if output.extra.is_some() {
        tracing::debug!("left out further fields of a result, which have no place in MCP");
    }
    result.meta = output.meta.and_then(|json| whole(&json, "`_meta` of an output"));
    result
}

/// What a refusal without any content says.
fn told(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Denied(denial) => Some(denial.message.to_string()),
        Outcome::Suspended(suspension) => Some(suspension.reason.to_string()),
        _ => None,
    }
}

fn whole<T: DeserializeOwned>(json: &Json, what: &str) -> Option<T> {
    let read = json.read();
    if let Err(error) = &read {
        tracing::warn!(%error, "left out the {what}, which MCP cannot carry");
    }
    read.ok()
}

fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text(part) => text(&part),
        Content::Image(media) => bytes("image", &media),
        Content::Audio(media) => bytes("audio", &media),
        Content::ResourceLink(resource) => link(&resource),
        Content::Resource(resource) => embedded(&resource),
        Content::Opaque { json } => {
            json.read().unwrap_or_else(|_| ContentBlock::text(json.as_str()))
        }
        other => {
            tracing::warn!("sent a kind of content that MCP does not know as its JSON");
            ContentBlock::text(serde_json::to_string(&other).unwrap_or_default())
        }
    }
}

fn text(part: &TextPart) -> ContentBlock {
    if part.extra.is_none() {
        return ContentBlock::text(&*part.text);
    }
    let fields = json!({ "type": "text", "text": part.text });
    typed(fields, part.extra.as_ref()).unwrap_or_else(|| ContentBlock::text(&*part.text))
}

/// MCP has bytes in place; of what is elsewhere it can have the address.
fn bytes(kind: &str, media: &Media) -> ContentBlock {
    let mime_type = media.mime_type.as_deref();
    let (fields, plain) = match &media.source {
        MediaSource::Base64(data) => {
            let mime_type = mime_type.unwrap_or("application/octet-stream");
            let plain = match kind {
                "audio" => ContentBlock::audio(&**data, mime_type),
                _ => ContentBlock::image(&**data, mime_type),
            };
            (json!({ "type": kind, "data": data, "mimeType": mime_type }), plain)
        }
        MediaSource::Url(url) => {
            let plain = ContentBlock::text(&**url);
            (
                json!({ "type": "resource_link", "uri": url, "name": url, "mimeType": mime_type }),
                plain,
            )
        }
        MediaSource::Id(id) => {
            let text =
                format!("There is an {kind} that only its provider has, with the id \"{id}\".");
            return ContentBlock::text(text);
        }
        other => {
            tracing::warn!(?other, "MCP has no place for this source");
            return ContentBlock::text(format!("There is an {kind} that cannot be shown here."));
        }
    };
    typed(fields, media.extra.as_ref()).unwrap_or(plain)
}

fn link(resource: &Resource) -> ContentBlock {
    let fields = json!({
        "type": "resource_link",
        "uri": resource.uri,
        "name": resource.name.as_ref().unwrap_or(&resource.uri),
        "description": resource.description,
        "mimeType": resource.mime_type,
    });
    typed(fields, resource.extra.as_ref()).unwrap_or_else(|| ContentBlock::text(&*resource.uri))
}

/// Fields of the block itself are in `extra`, those of the resource inside it in `extra.resource`.
fn embedded(resource: &Resource) -> ContentBlock {
    let mut extra = extra_of(resource.extra.as_ref());
    let inner = match extra.remove("resource") {
        Some(Value::Object(inner)) => inner,
        _ => Map::new(),
    };
    let mut fields = json!({ "uri": resource.uri, "mimeType": resource.mime_type });
    match (&resource.text, &resource.blob) {
        (None, Some(blob)) => merge(&mut fields, json!({ "blob": blob })),
        (text, _) => merge(&mut fields, json!({ "text": text.as_deref().unwrap_or_default() })),
    }
    merge(&mut fields, Value::Object(inner));
    let mut block = json!({ "type": "resource", "resource": fields });
    merge(&mut block, Value::Object(extra));
    read(block).unwrap_or_else(|| {
        ContentBlock::embedded_text(&*resource.uri, resource.text.as_deref().unwrap_or_default())
    })
}

/// A block of known and further fields; nothing where the further ones are not what MCP takes them for.
fn typed(mut fields: Value, extra: Option<&Json>) -> Option<ContentBlock> {
    merge(&mut fields, Value::Object(extra_of(extra)));
    let block = read(fields);
    if block.is_none() {
        tracing::warn!("left out further fields of a content block, which do not fit MCP");
    }
    block
}

/// Adds fields; what stands there already stays, and what is null is as good as absent.
fn merge(fields: &mut Value, more: Value) {
    if let (Value::Object(fields), Value::Object(more)) = (fields, more) {
        fields.retain(|_, value| !value.is_null());
        for (name, value) in more {
            fields.entry(name).or_insert(value);
        }
    }
}

fn extra_of(extra: Option<&Json>) -> Map<String, Value> {
    extra.and_then(|json| json.value().ok()).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn read<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}
