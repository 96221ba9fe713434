//! The output of a streamed reply, item by item.

mod at_once;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use tower_agent_core::{CallId, Json, Part, PartStart, Str, ToolCallPart};

use super::{
    call, extra,
    form::{self, Form},
    frames::{Frames, address},
    growing::Growing,
    item::{self, ITEM, Reader},
};
use crate::codec::{
    Losses,
    raw::{Fields, NULL, Object, string},
};

const ADDED: &str = "response.output_item.added";

#[derive(Clone, Debug, Default)]
pub(super) struct Output {
    pub(super) frames: Frames,
    ids: Str,
    items: Vec<Item>,
    /// Items that are not complete.
    open: BTreeSet<usize>,
    /// The item and the piece that a part is.
    parts: BTreeMap<u32, (usize, usize)>,
}

#[derive(Clone, Debug)]
enum Item {
    Open { id: String, kind: Kind },
    Done(Vec<u8>),
}

#[derive(Clone, Debug)]
enum Kind {
    Message(Vec<Growing>),
    Reasoning(Vec<Growing>),
    Call {
        call: ToolCallPart,
        arguments: String,
        is_announced: bool,
    },
    /// One that comes at once, with its end.
    Whole,
}

impl Output {
    /// Begins with the reply's id, which those of items are made of.
    pub(super) fn begin(&mut self, ids: &Str) {
        self.ids = ids.clone();
    }

    /// The items that are complete.
    pub(super) fn items(&self) -> impl Iterator<Item = &[u8]> {
        self.items.iter().filter_map(|item| match item {
            Item::Done(json) => Some(json.as_slice()),
            Item::Open { .. } => None,
        })
    }

    pub(super) fn has(&self, index: u32) -> bool {
        self.parts.contains_key(&index)
    }

    pub(super) fn start(&mut self, index: u32, part: &PartStart, extra: Option<&Json>) {
        match part {
            PartStart::Text => self.text(index, form::of_text(extra), extra),
            PartStart::Reasoning => self.text(index, form::of_reasoning(extra), extra),
            PartStart::ToolCall { id, name } => {
                let mut call = ToolCallPart::new("", "", "");
                call.extra = extra.cloned();
                self.close();
                let id_of_item = self.id_in(extra::peek(extra), call::shape_in(extra).prefix);
                let kind = Kind::Call { call, arguments: String::new(), is_announced: false };
                let at = self.open(id_of_item, kind);
                self.parts.insert(index, (at, 0));
                self.name(index, id.as_ref(), name.as_ref());
            }
            _ => {}
        }
    }

    /// The id that the dialect's fields have, or one of ours.
    fn id_in(&self, mut fields: Fields<'_>, prefix: &str) -> String {
        let given = fields.take_text("id");
        let ours = || Reader::Client { ids: &self.ids }.id(prefix, self.items.len());
        given.map(|id| id.to_string()).or_else(ours).unwrap_or_default()
    }

    fn open(&mut self, id: String, kind: Kind) -> usize {
        let at = self.items.len();
        self.items.push(Item::Open { id, kind });
        self.open.insert(at);
        at
    }

    /// Begins a text, in the item before it where that goes on.
    fn text(&mut self, index: u32, form: &'static Form, extra: Option<&Json>) {
        let is_message = form.kind == form::TEXT.kind || form.kind == form::REFUSAL.kind;
        let mark = extra::peek(extra).take(ITEM).map(Cow::into_owned);
        let goes_on = mark.is_none()
            && matches!(
                (self.items.last(), is_message),
                (Some(Item::Open { kind: Kind::Message(_), .. }), true)
                    | (Some(Item::Open { kind: Kind::Reasoning(_), .. }), false)
            );
        if !goes_on {
            self.close();
            self.text_item(is_message, &mark.unwrap_or_default());
        }
        self.piece(index, form, extra);
    }

    fn text_item(&mut self, is_message: bool, mark: &str) {
        let rest = Fields::parse(mark).unwrap_or_default();
        let (prefix, kind) = if is_message {
            ("msg", Kind::Message(Vec::new()))
        } else {
            ("rs", Kind::Reasoning(Vec::new()))
        };
        let id = self.id_in(rest.clone(), prefix);
        let at = self.open(id.clone(), kind);
        self.announce_text(at, &id, is_message, rest);
    }

