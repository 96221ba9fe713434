//! Masks the texts inside messages, parts and blocks. Each function returns the masked copy, or nothing if there is
//! nothing to mask, so that untouched values keep their handles.

use std::borrow::Cow;

use tower_agent_detect::{Detector, Finding, Mask, StreamRedactor};

use super::{arguments::Opened, findings::Tally};
use crate::{
    Content, Conversation, Json, Message, Part, Resource, Str, TextPart, ToolCallPart,
    ToolResultPart,
};

/// A search through one value, which counts what it masks.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub(super) detector: &'a Detector,
    pub(super) mask: &'a Mask,
    /// What a tool was given and may repeat, in any context.
    pub(super) opened: &'a Opened,
    pub(super) tally: Tally,
}

/// Which parts of a message are looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Parts {
    /// Text, reasoning and parts of a dialect.
    pub(super) text: bool,
    /// The arguments of calls.
    pub(super) arguments: bool,
    /// The results of calls.
    pub(super) results: bool,
    /// Reasoning also where it carries a signature that an edit would spoil.
    pub(super) signed: bool,
}

/// Sets a field of a copy that is made when it is first needed.
macro_rules! set {
    ($copy:ident of $original:expr, $($field:tt).+ = $value:expr) => {
        if let Some(value) = $value {
            $copy.get_or_insert_with(|| $original.clone()).$($field).+ = value;
        }
    };
}

