use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use tower_agent_core::{
    Error, FinishReason, Json, ModelEvent, Part, PartDelta, PartStart, TextPart, ToolCallPart,
    Usage,
};

use super::{
    block, error,
    extra::open,
    finish,
    message::{check_extra, fits_reply},
    open_block::OpenBlock,
    reply::KNOWN,
    usage,
};
use crate::{
    Loss, LossRule, Stamp,
    codec::{
        Losses, cut_off, frame,
        raw::{Fields, NULL, Object, string},
    },
};

/// Writes a streamed reply for a client, event by event, as frames of server-sent events.
///
/// ```
/// use tower_agent_core::{Message, Reply};
/// use tower_agent_wire::{Stamp, anthropic_messages::Encoder};
///
/// let mut encoder = Encoder::new(Stamp::new("msg_1", "demo", 0));
/// let mut body = String::new();
/// for event in Reply::new(Message::assistant("Hi")).into_events() {
///     let frame = encoder.encode(&event).unwrap_or_default();
///     body.push_str(std::str::from_utf8(&frame)?);
/// }
/// let end = encoder.finish();
/// assert!(body.contains(r#""delta":{"type":"text_delta","text":"Hi"}"#));
/// assert!(end.ends_with(b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
/// # Ok::<(), std::str::Utf8Error>(())
/// ```
///
/// Blocks of this dialect come one after the other. A text or reasoning ends where another part begins, and goes on in
/// a block of its own; while a call is open, the parts beside it wait.
#[derive(Clone, Debug)]
pub struct Encoder {
    stamp: Stamp,
    extra: Option<Json>,
    /// The fields of the reply that were written already.
    written: BTreeMap<String, String>,
    usage: Usage,
    blocks: u32,
    open: Option<OpenBlock>,
    waiting: VecDeque<ModelEvent>,
    reason: Option<FinishReason>,
    is_begun: bool,
    is_over: bool,
    losses: Vec<Loss>,
}

impl Encoder {
    /// An encoder at the beginning of a reply.
    #[must_use]
    pub const fn new(stamp: Stamp) -> Self {
        Self {
            stamp,
            extra: None,
            written: BTreeMap::new(),
            usage: Usage::new(0, 0),
            blocks: 0,
            open: None,
            waiting: VecDeque::new(),
            reason: None,
            is_begun: false,
            is_over: false,
            losses: Vec::new(),
        }
    }

    /// The frames of an event, if it has any.
    ///
    /// The start of the reply waits for the usage, and that of a block for its fields; see [`flush`](Self::flush).
    pub fn encode(&mut self, event: &ModelEvent) -> Option<Bytes> {
        let mut out = Vec::new();
        if !self.is_over {
            self.write(&mut out, event);
        }
        (!out.is_empty()).then(|| Bytes::from(out))
    }

    /// What waits for something that may follow; to be called when nothing does for now.
    pub fn flush(&mut self) -> Option<Bytes> {
        let mut out = Vec::new();
        if !self.is_over {
            self.begin(&mut out);
            self.open.iter_mut().for_each(|block| block.flush(&mut out, &mut self.losses));
        }
        (!out.is_empty()).then(|| Bytes::from(out))
    }

    /// The end of the stream: why the model stopped, the usage, and `message_stop`.
    ///
    /// If no event said that the reply is complete, it is an error frame, so that no client takes half a reply
    /// for a whole one.
    pub fn finish(&mut self) -> Bytes {
        if self.is_over {
            return Bytes::new();
        }
        let Some(reason) = self.reason.take() else {
            return self.fail(&cut_off("the reply broke off before it was complete"));
        };
        let mut out = Vec::new();
        self.begin(&mut out);
        while self.open.is_some() {
            self.close(&mut out, None);
        }
        self.is_over = true;
        self.message_delta(&mut out, &reason);
        write_event(&mut out, "message_stop", |_| {});
        Bytes::from(out)
    }

    /// The end of a stream that failed: the error, and no `message_stop`. Nothing follows it.
    pub fn fail(&mut self, error: &Error) -> Bytes {
        if std::mem::replace(&mut self.is_over, true) {
            return Bytes::new();
        }
        let mut out = Vec::new();
        let status = error::encode_error(error).status().as_u16();
        frame(&mut out, Some("error"), |out| out.extend_from_slice(&error::body(error, status)));
        Bytes::from(out)
    }

