//! What the model thought: summaries, the thoughts themselves, and the same encrypted.

use tower_agent_core::{Json, Part, TextPart};

use super::{
    extra,
    item::{self, Piece, Reader},
};
use crate::{
    LossRule,
    codec::{
        Losses,
        raw::{Fields, NULL, Object, items, write_array},
    },
};

/// The two lists of an item, with the kind of their entries. The first is the usual one.
pub(super) const LISTS: [(&str, &str); 2] =
    [("summary", "summary_text"), ("content", "reasoning_text")];
const USUAL: &str = "summary_text";

/// Reads an item; `None` if it has another form than is known here.
pub(super) fn read(mut fields: Fields<'_>) -> Option<Vec<Part>> {
    fields.take("type");
    let mut parts = Vec::new();
    for (list, kind) in LISTS {
        let Some(raw) = fields.get(list).map(str::to_owned) else {
            if list == "summary" {
                fields.set(list, NULL);
            }
            continue;
        };
        let entries = if raw == NULL { Vec::new() } else { items(&raw)? };
        for entry in &entries {
            parts.push(read_entry(entry, kind)?);
        }
        if !entries.is_empty() {
            fields.take(list);
        }
    }
    if parts.is_empty() {
        parts.push(item::empty_part());
    }
    item::mark_all(&mut parts, fields);
    Some(parts.into_iter().map(Part::Reasoning).collect())
}

pub(super) fn read_entry(raw: &str, kind: &str) -> Option<TextPart> {
    let mut fields = Fields::parse(raw)?;
    let text = fields.take_str("text")?;
    fields.take_str("type").filter(|given| given == kind)?;
    if kind != USUAL {
        fields.set("type", "\"reasoning_text\"");
    }
    Some(TextPart { text, extra: extra::keep(&fields) })
}

/// Whether a piece belongs to the thoughts themselves and not to their summary.
pub(super) fn is_content(piece: &Piece<'_>) -> bool {
    piece.kind().is_some_and(|kind| kind == "reasoning_text")
}

/// Whether a part belongs to the thoughts themselves and not to their summary.
pub(super) fn is_thought(extra: Option<&Json>) -> bool {
    extra::peek(extra).get("type") == Some("\"reasoning_text\"")
}

/// Writes an item. A provider takes back only what it said itself.
pub(super) fn write(
    out: &mut Vec<u8>,
    mut pieces: Vec<Piece<'_>>,
    at: usize,
    reader: Reader<'_>,
    losses: &mut Losses<'_>,
) -> bool {
    let rest = item::take_rest(&mut pieces);
    if rest.is_none() && !reader.is_client() {
        losses.note(LossRule::UnsignedReasoning);
        return false;
    }
    let mut object = Object::new(out, rest.unwrap_or_default());
    object.str("type", "reasoning");
    if let Some(id) = reader.id("rs", at).filter(|_| object.extra().get("id").is_none()) {
        object.str("id", &id);
    }
    let (content, summary): (Vec<_>, Vec<_>) =
        pieces.into_iter().filter(|piece| !piece.is_empty_item()).partition(is_content);
    match (summary.is_empty(), object.extra().is_null("summary")) {
        (true, true) => drop(object.take("summary")),
        (true, false) => object.default_raw("summary", "[]"),
        (false, _) => write_array(object.field("summary"), summary, write_entry),
    }
    if !content.is_empty() {
        write_array(object.field("content"), content, write_entry);
    }
    object.end();
    true
}

pub(super) fn write_entry(out: &mut Vec<u8>, piece: Piece<'_>) {
    let kind = if is_content(&piece) { "reasoning_text" } else { USUAL };
    let mut object = Object::new(out, piece.extra);
    object.str("type", kind);
    object.str("text", piece.text);
    object.end();
}
