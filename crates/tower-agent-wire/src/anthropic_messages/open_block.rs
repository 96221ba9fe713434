//! The block of a stream that is being written.

use tower_agent_core::{CallId, Json, PartDelta, PartStart, Str};

use super::{block::call_id, encoder::write_event, extra::open};
use crate::{
    Loss, LossRule,
    codec::{
        Losses,
        raw::{Fields, NULL, Object, items},
    },
};

/// Fields that come after the text of their block.
const LATE: [&str; 2] = ["signature", "citations"];
/// Fields that a user may set beside the dialect's own key.
const KNOWN: [&str; 2] = ["caller", "citations"];

#[derive(Clone, Debug)]
pub(super) struct OpenBlock {
    pub(super) part: u32,
    pub(super) block: u32,
    kind: Kind,
    extra: Option<Json>,
    /// The fields that the start said, once it is written.
    said: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
enum Kind {
    Text,
    Thinking,
    Call { id: CallId, name: Str, held: String },
}

impl OpenBlock {
    pub(super) fn new(part: u32, block: u32, start: &PartStart) -> Option<Self> {
        let kind = match start {
            PartStart::Text => Kind::Text,
            PartStart::Reasoning => Kind::Thinking,
            PartStart::ToolCall { id, name } => Kind::Call {
                id: id.clone().unwrap_or_default(),
                name: name.clone().unwrap_or_default(),
                held: String::new(),
            },
            _ => return None,
        };
        Some(Self { part, block, kind, extra: None, said: None })
    }

    pub(super) const fn is_call(&self) -> bool {
        matches!(self.kind, Kind::Call { .. })
    }

    /// Whether the start has all that it must say; some providers name a call late.
    fn is_named(&self) -> bool {
        match &self.kind {
            Kind::Call { id, name, .. } => !id.is_empty() && !name.is_empty(),
            _ => true,
        }
    }

    /// Whether the start is written.
    pub(super) const fn is_begun(&self) -> bool {
        self.said.is_some()
    }

    /// Adds an id or a name that came late; the first that is not empty counts.
    pub(super) fn name(&mut self, late_id: Option<&CallId>, late_name: Option<&Str>) {
        if let Kind::Call { id, name, .. } = &mut self.kind {
            if let Some(late) = late_id.filter(|_| id.is_empty()) {
                *id = late.clone();
            }
            if let Some(late) = late_name.filter(|_| name.is_empty()) {
                *name = late.clone();
            }
        }
    }

    pub(super) fn extra(&mut self, extra: &Json) {
        self.extra = Some(extra.clone());
    }

    /// Writes the start, if it can be.
    pub(super) fn flush(&mut self, out: &mut Vec<u8>, all: &mut Vec<Loss>) {
        if self.is_named() {
            self.start(out, all);
        }
    }

    fn losses<'a>(&self, all: &'a mut Vec<Loss>) -> Losses<'a> {
        Losses { place: format!("part {}", self.part), all }
    }

    fn start(&mut self, out: &mut Vec<u8>, all: &mut Vec<Loss>) {
        if self.said.is_some() {
            return;
        }
        // What has no place is noted once, at the end.
        let mut unheard = Vec::new();
        let mut fields = open(self.extra.as_ref(), &KNOWN, &mut self.losses(&mut unheard));
        fields.retain(|key, _| !LATE.contains(&key));
        self.said = Some(fields.iter().map(|(key, _)| key.to_owned()).collect());
        write_event(out, "content_block_start", |event| {
            event.number("index", self.block);
            let mut block = Object::new(event.field("content_block"), fields);
            self.write_start(&mut block, &mut self.losses(all));
            block.end();
        });
        if let Kind::Call { held, .. } = &mut self.kind {
            let held = std::mem::take(held);
            self.write_arguments(out, &held);
        }
    }

    fn write_start(&self, block: &mut Object<'_, '_>, losses: &mut Losses<'_>) {
        match &self.kind {
            Kind::Text => {
                block.str("type", "text");
                block.str("text", "");
            }
            Kind::Thinking if block.extra().get("type").is_some() => {}
            Kind::Thinking => {
                block.str("type", "thinking");
                block.str("thinking", "");
                block.str("signature", "");
            }
            Kind::Call { id, name, .. } => {
                block.str("type", "tool_use");
                block.str("id", &call_id(id, losses));
                block.str("name", name);
                block.raw("input", "{}");
            }
        }
    }

    pub(super) fn delta(&mut self, out: &mut Vec<u8>, delta: &PartDelta, all: &mut Vec<Loss>) {
        match (delta, &mut self.kind) {
            (PartDelta::Text(text), Kind::Text) => {
                self.start(out, all);
                self.write_delta(out, "text_delta", "text", text);
            }
            (PartDelta::Reasoning(text), Kind::Thinking) => {
                self.start(out, all);
                self.write_delta(out, "thinking_delta", "thinking", text);
            }
            (PartDelta::ToolCall { id, name, arguments }, Kind::Call { .. }) => {
                self.name(id.as_ref(), name.as_ref());
                self.arguments(out, arguments, all);
            }
            _ => self.losses(all).note(LossRule::PartInReply),
        }
    }

    fn arguments(&mut self, out: &mut Vec<u8>, text: &Str, all: &mut Vec<Loss>) {
        if !self.is_named() && self.said.is_none() {
            if let Kind::Call { held, .. } = &mut self.kind {
                held.push_str(text);
            }
            return;
        }
        self.start(out, all);
        self.write_arguments(out, text);
    }

    fn write_arguments(&self, out: &mut Vec<u8>, text: &str) {
        if !text.is_empty() {
            self.write_delta(out, "input_json_delta", "partial_json", text);
        }
    }

    fn write_delta(&self, out: &mut Vec<u8>, kind: &str, key: &str, text: &str) {
        self.write_raw_delta(out, kind, |delta| delta.str(key, text));
    }

    fn write_raw_delta(
        &self,
        out: &mut Vec<u8>,
        kind: &str,
        write: impl FnOnce(&mut Object<'_, '_>),
    ) {
        write_event(out, "content_block_delta", |event| {
            event.number("index", self.block);
            let mut delta = Object::new(event.field("delta"), Fields::default());
            delta.str("type", kind);
            write(&mut delta);
            delta.end();
        });
    }

    /// Writes what was held back, the fields that come late, and the end.
    pub(super) fn end(mut self, out: &mut Vec<u8>, extra: Option<&Json>, all: &mut Vec<Loss>) {
        self.extra = extra.cloned().or(self.extra.take());
        self.start(out, all);
        let extra = self.extra.take();
        let mut losses = self.losses(all);
        let mut fields = open(extra.as_ref(), &KNOWN, &mut losses);
        if let Some(signature) = fields.take("signature").filter(|raw| raw != NULL) {
            self.write_raw_delta(out, "signature_delta", |delta| {
                delta.raw("signature", &signature)
            });
        }
        let citations = fields.take("citations");
        for citation in citations.as_deref().and_then(items).unwrap_or_default() {
            self.write_raw_delta(out, "citations_delta", |delta| delta.raw("citation", citation));
        }
        let said = self.said.take().unwrap_or_default();
        fields.retain(|key, raw| {
            raw != NULL
                && !said.iter().any(|said| said == key)
                && (key, raw) != ("type", "\"text\"")
        });
        if !fields.is_empty() {
            losses.note(LossRule::Extra);
        }
        write_event(out, "content_block_stop", |event| event.number("index", self.block));
    }
}
