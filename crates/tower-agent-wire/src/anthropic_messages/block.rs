//! Content blocks: the parts of a message.

use std::borrow::Cow;

use tower_agent_core::{CallId, Json, Part, TextPart, ToolCallPart};

use super::{
    extra::{SPACE, keep, open},
    media, tool_result,
};
use crate::{
    LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, Object, items, string, write_str},
    },
};

/// Parts of other dialects that would look like blocks of this one.
const FOREIGN: [&str; 9] = [
    "image_url",
    "input_audio",
    "video_url",
    "file",
    "refusal",
    "input_text",
    "input_image",
    "input_file",
    "output_text",
];

/// Fields of a block that a user may set beside the dialect's own key.
const KNOWN: [&str; 3] = ["cache_control", "caller", "citations"];

/// The blocks of a content that is a list.
pub(super) fn read_all(field: &str, list: &[&str]) -> Result<Vec<Part>, Flaw> {
    let read = |(index, raw): (usize, &&str)| read(raw).map_err(|flaw| flaw.at(field, index));
    let mut parts = list.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    if let [part] = parts.as_mut_slice() {
        mark_list(part);
    }
    Ok(parts)
}

/// A list of one plain text says the same as the text alone; its type in `extra` tells them apart.
fn mark_list(part: &mut Part) {
    if let Part::Text(TextPart { extra: extra @ None, .. }) = part {
        *extra = Some(list_mark());
    }
}

pub(super) fn list_mark() -> Json {
    Json::from_text(format!(r#"{{"{SPACE}":{{"type":"text"}}}}"#))
}

pub(super) fn read(raw: &str) -> Result<Part, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let kind =
        fields.get("type").and_then(string).ok_or_else(|| Flaw::new("type", "must be a string"))?;
    let part = match kind.as_str() {
        "text" => read_text(&mut fields).map(Part::Text),
        "thinking" => read_thinking(&mut fields).map(Part::Reasoning),
        // The model's words, too, if in a form that only it can read.
        "redacted_thinking" => {
            Some(Part::Reasoning(TextPart { text: "".into(), extra: keep(&fields) }))
        }
        "image" => media::read(&mut fields).map(Part::Image),
        "document" => media::read(&mut fields).map(Part::File),
        "tool_use" => Some(Part::ToolCall(read_call(fields)?)),
        "tool_result" => Some(Part::ToolResult(tool_result::read(fields)?)),
        _ => None,
    };
    Ok(part.unwrap_or_else(|| Part::Opaque { json: Json::from_text(raw) }))
}

fn read_text(fields: &mut Fields<'_>) -> Option<TextPart> {
    let text = fields.take_str("text")?;
    // An empty text is left out unless it is marked.
    if !text.is_empty() {
        fields.take("type");
    }
    Some(TextPart { text, extra: keep(fields) })
}

fn read_thinking(fields: &mut Fields<'_>) -> Option<TextPart> {
    let text = fields.take_str("thinking")?;
    fields.take("type");
    Some(TextPart { text, extra: keep(fields) })
}

fn read_call(mut fields: Fields<'_>) -> Result<ToolCallPart, Flaw> {
    let mut text =
        |key: &'static str| fields.take_str(key).ok_or_else(|| Flaw::new(key, "must be a string"));
    let (id, name) = (text("id")?, text("name")?);
    let input = fields.take("input").ok_or_else(|| Flaw::new("input", "must be an object"))?;
    fields.take("type");
    let mut call = ToolCallPart::new(id, name, Json::from_text(&*input));
    call.extra = keep(&fields);
    Ok(call)
}

/// Writes a part as a block, unless the dialect has no place for it.
pub(super) fn write(out: &mut Vec<u8>, part: &Part, losses: &mut Losses<'_>) {
    match part {
        Part::Text(part) => write_text(out, part, losses),
        Part::Reasoning(part) => write_thinking(out, part, losses),
        Part::Image(media) => media::write_image(out, media, losses),
        Part::File(media) => media::write_document(out, media, losses),
        Part::ToolCall(call) => write_call(out, call, losses),
        Part::ToolResult(result) => tool_result::write(out, result, losses),
        Part::Opaque { json } => match kind_of(json).filter(|kind| is_foreign(kind)) {
            Some(kind) => {
                losses.note(LossRule::Foreign);
                write_note(out, &format!("[{kind} omitted: it is not in a form that can be sent]"));
            }
            None => out.extend_from_slice(json.as_str().as_bytes()),
        },
        _ => {
            losses.note(LossRule::Media);
            write_note(out, "[sound omitted: it cannot be sent here]");
        }
    }
}

/// Whether a part of a user's message has a block, which may be a note that names what stood there.
pub(super) fn fits_user(part: &Part, losses: &mut Losses<'_>) -> bool {
    let is_known_elsewhere = matches!(part, Part::Opaque { json } if kind_of(json).is_some_and(|kind| is_foreign(&kind)));
    is_known_elsewhere || fits(part, losses)
}

/// Whether a part has a block; what has none is noted.
pub(super) fn fits(part: &Part, losses: &mut Losses<'_>) -> bool {
    match part {
        // The provider refuses empty texts, and reasoning that it did not sign.
        Part::Text(part) => !part.text.is_empty() || is_own(part),
        Part::Reasoning(part) => is_signed(part) || lose(losses, LossRule::UnsignedReasoning),
        Part::Opaque { json } => match kind_of(json) {
            Some(kind) => !is_foreign(&kind) || lose(losses, LossRule::Foreign),
            None => lose(losses, LossRule::NotJson),
        },
        _ => true,
    }
}

/// Whether a text has fields that another dialect did not give it.
fn is_own(part: &TextPart) -> bool {
    let fields = Fields::of(part.extra.as_ref());
    fields.is_some_and(|fields| fields.iter().any(|(key, _)| key != "openai_responses"))
}

fn lose(losses: &mut Losses<'_>, rule: LossRule) -> bool {
    losses.note(rule);
    false
}

fn is_signed(part: &TextPart) -> bool {
    let mut unheard = Vec::new();
    let fields =
        open(part.extra.as_ref(), &[], &mut Losses { place: String::new(), all: &mut unheard });
    ["signature", "data"].iter().any(|key| fields.get(key).is_some_and(|raw| raw != "\"\""))
}

/// Whether a kind of part belongs to another dialect.
pub(super) fn is_foreign(kind: &str) -> bool {
    FOREIGN.contains(&kind) || kind.ends_with("_call") || kind.ends_with("_call_output")
}

/// The type of a block.
pub(super) fn kind_of(json: &Json) -> Option<String> {
    Fields::parse(json.as_str())?.get("type").and_then(string).map(Into::into)
}

fn write_text(out: &mut Vec<u8>, part: &TextPart, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, open(part.extra.as_ref(), &KNOWN, losses));
    object.str("type", "text");
    object.str("text", &part.text);
    object.end();
}