impl Walk<'_> {
    /// Text that is nothing else.
    pub(super) fn text(&mut self, text: &str) -> Option<Str> {
        let closed = self.opened.close(text, &mut self.tally);
        match self.found(closed.as_deref().unwrap_or(text)) {
            Some(masked) => Some(masked.into()),
            None => closed.map(Str::from),
        }
    }

    fn found(&mut self, text: &str) -> Option<String> {
        let findings = self.detector.find(text);
        if findings.is_empty() {
            return None;
        }
        let Cow::Owned(masked) = self.detector.mask_with(text, self.mask) else { return None };
        self.count(&findings);
        Some(masked)
    }

    /// Text that may be JSON.
    pub(super) fn data(&mut self, text: &str) -> Option<Str> {
        if text.trim_ascii_start().starts_with(['{', '[', '"']) {
            self.json_text(text).map(Str::from)
        } else {
            self.text(text)
        }
    }

    pub(super) fn json(&mut self, json: &Json) -> Option<Json> {
        self.json_text(json.as_str()).map(Json::from_text)
    }

    /// Text that should be JSON.
    pub(super) fn json_str(&mut self, text: &str) -> Option<Str> {
        self.json_text(text).map(Str::from)
    }

    fn json_text(&mut self, text: &str) -> Option<String> {
        let closed = self.opened.close_json(text, &mut self.tally);
        let text = closed.as_deref().unwrap_or(text);
        let tally = &mut self.tally;
        let masked = self.detector.mask_json(text, self.mask, &mut |rule| tally.count(rule.id()));
        let masked = match masked {
            Some(Cow::Owned(masked)) => Some(masked),
            Some(Cow::Borrowed(_)) => None,
            None => self.found(text),
        };
        masked.or(closed)
    }

    /// Masks a text that comes in pieces.
    pub(super) fn stream(&self) -> StreamRedactor {
        self.detector.stream(self.mask.clone())
    }

    pub(super) fn count(&mut self, findings: &[Finding]) {
        findings.iter().for_each(|finding| self.tally.count(finding.rule().id()));
    }

    /// A field that may be absent: the new value of the field, if there is one.
    pub(super) fn some_json(&mut self, json: Option<&Json>) -> Option<Option<Json>> {
        json.and_then(|json| self.json(json)).map(Some)
    }

    fn some_data(&mut self, text: Option<&Str>) -> Option<Option<Str>> {
        text.and_then(|text| self.data(text)).map(Some)
    }

    pub(super) fn conversation(
        &mut self,
        all: &Conversation,
        parts: Parts,
    ) -> Option<Conversation> {
        let masked = self.masked(all, |walk, message| walk.message(message, parts));
        edited(masked, || all.clone(), Conversation::make_mut)
    }

    pub(super) fn message(&mut self, message: &Message, parts: Parts) -> Option<Message> {
        let masked = self.masked(message.parts(), |walk, part| walk.part(part, parts));
        let mut copy = edited(masked, || message.clone(), Message::parts_mut);
        if parts.text
            && let Some(extra) = message.extra().and_then(|extra| self.extra(extra))
        {
            copy = Some(copy.unwrap_or_else(|| message.clone()).with_extra(Some(extra)));
        }
        copy
    }

    pub(super) fn part(&mut self, part: &Part, parts: Parts) -> Option<Part> {
        match part {
            Part::Text(text) if parts.text => {
                let text = self.text_part(text, |walk, text| walk.text(text));
                text.map(Part::Text)
            }
            Part::Reasoning(text) if parts.text && (parts.signed || text.extra.is_none()) => {
                let text = self.text_part(text, |walk, text| walk.text(text));
                text.map(Part::Reasoning)
            }
            Part::ToolCall(call) if parts.arguments => self.tool_call(call).map(Part::ToolCall),
            Part::ToolResult(result) if parts.results => {
                self.tool_result(result).map(Part::ToolResult)
            }
            Part::Opaque { json } if parts.text => {
                self.json(json).map(|json| Part::Opaque { json })
            }
            _ => None,
        }
    }

    fn text_part(
        &mut self,
        part: &TextPart,
        mask: impl Fn(&mut Self, &str) -> Option<Str>,
    ) -> Option<TextPart> {
        let mut copy = None;
        set!(copy of part, text = mask(self, &part.text));
        set!(copy of part, extra = self.some_json(part.extra.as_ref()));
        copy
    }

    fn tool_call(&mut self, call: &ToolCallPart) -> Option<ToolCallPart> {
        let mut copy = None;
        set!(copy of call, arguments = self.json(&call.arguments));
        copy
    }

    fn tool_result(&mut self, result: &ToolResultPart) -> Option<ToolResultPart> {
        let mut copy = None;
        set!(copy of result, content = self.contents(&result.content));
        set!(copy of result, structured = self.some_json(result.structured.as_ref()));
        copy
    }

    pub(super) fn contents(&mut self, blocks: &[Content]) -> Option<Vec<Content>> {
        let masked = self.masked(blocks, Self::content);
        edited(masked, || blocks.to_vec(), |blocks| blocks)
    }

    fn content(&mut self, block: &Content) -> Option<Content> {
        match block {
            Content::Text(part) => {
                self.text_part(part, |walk, text| walk.data(text)).map(Content::Text)
            }
            Content::Resource(resource) => self.resource(resource).map(Content::Resource),
            Content::ResourceLink(resource) => self.resource(resource).map(Content::ResourceLink),
            Content::Opaque { json } => self.json(json).map(|json| Content::Opaque { json }),
            _ => None,
        }
    }

    fn resource(&mut self, resource: &Resource) -> Option<Resource> {
        let mut copy = None;
        set!(copy of resource, uri = self.text(&resource.uri));
        set!(copy of resource, name = self.some_data(resource.name.as_ref()));
        set!(copy of resource, description = self.some_data(resource.description.as_ref()));
        set!(copy of resource, text = self.some_data(resource.text.as_ref()));
        set!(copy of resource, extra = self.some_json(resource.extra.as_ref()));
        copy
    }

    /// What was masked in a list, with the places.
    fn masked<T>(
        &mut self,
        items: &[T],
        mask: impl Fn(&mut Self, &T) -> Option<T>,
    ) -> Vec<(usize, T)> {
        let items = items.iter().enumerate();
        items.filter_map(|(place, item)| Some((place, mask(self, item)?))).collect()
    }
}

/// A copy of a list with some items replaced, if any are.
fn edited<L, T>(
    masked: Vec<(usize, T)>,
    copy: impl FnOnce() -> L,
    items: impl FnOnce(&mut L) -> &mut Vec<T>,
) -> Option<L> {
    if masked.is_empty() {
        return None;
    }
    let mut copy = copy();
    let items = items(&mut copy);
    for (place, new) in masked {
        if let Some(item) = items.get_mut(place) {
            *item = new;
        }
    }
    Some(copy)
}
