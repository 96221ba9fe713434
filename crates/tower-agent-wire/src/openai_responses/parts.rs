//! The parts of a streamed reply, as far as they have come.

use std::collections::BTreeMap;

use tower_agent_core::{CallId, Json, ModelEvent, Part, PartDelta, PartStart, Str, TextPart};

use super::{
    call, extra,
    item::{self, ITEM},
    message,
    place::Place,
    reasoning,
};
use crate::codec::{
    Flaw,
    raw::{Fields, string},
};

/// What text a delta adds to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Text,
    Refusal,
    Summary,
    Thought,
    Arguments,
    /// None: the part came at once.
    Whole,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    items: BTreeMap<u64, Item>,
    parts: BTreeMap<Place, Begun>,
    events: Vec<ModelEvent>,
    asks: bool,
}

#[derive(Clone, Debug, Default)]
struct Item {
    is_message: bool,
    /// Its own fields, until a part has told them.
    mark: Option<String>,
    is_over: bool,
}

#[derive(Clone, Debug)]
struct Begun {
    kind: Kind,
    length: usize,
    is_over: bool,
    /// The fields of the item that it began with.
    mark: Option<String>,
    /// Its own fields, once they are told; another part of the item that begins ends it.
    fields: Option<Option<Json>>,
    /// Whether a call's id and name are told.
    is_named: bool,
}

impl Parts {
    pub(super) fn take_events(&mut self) -> std::vec::IntoIter<ModelEvent> {
        std::mem::take(&mut self.events).into_iter()
    }

    /// Whether the model asks for a tool.
    pub(super) const fn asks(&self) -> bool {
        self.asks
    }

    /// Takes the beginning of an item, and says whether it is one that has parts.
    pub(super) fn item_begins(&mut self, at: u64, raw: &str) -> Result<bool, Flaw> {
        let mut fields = parse(raw)?;
        if self.items.contains_key(&at) {
            return Ok(true);
        }
        let kind = fields.take_str("type").unwrap_or_default();
        if call::shape(&kind).is_some() {
            self.items.insert(at, Item::default());
            return self.call_begins(Place::new(at, None, None)?, &kind, fields).map(|()| true);
        }
        let is_message = kind == "message";
        let is_marked = kind == "reasoning" || (is_message && self.follows_message(at));
        // What is still growing is told at the end.
        for key in ["role", "content", "summary", "status"] {
            fields.take(key);
        }
        let has_mark = is_marked || (is_message && !fields.is_empty());
        let mark = has_mark.then(|| fields.to_text());
        self.items.insert(at, Item { is_message, mark, is_over: false });
        Ok(is_message || kind == "reasoning")
    }

    fn follows_message(&self, at: u64) -> bool {
        self.items.range(..at).next_back().is_some_and(|(_, item)| item.is_message)
    }

    fn call_begins(&mut self, at: Place, kind: &str, mut fields: Fields<'_>) -> Result<(), Flaw> {
        if self.parts.contains_key(&at) {
            // Its arguments came first; the rest is told with its end.
            return Ok(());
        }
        let (id, name) = (fields.take_text("call_id"), fields.take_text("name"));
        let arguments = fields.take_text("arguments").or_else(|| fields.take_text("input"));
        for key in ["call_id", "name", "arguments", "input", "status"] {
            fields.take(key);
        }
        let is_named = id.is_some() && name.is_some();
        let start = PartStart::ToolCall { id: id.map(CallId::from), name };
        let extra = call::shape(kind).and_then(|shape| call::keep(&fields, shape));
        self.start(at, Kind::Arguments, start, extra);
        self.parts.entry(at).and_modify(|part| part.is_named = is_named);
        match arguments {
            Some(text) => self.delta(at, Kind::Arguments, text),
            None => Ok(()),
        }
    }

    fn start(&mut self, at: Place, kind: Kind, part: PartStart, extra: Option<Json>) {
        self.asks |= kind == Kind::Arguments;
        let begun =
            Begun { kind, length: 0, is_over: false, mark: None, fields: None, is_named: false };
        self.parts.insert(at, begun);
        let index = at.index();
        self.events.push(ModelEvent::PartStart { index, part });
        self.events.extend(extra.map(|extra| ModelEvent::PartExtra { index, extra }));
    }

