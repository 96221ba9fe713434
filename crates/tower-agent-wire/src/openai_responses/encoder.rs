use bytes::Bytes;
use tower_agent_core::{Error, FinishReason, Json, ModelEvent, Part, PartDelta, PartStart, Usage};

use super::{
    Stamp,
    finish::{self, Ending},
    message,
    output::Output,
    reply::{Response, take_refusal},
};
use crate::{
    Loss, LossRule,
    codec::{
        Losses, cut_off,
        raw::{Fields, string},
    },
    openai_error as error,
};

/// Writes a streamed reply for a client, event by event, as frames of server-sent events.
///
/// ```
/// use tower_agent_core::{Message, Reply};
/// use tower_agent_wire::openai_responses::{Encoder, Stamp};
///
/// let mut encoder = Encoder::new(Stamp::new("resp_1", "demo", 1_700_000_000));
/// let mut body = String::new();
/// for event in Reply::new(Message::assistant("Hi")).into_events() {
///     let frame = encoder.encode(&event).unwrap_or_default();
///     body.push_str(std::str::from_utf8(&frame)?);
/// }
/// let end = encoder.finish();
/// assert!(body.starts_with("event: response.created\n"));
/// assert!(body.contains(r#""delta":"Hi""#));
/// assert!(end.starts_with(b"event: response.completed\n"));
/// # Ok::<(), std::str::Utf8Error>(())
/// ```
///
/// The last event holds the whole reply, so the encoder keeps what it wrote. The start of a part waits for the event after
/// it, which may name the item's id; [`flush`](Self::flush) writes it when nothing more is there for now.
#[derive(Clone, Debug)]
pub struct Encoder {
    stamp: Stamp,
    extra: Option<Json>,
    output: Output,
    begun: Option<(u32, PartStart)>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    is_open: bool,
    is_over: bool,
    losses: Vec<Loss>,
}

impl Encoder {
    /// An encoder at the beginning of a reply.
    #[must_use]
    pub fn new(stamp: Stamp) -> Self {
        Self {
            stamp,
            extra: None,
            output: Output::default(),
            begun: None,
            usage: None,
            finish: None,
            is_open: false,
            is_over: false,
            losses: Vec::new(),
        }
    }

