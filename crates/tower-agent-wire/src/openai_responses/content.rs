//! The content of what users and operators say, and of what tools give: a text, or a list of parts.

use tower_agent_core::{Content, Json, Message, Part, Resource, TextPart, ToolResultPart};

use super::{
    extra,
    item::{is_foreign, kind_of},
    media,
};
use crate::{
    LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, items, string, write_array},
    },
};

const USER_TEXT: &str = "input_text";

/// Takes the content as parts. An empty text, an empty list and `null` stay in the fields.
///
/// A text part of a list keeps its `type` in `extra`, which is what tells it from a content that is just a text.
pub(super) fn read(fields: &mut Fields<'_>) -> Result<Vec<Part>, Flaw> {
    if let Some(text) = fields.take_text("content") {
        return Ok(vec![Part::text(text)]);
    }
    read_list(fields, "content", read_part)
}

/// Takes what a tool gave as blocks.
pub(super) fn read_output(fields: &mut Fields<'_>) -> Result<Vec<Content>, Flaw> {
    if let Some(text) = fields.take_str("output") {
        return Ok(if text.is_empty() { Vec::new() } else { vec![Content::text(text)] });
    }
    read_list(fields, "output", |raw| {
        Ok(match read_part(raw)? {
            Part::Text(part) => Content::Text(part),
            Part::Image(media) => Content::Image(media),
            Part::Audio(media) => Content::Audio(media),
            _ => Content::Opaque { json: Json::from_text(raw) },
        })
    })
}

fn read_list<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    read: impl Fn(&str) -> Result<T, Flaw>,
) -> Result<Vec<T>, Flaw> {
    let raw = match fields.get(key) {
        None | Some(NULL | "\"\"") => return Ok(Vec::new()),
        Some(raw) => raw,
    };
    let list = items(raw).ok_or_else(|| Flaw::new(key, "must be a string or an array of parts"))?;
    let read = |(index, raw)| read(raw).map_err(|flaw| flaw.at(key, index));
    let parts: Vec<T> = list.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
    if !parts.is_empty() {
        fields.take(key);
    }
    Ok(parts)
}

fn read_part(raw: &str) -> Result<Part, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let kind =
        fields.get("type").and_then(string).ok_or_else(|| Flaw::new("type", "must be a string"))?;
    let part = match kind.as_str() {
        "input_text" | "output_text" | "text" => fields
            .take_str("text")
            .map(|text| Part::Text(TextPart { text, extra: extra::keep(&fields) })),
        "input_image" => media::read_image(&mut fields).map(Part::Image),
        "input_audio" => media::read_audio(&mut fields).map(Part::Audio),
        "input_file" => media::read_file(&mut fields).map(Part::File),
        _ => None,
    };
    Ok(part.unwrap_or_else(|| Part::Opaque { json: Json::from_text(raw) }))
}

/// Writes the content of a message that is not the model's.
pub(super) fn write(object: &mut Object<'_, '_>, message: &Message, losses: &mut Losses<'_>) {
    let is_content = |part: &&Part| {
        !matches!(part, Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolResult(_))
    };
    let parts: Vec<&Part> = message.parts().iter().filter(is_content).collect();
    match &*parts {
        [] => object.default_raw("content", "\"\""),
        [Part::Text(TextPart { text, extra })] if is_plain(extra.as_ref(), losses) => {
            object.str("content", text);
        }
        _ => write_array(object.field("content"), parts, |out, part| write_part(out, part, losses)),
    }
}

/// Whether a text needs no fields of its own. Those of other dialects are lost.
fn is_plain(extra: Option<&Json>, losses: &mut Losses<'_>) -> bool {
    extra::peek(extra).is_empty() && extra::open(extra, &[], losses).is_empty()
}