    pub(super) fn part_begins(&mut self, at: Place, raw: &str) -> Result<(), Flaw> {
        let mut fields = parse(raw)?;
        let kind = match fields.get("type").and_then(string).as_deref() {
            Some("output_text") => Kind::Text,
            Some("refusal") => Kind::Refusal,
            Some("summary_text") => Kind::Summary,
            Some("reasoning_text") => Kind::Thought,
            _ => return Ok(()),
        };
        self.begin(at, kind);
        let text = fields.take_text("text").or_else(|| fields.take_text("refusal"));
        text.map_or(Ok(()), |text| self.delta(at, kind, text))
    }

    fn begin(&mut self, at: Place, kind: Kind) {
        if self.parts.contains_key(&at) {
            return;
        }
        self.end_told(at.item);
        let mut extra = Fields::default();
        match kind {
            Kind::Refusal => extra.set("type", "\"refusal\""),
            Kind::Thought => extra.set("type", "\"reasoning_text\""),
            _ => {}
        }
        let mark = self.items.get_mut(&at.item).and_then(|item| item.mark.take());
        if let Some(mark) = &mark {
            extra.set(ITEM, mark.clone());
        }
        let start = match kind {
            Kind::Text | Kind::Refusal => PartStart::Text,
            Kind::Summary | Kind::Thought => PartStart::Reasoning,
            Kind::Arguments | Kind::Whole => PartStart::ToolCall { id: None, name: None },
        };
        self.start(at, kind, start, extra::keep(&extra));
        self.parts.entry(at).and_modify(|part| part.mark = mark);
    }

    /// Takes what is told of a part that is complete.
    pub(super) fn part_ends_as(&mut self, at: Place, raw: &str) -> Result<(), Flaw> {
        let Some(begun) = self.parts.get_mut(&at).filter(|part| !part.is_over) else {
            return Ok(());
        };
        let Some(part) = begun.read(raw) else { return Ok(()) };
        begun.fields = Some(part.extra);
        let kind = begun.kind;
        self.rest(at, kind, &part.text)
    }

    /// Ends the parts of an item that are told to their end, since another one begins.
    fn end_told(&mut self, item: u64) {
        if !self.items.contains_key(&item) {
            return;
        }
        for (place, part) in self.parts.range_mut(Place::all_of(item)) {
            if let Some(extra) = part.fields.take().filter(|_| !part.is_over) {
                part.is_over = true;
                self.events.push(ModelEvent::PartEnd { index: place.index(), extra });
            }
        }
    }

    pub(super) fn delta(&mut self, at: Place, kind: Kind, text: Str) -> Result<(), Flaw> {
        self.begin(at, kind);
        let part = self.parts.get_mut(&at).filter(|part| part.kind == kind && !part.is_over);
        let part = part.ok_or_else(|| Flaw::new("delta", "does not fit the part that it names"))?;
        part.length += text.len();
        let delta = match kind {
            Kind::Text | Kind::Refusal => PartDelta::Text(text),
            Kind::Summary | Kind::Thought => PartDelta::Reasoning(text),
            Kind::Arguments | Kind::Whole => PartDelta::arguments(text),
        };
        self.events.push(ModelEvent::PartDelta { index: at.index(), delta });
        Ok(())
    }

