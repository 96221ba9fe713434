//! The parts of a streamed reply, as far as they have come.

use std::collections::{BTreeMap, btree_map::Entry};

use tower_agent_core::{CallId, Json, ModelEvent, Part, PartDelta, PartStart, Str};

use super::{
    call,
    item::{self, ITEM},
    place::Place,
    reasoning,
};
use crate::codec::{
    Flaw,
    raw::{Fields, string},
};

/// What text a delta adds to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Text {
    Answer,
    Refusal,
    Summary,
    Thought,
    Arguments,
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
    kind: Text,
    length: usize,
    is_over: bool,
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

    pub(super) fn item_begins(&mut self, at: u64, raw: &str) -> Result<(), Flaw> {
        let mut fields = parse(raw)?;
        if self.items.contains_key(&at) {
            return Ok(());
        }
        let kind = fields.take_str("type").unwrap_or_default();
        if call::shape(&kind).is_some() {
            self.items.insert(at, Item::default());
            return self.call_begins(Place::new(at, None, None)?, &kind, fields);
        }
        let is_message = kind == "message";
        let is_marked = kind == "reasoning" || (is_message && self.follows_message(at));
        // What is still growing is told at the end.
        for key in ["role", "content", "summary", "encrypted_content", "status"] {
            fields.take(key);
        }
        let has_mark = is_marked || (is_message && !fields.is_empty());
        let mark = has_mark.then(|| fields.to_text());
        self.items.insert(at, Item { is_message, mark, is_over: false });
        Ok(())
    }

    fn follows_message(&self, at: u64) -> bool {
        self.items.range(..at).next_back().is_some_and(|(_, item)| item.is_message)
    }

    fn call_begins(&mut self, at: Place, kind: &str, mut fields: Fields<'_>) -> Result<(), Flaw> {
        let (id, name) = (fields.take_text("call_id"), fields.take_text("name"));
        let arguments = fields.take_text("arguments").or_else(|| fields.take_text("input"));
        for key in ["call_id", "name", "arguments", "input", "status"] {
            fields.take(key);
        }
        if kind != "function_call" {
            fields.set("type", format!("\"{kind}\""));
        }
        let is_named = id.is_some() && name.is_some();
        let start = PartStart::ToolCall { id: id.map(CallId::from), name };
        self.start(at, Text::Arguments, start, fields.to_extra());
        self.parts.entry(at).and_modify(|part| part.is_named = is_named);
        match arguments {
            Some(text) => self.delta(at, Text::Arguments, text),
            None => Ok(()),
        }
    }

    fn start(&mut self, at: Place, kind: Text, part: PartStart, extra: Option<Json>) {
        self.asks |= kind == Text::Arguments;
        let begun = Begun { kind, length: 0, is_over: false, is_named: false };
        self.parts.insert(at, begun);
        let index = at.index();
        self.events.push(ModelEvent::PartStart { index, part });
        self.events.extend(extra.map(|extra| ModelEvent::PartExtra { index, extra }));
    }

    pub(super) fn part_begins(&mut self, at: Place, raw: &str) -> Result<(), Flaw> {
        let mut fields = parse(raw)?;
        let kind = match fields.get("type").and_then(string).as_deref() {
            Some("output_text") => Text::Answer,
            Some("refusal") => Text::Refusal,
            Some("summary_text") => Text::Summary,
            Some("reasoning_text") => Text::Thought,
            _ => return Ok(()),
        };
        self.begin(at, kind);
        let text = fields.take_text("text").or_else(|| fields.take_text("refusal"));
        text.map_or(Ok(()), |text| self.delta(at, kind, text))
    }

    fn begin(&mut self, at: Place, kind: Text) {
        if self.parts.contains_key(&at) {
            return;
        }
        let mut extra = Fields::default();
        match kind {
            Text::Refusal => extra.set("type", "\"refusal\""),
            Text::Thought => extra.set("type", "\"reasoning_text\""),
            _ => {}
        }
        if let Some(mark) = self.items.get_mut(&at.item).and_then(|item| item.mark.take()) {
            extra.set(ITEM, mark);
        }
        let start = match kind {
            Text::Answer | Text::Refusal => PartStart::Text,
            Text::Summary | Text::Thought => PartStart::Reasoning,
            Text::Arguments => PartStart::ToolCall { id: None, name: None },
        };
        self.start(at, kind, start, extra.to_extra());
    }

    pub(super) fn delta(&mut self, at: Place, kind: Text, text: Str) -> Result<(), Flaw> {
        self.begin(at, kind);
        let part = self.parts.get_mut(&at).filter(|part| part.kind == kind && !part.is_over);
        let part = part.ok_or_else(|| Flaw::new("delta", "does not fit the part that it names"))?;
        part.length += text.len();
        let delta = match kind {
            Text::Answer | Text::Refusal => PartDelta::Text(text),
            Text::Summary | Text::Thought => PartDelta::Reasoning(text),
            Text::Arguments => PartDelta::arguments(text),
        };
        self.events.push(ModelEvent::PartDelta { index: at.index(), delta });
        Ok(())
    }

    /// Adds what a whole text has beyond its pieces.
    pub(super) fn rest(&mut self, at: Place, kind: Text, whole: &str) -> Result<(), Flaw> {
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
            self.part_ends(place, part)?;
        }
        self.close(|place| place.item == at);
        Ok(())
    }

    fn part_ends(&mut self, at: Place, part: Part) -> Result<(), Flaw> {
        let index = at.index();
        let (kind, text, extra) = match &part {
            Part::Text(text) if is_refusal(text.extra.as_ref()) => {
                (Text::Refusal, text.text.clone(), text.extra.clone())
            }
            Part::Text(text) => (Text::Answer, text.text.clone(), text.extra.clone()),
            Part::Reasoning(text) if is_summary(&part) => {
                (Text::Summary, text.text.clone(), text.extra.clone())
            }
            Part::Reasoning(text) => (Text::Thought, text.text.clone(), text.extra.clone()),
            Part::ToolCall(call) => {
                (Text::Arguments, call.arguments.as_str().into(), call.extra.clone())
            }
            _ => {
                self.events.push(ModelEvent::PartStart { index, part: PartStart::Whole(part) });
                self.events.push(ModelEvent::PartEnd { index, extra: None });
                return Ok(());
            }
        };
        if let Entry::Vacant(_) = self.parts.entry(at) {
            let start = match &part {
                Part::ToolCall(call) => {
                    PartStart::ToolCall { id: Some(call.id.clone()), name: Some(call.name.clone()) }
                }
                Part::Reasoning(_) => PartStart::Reasoning,
                _ => PartStart::Text,
            };
            self.start(at, kind, start, extra.clone());
        } else if let Part::ToolCall(call) = &part
            && self.parts.get(&at).is_some_and(|part| !part.is_named)
        {
            let (id, name) = (Some(call.id.clone()), Some(call.name.clone()));
            let delta = PartDelta::ToolCall { id, name, arguments: Str::default() };
            self.events.push(ModelEvent::PartDelta { index, delta });
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
        self.close(|_| true);
    }

    fn close(&mut self, is_meant: impl Fn(Place) -> bool) {
        for (place, part) in &mut self.parts {
            if is_meant(*place) && !std::mem::replace(&mut part.is_over, true) {
                self.events.push(ModelEvent::PartEnd { index: place.index(), extra: None });
            }
        }
    }
}

fn parse(raw: &str) -> Result<Fields<'_>, Flaw> {
    Fields::parse(raw).ok_or_else(|| Flaw::new("item", "must be an object"))
}

fn is_summary(part: &Part) -> bool {
    matches!(part, Part::Reasoning(text) if !reasoning::is_thought(text.extra.as_ref()))
}

fn is_refusal(extra: Option<&Json>) -> bool {
    super::message::is_refusal(extra)
}