    /// What the dialect had no place for, so far.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    fn write(&mut self, out: &mut Vec<u8>, event: &ModelEvent) {
        match event {
            ModelEvent::Start { id, model, extra } => {
                self.stamp.id = id.clone().unwrap_or_else(|| self.stamp.id.clone());
                self.stamp.model = model.clone().unwrap_or_else(|| self.stamp.model.clone());
                self.extra = extra.clone().or_else(|| self.extra.take());
            }
            ModelEvent::Usage { usage } => self.usage = *usage,
            ModelEvent::Finish { reason } => self.reason = Some(reason.clone()),
            ModelEvent::MessageExtra { extra } => {
                check_extra(Some(extra), &mut self.losses_at("message"));
            }
            ModelEvent::Other { json } => {
                self.begin(out);
                self.other(out, json);
            }
            event => {
                self.begin(out);
                self.part(out, event);
            }
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        let extra = self.extra.clone();
        let mut fields = open(extra.as_ref(), &KNOWN, &mut self.losses_at("reply"));
        self.written = fields.iter().map(|(key, raw)| (key.to_owned(), raw.to_owned())).collect();
        // Fields of the end, where the reply was whole before.
        for key in ["stop_reason", "stop_sequence"] {
            fields.take(key);
            self.written.remove(key);
        }
        let rest = fields.take("usage");
        let rest = rest.as_deref().and_then(Fields::parse).unwrap_or_default();
        write_event(out, "message_start", |event| {
            let mut message = Object::new(event.field("message"), fields.clone());
            message.str("id", &self.stamp.id);
            message.default_raw("type", "\"message\"");
            message.default_raw("role", "\"assistant\"");
            message.str("model", &self.stamp.model);
            message.raw("content", "[]");
            message.raw("stop_reason", NULL);
            message.raw("stop_sequence", NULL);
            usage::write(message.field("usage"), &self.usage, rest);
            message.end();
        });
    }

    fn message_delta(&self, out: &mut Vec<u8>, reason: &FinishReason) {
        // What has no place was noted at the start.
        let mut unheard = Losses { place: String::new(), all: &mut Vec::new() };
        let mut fields = open(self.extra.as_ref(), &KNOWN, &mut unheard);
        let name = finish::name(reason, &fields);
        fields.take("stop_reason");
        let sequence = fields.take("stop_sequence").unwrap_or(NULL.into());
        let rest = fields.take("usage");
        let rest = rest.as_deref().and_then(Fields::parse).unwrap_or_default();
        fields.retain(|key, raw| self.written.get(key).is_none_or(|written| written != raw));
        let container = fields.take("container");
        write_event(out, "message_delta", |event| {
            let mut delta = Object::new(event.field("delta"), Fields::default());
            delta.str("stop_reason", &name);
            delta.raw("stop_sequence", &sequence);
            if let Some(container) = &container {
                delta.raw("container", container);
            }
            delta.end();
            usage::write(event.field("usage"), &self.usage, rest);
            fields.iter().for_each(|(key, raw)| event.raw(key, raw));
        });
    }

    /// An event of a part: it belongs to the open block, ends it or waits for its end.
    fn part(&mut self, out: &mut Vec<u8>, event: &ModelEvent) {
        let Some(index) = index_of(event) else { return self.lose(LossRule::PartInReply, "event") };
        match &self.open {
            Some(open) if open.part != index && open.is_call() => {
                self.waiting.push_back(event.clone());
            }
            Some(open) if open.part != index && begins(event) => {
                self.close(out, None);
                self.part(out, event);
            }
            Some(open) if open.part == index => self.go_on(out, event),
            // Nothing but fields of a part whose block has ended.
            _ if !begins(event) => self.too_late(event),
            _ => self.start(out, index, event),
        }
    }

    fn start(&mut self, out: &mut Vec<u8>, index: u32, event: &ModelEvent) {
        let kind = match event {
            ModelEvent::PartStart { part: PartStart::Whole(part), .. } => {
                return self.whole(out, index, part);
            }
            ModelEvent::PartStart { part, .. } => part.clone(),
            ModelEvent::PartDelta { delta, .. } => start_of(delta),
            _ => return,
        };
        self.open = OpenBlock::new(index, self.next_block(), &kind);
        if let ModelEvent::PartDelta { .. } = event {
            self.go_on(out, event);
        }
    }

    fn next_block(&mut self) -> u32 {
        let block = self.blocks;
        self.blocks = self.blocks.saturating_add(1);
        block
    }

    fn go_on(&mut self, out: &mut Vec<u8>, event: &ModelEvent) {
        let Some(open) = &mut self.open else { return };
        match event {
            ModelEvent::PartStart { part: PartStart::ToolCall { id, name }, .. } => {
                open.name(id.as_ref(), name.as_ref());
            }
            ModelEvent::PartExtra { extra, .. } => open.extra(extra),
            ModelEvent::PartDelta { delta, .. } => open.delta(out, delta, &mut self.losses),
            ModelEvent::PartEnd { extra, .. } => self.close(out, extra.as_ref()),
            _ => {}
        }
    }

