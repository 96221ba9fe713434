//! Items: what stands in the output of a reply, and again in the input of the next request.
//!
//! An item of the model is a run of parts. Its own fields, such as its id, are in the `extra` of the first of them
//! under [`ITEM`]; a `null` under `type` there says that the item has no content at all. Of an item with several parts,
//! what a stream only says with the item's end is in that of the last, under [`END`], because the first has ended by then.

use std::borrow::Cow;

use tower_agent_core::{Json, Part, Str, TextPart};

use super::{call, extra, message, reasoning, result};
use crate::{
    LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, string},
    },
};

/// Where the first part of an item keeps the fields of the item.
pub(super) const ITEM: &str = "item";
/// Where the last of several parts keeps those that come with the item's end.
pub(super) const END: &str = "item_end";
/// Fields that a stream says with the end of an item, or says anew.
pub(super) const LATE: [&str; 2] = ["status", "encrypted_content"];

/// Who reads what is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reader<'a> {
    /// A provider, for which an id is the provider's own or none.
    Provider,
    /// A client, which needs an id and a status on each item.
    Client { ids: &'a str },
}

impl Reader<'_> {
    /// The id of an item that has none.
    pub(super) fn id(self, kind: &str, at: usize) -> Option<String> {
        match self {
            Self::Provider => None,
            Self::Client { ids } => {
                let ids = ids.strip_prefix("resp_").unwrap_or(ids);
                Some(format!("{kind}_{ids}_{at}"))
            }
        }
    }

    pub(super) const fn is_client(self) -> bool {
        matches!(self, Self::Client { .. })
    }
}

/// The parts of an item of the model; one of a kind without a name here is opaque.
pub(super) fn read(raw: &str) -> Result<Vec<Part>, Flaw> {
    let fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let parts = match fields.get("type").and_then(string).as_deref() {
        Some("reasoning") => reasoning::read(fields),
        Some("message") | None if is_of_model(&fields) => Some(message::read_model(fields)?),
        Some(kind) if call::shape(kind).is_some() => {
            return call::read(fields).map(|call| vec![Part::ToolCall(call)]);
        }
        _ => None,
    };
    Ok(parts.unwrap_or_else(|| vec![Part::Opaque { json: Json::from_text(raw) }]))
}

pub(super) fn is_of_model(fields: &Fields<'_>) -> bool {
    fields.get("role") == Some("\"assistant\"")
}

/// Adds the parts of the next item to those before it, so that the two stay two.
pub(super) fn push(parts: &mut Vec<Part>, mut next: Vec<Part>) {
    if let (Some(Part::Text(_)), Some(Part::Text(first))) = (parts.last(), next.first_mut())
        && !is_marked(first)
    {
        mark(first, &Fields::default());
    }
    parts.append(&mut next);
}

