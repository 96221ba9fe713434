//! Parts of a content.

use tower_agent_core::{Json, Part, TextPart};

use super::{
    call,
    extra::{keep, open, peek},
    ids::{Calls, Ids},
    media, response,
    spelling::in_camel_case,
};
use crate::{
    LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, items, string},
    },
};

const NAMES: [&str; 9] = [
    "thoughtSignature",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
    "mediaProcessing",
];

/// Fields of a part that a user may set beside the dialect's own key.
pub(super) const KNOWN: [&str; 3] = ["thoughtSignature", "videoMetadata", "mediaResolution"];

/// The items of a list; a single object stands for a list of one.
pub(super) fn list_of(raw: &str) -> Option<Vec<&str>> {
    if raw.starts_with('{') { Some(vec![raw]) } else { items(raw) }
}

pub(super) fn read_all(list: &[&str], ids: &mut Ids) -> Result<Vec<Part>, Flaw> {
    let read =
        |(index, raw): (usize, &&str)| read(raw, ids).map_err(|flaw| flaw.at("parts", index));
    list.iter().enumerate().map(read).collect()
}

pub(super) fn read(raw: &str, ids: &mut Ids) -> Result<Part, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    in_camel_case(&mut fields, &NAMES);
    let has = |key: &str| fields.get(key).is_some_and(|raw| raw != NULL);
    let part = if has("functionCall") {
        call::read(fields, ids)?.map(Part::ToolCall)
    } else if has("functionResponse") {
        Some(Part::ToolResult(response::read(fields, ids)?))
    } else if has("text") {
        Some(read_text(fields)?)
    } else {
        media::read(&mut fields)
    };
    Ok(part.unwrap_or_else(|| Part::Opaque { json: Json::from_text(raw) }))
}

/// An empty text stays in the fields, and so does the mark of a thought: it tells our own from another model's.
fn read_text(mut fields: Fields<'_>) -> Result<Part, Flaw> {
    let text = fields.get("text").and_then(string);
    let text = text.ok_or_else(|| Flaw::new("text", "must be a string"))?;
    if !text.is_empty() {
        fields.take("text");
    }
    let is_thought = fields.get("thought") == Some("true");
    let part = TextPart { text, extra: keep(&fields) };
    Ok(if is_thought { Part::Reasoning(part) } else { Part::Text(part) })
}

/// Whether a part of a request has a place; what has none is noted.
pub(super) fn fits(part: &Part, losses: &mut Losses<'_>) -> bool {
    match part {
        // The provider refuses empty texts, and knows only what it thought itself.
        Part::Text(part) => !part.text.is_empty() || !peek(part.extra.as_ref()).is_empty(),
        Part::Reasoning(part) => {
            !peek(part.extra.as_ref()).is_empty() || lose(losses, LossRule::UnsignedReasoning)
        }
        Part::Opaque { json } => match Fields::parse(json.as_str()) {
            // Parts of this dialect are told by their one field, those of others by their type.
            Some(fields) => fields.get("type").is_none() || lose(losses, LossRule::Foreign),
            None => lose(losses, LossRule::NotJson),
        },
        _ => true,
    }
}

/// Whether a part has a place in a reply; what has none is noted.
pub(super) fn fits_reply(part: &Part, losses: &mut Losses<'_>) -> bool {
    match part {
        // A client may read what another model thought.
        Part::Reasoning(_) => true,
        Part::ToolResult(_) => lose(losses, LossRule::PartInReply),
        part => fits(part, losses),
    }
}

fn lose(losses: &mut Losses<'_>, rule: LossRule) -> bool {
    losses.note(rule);
    false
}

pub(super) fn write(out: &mut Vec<u8>, part: &Part, calls: &Calls<'_>, losses: &mut Losses<'_>) {
    match part {
        Part::Text(part) => write_text(out, part, false, losses),
        Part::Reasoning(part) => write_text(out, part, true, losses),
        Part::Image(media) => media::write(out, media, "image", losses),
        Part::Audio(media) => media::write(out, media, "audio", losses),
        Part::File(media) => media::write(out, media, "file", losses),
        Part::ToolCall(part) => call::write(out, part, losses),
        Part::ToolResult(part) => response::write(out, part, calls, losses),
        Part::Opaque { json } => out.extend_from_slice(json.as_str().as_bytes()),
        _ => {
            losses.note(LossRule::Media);
            write_note(out, "[part omitted: it cannot be sent here]");
        }
    }
}

pub(super) fn write_text(
    out: &mut Vec<u8>,
    part: &TextPart,
    is_thought: bool,
    losses: &mut Losses<'_>,
) {
    let mut object = Object::new(out, open(part.extra.as_ref(), &KNOWN, losses));
    object.str("text", &part.text);
    if is_thought {
        object.raw("thought", "true");
    }
    object.end();
}

/// A text that says what stood in its place, so that the reader does not take the rest for the whole.
pub(super) fn write_note(out: &mut Vec<u8>, text: &str) {
    let mut object = Object::new(out, Fields::default());
    object.str("text", text);
    object.end();
}