    /// The frames of an event, if it has any.
    pub fn encode(&mut self, event: &ModelEvent) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        if let ModelEvent::Start { .. } = event {
            self.restart(event);
        }
        self.open();
        self.write(event);
        self.take()
    }

    /// The start of a part that waits for fields, once nothing more is there for now.
    pub fn flush(&mut self) -> Option<Bytes> {
        self.begin(None);
        self.take()
    }

    /// The end of the stream: `response.completed`, or `response.incomplete` with its reason.
    ///
    /// If no event said that the reply is complete, it is an error frame, so that no client takes half a reply
    /// for a whole one.
    pub fn finish(&mut self) -> Bytes {
        if self.is_over {
            return Bytes::new();
        }
        let Some(reason) = self.finish.take() else {
            return self.fail(&cut_off("the reply broke off before it was complete"));
        };
        self.is_over = true;
        let mut losses = Losses { place: "reply".into(), all: &mut self.losses };
        let ending = finish::of(&reason, self.extra.as_ref(), &mut losses);
        self.response(ending.event(), Some(&ending));
        self.take().unwrap_or_default()
    }

    /// The end of a stream that failed. Nothing follows it.
    pub fn fail(&mut self, error: &Error) -> Bytes {
        let body = String::from_utf8(error::body(error)).unwrap_or_default();
        self.fail_with(&body)
    }

    /// The end of a stream that failed, with the body that a host answers errors with: `{"error": {..}}`.
    ///
    /// The fields of the error stand in the event as well, which is where newer clients look.
    pub fn fail_with(&mut self, body: &str) -> Bytes {
        if std::mem::replace(&mut self.is_over, true) {
            return Bytes::new();
        }
        self.begun = None;
        let fields = Fields::parse(body).unwrap_or_default();
        let error = fields.get("error").unwrap_or("{}").to_owned();
        let inner = Fields::parse(&error).unwrap_or_default();
        self.output.frames.with("error", fields, |event| {
            for key in ["code", "message", "param"] {
                event.raw(key, inner.get(key).unwrap_or("null"));
            }
        });
        self.take().unwrap_or_default()
    }

    /// What the dialect had no place for, so far.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    fn take(&mut self) -> Option<Bytes> {
        let out = std::mem::take(&mut self.output.frames.out);
        (!out.is_empty()).then(|| Bytes::from(out))
    }

    /// A later start may bring fields that came late; the id that was told first counts.
    fn restart(&mut self, event: &ModelEvent) {
        if let ModelEvent::Start { id, model, extra } = event {
            if let Some(id) = id.as_ref().filter(|_| !self.is_open) {
                self.stamp.id = id.clone();
            }
            if let Some(model) = model {
                self.stamp.model = model.clone();
            }
            self.extra = extra.clone().or_else(|| self.extra.take());
        }
    }

    fn open(&mut self) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.output.begin(&self.stamp.id);
            self.response("response.created", None);
            self.response("response.in_progress", None);
        }
    }

    fn response(&mut self, kind: &str, ending: Option<&Ending>) {
        let response = Response {
            id: &self.stamp.id,
            model: &self.stamp.model,
            created: self.stamp.created,
            extra: self.extra.as_ref(),
            ending,
            usage: self.usage.as_ref().filter(|_| ending.is_some()),
        };
        // What is lost is told once, with the last event.
        let mut unsaid = Vec::new();
        let all = if ending.is_some() { &mut self.losses } else { &mut unsaid };
        let mut losses = Losses { place: "reply".into(), all };
        let mut json = Vec::new();
        response.write(&mut json, self.output.items(), &mut losses);
        self.output.frames.event(kind, |event| {
            event.field("response").extend_from_slice(&json);
        });
    }

    /// Writes the start of a part, with the fields that came right after it.
    fn begin(&mut self, extra: Option<&Json>) {
        if let Some((index, part)) = self.begun.take() {
            self.output.start(index, &part, extra);
        }
    }

    fn write(&mut self, event: &ModelEvent) {
        if let ModelEvent::PartExtra { index, extra } = event
            && self.begun.as_ref().is_some_and(|(begun, _)| begun == index)
        {
            return self.begin(Some(extra));
        }
        self.begin(None);
        match event {
            ModelEvent::PartStart { index, part: PartStart::Whole(part) } => {
                self.whole(*index, part);
            }
            ModelEvent::PartStart { index, part } => self.begun = Some((*index, part.clone())),
            ModelEvent::PartDelta { index, delta } => self.delta(*index, delta),
            ModelEvent::PartEnd { index, extra } => self.end(*index, extra.as_ref()),
            ModelEvent::MessageExtra { extra } => self.message_extra(extra),
            ModelEvent::Usage { usage } => self.usage = Some(*usage),
            ModelEvent::Finish { reason } => {
                self.finish = Some(reason.clone());
                let mut losses = Losses { place: "reply".into(), all: &mut self.losses };
                self.output.finish(&mut losses);
            }
            ModelEvent::Other { json } => self.other(json),
            ModelEvent::Start { .. } | ModelEvent::PartExtra { .. } => {}
            _ => self.losses_at("event").note(LossRule::PartInReply),
        }
    }

    /// A delta of a part that did not begin begins it.
    fn delta(&mut self, index: u32, delta: &PartDelta) {
        if !self.output.has(index) {
            let part = match delta {
                PartDelta::Reasoning(_) => PartStart::Reasoning,
                PartDelta::ToolCall { .. } => PartStart::ToolCall { id: None, name: None },
                _ => PartStart::Text,
            };
            self.output.start(index, &part, None);
        }
        if let PartDelta::ToolCall { id, name, .. } = delta {
            self.output.name(index, id.as_ref(), name.as_ref());
        }
        self.output.add(index, delta.text());
    }

    fn end(&mut self, index: u32, extra: Option<&Json>) {
        let mut losses = Losses { place: format!("part {index}"), all: &mut self.losses };
        self.output.end(index, extra, &mut losses);
    }

    fn whole(&mut self, index: u32, part: &Part) {
        let (start, text, extra) = match part {
            Part::Text(part) => (PartStart::Text, part.text.as_str(), &part.extra),
            Part::Reasoning(part) => (PartStart::Reasoning, part.text.as_str(), &part.extra),
            Part::ToolCall(call) => {
                let (id, name) = (Some(call.id.clone()), Some(call.name.clone()));
                (PartStart::ToolCall { id, name }, call.arguments.as_str(), &call.extra)
            }
            Part::Opaque { json } if Fields::parse(json.as_str()).is_some() => {
                return self.output.whole(json);
            }
            Part::Opaque { .. } => {
                return self.losses_at(&format!("part {index}")).note(LossRule::NotJson);
            }
            _ => return self.losses_at(&format!("part {index}")).note(LossRule::PartInReply),
        };
        self.output.start(index, &start, extra.as_ref());
        if !text.is_empty() {
            self.output.add(index, text);
        }
        self.end(index, extra.as_ref());
    }

    /// A refusal that another dialect keeps beside the content.
    fn message_extra(&mut self, extra: &Json) {
        let mut losses = Losses { place: "message".into(), all: &mut self.losses };
        if let Some(refusal) = take_refusal(Some(extra), &mut losses) {
            self.whole(u32::MAX, &Part::Text(message::refusal(refusal)));
        }
    }

    /// Only an event of this dialect means anything to its clients.
    fn other(&mut self, json: &Json) {
        let fields = Fields::parse(json.as_str()).unwrap_or_default();
        let kind = fields.get("type").and_then(string);
        match kind.filter(|kind| kind.starts_with("response.")) {
            Some(kind) => self.output.other(&kind, fields),
            None => self.losses_at("event").note(LossRule::Foreign),
        }
    }

    fn losses_at(&mut self, place: &str) -> Losses<'_> {
        Losses { place: place.into(), all: &mut self.losses }
    }
}
