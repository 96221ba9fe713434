use std::collections::{BTreeMap, btree_map::Entry};

use crate::{
    CallId, Error, ErrorKind, FinishReason, Json, Message, ModelEvent, Part, PartDelta, PartStart,
    Reply, Role, Str, TextPart, ToolCallPart, Usage,
};

/// Puts a reply together from its events.
///
/// ```
/// use tower_agent_core::{Collector, FinishReason, ModelEvent, PartDelta};
///
/// let mut collector = Collector::new();
/// for piece in ["Hel", "lo"] {
///     collector.push(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(piece.into()) }).unwrap();
/// }
/// assert!(collector.clone().finish().is_err(), "half a reply is never taken for a whole one");
///
/// collector.push(ModelEvent::Finish { reason: FinishReason::Stop }).unwrap();
/// assert_eq!(collector.finish().unwrap().message.text(), "Hello");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Collector {
    id: Option<Str>,
    model: Option<Str>,
    extra: Option<Json>,
    message_extra: Option<Json>,
    parts: BTreeMap<u32, Building>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    other: Vec<Json>,
}

#[derive(Clone, Debug)]
struct Building {
    kind: Kind,
    text: String,
    extra: Option<Json>,
}

#[derive(Clone, Debug)]
enum Kind {
    Text,
    Reasoning,
    ToolCall { id: CallId, name: Str },
    Whole(Part),
}

impl Collector {
    /// Waits for the first event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when a delta does not fit the part that it claims to continue, or when another part
    /// begins under the index of one that has begun: two parts are never merged.
    pub fn push(&mut self, event: ModelEvent) -> Result<(), Error> {
        match event {
            ModelEvent::Start { id, model, extra } => {
                self.id = id.or(self.id.take());
                self.model = model.or(self.model.take());
                self.extra = extra.or(self.extra.take());
            }
            ModelEvent::PartStart { index, part } => match self.parts.entry(index) {
                Entry::Vacant(vacant) => {
                    vacant.insert(Building::new(part));
                }
                Entry::Occupied(mut begun) => begun.get_mut().start_again(index, part)?,
            },
            ModelEvent::PartDelta { index, delta } => {
                let part = self.parts.entry(index).or_insert_with(|| Building::of_delta(&delta));
                part.push(index, &delta)?;
            }
            ModelEvent::PartExtra { index, extra } => {
                if let Some(part) = self.parts.get_mut(&index) {
                    part.extra = Some(extra);
                }
            }
            ModelEvent::PartEnd { index, extra } => {
                if let Some(part) = self.parts.get_mut(&index) {
                    part.extra = extra.or(part.extra.take());
                }
            }
            ModelEvent::MessageExtra { extra } => self.message_extra = Some(extra),
            ModelEvent::Usage { usage } => self.usage = Some(usage),
            ModelEvent::Finish { reason } => self.finish = Some(reason),
            ModelEvent::Other { json } => self.other.push(json),
        }
        Ok(())
    }

    /// The usage so far.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// The whole reply.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when no event said that the reply is complete.
    pub fn finish(self) -> Result<Reply, Error> {
        let Some(finish) = self.finish else {
            return Err(Error::new(
                ErrorKind::Protocol,
                "the reply broke off before it was complete",
            )
            .with_model_text("The model's reply broke off before it was complete."));
        };
        let parts = self.parts.into_values().map(Building::build).collect();
        Ok(Reply {
            id: self.id,
            model: self.model,
            message: Message::new(Role::Assistant, parts).with_extra(self.message_extra),
            finish,
            usage: self.usage,
            extra: self.extra,
            other: self.other,
        })
    }
}

impl Building {
    fn new(start: PartStart) -> Self {
        let kind = match start {
            PartStart::Text => Kind::Text,
            PartStart::Reasoning => Kind::Reasoning,
            PartStart::ToolCall { id, name } => {
                Kind::ToolCall { id: id.unwrap_or_default(), name: name.unwrap_or_default() }
            }
            PartStart::Whole(part) => Kind::Whole(part),
        };
        Self { kind, text: String::new(), extra: None }
    }

    fn of_delta(delta: &PartDelta) -> Self {
        Self::new(match delta {
            PartDelta::Text(_) => PartStart::Text,
            PartDelta::Reasoning(_) => PartStart::Reasoning,
            PartDelta::ToolCall { .. } => PartStart::ToolCall { id: None, name: None },
        })
    }

    /// A start that comes late or twice says the same again, or what was not known before.
    fn start_again(&mut self, index: u32, start: PartStart) -> Result<(), Error> {
        match (&mut self.kind, start) {
            (Kind::Text, PartStart::Text) | (Kind::Reasoning, PartStart::Reasoning) => Ok(()),
            (Kind::ToolCall { id, name }, PartStart::ToolCall { id: late_id, name: late_name }) => {
                let same = late_id
                    .as_ref()
                    .is_none_or(|late| late.is_empty() || id.is_empty() || late == id);
                if !same {
                    return Err(Self::misfit(index, "another call begins under its index"));
                }
                Self::complete(id, name, late_id.as_ref(), late_name.as_ref());
                Ok(())
            }
            (Kind::Whole(part), PartStart::Whole(again)) if *part == again => Ok(()),
            _ => Err(Self::misfit(index, "another part begins under its index")),
        }
    }

    /// The first id and the first name that are not empty count.
    fn complete(
        id: &mut CallId,
        name: &mut Str,
        late_id: Option<&CallId>,
        late_name: Option<&Str>,
    ) {
        if let Some(late) = late_id.filter(|_| id.is_empty()) {
            *id = late.clone();
        }
        if let Some(late) = late_name.filter(|_| name.is_empty()) {
            *name = late.clone();
        }
    }

    fn misfit(index: u32, what: &str) -> Error {
        Error::new(ErrorKind::Protocol, format!("part {index} of the reply: {what}"))
    }

    fn push(&mut self, index: u32, delta: &PartDelta) -> Result<(), Error> {
        match (&mut self.kind, delta) {
            (Kind::Text, PartDelta::Text(_)) | (Kind::Reasoning, PartDelta::Reasoning(_)) => {}
            (
                Kind::ToolCall { id, name },
                PartDelta::ToolCall { id: late_id, name: late_name, .. },
            ) => {
                Self::complete(id, name, late_id.as_ref(), late_name.as_ref());
            }
            _ => return Err(Self::misfit(index, "a delta does not fit its kind")),
        }
        self.text.push_str(delta.text());
        Ok(())
    }

    fn build(self) -> Part {
        let Self { kind, text, extra } = self;
        match kind {
            Kind::Text => Part::Text(TextPart { text: text.into(), extra }),
            Kind::Reasoning => Part::Reasoning(TextPart { text: text.into(), extra }),
            Kind::ToolCall { id, name } => {
                Part::ToolCall(ToolCallPart { id, name, arguments: Json::from_text(text), extra })
            }
            Kind::Whole(part) => part,
        }
    }
}