    /// Ends the open block, and lets in what waited for that.
    fn close(&mut self, out: &mut Vec<u8>, extra: Option<&Json>) {
        if let Some(block) = self.open.take() {
            block.end(out, extra, &mut self.losses);
        }
        for event in std::mem::take(&mut self.waiting) {
            self.part(out, &event);
        }
    }

    /// A part that comes at once.
    fn whole(&mut self, out: &mut Vec<u8>, index: u32, part: &Part) {
        let pieces = match part {
            Part::Text(TextPart { text, extra }) => {
                Some((PartStart::Text, PartDelta::Text(text.clone()), extra))
            }
            Part::Reasoning(TextPart { text, extra }) => {
                Some((PartStart::Reasoning, PartDelta::Reasoning(text.clone()), extra))
            }
            Part::ToolCall(ToolCallPart { id, name, arguments, extra }) => Some((
                PartStart::ToolCall { id: Some(id.clone()), name: Some(name.clone()) },
                PartDelta::arguments(arguments.as_str()),
                extra,
            )),
            _ => None,
        };
        if let Some((part, delta, extra)) = pieces {
            self.part(out, &ModelEvent::PartStart { index, part });
            if let Some(extra) = extra.clone() {
                self.part(out, &ModelEvent::PartExtra { index, extra });
            }
            self.part(out, &ModelEvent::PartDelta { index, delta });
            self.part(out, &ModelEvent::PartEnd { index, extra: extra.clone() });
        } else if fits_reply(part, &mut self.losses_at(&format!("part {index}"))) {
            let at = self.next_block();
            write_event(out, "content_block_start", |event| {
                event.number("index", at);
                block::write(
                    event.field("content_block"),
                    part,
                    &mut Losses { place: format!("part {index}"), all: &mut self.losses },
                );
            });
            write_event(out, "content_block_stop", |event| event.number("index", at));
        }
    }

    fn too_late(&mut self, event: &ModelEvent) {
        if let ModelEvent::PartEnd { index, extra: Some(extra) } = event {
            let mut losses = Losses { place: format!("part {index}"), all: &mut self.losses };
            if !open(Some(extra), &[], &mut losses).is_empty() {
                losses.note(LossRule::Extra);
            }
        }
    }

    /// An event of this dialect has a type; those of others have none that a client would know.
    fn other(&mut self, out: &mut Vec<u8>, json: &Json) {
        let Some(mut fields) = Fields::parse(json.as_str()) else {
            return self.lose(LossRule::NotJson, "event");
        };
        let kind = fields.get("type").and_then(string).filter(|kind| !kind.contains('.'));
        let Some(kind) = kind else { return self.lose(LossRule::Foreign, "event") };
        if let Some(open) = &mut self.open {
            open.flush(out, &mut self.losses);
        }
        if kind.starts_with("content_block_") {
            // A piece of a block that has no name belongs to the block as it is numbered here.
            let at = fields.get("index").and_then(|raw| raw.parse().ok());
            let open = self.open.as_ref().filter(|open| Some(open.part) == at && open.is_begun());
            let Some(open) = open else { return self.lose(LossRule::Extra, "event") };
            fields.set("index", open.block.to_string());
        }
        frame(out, Some(&kind), |out| out.extend_from_slice(fields.to_text().as_bytes()));
    }

    fn losses_at(&mut self, place: &str) -> Losses<'_> {
        Losses { place: place.into(), all: &mut self.losses }
    }

    fn lose(&mut self, rule: LossRule, place: &str) {
        self.losses_at(place).note(rule);
    }
}

fn index_of(event: &ModelEvent) -> Option<u32> {
    match event {
        ModelEvent::PartStart { index, .. }
        | ModelEvent::PartExtra { index, .. }
        | ModelEvent::PartDelta { index, .. }
        | ModelEvent::PartEnd { index, .. } => Some(*index),
        _ => None,
    }
}

/// Whether an event can open a block.
fn begins(event: &ModelEvent) -> bool {
    match event {
        ModelEvent::PartStart { .. } => true,
        ModelEvent::PartDelta { delta, .. } => !delta.text().is_empty(),
        _ => false,
    }
}

/// The start of a part that begins with a delta, or goes on after another part came between.
fn start_of(delta: &PartDelta) -> PartStart {
    match delta {
        PartDelta::Text(_) => PartStart::Text,
        PartDelta::Reasoning(_) => PartStart::Reasoning,
        PartDelta::ToolCall { id, name, .. } => {
            PartStart::ToolCall { id: id.clone(), name: name.clone() }
        }
        _ => PartStart::Text,
    }
}

/// One event; its name stands in both places where clients look for it.
pub(super) fn write_event(out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut Object<'_, '_>)) {
    frame(out, Some(name), |out| {
        let mut object = Object::new(out, Fields::default());
        object.str("type", name);
        write(&mut object);
        object.end();
    });
}