fn write_part(out: &mut Vec<u8>, part: &Part, losses: &mut Losses<'_>) {
    match part {
        Part::Text(part) => write_text(out, part, losses),
        Part::Image(media) => media::write_image(out, media, losses),
        Part::Audio(media) => media::write_audio(out, media, losses),
        Part::File(media) => media::write_file(out, media, losses),
        Part::Opaque { json } if is_foreign(json) => {
            losses.note(LossRule::Foreign);
            let kind = kind_of(json).unwrap_or_default();
            write_note(out, &format!("[{kind} omitted: it is not in a form that can be sent]"));
        }
        Part::Opaque { json } if Fields::parse(json.as_str()).is_some() => {
            out.extend_from_slice(json.as_str().as_bytes());
        }
        _ => {
            losses.note(LossRule::NotJson);
            write_note(out, "[part omitted]");
        }
    }
}

fn write_text(out: &mut Vec<u8>, part: &TextPart, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, extra::open(part.extra.as_ref(), &[], losses));
    let kind = object.extra().get("type").and_then(string);
    let kind = kind.filter(|kind| kind == "output_text");
    object.str("type", kind.as_deref().unwrap_or(USER_TEXT));
    object.str("text", &part.text);
    object.end();
}

/// A text that says what stood in its place, so that the reader does not take the rest for the whole.
pub(super) fn write_note(out: &mut Vec<u8>, text: &str) {
    let mut object = Object::new(out, Fields::default());
    object.str("type", USER_TEXT);
    object.str("text", text);
    object.end();
}

/// Writes what a tool gave, as one text where that says the same.
pub(super) fn write_output(
    object: &mut Object<'_, '_>,
    result: &ToolResultPart,
    losses: &mut Losses<'_>,
) {
    if result.content.iter().any(needs_list) {
        return write_array(object.field("output"), &result.content, |out, block| {
            write_block(out, block, losses);
        });
    }
    let texts: Vec<String> = result.content.iter().map(|block| plain(block, losses)).collect();
    match (&*texts, &result.structured) {
        ([], Some(json)) => object.str("output", json.as_str()),
        ([], None) => object.default_raw("output", "\"\""),
        (texts, _) => object.str("output", &texts.join("\n")),
    }
}

fn needs_list(block: &Content) -> bool {
    match block {
        Content::Text(part) => !extra::peek(part.extra.as_ref()).is_empty(),
        Content::Image(_) => true,
        Content::Opaque { json } => is_input(json),
        _ => false,
    }
}

/// Whether a block is one of this dialect.
fn is_input(json: &Json) -> bool {
    kind_of(json).is_some_and(|kind| kind.starts_with("input_"))
}

fn write_block(out: &mut Vec<u8>, block: &Content, losses: &mut Losses<'_>) {
    match block {
        Content::Text(part) => write_text(out, part, losses),
        Content::Image(media) => media::write_image(out, media, losses),
        Content::Opaque { json } if is_input(json) => {
            out.extend_from_slice(json.as_str().as_bytes());
        }
        block => write_note(out, &plain(block, losses)),
    }
}

/// A block as text; what has none is a note.
fn plain(block: &Content, losses: &mut Losses<'_>) -> String {
    match block {
        Content::Text(part) => {
            is_plain(part.extra.as_ref(), losses);
            part.text.to_string()
        }
        Content::Resource(Resource { text: Some(text), .. }) => text.to_string(),
        Content::ResourceLink(resource) => match &resource.name {
            Some(name) => format!("{name}: {}", resource.uri),
            None => resource.uri.to_string(),
        },
        other => {
            losses.note(LossRule::MediaInToolResult);
            omitted(other)
        }
    }
}

fn omitted(block: &Content) -> String {
    let (kind, mime) = match block {
        Content::Audio(media) => ("audio", &media.mime_type),
        Content::Resource(resource) => ("resource", &resource.mime_type),
        _ => ("block", &None),
    };
    let mime = mime.as_ref().map(|mime| format!(" ({mime})")).unwrap_or_default();
    format!("[{kind}{mime} omitted: tool results carry only text and pictures here]")
}
