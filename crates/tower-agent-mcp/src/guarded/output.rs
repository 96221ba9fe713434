//! What a handler answers, in our vocabulary. What has no name there stays in `extra`.

use rmcp::model::{CallToolResponse, CallToolResult, ResultType, Tool};
use serde::Serialize;
use serde_json::{Map, Value};
use tower_agent_core::{
    Annotations, Content, Effect, Error, ErrorKind, Failure, Json, Media, MediaSource, Resource,
    Str, Suspension, TextPart, ToolOutput, ToolSpec,
};

type Fields = Map<String, Value>;

/// What of a result our vocabulary does not tell apart: `false` from nothing said.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    is_error: Option<bool>,
    result_type: Option<ResultType>,
}

impl Shape {
    /// Gives a result that is still a success, or still an error, the handler's own form.
    pub(super) fn restore(&self, result: &mut CallToolResult) {
        if self.is_error.unwrap_or(false) == result.is_error.unwrap_or(false) {
            result.is_error = self.is_error;
        }
        result.result_type = self.result_type.clone();
    }
}

pub(super) fn read(response: CallToolResponse) -> Result<ToolOutput, Error> {
    match response {
        CallToolResponse::Complete(result) => complete(result),
        CallToolResponse::InputRequired(asked) => {
            let id = asked.request_state.clone().unwrap_or_default();
            waiting(&asked, id, "the server asks for input")
        }
        CallToolResponse::Task(task) => {
            waiting(&task, task.task.task_id.clone(), "the server goes on with it as a task")
        }
        _ => Err(Error::new(
            ErrorKind::Protocol,
            "the handler answered with an unknown type of result",
        )),
    }
}

fn complete(result: CallToolResult) -> Result<ToolOutput, Error> {
    let mut output = ToolOutput::default();
    for block in &result.content {
        output.content.push(content(fields(block)?));
    }
    output.structured = result.structured_content.map(Json::from_value);
    output.meta = result.meta.map(|meta| Json::from_value(Value::Object(meta.0)));
    if result.is_error == Some(true) {
        output = output.with_outcome(Failure::new(ErrorKind::Tool, Effect::Completed));
    }
    let shape = Shape { is_error: result.is_error, result_type: result.result_type };
    output.extensions.insert(shape);
    Ok(output)
}

/// The whole result is what is asked, so that it can go back as it is.
fn waiting(result: &impl Serialize, id: String, reason: &str) -> Result<ToolOutput, Error> {
    let request = Json::from_serialize(result).map_err(unreadable)?;
    Ok(ToolOutput::default().with_outcome(Suspension::new("mcp", id, reason).request(request)))
}

fn fields(value: &impl Serialize) -> Result<Fields, Error> {
    match serde_json::to_value(value).map_err(unreadable)? {
        Value::Object(fields) => Ok(fields),
        _ => Err(Error::new(ErrorKind::Protocol, "a message of the handler is no object")),
    }
}

fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Protocol, "a message of the handler has no JSON form").with_source(error)
}

fn content(fields: Fields) -> Content {
    let kind = fields.get("type").and_then(Value::as_str).map(ToOwned::to_owned);
    let named = named(kind.as_deref().unwrap_or_default(), fields.clone());
    named.unwrap_or_else(|| Content::Opaque { json: Json::from_value(Value::Object(fields)) })
}

fn named(kind: &str, mut fields: Fields) -> Option<Content> {
    fields.remove("type");
    Some(match kind {
        "text" => {
            let text = text(&mut fields, "text")?;
            Content::Text(TextPart { text, extra: rest(fields) })
        }
        "image" => Content::Image(media(fields)?),
        "audio" => Content::Audio(media(fields)?),
        "resource_link" => {
            let link = resource(&mut fields)?;
            Content::ResourceLink(Resource { extra: rest(fields), ..link })
        }
        "resource" => {
            let Some(Value::Object(mut inner)) = fields.remove("resource") else { return None };
            let found = resource(&mut inner)?;
            if !inner.is_empty() {
                fields.insert("resource".to_owned(), Value::Object(inner));
            }
            Content::Resource(Resource { extra: rest(fields), ..found })
        }
        _ => return None,
    })
}

fn media(mut fields: Fields) -> Option<Media> {
    let source = MediaSource::Base64(text(&mut fields, "data")?);
    let mime_type = text(&mut fields, "mimeType");
    Some(Media { source, mime_type, extra: rest(fields) })
}

fn resource(fields: &mut Fields) -> Option<Resource> {
    Some(Resource {
        uri: text(fields, "uri")?,
        name: text(fields, "name"),
        description: text(fields, "description"),
        mime_type: text(fields, "mimeType"),
        text: text(fields, "text"),
        blob: text(fields, "blob"),
        extra: None,
    })
}

fn text(fields: &mut Fields, name: &str) -> Option<Str> {
    let text = fields.get(name)?.as_str().map(Str::from);
    if text.is_some() {
        fields.remove(name);
    }
    text
}

fn rest(fields: Fields) -> Option<Json> {
    (!fields.is_empty()).then(|| Json::from_value(Value::Object(fields)))
}

/// A tool as policies see it. What clients see stays the handler's own description.
pub(super) fn spec(tool: &Tool) -> ToolSpec {
    let description = tool.description.as_deref().unwrap_or_default();
    let mut spec = ToolSpec::new(&*tool.name, description)
        .with_input_schema(Value::Object(tool.input_schema.as_ref().clone()));
    let output = tool.output_schema.as_ref();
    spec.output_schema = output.map(|schema| Json::from_value(Value::Object((**schema).clone())));
    spec.title = tool.title.as_deref().map(Str::from);
    if let Some(hints) = &tool.annotations {
        spec.annotations = Annotations {
            read_only: hints.read_only_hint,
            destructive: hints.destructive_hint,
            idempotent: hints.idempotent_hint,
            open_world: hints.open_world_hint,
        };
    }
    spec.extra = extra(tool);
    spec
}

fn extra(tool: &Tool) -> Option<Json> {
    let mut all = fields(tool).ok()?;
    let title = tool.annotations.as_ref().and_then(|hints| hints.title.clone());
    all.retain(|name, _| matches!(name.as_str(), "icons" | "_meta"));
    if let Some(title) = title {
        all.insert("annotations".to_owned(), serde_json::json!({ "title": title }));
    }
    rest(all)
}