pub(super) fn write_thinking(out: &mut Vec<u8>, part: &TextPart, losses: &mut Losses<'_>) {
    let fields = open(part.extra.as_ref(), &[], losses);
    let is_redacted = fields.get("type") == Some("\"redacted_thinking\"");
    let mut object = Object::new(out, fields);
    if !is_redacted {
        object.str("type", "thinking");
        object.str("thinking", &part.text);
        object.default_raw("signature", "\"\"");
    }
    object.end();
}

fn write_call(out: &mut Vec<u8>, call: &ToolCallPart, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, open(call.extra.as_ref(), &KNOWN, losses));
    object.str("type", "tool_use");
    object.str("id", &call_id(&call.id, losses));
    object.str("name", &call.name);
    write_input(object.field("input"), &call.arguments, losses);
    object.end();
}

/// The id of a call, in the characters that the provider takes. A call and its result get the same one.
pub(super) fn call_id<'a>(id: &'a CallId, losses: &mut Losses<'_>) -> Cow<'a, str> {
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let text = id.as_str();
    if !text.is_empty() && text.chars().all(fits) {
        return Cow::Borrowed(text);
    }
    losses.note(LossRule::CallId);
    match text {
        "" => Cow::Borrowed("_"),
        text => text.chars().map(|char| if fits(char) { char } else { '_' }).collect(),
    }
}

/// The input of a call is an object; a text that is none goes into one.
pub(super) fn write_input(out: &mut Vec<u8>, arguments: &Json, losses: &mut Losses<'_>) {
    if arguments.as_str().trim().is_empty() {
        out.extend_from_slice(b"{}");
    } else if Fields::parse(arguments.as_str()).is_some() {
        out.extend_from_slice(arguments.as_str().as_bytes());
    } else {
        losses.note(LossRule::Arguments);
        let mut object = Object::new(out, Fields::default());
        write_str(object.field("invalid_json"), arguments.as_str());
        object.end();
    }
}

/// A text that says what stood in its place, so that the reader does not take the rest for the whole.
pub(super) fn write_note(out: &mut Vec<u8>, text: &str) {
    let mut object = Object::new(out, Fields::default());
    object.str("type", "text");
    object.str("text", text);
    object.end();
}

/// Takes a content that is a list and not empty; an empty one stays in the fields.
pub(super) fn take_list(fields: &mut Fields<'_>) -> Result<Option<Vec<String>>, Flaw> {
    let Some(raw) = fields.get("content") else { return Ok(None) };
    let list =
        items(raw).ok_or_else(|| Flaw::new("content", "must be a string or an array of blocks"))?;
    let list: Vec<String> = list.into_iter().map(Into::into).collect();
    if list.is_empty() {
        return Ok(None);
    }
    fields.take("content");
    Ok(Some(list))
}
