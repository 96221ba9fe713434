//! A block of a stream, as far as it has come.

use tower_agent_core::{Json, ModelEvent, Part, PartDelta, PartStart, Str};

use super::extra::keep;
use crate::codec::{
    Flaw,
    raw::{Fields, string, write_array},
};

#[derive(Clone, Debug)]
pub(super) struct Building {
    kind: Kind,
    /// Fields without a name in the vocabulary, those that came later included.
    extra: Fields<'static>,
    citations: Vec<String>,
    /// What the block said at its start.
    first: Str,
    /// The text of arguments so far, for a block that is handed out as a whole; else whether there was any.
    input: String,
    has_input: bool,
    is_ended: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Kind {
    Text,
    Thinking,
    Call {
        id: Str,
        name: Str,
    },
    /// A block that has no name in the vocabulary: handed out when it is whole.
    Opaque,
}

impl Building {
    pub(super) fn start(block: &Fields<'_>) -> Result<Self, Flaw> {
        let mut fields = Fields::default();
        for (key, raw) in block.iter() {
            fields.set(key.to_owned(), raw.to_owned());
        }
        let name = fields.get("type").and_then(string);
        let name = name.ok_or_else(|| Flaw::new("content_block.type", "must be a string"))?;
        let (kind, first) = read(&name, &mut fields)?;
        fields.take_if("signature", |raw| (raw == "\"\"").then_some(()));
        Ok(Self {
            kind,
            extra: fields,
            citations: Vec::new(),
            first,
            input: String::new(),
            has_input: false,
            is_ended: false,
        })
    }

    pub(super) const fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The events at the start of the block.
    pub(super) fn begun(&self, index: u32) -> impl Iterator<Item = ModelEvent> {
        let part = match &self.kind {
            Kind::Text => Some(PartStart::Text),
            Kind::Thinking => Some(PartStart::Reasoning),
            Kind::Call { id, name } => {
                Some(PartStart::ToolCall { id: Some(id.clone().into()), name: Some(name.clone()) })
            }
            Kind::Opaque => None,
        };
        let extra = keep(&self.extra).filter(|_| part.is_some());
        let delta = match self.kind {
            Kind::Text => Some(PartDelta::Text(self.first.clone())),
            Kind::Thinking => Some(PartDelta::Reasoning(self.first.clone())),
            _ => None,
        };
        let delta = delta.filter(|delta| !delta.text().is_empty());
        let start = part.map(|part| ModelEvent::PartStart { index, part });
        let extra = extra.map(|extra| ModelEvent::PartExtra { index, extra });
        let delta = delta.map(|delta| ModelEvent::PartDelta { index, delta });
        [start, extra, delta].into_iter().flatten()
    }

    /// Takes a delta; `None` when nothing here knows it.
    pub(super) fn push(&mut self, delta: &Fields<'_>) -> Result<Option<PartDelta>, Flaw> {
        let kind = delta.get("type").and_then(string);
        let kind = kind.ok_or_else(|| Flaw::new("delta.type", "must be a string"))?;
        let text = |key: &'static str| {
            let text = delta.get(key).and_then(string);
            text.ok_or_else(|| Flaw::new(format!("delta.{key}"), "must be a string"))
        };
        let nothing = Some(PartDelta::Text(Str::default()));
        Ok(match (kind.as_str(), &self.kind) {
            ("text_delta", Kind::Text) => Some(PartDelta::Text(text("text")?)),
            ("thinking_delta", Kind::Thinking) => Some(PartDelta::Reasoning(text("thinking")?)),
            ("signature_delta", Kind::Thinking) => {
                self.extra.set("signature", delta.get("signature").unwrap_or("\"\"").to_owned());
                nothing
            }
            ("citations_delta", Kind::Text) => {
                self.citations.extend(delta.get("citation").map(str::to_owned));
                nothing
            }
            ("input_json_delta", Kind::Call { .. }) => {
                let text = text("partial_json")?;
                self.has_input |= !text.is_empty();
                Some(PartDelta::arguments(text))
            }
            ("input_json_delta", Kind::Opaque) => {
                self.input.push_str(&text("partial_json")?);
                nothing
            }
            ("text_delta" | "thinking_delta" | "input_json_delta", _) => {
                return Err(Flaw::new("delta.type", "does not fit its block"));
            }
            _ => None,
        })
    }

    /// The events at the end of the block, which come once.
    pub(super) fn end(&mut self, index: u32) -> Vec<ModelEvent> {
        if std::mem::replace(&mut self.is_ended, true) {
            return Vec::new();
        }
        self.end_citations();
        let mut events = Vec::new();
        match self.kind {
            Kind::Opaque => {
                if !self.input.is_empty() {
                    self.extra.set("input", std::mem::take(&mut self.input));
                }
                let part = Part::Opaque { json: Json::from_text(self.extra.to_text()) };
                events.push(ModelEvent::PartStart { index, part: PartStart::Whole(part) });
                events.push(ModelEvent::PartEnd { index, extra: None });
                return events;
            }
            Kind::Call { .. } if !self.has_input => {
                let delta = PartDelta::arguments(self.first.clone());
                events.push(ModelEvent::PartDelta { index, delta });
            }
            _ => {}
        }
        events.push(ModelEvent::PartEnd { index, extra: keep(&self.extra) });
        events
    }

    /// Citations come one by one, after those that the block began with.
    fn end_citations(&mut self) {
        if self.citations.is_empty() {
            return;
        }
        let before = self.extra.get("citations").and_then(crate::codec::raw::items);
        let before: Vec<_> = before.unwrap_or_default().into_iter().map(str::to_owned).collect();
        let mut all = Vec::new();
        write_array(&mut all, before.iter().chain(&self.citations), |out, raw| {
            out.extend_from_slice(raw.as_bytes());
        });
        self.extra.set("citations", String::from_utf8(all).unwrap_or_default());
    }
}

/// The kind of a block and what it says at its start; the rest stays in the fields.
fn read(name: &str, fields: &mut Fields<'static>) -> Result<(Kind, Str), Flaw> {
    let kind = match name {
        "text" => Kind::Text,
        "thinking" => Kind::Thinking,
        "redacted_thinking" => return Ok((Kind::Thinking, Str::default())),
        "tool_use" => return read_call(fields),
        _ => return Ok((Kind::Opaque, Str::default())),
    };
    fields.take("type");
    Ok((kind, fields.take_str(name).unwrap_or_default()))
}

fn read_call(fields: &mut Fields<'static>) -> Result<(Kind, Str), Flaw> {
    let mut text = |key: &'static str| {
        let text = fields.take_str(key);
        text.ok_or_else(|| Flaw::new(format!("content_block.{key}"), "must be a string"))
    };
    let (id, name) = (text("id")?, text("name")?);
    let input = fields.take("input").unwrap_or("{}".into());
    fields.take("type");
    Ok((Kind::Call { id, name }, (&*input).into()))
}