    /// Adds what a whole text has beyond its pieces.
    pub(super) fn rest(&mut self, at: Place, kind: Kind, whole: &str) -> Result<(), Flaw> {
        let part = self.parts.get(&at);
        if part.is_some_and(|part| part.is_over) {
            return Ok(());
        }
        match whole.get(part.map_or(0, |part| part.length)..) {
            Some(rest) if !rest.is_empty() => self.delta(at, kind, rest.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn item_ends(&mut self, at: u64, raw: &str) -> Result<(), Flaw> {
        let mut parts = item::read(raw)?;
        let follows = self.follows_message(at);
        let item = self.items.entry(at).or_default();
        if std::mem::replace(&mut item.is_over, true) {
            return Ok(());
        }
        item.is_message = matches!(parts.first(), Some(Part::Text(_)));
        if item.is_message && follows {
            // As in a whole reply: two messages in a row stay two.
            let mut both = vec![Part::text("")];
            item::push(&mut both, parts);
            parts = both.split_off(1);
        }
        let (mut summaries, mut contents) = (0, 0);
        for part in parts {
            let place = if is_summary(&part) {
                summaries += 1;
                Place::new(at, Some(summaries - 1), None)?
            } else {
                contents += 1;
                Place::new(at, None, Some(contents - 1))?
            };
            self.part_ends(place, &part)?;
        }
        self.close(at);
        Ok(())
    }

    fn part_ends(&mut self, at: Place, part: &Part) -> Result<(), Flaw> {
        let index = at.index();
        let (kind, text, extra) = said_by(part);
        match self.parts.get(&at) {
            None => self.start(at, kind, start_of(part), extra.clone()),
            Some(begun) if begun.kind != kind => {
                return Err(Flaw::new("item", "is of another kind than its parts before"));
            }
            Some(begun) if !begun.is_named => self.events.extend(names_of(index, part)),
            Some(_) => {}
        }
        self.rest(at, kind, &text)?;
        if let Some(part) = self.parts.get_mut(&at)
            && !std::mem::replace(&mut part.is_over, true)
        {
            self.events.push(ModelEvent::PartEnd { index, extra });
        }
        Ok(())
    }

    /// Ends what no item ended.
    pub(super) fn end(&mut self) {
        for (place, part) in &mut self.parts {
            self.events.extend(part.end(*place));
        }
    }

    fn close(&mut self, item: u64) {
        for (place, part) in self.parts.range_mut(Place::all_of(item)) {
            self.events.extend(part.end(*place));
        }
    }
}

impl Begun {
    /// The part with its own fields, and those of its item that a stream does not say anew.
    fn read(&self, raw: &str) -> Option<TextPart> {
        let mut part = match self.kind {
            Kind::Text | Kind::Refusal => message::read_text(raw, self.mark.is_some())?,
            Kind::Summary => reasoning::read_entry(raw, "summary_text")?,
            Kind::Thought => reasoning::read_entry(raw, "reasoning_text")?,
            Kind::Arguments | Kind::Whole => return None,
        };
        if let Some(mark) = &self.mark {
            let mut rest = Fields::parse(mark).unwrap_or_default();
            item::LATE.iter().for_each(|key| drop(rest.take(key)));
            item::mark(&mut part, &rest);
        }
        Some(part)
    }

    fn end(&mut self, place: Place) -> Option<ModelEvent> {
        let is_over = std::mem::replace(&mut self.is_over, true);
        (!is_over).then(|| ModelEvent::PartEnd { index: place.index(), extra: None })
    }
}

/// The kind of a part, its text and its fields.
fn said_by(part: &Part) -> (Kind, Str, Option<Json>) {
    match part {
        Part::Text(text) => {
            let is_refusal = message::is_refusal(text.extra.as_ref());
            let kind = if is_refusal { Kind::Refusal } else { Kind::Text };
            (kind, text.text.clone(), text.extra.clone())
        }
        Part::Reasoning(text) => {
            let kind = if is_summary(part) { Kind::Summary } else { Kind::Thought };
            (kind, text.text.clone(), text.extra.clone())
        }
        Part::ToolCall(call) => {
            (Kind::Arguments, call.arguments.as_str().into(), call.extra.clone())
        }
        _ => (Kind::Whole, Str::default(), None),
    }
}

fn start_of(part: &Part) -> PartStart {
    match part {
        Part::Text(_) => PartStart::Text,
        Part::Reasoning(_) => PartStart::Reasoning,
        Part::ToolCall(call) => {
            PartStart::ToolCall { id: Some(call.id.clone()), name: Some(call.name.clone()) }
        }
        whole => PartStart::Whole(whole.clone()),
    }
}

/// The id and the name of a call, where its start did not have them.
fn names_of(index: u32, part: &Part) -> Option<ModelEvent> {
    let Part::ToolCall(call) = part else { return None };
    let (id, name) = (Some(call.id.clone()), Some(call.name.clone()));
    let delta = PartDelta::ToolCall { id, name, arguments: Str::default() };
    Some(ModelEvent::PartDelta { index, delta })
}

fn parse(raw: &str) -> Result<Fields<'_>, Flaw> {
    Fields::parse(raw).ok_or_else(|| Flaw::new("item", "must be an object"))
}

fn is_summary(part: &Part) -> bool {
    matches!(part, Part::Reasoning(text) if !reasoning::is_thought(text.extra.as_ref()))
}