    /// Begins a text in the last item.
    fn piece(&mut self, index: u32, form: &'static Form, extra: Option<&Json>) {
        let item = self.items.len().saturating_sub(1);
        let Some(Item::Open { id, kind: Kind::Message(pieces) | Kind::Reasoning(pieces) }) =
            self.items.get_mut(item)
        else {
            return;
        };
        let at = pieces.iter().rev().find(|piece| piece.form.index == form.index);
        let at = at.map_or(0, |piece| piece.at + 1);
        let piece =
            Growing { form, at, text: String::new(), extra: extra.cloned(), is_over: false };
        if !piece.is_bare() {
            self.frames.text_added(id, item, &piece);
        }
        pieces.push(piece);
        self.parts.insert(index, (item, pieces.len() - 1));
    }

    fn announce_text(&mut self, at: usize, id: &str, is_message: bool, mut rest: Fields<'_>) {
        for key in ["type", "content", "summary", "status"] {
            rest.take(key);
        }
        self.frames.event(ADDED, |event| {
            event.number("output_index", at);
            let mut item = Object::new(event.field("item"), rest);
            item.str("id", id);
            if is_message {
                item.str("type", "message");
                item.str("status", "in_progress");
                item.raw("content", "[]");
                item.str("role", "assistant");
            } else {
                item.str("type", "reasoning");
                item.raw("summary", "[]");
            }
            item.end();
        });
    }

    /// Adds text to a part.
    pub(super) fn add(&mut self, index: u32, text: &str) {
        let Some((item, piece)) = self.parts.get(&index).copied() else { return };
        let Some(Item::Open { id, kind }) = self.items.get_mut(item) else { return };
        match kind {
            Kind::Message(pieces) | Kind::Reasoning(pieces) => {
                let Some(piece) = pieces.get_mut(piece) else { return };
                piece.text.push_str(text);
                let (form, at) = (piece.form, piece.at);
                self.frames.event(form.delta, |event| {
                    address(event, id, item, Some((form.index, at)));
                    event.str("delta", text);
                    if form.kind == form::TEXT.kind {
                        event.raw("logprobs", "[]");
                    }
                });
            }
            Kind::Call { call, arguments, is_announced } => {
                arguments.push_str(text);
                if *is_announced && !text.is_empty() {
                    let delta = call::shape_in(call.extra.as_ref()).delta;
                    self.frames.event(delta, |event| {
                        address(event, id, item, None);
                        event.str("delta", text);
                    });
                }
            }
            Kind::Whole => {}
        }
    }

    /// Takes a call's id and name, which may come late. The item is told once both are known.
    pub(super) fn name(&mut self, index: u32, id: Option<&CallId>, name: Option<&Str>) {
        let Some((item, _)) = self.parts.get(&index).copied() else { return };
        let Some(Item::Open { kind: Kind::Call { call, .. }, .. }) = self.items.get_mut(item)
        else {
            return;
        };
        if let Some(id) = id.filter(|_| call.id.is_empty()) {
            call.id = id.clone();
        }
        if let Some(name) = name.filter(|_| call.name.is_empty()) {
            call.name = name.clone();
        }
        if !call.id.is_empty() && !call.name.is_empty() {
            self.announce_call(item);
        }
    }

    fn announce_call(&mut self, at: usize) {
        let ids = self.ids.clone();
        let reader = Reader::Client { ids: &ids };
        let Some(Item::Open { id, kind: Kind::Call { call, arguments, is_announced } }) =
            self.items.get_mut(at)
        else {
            return;
        };
        if std::mem::replace(is_announced, true) {
            return;
        }
        if call.id.is_empty() {
            call.id = reader.id("call", at).unwrap_or_default().into();
        }
        let shape = call::shape_in(call.extra.as_ref());
        let mut fields = extra::peek(call.extra.as_ref());
        for key in ["type", "status", shape.arguments] {
            fields.take(key);
        }
        self.frames.event(ADDED, |event| {
            event.number("output_index", at);
            let mut item = Object::new(event.field("item"), fields);
            item.str("id", id);
            item.str("type", shape.kind);
            item.str("status", "in_progress");
            item.str(shape.arguments, "");
            item.str("call_id", call.id.as_str());
            item.str("name", &call.name);
            item.end();
        });
        if !arguments.is_empty() {
            self.frames.event(shape.delta, |event| {
                address(event, id, at, None);
                event.str("delta", arguments);
            });
        }
    }

