//! What a server sends, in our vocabulary. What has no name there stays in `extra`, byte for byte.

use tower_agent_core::{
    Annotations, Content, Effect, ErrorKind, Failure, Json, Media, MediaSource, Resource, Str,
    Suspension, TextPart, ToolOutput, ToolSpec,
};

use super::fields::{Fields, items};

/// The protocol allows half as much.
const NAME: usize = 256;

/// Why a message cannot be used.
pub(crate) type Flaw = &'static str;

/// A page of `tools/list`.
#[cfg(feature = "client")]
pub(crate) struct Page {
    pub(crate) tools: Vec<Json>,
    pub(crate) next: Option<Str>,
}

#[cfg(feature = "client")]
pub(crate) fn page(json: &Json) -> Result<Page, Flaw> {
    let mut fields = Fields::parse(json.as_str()).ok_or("the list of tools is no object")?;
    let tools =
        fields.take("tools", |raw| Some(items(raw)?.into_iter().map(Json::from_text).collect()));
    Ok(Page {
        tools: tools.ok_or("the list of tools has no `tools`")?,
        next: fields.take_str("nextCursor"),
    })
}

/// A tool as its server describes it.
pub(crate) fn tool(json: &Json) -> Result<ToolSpec, Flaw> {
    let mut fields = Fields::parse(json.as_str()).ok_or("it is no object")?;
    let name = fields.take_str("name").ok_or("it has no name")?;
    if name.trim().is_empty() || name.chars().any(char::is_control) || name.len() > NAME {
        return Err("its name is blank, too long or has control characters");
    }
    let description = fields.take_str("description").unwrap_or_default();
    let mut spec = ToolSpec::new(name, description);
    spec.input_schema =
        fields.take("inputSchema", input_schema).ok_or("its `inputSchema` is no object")?;
    spec.output_schema = fields.take("outputSchema", schema);
    spec.title = fields.take_str("title");
    if let Some(text) = fields.take_json("annotations") {
        spec.annotations = annotations(&text, &mut fields);
    }
    spec.extra = fields.into_extra();
    Ok(spec)
}

/// An object without any fields but these.
#[cfg(feature = "client")]
pub(crate) fn pick(json: &Json, names: &[&str]) -> Json {
    let mut fields = Fields::parse(json.as_str()).unwrap_or_default();
    fields.keep(names);
    fields.into_extra().unwrap_or_else(Json::object)
}

/// Tools without parameters often say no more than that they take an object; some providers of models want its properties,
/// even if there are none.
fn input_schema(raw: &str) -> Option<Json> {
    const SAY_NOTHING: [&str; 5] =
        ["$schema", "additionalProperties", "description", "title", "type"];
    let mut fields = Fields::parse(raw)?;
    if !fields.are_among(&SAY_NOTHING) {
        return schema(raw);
    }
    fields.set("properties", "{}");
    fields.into_extra()
}

fn schema(raw: &str) -> Option<Json> {
    Some(Json::from_text(raw)).filter(Json::is_object)
}

fn annotations(text: &Json, rest: &mut Fields<'_>) -> Annotations {
    let Some(mut fields) = Fields::parse(text.as_str()) else { return Annotations::default() };
    let hints = Annotations {
        read_only: fields.take_bool("readOnlyHint"),
        destructive: fields.take_bool("destructiveHint"),
        idempotent: fields.take_bool("idempotentHint"),
        open_world: fields.take_bool("openWorldHint"),
    };
    rest.put_rest("annotations", &fields);
    hints
}

/// The result of `tools/call`: complete, waiting for input, or a task.
pub(crate) fn output(json: &Json) -> Result<ToolOutput, Flaw> {
    let mut fields = Fields::parse(json.as_str()).ok_or("the result is no object")?;
    let kind = fields.take_str("resultType");
    match kind.as_deref().unwrap_or("complete") {
        "complete" => complete(fields),
        "input_required" => Ok(waiting(json, fields, "input_required")),
        "task" => Ok(waiting(json, fields, "task")),
        _ => Err("the result is of an unknown type"),
    }
}

