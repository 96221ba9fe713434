//! The content of a message: a text, or a list of parts.

use tower_agent_core::{Content, Json, Message, Part, Resource, Role, TextPart, ToolResultPart};

use super::media;
use crate::{
    LossRule,
    codec::{
        Flaw, Losses, is_foreign_alone,
        raw::{Fields, NULL, Object, items, string, write_array},
    },
};

/// Kinds of parts that a message of this dialect may hold.
const KINDS: [&str; 5] = ["text", "image_url", "input_audio", "file", "refusal"];

/// Parts of other dialects that would look like parts of this one.
const FOREIGN: [&str; 14] = [
    "server_tool_use",
    "mcp_tool_use",
    "container_upload",
    "search_result",
    "document",
    "redacted_thinking",
    "item_reference",
    "reasoning",
    "compaction",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "input_file",
    "input_video",
];
const FOREIGN_ENDS: [&str; 3] = ["_tool_result", "_call", "_call_output"];

/// Takes the content as parts. An empty text, an empty list and `null` stay in the fields.
///
/// A text part of a list keeps its `type` in `extra`, which is what tells it from a content that is just a text.
pub(super) fn read(fields: &mut Fields<'_>) -> Result<Vec<Part>, Flaw> {
    if let Some(text) = fields.take_text("content") {
        return Ok(vec![Part::text(text)]);
    }
    let Some(list) = take_list(fields)? else { return Ok(Vec::new()) };
    let read =
        |(index, raw): (usize, &String)| read_part(raw).map_err(|flaw| flaw.at("content", index));
    list.iter().enumerate().map(read).collect()
}

/// Takes the content of a tool's result as blocks.
pub(super) fn read_result(fields: &mut Fields<'_>) -> Result<Vec<Content>, Flaw> {
    if let Some(text) = fields.take_str("content") {
        let is_empty = text.is_empty();
        return Ok(if is_empty { Vec::new() } else { vec![Content::text(text)] });
    }
    let Some(list) = take_list(fields)? else { return Ok(Vec::new()) };
    let read = |(index, raw): (usize, &String)| {
        let part = read_part(raw).map_err(|flaw| flaw.at("content", index))?;
        Ok(match part {
            Part::Text(part) => Content::Text(part),
            _ => Content::Opaque { json: Json::from_text(raw.as_str()) },
        })
    };
    list.iter().enumerate().map(read).collect()
}

fn take_list(fields: &mut Fields<'_>) -> Result<Option<Vec<String>>, Flaw> {
    match fields.get("content") {
        None | Some(NULL | "\"\"") => return Ok(None),
        Some(_) => {}
    }
    let Some(list) = fields.get("content").and_then(items) else {
        return Err(Flaw::new("content", "must be a string or an array of parts"));
    };
    let list: Vec<String> = list.into_iter().map(Into::into).collect();
    if list.is_empty() {
        return Ok(None);
    }
    fields.take("content");
    Ok(Some(list))
}

fn read_part(raw: &str) -> Result<Part, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let kind =
        fields.get("type").and_then(string).ok_or_else(|| Flaw::new("type", "must be a string"))?;
    let part = match kind.as_str() {
        "text" => fields
            .take_str("text")
            .map(|text| Part::Text(TextPart { text, extra: fields.to_extra() })),
        "image_url" => media::read_image(&mut fields).map(Part::Image),
        "input_audio" => media::read_audio(&mut fields).map(Part::Audio),
        "file" => media::read_file(&mut fields).map(Part::File),
        _ => None,
    };
    Ok(part.unwrap_or_else(|| Part::Opaque { json: Json::from_text(raw) }))
}

fn is_content(part: &Part) -> bool {
    !matches!(part, Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolResult(_))
}

/// Whether a part is one that only another dialect knows.
fn is_foreign(part: &Part) -> bool {
    let Part::Opaque { json } = part else { return false };
    kind_of(json).is_some_and(|kind| {
        FOREIGN.contains(&&*kind) || FOREIGN_ENDS.iter().any(|end| kind.ends_with(end))
    })
}

/// Notes what a part has that only other dialects know, where it is not written itself.
fn note_foreign(part: &Part, losses: &mut Losses<'_>) {
    match part {
        Part::Text(part) => drop(losses.fields(part.extra.as_ref())),
        part if is_foreign(part) => losses.note(LossRule::Foreign),
        _ => {}
    }
}

/// The texts of parts that are all plain; `None` when one of them needs a list.
fn plain_texts<'a>(parts: impl Iterator<Item = &'a Part>) -> Option<Vec<&'a str>> {
    parts
        .map(|part| match part {
            Part::Text(TextPart { text, extra }) if is_foreign_alone(extra.as_ref()) => {
                Some(text.as_str())
            }
            _ => None,
        })
        .collect()
}

/// Writes the content of a message, if it has any.
pub(super) fn write(object: &mut Object<'_, '_>, message: &Message, losses: &mut Losses<'_>) {
    // What a user sent leaves a note; an answer does without what only its own provider knows.
    let keeps =
        |part: &Part| is_content(part) && (*message.role() == Role::User || !is_foreign(part));
    let parts = || message.parts().iter().filter(|part| keeps(part));
    message.parts().iter().filter(|part| !keeps(part)).for_each(|part| note_foreign(part, losses));
    match plain_texts(parts()) {
        Some(texts) if texts.is_empty() => {}
        // Many servers take an assistant's and an operator's content only as one text.
        Some(texts) if texts.len() == 1 || *message.role() != Role::User => {
            object.str("content", &texts.concat());
            parts().for_each(|part| note_foreign(part, losses));
        }
        _ => {
            write_array(object.field("content"), parts(), |out, part| write_part(out, part, losses))
        }
    }
}