/// A part that stands for an item without content.
pub(super) fn empty_part() -> TextPart {
    TextPart {
        text: Str::default(),
        extra: Some(Json::from_text(r#"{"openai_responses":{"type":null}}"#)),
    }
}

/// Puts the fields of an item on its parts.
pub(super) fn mark_all(parts: &mut [TextPart], mut rest: Fields<'_>) {
    if let [_, .., last] = parts {
        let mut late = Fields::default();
        for key in LATE {
            rest.take(key).into_iter().for_each(|raw| late.set(key, raw));
        }
        if !late.is_empty() {
            set(last, END, &late);
        }
    }
    if let Some(first) = parts.first_mut() {
        mark(first, &rest);
    }
}

/// Puts the fields of an item on its first part.
pub(super) fn mark(part: &mut TextPart, rest: &Fields<'_>) {
    set(part, ITEM, rest);
}

fn set(part: &mut TextPart, key: &'static str, fields: &Fields<'_>) {
    let extra = part.extra.take();
    let mut own = extra::peek(extra.as_ref());
    own.set(key, fields.to_text());
    part.extra = extra::keep(&own);
}

fn is_marked(part: &TextPart) -> bool {
    extra::peek(part.extra.as_ref()).get(ITEM).is_some()
}

/// A part of an item, with its extra taken apart.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) extra: Fields<'a>,
}

impl<'a> Piece<'a> {
    fn of(part: &'a TextPart, losses: &mut Losses<'_>) -> Self {
        Self { text: &part.text, extra: extra::open(part.extra.as_ref(), &[], losses) }
    }

    /// Its kind in the dialect, if it is not the usual one.
    pub(super) fn kind(&self) -> Option<Str> {
        self.extra.get("type").and_then(string)
    }

    /// Whether it only stands for an item without content.
    pub(super) fn is_empty_item(&self) -> bool {
        self.text.is_empty() && self.extra.is_null("type")
    }
}

/// One item, as parts.
#[derive(Debug)]
pub(super) enum Run<'a> {
    Message(Vec<Piece<'a>>),
    Reasoning(Vec<Piece<'a>>),
    Call(&'a tower_agent_core::ToolCallPart),
    Result(&'a tower_agent_core::ToolResultPart),
    Opaque(&'a Json),
}

/// The items that parts of a model's message are. What is no item is a loss.
pub(super) fn runs<'a>(parts: &'a [Part], losses: &mut Losses<'_>) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for part in parts {
        match part {
            Part::Text(part) => {
                let piece = Piece::of(part, losses);
                match runs.last_mut() {
                    Some(Run::Message(pieces)) if piece.extra.get(ITEM).is_none() => {
                        pieces.push(piece);
                    }
                    _ => runs.push(Run::Message(vec![piece])),
                }
            }
            Part::Reasoning(part) => {
                let piece = Piece::of(part, losses);
                match runs.last_mut() {
                    Some(Run::Reasoning(pieces)) if piece.extra.get(ITEM).is_none() => {
                        pieces.push(piece);
                    }
                    _ => runs.push(Run::Reasoning(vec![piece])),
                }
            }
            Part::ToolCall(call) => runs.push(Run::Call(call)),
            Part::ToolResult(result) => runs.push(Run::Result(result)),
            Part::Opaque { json } if is_foreign(json) => losses.note(LossRule::Foreign),
            Part::Opaque { json } if Fields::parse(json.as_str()).is_some() => {
                runs.push(Run::Opaque(json));
            }
            Part::Opaque { .. } => losses.note(LossRule::NotJson),
            _ => losses.note(LossRule::PartInReply),
        }
    }
    runs
}

/// Parts that only other dialects know.
const FOREIGN: [&str; 14] = [
    "container_upload",
    "document",
    "file",
    "image",
    "image_url",
    "mcp_tool_use",
    "redacted_thinking",
    "refusal",
    "search_result",
    "server_tool_use",
    "text",
    "thinking",
    "tool_use",
    "video_url",
];

/// The `type` of a part that is an object.
pub(super) fn kind_of(json: &Json) -> Option<Str> {
    Fields::parse(json.as_str())?.get("type").and_then(string)
}

/// Whether a part is one that only another dialect knows.
pub(super) fn is_foreign(json: &Json) -> bool {
    kind_of(json).is_some_and(|kind| FOREIGN.contains(&&*kind) || kind.ends_with("_tool_result"))
}

/// Takes the fields of an item from its parts.
pub(super) fn take_rest<'a>(pieces: &mut [Piece<'a>]) -> Option<Fields<'a>> {
    let late: Vec<_> = pieces.iter_mut().filter_map(|piece| take(piece, END)).collect();
    let mut rest = take(pieces.first_mut()?, ITEM)?;
    for (key, raw) in late.into_iter().flat_map(Fields::into_pairs) {
        rest.set(key, raw);
    }
    Some(rest)
}

fn take<'a>(piece: &mut Piece<'a>, key: &str) -> Option<Fields<'a>> {
    match piece.extra.take(key)? {
        Cow::Borrowed(raw) => Fields::parse(raw),
        // Only keys are ever owned; a value is a piece of the text that the fields were parsed from.
        Cow::Owned(_) => Some(Fields::default()),
    }
}

/// Writes an item at a position, if it can be said.
pub(super) fn write(
    out: &mut Vec<u8>,
    run: Run<'_>,
    at: usize,
    reader: Reader<'_>,
    losses: &mut Losses<'_>,
) -> bool {
    match run {
        Run::Message(pieces) => message::write_model(out, pieces, at, reader),
        Run::Reasoning(pieces) => return reasoning::write(out, pieces, at, reader, losses),
        Run::Call(part) => call::write(out, part, at, reader, losses),
        Run::Result(part) => result::write(out, part, call::FUNCTION, losses),
        Run::Opaque(json) => out.extend_from_slice(json.as_str().as_bytes()),
    }
    true
}
