use std::collections::BTreeMap;

use bytes::Bytes;
use tower_agent_core::{
    Error, FinishReason, Json, ModelEvent, Part, PartDelta, PartStart, ToolCallPart, Usage,
};

use super::{tool_call, usage};
use crate::{
    Loss, LossRule, Stamp,
    codec::{
        Losses, cut_off, frame,
        raw::{Fields, NULL, Object, write_str},
    },
    openai_error,
};

/// Writes a streamed reply for a client, event by event, as frames of server-sent events.
///
/// ```
/// use tower_agent_core::{Message, Reply};
/// use tower_agent_wire::openai_chat::{Encoder, Stamp};
///
/// let mut encoder = Encoder::new(Stamp::new("chatcmpl-1", "demo", 1_700_000_000)).include_usage(true);
/// let mut body = String::new();
/// for event in Reply::new(Message::assistant("Hi")).into_events() {
///     let frame = encoder.encode(&event).unwrap_or_default();
///     body.push_str(std::str::from_utf8(&frame)?);
/// }
/// let end = encoder.finish();
/// assert!(body.contains(r#""delta":{"content":"Hi"}"#));
/// assert!(end.ends_with(b"data: [DONE]\n\n"));
/// # Ok::<(), std::str::Utf8Error>(())
/// ```
///
/// Reasoning is always sent as `reasoning_content`, because the mark of the other spelling comes only at its end.
#[derive(Clone, Debug)]
pub struct Encoder {
    stamp: Stamp,
    include_usage: bool,
    extra: Option<Json>,
    calls: BTreeMap<u32, u32>,
    usage: Option<Usage>,
    is_open: bool,
    is_finished: bool,
    is_over: bool,
    losses: Vec<Loss>,
}

impl Encoder {
    /// An encoder at the beginning of a reply.
    #[must_use]
    pub const fn new(stamp: Stamp) -> Self {
        Self {
            stamp,
            include_usage: false,
            extra: None,
            calls: BTreeMap::new(),
            usage: None,
            is_open: false,
            is_finished: false,
            is_over: false,
            losses: Vec::new(),
        }
    }

    /// Whether to send a usage chunk at the end; see [`asks_for_usage`](super::asks_for_usage).
    #[must_use]
    pub const fn include_usage(mut self, include: bool) -> Self {
        self.include_usage = include;
        self
    }