/// Writes the content of a reply, which is always there.
pub(super) fn write_reply(object: &mut Object<'_, '_>, message: &Message, losses: &mut Losses<'_>) {
    let said_elsewhere = |part: &Part| matches!(part, Part::Reasoning(_) | Part::ToolCall(_));
    let (fitting, others): (Vec<&Part>, Vec<&Part>) = message
        .parts()
        .iter()
        .filter(|part| !said_elsewhere(part))
        .partition(|part| fits_reply(part));
    for part in others {
        let rule = if is_foreign(part) { LossRule::Foreign } else { LossRule::PartInReply };
        losses.note(rule);
    }
    match plain_texts(fitting.iter().copied()) {
        Some(texts) if texts.is_empty() => object.default_raw("content", NULL),
        Some(texts) => {
            object.str("content", &texts.concat());
            fitting.iter().for_each(|part| note_foreign(part, losses));
        }
        None => write_array(object.field("content"), fitting, |out, part| {
            write_part(out, part, losses);
        }),
    }
}

fn fits_reply(part: &Part) -> bool {
    match part {
        Part::Text(_) => true,
        Part::Opaque { json } => kind_of(json).is_some() && !is_foreign(part),
        _ => false,
    }
}

fn write_part(out: &mut Vec<u8>, part: &Part, losses: &mut Losses<'_>) {
    match part {
        Part::Text(part) => write_text(out, part, losses),
        Part::Image(media) => media::write_image(out, media, losses),
        Part::Audio(media) => media::write_audio(out, media, losses),
        Part::File(media) => media::write_file(out, media, losses),
        Part::Opaque { json } if is_foreign(part) => {
            losses.note(LossRule::Foreign);
            let kind = kind_of(json).unwrap_or_default();
            write_note(out, &format!("[{kind} omitted: it is not in a form that can be sent]"));
        }
        Part::Opaque { json } if json.check().is_ok() => {
            out.extend_from_slice(json.as_str().as_bytes())
        }
        _ => {
            losses.note(LossRule::NotJson);
            write_note(out, "[part omitted]");
        }
    }
}

fn write_text(out: &mut Vec<u8>, part: &TextPart, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, losses.fields(part.extra.as_ref()));
    object.str("type", "text");
    object.str("text", &part.text);
    object.end();
}

/// A text part that says what stood in its place, so that the reader does not take the rest for the whole.
pub(super) fn write_note(out: &mut Vec<u8>, text: &str) {
    let mut object = Object::new(out, Fields::default());
    object.str("type", "text");
    object.str("text", text);
    object.end();
}

/// Writes what a tool gave, as one text where that says the same.
pub(super) fn write_result(
    object: &mut Object<'_, '_>,
    result: &ToolResultPart,
    losses: &mut Losses<'_>,
) {
    let blocks: Vec<Block<'_>> =
        result.content.iter().map(|block| Block::of(block, losses)).collect();
    if blocks.iter().any(Block::needs_list) {
        return write_array(object.field("content"), &blocks, |out, block| {
            block.write(out, losses)
        });
    }
    if blocks.is_empty() {
        match &result.structured {
            Some(json) => object.str("content", json.as_str()),
            None => object.default_raw("content", "\"\""),
        }
        return;
    }
    let texts: Vec<&str> = blocks.iter().map(Block::text).collect();
    object.str("content", &texts.join("\n"));
}

/// A block of a tool's output as this dialect can say it.
enum Block<'a> {
    Text(&'a TextPart),
    Plain(String),
    Verbatim(&'a Json),
}

impl<'a> Block<'a> {
    fn of(block: &'a Content, losses: &mut Losses<'_>) -> Self {
        match block {
            Content::Text(part) => Self::Text(part),
            Content::Opaque { json }
                if kind_of(json).is_some_and(|kind| KINDS.contains(&&*kind)) =>
            {
                Self::Verbatim(json)
            }
            Content::Resource(Resource { text: Some(text), .. }) => {
                Self::Plain(text.as_str().into())
            }
            Content::ResourceLink(resource) => Self::Plain(link_text(resource)),
            other => {
                losses.note(LossRule::MediaInToolResult);
                Self::Plain(omitted(other))
            }
        }
    }

    fn needs_list(&self) -> bool {
        match self {
            Self::Text(part) => !is_foreign_alone(part.extra.as_ref()),
            Self::Plain(_) => false,
            Self::Verbatim(_) => true,
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Text(part) => &part.text,
            Self::Plain(text) => text,
            Self::Verbatim(json) => json.as_str(),
        }
    }

    fn write(&self, out: &mut Vec<u8>, losses: &mut Losses<'_>) {
        match self {
            Self::Text(part) => write_text(out, part, losses),
            Self::Plain(text) => write_note(out, text),
            Self::Verbatim(json) => out.extend_from_slice(json.as_str().as_bytes()),
        }
    }
}

/// The `type` of a part that is an object.
fn kind_of(json: &Json) -> Option<String> {
    Fields::parse(json.as_str())?.get("type").and_then(string).map(Into::into)
}

fn link_text(resource: &Resource) -> String {
    match &resource.name {
        Some(name) => format!("{name}: {}", resource.uri),
        None => resource.uri.as_str().into(),
    }
}

fn omitted(block: &Content) -> String {
    let (kind, mime) = match block {
        Content::Image(media) => ("image", &media.mime_type),
        Content::Audio(media) => ("audio", &media.mime_type),
        Content::Resource(resource) => ("resource", &resource.mime_type),
        _ => ("block", &None),
    };
    let mime = mime.as_ref().map(|mime| format!(" ({mime})")).unwrap_or_default();
    format!("[{kind}{mime} omitted: tool results carry only text here]")
}
