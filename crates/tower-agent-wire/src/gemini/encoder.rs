use std::collections::BTreeMap;

use bytes::Bytes;
use tower_agent_core::{
    CallId, Error, FinishReason, Json, ModelEvent, Part, PartDelta, PartStart, Str, TextPart,
    ToolCallPart, Usage,
};

use super::{
    candidate, error,
    extra::{open, peek, rest},
    finish,
    ids::Calls,
    part, usage,
};
use crate::{
    Loss, LossRule, Stamp,
    codec::{
        Losses, cut_off, frame,
        raw::{Fields, NULL, Object, items, write_array},
    },
};

/// Writes a streamed reply for a client, event by event, as frames of server-sent events or as one JSON array.
///
/// ```
/// use tower_agent_core::{Message, Reply};
/// use tower_agent_wire::{Stamp, gemini::Encoder};
///
/// let mut encoder = Encoder::new(Stamp::new("r-1", "demo", 0));
/// let mut body = Vec::new();
/// for event in Reply::new(Message::assistant("Hi")).into_events() {
///     body.extend(encoder.encode(&event).unwrap_or_default());
/// }
/// body.extend(encoder.finish());
/// assert_eq!(
///     std::str::from_utf8(&body)?,
///     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],\
///      \"modelVersion\":\"demo\",\"responseId\":\"r-1\"}\n\n",
/// );
/// # Ok::<(), std::str::Utf8Error>(())
/// ```
///
/// Each piece of text is a frame. Calls of functions are written once they are whole, and so are texts with fields of this
/// dialect. A frame waits for the usage or the reason that may belong to it; see [`flush`](Self::flush).
#[derive(Clone, Debug)]
pub struct Encoder {
    stamp: Stamp,
    is_array: bool,
    frames: u64,
    extra: Option<Json>,
    /// The fields of the reply and of its candidate that were written already.
    written: BTreeMap<String, String>,
    usage: Option<Usage>,
    is_usage_news: bool,
    parts: BTreeMap<u32, Building>,
    pending: Option<Vec<u8>>,
    reason: Option<FinishReason>,
    is_over: bool,
    losses: Vec<Loss>,
}

/// A part, as far as it has come.
#[derive(Clone, Debug)]
struct Building {
    kind: Kind,
    extra: Option<Json>,
    /// What is held back until the part is whole.
    held: String,
}

#[derive(Clone, Debug)]
enum Kind {
    Text,
    Reasoning,
    Call { id: CallId, name: Str },
}

impl Building {
    fn new(start: &PartStart) -> Option<Self> {
        let kind = match start {
            PartStart::Text => Kind::Text,
            PartStart::Reasoning => Kind::Reasoning,
            PartStart::ToolCall { id, name } => Kind::Call {
                id: id.clone().unwrap_or_default(),
                name: name.clone().unwrap_or_default(),
            },
            _ => return None,
        };
        Some(Self { kind, extra: None, held: String::new() })
    }

    /// Whether a piece must wait: calls are whole, and fields stand beside the text that they belong to.
    fn is_held(&self) -> bool {
        let fields = peek(self.extra.as_ref());
        matches!(self.kind, Kind::Call { .. }) || fields.iter().any(|(key, _)| key != "thought")
    }

    fn name(&mut self, late_id: Option<&CallId>, late_name: Option<&Str>) {
        if let Kind::Call { id, name } = &mut self.kind {
            if let Some(late) = late_id.filter(|_| id.is_empty()) {
                *id = late.clone();
            }
            if let Some(late) = late_name.filter(|_| name.is_empty()) {
                *name = late.clone();
            }
        }
    }

    /// The whole of what was held back, unless that is nothing.
    fn into_part(self) -> Option<Part> {
        let says = !self.held.is_empty() || self.is_held();
        let text = TextPart { text: self.held.clone().into(), extra: self.extra.clone() };
        match self.kind {
            Kind::Call { id, name } => {
                let mut call = ToolCallPart::new(id, name, Json::from_text(self.held));
                call.extra = self.extra;
                Some(Part::ToolCall(call))
            }
            Kind::Text => says.then_some(Part::Text(text)),
            Kind::Reasoning => says.then_some(Part::Reasoning(text)),
        }
    }
}