fn complete(mut fields: Fields<'_>) -> Result<ToolOutput, Flaw> {
    let mut output = ToolOutput::default();
    if let Some(raw) = fields.take_json("content") {
        let blocks = items(raw.as_str()).ok_or("`content` is no list")?;
        output.content = blocks.into_iter().map(content).collect();
    }
    output.structured = fields.take_json("structuredContent");
    output.meta = fields.take_json("_meta");
    if fields.take_bool("isError") == Some(true) {
        output = output.with_outcome(Failure::new(ErrorKind::Tool, Effect::Completed));
    }
    output.extra = fields.into_extra();
    Ok(output)
}

/// The state of a server that asks, as it is to be sent back: in the extensions of an output, where no layer changes it.
#[cfg(feature = "server")]
#[derive(Debug)]
pub(crate) struct State(pub(crate) Str);

/// The whole result is what is asked, so that an answer can send back what belongs to it.
fn waiting(json: &Json, mut fields: Fields<'_>, kind: &'static str) -> ToolOutput {
    let (id, reason, text) = if kind == "task" {
        let id = fields.take_str("taskId").unwrap_or_default();
        (
            id,
            "the server goes on with it as a task",
            "The tool goes on in the background; its result is not known yet.",
        )
    } else {
        let id = fields.take_str("requestState").unwrap_or_default();
        (id, "the server asks for input", "The tool waits for input; it has not finished.")
    };
    let mut output = ToolOutput::text(text);
    output.meta = fields.take_json("_meta");
    #[cfg(feature = "server")]
    if kind == "input_required" && !id.is_empty() {
        output.extensions.insert(State(id.clone()));
    }
    output.with_outcome(Suspension::new("mcp", id, reason).request(json.clone()))
}

/// What a server wants back with the answers to its questions.
#[cfg(feature = "client")]
pub(crate) fn request_state(result: &Json) -> Option<Json> {
    Fields::parse(result.as_str())?.take_json("requestState")
}

/// What a server wants to know: the name of each answer, the method and the parameters.
#[cfg(feature = "client")]
pub(crate) fn input_requests(result: &Json) -> Option<Vec<(Str, Str, Json)>> {
    let mut fields = Fields::parse(result.as_str())?;
    if fields.take_str("resultType")? != "input_required" {
        return None;
    }
    let Some(asked) = fields.take_json("inputRequests") else { return Some(Vec::new()) };
    let asked = Fields::parse(asked.as_str())?;
    let request = |(name, raw): (&str, &str)| {
        let mut request = Fields::parse(raw)?;
        let method = request.take_str("method")?;
        let params = request.take_json("params").unwrap_or_else(Json::object);
        Some((name.into(), method, params))
    };
    asked.iter().map(request).collect()
}

/// A block. One that lacks what its type needs stays as it is.
pub(crate) fn content(raw: &str) -> Content {
    named(raw).unwrap_or_else(|| Content::Opaque { json: Json::from_text(raw) })
}

fn named(raw: &str) -> Option<Content> {
    let mut fields = Fields::parse(raw)?;
    let kind = fields.take_str("type")?;
    Some(match &*kind {
        "text" => {
            Content::Text(TextPart { text: fields.take_str("text")?, extra: fields.into_extra() })
        }
        "image" => Content::Image(media(fields)?),
        "audio" => Content::Audio(media(fields)?),
        "resource_link" => {
            let mut link = resource(&mut fields)?;
            link.name = fields.take_str("name");
            link.description = fields.take_str("description");
            Content::ResourceLink(Resource { extra: fields.into_extra(), ..link })
        }
        "resource" => embedded(fields)?,
        _ => return None,
    })
}

fn media(mut fields: Fields<'_>) -> Option<Media> {
    let source = MediaSource::Base64(fields.take_str("data")?);
    let mime_type = Some(fields.take_str("mimeType")?);
    Some(Media { source, mime_type, extra: fields.into_extra() })
}

/// What is left of the inner object goes to `extra` under its name.
fn embedded(mut fields: Fields<'_>) -> Option<Content> {
    let text = fields.take_json("resource")?;
    let mut inner = Fields::parse(text.as_str())?;
    let mut found = resource(&mut inner)?;
    found.text = inner.take_str("text");
    found.blob = inner.take_str("blob");
    fields.put_rest("resource", &inner);
    Some(Content::Resource(Resource { extra: fields.into_extra(), ..found }))
}

fn resource(fields: &mut Fields<'_>) -> Option<Resource> {
    Some(Resource {
        uri: fields.take_str("uri")?,
        mime_type: fields.take_str("mimeType"),
        name: None,
        description: None,
        text: None,
        blob: None,
        extra: None,
    })
}
