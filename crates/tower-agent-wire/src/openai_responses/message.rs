//! Messages: what users and operators say, and what the model says.

use tower_agent_core::{Json, Message, Part, Role, Str, TextPart};

use super::{
    content, extra,
    item::{self, Piece, Reader},
};
use crate::codec::{
    Flaw,
    raw::{Fields, NULL, Object, items, string, write_array},
};

const MODEL_TEXT: &str = "output_text";

/// Reads what a user or an operator says.
pub(super) fn read(mut fields: Fields<'_>) -> Result<Message, Flaw> {
    let role = fields.take_str("role").ok_or_else(|| Flaw::new("role", "must be a string"))?;
    let role = match role.as_str() {
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" => Role::User,
        _ => Role::Other(role),
    };
    let parts = content::read(&mut fields)?;
    Ok(Message::new(role, parts).with_extra(extra::keep(&fields)))
}

/// Reads what the model says. Each entry of the content is a part, so that texts can be streamed one by one.
///
/// An item with an id is spelled in full: its type and a list of texts with annotations. One without is a role and a
/// text. Where an item differs, its fields say so.
pub(super) fn read_model(mut fields: Fields<'_>) -> Result<Vec<Part>, Flaw> {
    fields.take("role");
    let content = fields.take("content").unwrap_or_default();
    let is_full = fields.iter().any(|(key, _)| key != "type");
    match fields.get("type") {
        Some(_) if is_full => drop(fields.take("type")),
        None if is_full => fields.set("type", NULL),
        _ => {}
    }
    let is_full = !fields.is_empty();
    let mut parts = match string(&content) {
        Some(text) => {
            if is_full {
                fields.set("content", NULL);
            }
            vec![TextPart { text, extra: None }]
        }
        None => read_list(&content, is_full)?,
    };
    if !fields.is_empty() {
        item::mark_all(&mut parts, fields);
    }
    Ok(parts.into_iter().map(Part::Text).collect())
}

fn read_list(raw: &str, is_full: bool) -> Result<Vec<TextPart>, Flaw> {
    let list = items(raw)
        .ok_or_else(|| Flaw::new("content", "must be a string or an array of objects"))?;
    if list.is_empty() {
        return Ok(vec![item::empty_part()]);
    }
    let read = |(index, raw)| {
        read_text(raw, is_full)
            .ok_or_else(|| Flaw::new("", "must be an object with a type").at("content", index))
    };
    list.into_iter().enumerate().map(read).collect()
}

/// A part of another kind than text has an empty text, marked by `null`.
pub(super) fn read_text(raw: &str, is_full: bool) -> Option<TextPart> {
    let mut fields = Fields::parse(raw)?;
    let kind = fields.get("type").and_then(string)?;
    let text = match fields.take_str(text_key(&kind)) {
        Some(text) => text,
        None => {
            fields.set("text", NULL);
            Str::default()
        }
    };
    if kind == MODEL_TEXT {
        match fields.get("annotations") {
            Some("[]") => drop(fields.take("annotations")),
            Some(_) => {}
            None => fields.set("annotations", NULL),
        }
        if is_full && !fields.is_null("text") {
            fields.take("type");
        }
    }
    Some(TextPart { text, extra: extra::keep(&fields) })
}

/// The field in which a kind of part keeps its text.
pub(super) fn text_key(kind: &str) -> &'static str {
    if kind == "refusal" { "refusal" } else { "text" }
}

/// Writes what the model says. A client gets it in full, however it came.
pub(super) fn write_model(
    out: &mut Vec<u8>,
    mut pieces: Vec<Piece<'_>>,
    at: usize,
    reader: Reader<'_>,
) {
    let rest = item::take_rest(&mut pieces).unwrap_or_default();
    let is_full = reader.is_client() || !rest.is_empty();
    let is_plain = pieces.iter().all(|piece| piece.extra.is_empty());
    let is_text = !reader.is_client() && (rest.is_null("content") || (!is_full && is_plain));
    let mut object = Object::new(out, rest);
    match object.take("type") {
        Some(raw) if !reader.is_client() && raw == NULL => {}
        _ if is_full => object.str("type", "message"),
        _ => {}
    }
    if let Some(id) = reader.id("msg", at).filter(|_| object.extra().get("id").is_none()) {
        object.str("id", &id);
    }
    object.str("role", "assistant");
    if reader.is_client() {
        object.default_raw("status", "\"completed\"");
    }
    if is_text {
        let text: String = pieces.iter().map(|piece| piece.text).collect();
        object.str("content", &text);
    } else {
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty_item());
        write_array(object.field("content"), pieces, write_text);
    }
    object.end();
}

/// Writes a part of what the model says.
pub(super) fn write_text(out: &mut Vec<u8>, piece: Piece<'_>) {
    let kind = piece.kind().filter(|kind| kind != "text").unwrap_or_else(|| MODEL_TEXT.into());
    let has_text = !(piece.text.is_empty() && piece.extra.is_null("text"));
    let mut object = Object::new(out, piece.extra);
    object.str("type", &kind);
    if has_text {
        object.take("text");
        object.str(text_key(&kind), piece.text);
    } else {
        object.take("text");
    }
    if kind == MODEL_TEXT {
        match object.extra().is_null("annotations") {
            true => drop(object.take("annotations")),
            false => object.default_raw("annotations", "[]"),
        }
    }
    object.end();
}

/// Whether a text is a refusal.
pub(super) fn is_refusal(extra: Option<&Json>) -> bool {
    extra::peek(extra).get("type") == Some("\"refusal\"")
}

/// A refusal, which other dialects keep apart from the text.
pub(super) fn refusal(text: Str) -> TextPart {
    TextPart { text, extra: Some(Json::from_text(r#"{"openai_responses":{"type":"refusal"}}"#)) }
}