impl Encoder {
    /// An encoder at the beginning of a reply.
    #[must_use]
    pub const fn new(stamp: Stamp) -> Self {
        Self {
            stamp,
            is_array: false,
            frames: 0,
            extra: None,
            written: BTreeMap::new(),
            usage: None,
            is_usage_news: false,
            parts: BTreeMap::new(),
            pending: None,
            reason: None,
            is_over: false,
            losses: Vec::new(),
        }
    }

    /// Whether to write one JSON array instead, as clients get that do not ask for `alt=sse`.
    #[must_use]
    pub const fn array(mut self, array: bool) -> Self {
        self.is_array = array;
        self
    }

    /// The frames of an event, if it has any.
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
        if !self.is_over && self.reason.is_none() {
            self.write_pending(&mut out);
        }
        (!out.is_empty()).then(|| Bytes::from(out))
    }

    /// The end of the stream: why the model stopped and the usage.
    ///
    /// If no event said that the reply is complete, it is an error, so that no client takes half a reply for a whole one.
    pub fn finish(&mut self) -> Bytes {
        if self.is_over {
            return Bytes::new();
        }
        let Some(reason) = self.reason.take() else {
            return self.fail(&cut_off("the reply broke off before it was complete"));
        };
        let mut out = Vec::new();
        for (index, part) in std::mem::take(&mut self.parts) {
            self.write_built(&mut out, index, part);
        }
        self.is_over = true;
        self.write_last(&mut out, &reason);
        if self.is_array {
            out.push(b']');
        }
        Bytes::from(out)
    }

    /// The end of a stream that failed: the error, and no reason. Nothing follows it.
    pub fn fail(&mut self, error: &Error) -> Bytes {
        let status = error::encode_error(error).status().as_u16();
        self.fail_with(&error::body(error, status))
    }

    /// The same with the [body](super::error_body) of an error.
    pub fn fail_with(&mut self, body: &[u8]) -> Bytes {
        if std::mem::replace(&mut self.is_over, true) {
            return Bytes::new();
        }
        let mut out = Vec::new();
        self.frame(&mut out, |out| out.extend_from_slice(body));
        if self.is_array {
            out.push(b']');
        }
        Bytes::from(out)
    }

    /// What the dialect had no place for, so far.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    fn write(&mut self, out: &mut Vec<u8>, event: &ModelEvent) {
        match event {
            ModelEvent::Start { id, model, extra } => self.start(out, id, model, extra.as_ref()),
            ModelEvent::PartStart { index, part } => self.part_start(out, *index, part),
            ModelEvent::PartExtra { index, extra } => {
                if let Some(part) = self.parts.get_mut(index) {
                    part.extra = Some(extra.clone());
                }
            }
            ModelEvent::PartDelta { index, delta } => self.part_delta(out, *index, delta),
            ModelEvent::PartEnd { index, extra } => self.part_end(out, *index, extra.as_ref()),
            ModelEvent::Usage { usage } => {
                self.usage = Some(*usage);
                self.is_usage_news = true;
            }
            ModelEvent::Finish { reason } => self.reason = Some(reason.clone()),
            ModelEvent::MessageExtra { extra } => {
                if !open(Some(extra), &[], &mut self.losses_at("message")).is_empty() {
                    self.lose(LossRule::Extra, "message");
                }
            }
            ModelEvent::Other { json } => self.other(out, json),
            _ => self.lose(LossRule::PartInReply, "event"),
        }
    }

    /// A later start may bring fields that belong to the parts after it.
    fn start(
        &mut self,
        out: &mut Vec<u8>,
        id: &Option<Str>,
        model: &Option<Str>,
        extra: Option<&Json>,
    ) {
        self.stamp.id = id.clone().unwrap_or_else(|| self.stamp.id.clone());
        self.stamp.model = model.clone().unwrap_or_else(|| self.stamp.model.clone());
        let Some(extra) = extra.filter(|extra| self.extra.as_ref() != Some(*extra)) else { return };
        if self.reason.is_none() && self.frames > 0 {
            self.write_pending(out);
        }
        let mut all = Vec::new();
        drop(open(Some(extra), &[], &mut Losses { place: "reply".into(), all: &mut all }));
        all.retain(|loss| !self.losses.contains(loss));
        self.losses.extend(all);
        self.extra = Some(extra.clone());
    }

    fn part_start(&mut self, out: &mut Vec<u8>, index: u32, start: &PartStart) {
        if let (PartStart::ToolCall { id, name }, Some(part)) = (start, self.parts.get_mut(&index))
        {
            return part.name(id.as_ref(), name.as_ref());
        }
        match start {
            PartStart::Whole(part) => self.whole(out, index, part),
            start => {
                if let Some(part) = Building::new(start) {
                    self.parts.entry(index).or_insert(part);
                }
            }
        }
    }

    fn part_delta(&mut self, out: &mut Vec<u8>, index: u32, delta: &PartDelta) {
        let start = match delta {
            PartDelta::Reasoning(_) => PartStart::Reasoning,
            PartDelta::ToolCall { .. } => PartStart::ToolCall { id: None, name: None },
            _ => PartStart::Text,
        };
        let Some(new) = Building::new(&start) else { return };
        let part = self.parts.entry(index).or_insert(new);
        if let PartDelta::ToolCall { id, name, .. } = delta {
            part.name(id.as_ref(), name.as_ref());
        }
        if part.is_held() {
            part.held.push_str(delta.text());
        } else if !delta.text().is_empty() {
            let text = TextPart { text: delta.text().clone(), extra: part.extra.clone() };
            let part = match part.kind {
                Kind::Reasoning => Part::Reasoning(text),
                _ => Part::Text(text),
            };
            self.whole(out, index, &part);
        }
    }

    fn part_end(&mut self, out: &mut Vec<u8>, index: u32, extra: Option<&Json>) {
        let Some(mut part) = self.parts.remove(&index) else { return };
        part.extra = extra.cloned().or(part.extra);
        self.write_built(out, index, part);
    }

    fn write_built(&mut self, out: &mut Vec<u8>, index: u32, part: Building) {
        let extra = part.extra.clone();
        match part.into_part() {
            Some(part) => self.whole(out, index, &part),
            None => self.note_foreign(index, extra.as_ref()),
        }
    }

    fn whole(&mut self, out: &mut Vec<u8>, index: u32, part: &Part) {
        let (mut all, mut text) = (Vec::new(), Vec::new());
        let mut losses = Losses { place: format!("part {index}"), all: &mut all };
        let fits = part::fits_reply(part, &mut losses);
        if fits {
            part::write(&mut text, part, &Calls::default(), &mut losses);
        }
        // Each piece of a text has the same fields.
        all.retain(|loss| !self.losses.contains(loss));
        self.losses.extend(all);
        if fits {
            self.write_pending(out);
            self.pending = Some(text);
        }
    }

    /// Fields of another dialect, which came after the text that they belong to.
    fn note_foreign(&mut self, index: u32, extra: Option<&Json>) {
        let mut all = Vec::new();
        let mut losses = Losses { place: format!("part {index}"), all: &mut all };
        drop(open(extra, &part::KNOWN, &mut losses));
        all.retain(|loss| !self.losses.contains(loss));
        self.losses.extend(all);
    }

    fn other(&mut self, out: &mut Vec<u8>, json: &Json) {
        let Some(fields) = Fields::parse(json.as_str()) else {
            return self.lose(LossRule::NotJson, "event");
        };
        // Events of other dialects have a type or a name of their own.
        if fields.get("type").is_some() || fields.get("choices").is_some() {
            return self.lose(LossRule::Foreign, "event");
        }
        self.write_pending(out);
        self.frame(out, |out| out.extend_from_slice(json.as_str().as_bytes()));
    }

    fn write_pending(&mut self, out: &mut Vec<u8>) {
        if let Some(part) = self.pending.take() {
            self.write_frame(out, Some(&part), None);
        }
    }

    fn write_last(&mut self, out: &mut Vec<u8>, reason: &FinishReason) {
        if !finish::is_known(reason) {
            self.lose(LossRule::FinishReason, "reply");
        }
        // Who reads only the last event finds the usage in it.
        self.is_usage_news = self.usage.is_some();
        let part = self.pending.take();
        self.write_frame(out, part.as_deref(), Some(reason));
    }

    fn write_frame(
        &mut self,
        out: &mut Vec<u8>,
        part: Option<&[u8]>,
        reason: Option<&FinishReason>,
    ) {
        let extra = self.extra.clone();
        let mut fields = peek(extra.as_ref());
        let kept = fields.take(candidate::FIELD);
        let list = kept.as_deref().and_then(items).unwrap_or_default();
        let first = list.first().and_then(|raw| Fields::parse(raw)).unwrap_or_default();
        let details = fields.take(usage::FIELD);
        let usage = self.usage.filter(|_| std::mem::take(&mut self.is_usage_news));
        let is_blocked = part.is_none()
            && reason == Some(&FinishReason::ContentFilter)
            && fields.get("promptFeedback").is_some()
            && first.get("finishReason").is_none();
        self.news(&mut fields, "");
        let name = reason.and_then(|reason| finish::name(reason, &first));
        let mut first = first;
        first.retain(|key, _| !["content", "finishReason", "index"].contains(&key));
        self.news(&mut first, "candidates.");
        let others = if self.frames == 0 { list.get(1..).unwrap_or_default() } else { &[] };
        let stamp = self.stamp.clone();
        self.frame(out, |out| {
            let mut object = Object::new(out, fields);
            if !is_blocked {
                let list = object.field(candidate::FIELD);
                list.push(b'[');
                write_candidate(list, first, part, name.as_deref());
                for other in others {
                    list.push(b',');
                    list.extend_from_slice(other.as_bytes());
                }
                list.push(b']');
            }
            if let Some(used) = &usage {
                usage::write(object.field(usage::FIELD), used, rest(details.as_ref()));
            }
            object.str("modelVersion", &stamp.model);
            object.str("responseId", &stamp.id);
            object.end();
        });
    }

    /// Leaves of fields those that were not written yet.
    fn news(&mut self, fields: &mut Fields<'_>, under: &str) {
        fields.retain(|key, raw| {
            let key = format!("{under}{key}");
            raw != NULL && self.written.insert(key, raw.to_owned()).as_deref() != Some(raw)
        });
    }

    /// Writes one event, or one item of the array.
    fn frame(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let is_first = self.frames == 0;
        self.frames = self.frames.saturating_add(1);
        if self.is_array {
            out.extend_from_slice(if is_first { b"[" } else { b",\r\n" });
            write(out);
        } else {
            frame(out, None, write);
        }
    }

    fn losses_at(&mut self, place: &str) -> Losses<'_> {
        Losses { place: place.into(), all: &mut self.losses }
    }

    fn lose(&mut self, rule: LossRule, place: &str) {
        self.losses_at(place).note(rule);
    }
}

fn write_candidate(
    out: &mut Vec<u8>,
    fields: Fields<'_>,
    part: Option<&[u8]>,
    reason: Option<&str>,
) {
    let mut object = Object::new(out, fields);
    if let Some(part) = part {
        let mut content = Object::new(object.field("content"), Fields::default());
        write_array(content.field("parts"), [part], |out, part| out.extend_from_slice(part));
        content.str("role", "model");
        content.end();
    }
    if let Some(reason) = reason {
        object.str("finishReason", reason);
    }
    object.raw("index", "0");
    object.end();
}