    /// The frames of an event, if it has any.
    pub fn encode(&mut self, event: &ModelEvent) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let mut out = Vec::new();
        if let ModelEvent::Start { .. } = event {
            self.restart(event);
        }
        self.open(&mut out);
        self.write(&mut out, event);
        (!out.is_empty()).then(|| Bytes::from(out))
    }

    /// The end of the stream: the usage, if it was asked for, and `[DONE]`.
    ///
    /// If no event said that the reply is complete, it is an error frame, so that no client takes half a reply
    /// for a whole one.
    pub fn finish(&mut self) -> Bytes {
        if self.is_over {
            return Bytes::new();
        }
        if !self.is_finished {
            return self.fail(&cut_off("the reply broke off before it was complete"));
        }
        self.is_over = true;
        let mut out = Vec::new();
        if let Some(usage) = self.usage.filter(|_| self.include_usage) {
            self.write_usage(&mut out, &usage);
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
        Bytes::from(out)
    }

    /// The end of a stream that failed: the error, and no `[DONE]`. Nothing follows it.
    pub fn fail(&mut self, error: &Error) -> Bytes {
        if std::mem::replace(&mut self.is_over, true) {
            return Bytes::new();
        }
        let mut out = Vec::new();
        frame(&mut out, None, |out| out.extend_from_slice(&openai_error::body(error)));
        Bytes::from(out)
    }

    /// What the dialect had no place for, so far.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// A later start may bring an id or fields that came late.
    fn restart(&mut self, event: &ModelEvent) {
        if let ModelEvent::Start { id, model, extra } = event {
            self.stamp.id = id.clone().unwrap_or_else(|| self.stamp.id.clone());
            self.stamp.model = model.clone().unwrap_or_else(|| self.stamp.model.clone());
            if let Some(extra) = extra {
                let mut all = Vec::new();
                let mut losses = Losses { place: "reply".into(), all: &mut all };
                self.extra = losses.fields(Some(extra)).to_extra();
                all.retain(|loss| !self.losses.contains(loss));
                self.losses.extend(all);
            }
        }
    }

    /// The first frame names the role, as clients expect.
    fn open(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.delta(out, |delta| delta.str("role", "assistant"));
        }
    }

    fn write(&mut self, out: &mut Vec<u8>, event: &ModelEvent) {
        match event {
            // The fields of a part come again at its end.
            ModelEvent::Start { .. } | ModelEvent::PartExtra { .. } => {}
            ModelEvent::PartStart { index, part } => self.part_start(out, *index, part),
            ModelEvent::PartDelta { index, delta } => self.part_delta(out, *index, delta),
            ModelEvent::PartEnd { index, extra } => self.part_end(out, *index, extra.as_ref()),
            ModelEvent::MessageExtra { extra } => {
                let fields = self.losses_at("message").fields(Some(extra));
                if !fields.is_empty() {
                    self.choice(out, fields, |_| {}, None);
                }
            }
            ModelEvent::Usage { usage } => self.usage = Some(*usage),
            ModelEvent::Finish { reason } => self.finish_reason(out, reason),
            ModelEvent::Other { json } => self.other(out, json),
            _ => self.lose(LossRule::PartInReply, "event"),
        }
    }

    fn part_start(&mut self, out: &mut Vec<u8>, index: u32, part: &PartStart) {
        match part {
            PartStart::ToolCall { id, name } => {
                let call = self.call(index);
                self.delta(out, |delta| {
                    write_call(delta, call, |entry| {
                        if let Some(id) = id {
                            entry.str("id", id.as_str());
                        }
                        entry.str("type", "function");
                        let mut function = Object::new(entry.field("function"), Fields::default());
                        if let Some(name) = name {
                            function.str("name", name);
                        }
                        function.str("arguments", "");
                        function.end();
                    });
                });
            }
            PartStart::Whole(part) => self.whole(out, index, part),
            _ => {}
        }
    }

    fn whole(&mut self, out: &mut Vec<u8>, index: u32, part: &Part) {
        match part {
            Part::Text(part) => self.delta(out, |delta| delta.str("content", &part.text)),
            Part::Reasoning(part) => {
                self.delta(out, |delta| delta.str("reasoning_content", &part.text))
            }
            Part::ToolCall(part) => self.whole_call(out, index, part),
            _ => self.lose(LossRule::PartInReply, &format!("part {index}")),
        }
    }

    fn whole_call(&mut self, out: &mut Vec<u8>, index: u32, part: &ToolCallPart) {
        let call = self.call(index);
        let mut text = Vec::new();
        tool_call::write(&mut text, part, &mut self.losses_at(&format!("part {index}")));
        let text = String::from_utf8(text).unwrap_or_default();
        let fields = Fields::parse(&text).unwrap_or_default();
        self.delta(out, |delta| {
            write_call(delta, call, |entry| {
                fields.iter().for_each(|(key, raw)| entry.raw(key, raw))
            });
        });
    }

    fn part_delta(&mut self, out: &mut Vec<u8>, index: u32, delta: &PartDelta) {
        match delta {
            PartDelta::Text(text) => self.delta(out, |delta| delta.str("content", text)),
            PartDelta::Reasoning(text) => {
                self.delta(out, |delta| delta.str("reasoning_content", text));
            }
            PartDelta::ToolCall { id, name, arguments } => {
                let call = self.call(index);
                self.delta(out, |delta| {
                    write_call(delta, call, |entry| {
                        if let Some(id) = id {
                            entry.str("id", id.as_str());
                        }
                        let mut function = Object::new(entry.field("function"), Fields::default());
                        if let Some(name) = name {
                            function.str("name", name);
                        }
                        function.str("arguments", arguments);
                        function.end();
                    });
                });
            }
            _ => self.lose(LossRule::PartInReply, &format!("part {index}")),
        }
    }

    /// Fields of a call follow it in a chunk of their own; those of a text have no place, but its marks mean nothing here.
    fn part_end(&mut self, out: &mut Vec<u8>, index: u32, extra: Option<&Json>) {
        let place = format!("part {index}");
        let mut fields = self.losses_at(&place).fields(extra);
        let Some(call) = self.calls.get(&index).copied() else {
            fields.take("type");
            fields.take("reasoning");
            if !fields.is_empty() {
                self.lose(LossRule::Extra, &place);
            }
            return;
        };
        fields.retain(|_, raw| raw != NULL);
        if !fields.is_empty() {
            self.delta(out, |delta| {
                write_call(delta, call, |entry| {
                    fields.iter().for_each(|(key, raw)| entry.raw(key, raw))
                });
            });
        }
    }

    fn finish_reason(&mut self, out: &mut Vec<u8>, reason: &FinishReason) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        let reason = match reason {
            FinishReason::Unspecified => "stop",
            reason => reason.as_str(),
        };
        self.choice(out, Fields::default(), |_| {}, Some(reason));
    }

    /// An event of this dialect is a chunk without what all chunks have in common.
    fn other(&mut self, out: &mut Vec<u8>, json: &Json) {
        match Fields::parse(json.as_str()) {
            Some(mut fields) => {
                let choices = fields.take("choices").map(std::borrow::Cow::into_owned);
                self.chunk(out, &fields, |out| match &choices {
                    Some(raw) => out.extend_from_slice(raw.as_bytes()),
                    None => out.extend_from_slice(b"[]"),
                });
            }
            None => self.lose(LossRule::NotJson, "event"),
        }
    }

    fn write_usage(&self, out: &mut Vec<u8>, usage: &Usage) {
        let extra = Fields::of(self.extra.as_ref()).unwrap_or_default();
        let rest = extra.get("usage").and_then(Fields::parse).unwrap_or_default();
        let mut text = Vec::new();
        usage::write(&mut text, usage, rest);
        let mut fields = Fields::default();
        fields.set("usage", String::from_utf8(text).unwrap_or_default());
        self.chunk(out, &fields, |out| out.extend_from_slice(b"[]"));
    }

    /// The index of a call among the calls.
    fn call(&mut self, index: u32) -> u32 {
        let next = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
        *self.calls.entry(index).or_insert(next)
    }

    fn delta(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Object<'_, '_>)) {
        self.choice(out, Fields::default(), write, None);
    }

    fn choice(
        &self,
        out: &mut Vec<u8>,
        fields: Fields<'_>,
        write: impl FnOnce(&mut Object<'_, '_>),
        reason: Option<&str>,
    ) {
        self.chunk(out, &Fields::default(), |out| {
            out.push(b'[');
            let mut choice = Object::new(out, Fields::default());
            choice.raw("index", "0");
            let mut delta = Object::new(choice.field("delta"), fields);
            write(&mut delta);
            delta.end();
            match reason {
                Some(reason) => write_str(choice.field("finish_reason"), reason),
                None => choice.raw("finish_reason", NULL),
            }
            choice.end();
            out.push(b']');
        });
    }

    fn chunk(&self, out: &mut Vec<u8>, fields: &Fields<'_>, choices: impl FnOnce(&mut Vec<u8>)) {
        let mut extra = Fields::of(self.extra.as_ref()).unwrap_or_default();
        // Parts of the reply that have a chunk of their own, and what whole replies are called.
        for key in ["usage", "choices", "object"] {
            extra.take(key);
        }
        for (key, raw) in fields.iter() {
            extra.set(key.to_owned(), raw.to_owned());
        }
        frame(out, None, |out| {
            let mut object = Object::new(out, extra);
            object.str("id", &self.stamp.id);
            object.str("object", "chat.completion.chunk");
            object.default_raw("created", &self.stamp.created.to_string());
            object.str("model", &self.stamp.model);
            choices(object.field("choices"));
            object.end();
        });
    }

    fn losses_at(&mut self, place: &str) -> Losses<'_> {
        Losses { place: place.into(), all: &mut self.losses }
    }

    fn lose(&mut self, rule: LossRule, place: &str) {
        self.losses_at(place).note(rule);
    }
}

fn write_call(delta: &mut Object<'_, '_>, call: u32, write: impl FnOnce(&mut Object<'_, '_>)) {
    let out = delta.field("tool_calls");
    out.push(b'[');
    let mut entry = Object::new(out, Fields::default());
    entry.number("index", call);
    write(&mut entry);
    entry.end();
    out.push(b']');
}
