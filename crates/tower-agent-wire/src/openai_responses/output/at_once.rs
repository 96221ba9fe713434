//! Items that come at once, and what is told of them before.

use tower_agent_core::Json;

use super::{ADDED, Item, Kind, Output};
use crate::codec::raw::{Fields, string};

impl Output {
    /// An item that comes at once, where it was announced if it was.
    pub(in crate::openai_responses) fn whole(&mut self, json: &Json) {
        let bytes = json.as_str().as_bytes().to_vec();
        let id = Fields::parse(json.as_str()).and_then(|mut fields| fields.take_text("id"));
        let announced = id.and_then(|id| self.place_of(&id));
        let at = announced.unwrap_or_else(|| {
            self.close();
            let at = self.open(String::new(), Kind::Whole);
            self.frames.event(ADDED, |event| {
                event.number("output_index", at);
                event.field("item").extend_from_slice(&bytes);
            });
            at
        });
        self.frames.item_done(at, &bytes);
        self.open.remove(&at);
        if let Some(item) = self.items.get_mut(at) {
            *item = Item::Done(bytes);
        }
    }

    /// The item of an id that comes at once and has not come yet.
    fn place_of(&self, id: &str) -> Option<usize> {
        self.open.iter().copied().find(|at| {
            matches!(self.items.get(*at), Some(Item::Open { id: known, kind: Kind::Whole }) if known == id)
        })
    }

    /// An event of the dialect. What it says of an item that has begun is told of the place that the item has here.
    pub(in crate::openai_responses) fn other(&mut self, kind: &str, mut fields: Fields<'_>) {
        let item = fields.get("item").and_then(Fields::parse);
        let id = fields.get("item_id").and_then(string);
        let at = match item.and_then(|mut item| item.take_text("id")) {
            Some(id) if kind == ADDED => {
                self.close();
                Some(self.open(id.to_string(), Kind::Whole))
            }
            _ => id.and_then(|id| self.place_of(&id)),
        };
        if at.is_some() {
            fields.take("output_index");
        }
        self.frames.with(kind, fields, |event| {
            at.into_iter().for_each(|at| event.number("output_index", at));
        });
    }
}