    /// Ends a part. A call is complete with it; a text may be followed by another one of its item.
    pub(super) fn end(&mut self, index: u32, extra: Option<&Json>, losses: &mut Losses<'_>) {
        let Some((item, piece)) = self.parts.get(&index).copied() else { return };
        let Some(Item::Open { id, kind }) = self.items.get_mut(item) else { return };
        match kind {
            Kind::Message(pieces) | Kind::Reasoning(pieces) => {
                let Some(piece) = pieces.get_mut(piece).filter(|piece| !piece.is_over) else {
                    return;
                };
                piece.is_over = true;
                piece.extra = extra.cloned().or_else(|| piece.extra.take());
                self.frames.text_done(id, item, piece, losses);
            }
            Kind::Call { call, .. } => {
                call.extra = extra.cloned().or_else(|| call.extra.take());
                self.close_item(item, losses);
            }
            Kind::Whole => {}
        }
    }

    /// Ends the items whose parts have all ended, once something else follows them.
    fn close(&mut self) {
        let mut lost = Vec::new();
        let mut losses = Losses { place: "output".into(), all: &mut lost };
        let is_over = |at: &usize| match self.items.get(*at) {
            Some(Item::Open { kind: Kind::Message(pieces) | Kind::Reasoning(pieces), .. }) => {
                pieces.iter().all(|piece| piece.is_over)
            }
            _ => false,
        };
        let over: Vec<usize> = self.open.iter().copied().filter(is_over).collect();
        for at in over {
            self.close_item(at, &mut losses);
        }
    }

    /// Ends everything.
    pub(super) fn finish(&mut self, losses: &mut Losses<'_>) {
        let open: Vec<u32> = self.parts.keys().copied().collect();
        for index in open {
            self.end(index, None, losses);
        }
        for at in self.open.clone() {
            self.close_item(at, losses);
        }
    }

    fn close_item(&mut self, at: usize, losses: &mut Losses<'_>) {
        self.announce_call(at);
        let Some(Item::Open { id, kind }) = self.items.get(at) else { return };
        let parts: Vec<Part> = match kind {
            Kind::Message(pieces) => pieces.iter().map(|piece| Part::Text(piece.part())).collect(),
            Kind::Reasoning(pieces) => {
                pieces.iter().map(|piece| Part::Reasoning(piece.part())).collect()
            }
            Kind::Call { call, arguments, .. } => {
                let mut call = call.clone();
                call.arguments = Json::from_text(arguments.as_str());
                let shape = call::shape_in(call.extra.as_ref());
                self.frames.event(shape.done, |event| {
                    address(event, id, at, None);
                    event.str(shape.arguments, arguments);
                    if shape.kind == call::FUNCTION.kind {
                        event.str("name", &call.name);
                    }
                });
                vec![Part::ToolCall(call)]
            }
            // Its end did not come.
            Kind::Whole => return,
        };
        let json = self.item_json(at, id, &parts, losses);
        self.frames.item_done(at, &json);
        self.open.remove(&at);
        if let Some(item) = self.items.get_mut(at) {
            *item = Item::Done(json);
        }
    }

    fn item_json(&self, at: usize, id: &str, parts: &[Part], losses: &mut Losses<'_>) -> Vec<u8> {
        let reader = Reader::Client { ids: &self.ids };
        let mut json = Vec::new();
        if let Some(run) = item::runs(parts, losses).into_iter().next() {
            item::write(&mut json, run, at, reader, losses);
        }
        // The id that was told first counts.
        let text = String::from_utf8(json).unwrap_or_default();
        let mut fields = Fields::parse(&text).unwrap_or_default();
        if fields.get("id").and_then(string).as_deref() == Some(id) {
            return text.into_bytes();
        }
        fields.set("id", serde_json::to_string(id).unwrap_or_else(|_| NULL.into()));
        fields.to_text().into_bytes()
    }
}
