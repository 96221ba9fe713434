//! Events as frames.

use super::{extra, form, growing::Growing};
use crate::codec::{
    Losses, frame,
    raw::{Fields, Object},
};

/// Frames with numbers that go up.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    pub(super) out: Vec<u8>,
    next: u64,
}

impl Frames {
    pub(super) fn event(&mut self, kind: &str, write: impl FnOnce(&mut Object<'_, '_>)) {
        self.with(kind, Fields::default(), write);
    }

    /// An event that has fields already.
    pub(super) fn with(
        &mut self,
        kind: &str,
        fields: Fields<'_>,
        write: impl FnOnce(&mut Object<'_, '_>),
    ) {
        let number = self.next;
        self.next += 1;
        frame(&mut self.out, Some(kind), |out| {
            let mut object = Object::new(out, fields);
            object.str("type", kind);
            object.number("sequence_number", number);
            write(&mut object);
            object.end();
        });
    }
}

impl Frames {
    pub(super) fn item_done(&mut self, at: usize, json: &[u8]) {
        self.event("response.output_item.done", |event| {
            event.number("output_index", at);
            event.field("item").extend_from_slice(json);
        });
    }

    pub(super) fn text_added(&mut self, id: &str, item: usize, piece: &Growing) {
        let form = piece.form;
        self.event(form.added, |event| {
            address(event, id, item, Some((form.index, piece.at)));
            let mut part = Object::new(event.field("part"), Fields::default());
            part.str("type", form.kind);
            part.str(form.text, "");
            if form.kind == form::TEXT.kind {
                part.raw("annotations", "[]");
                part.raw("logprobs", "[]");
            }
            part.end();
        });
    }

    pub(super) fn text_done(
        &mut self,
        id: &str,
        item: usize,
        piece: &Growing,
        losses: &mut Losses<'_>,
    ) {
        let (form, at) = (piece.form, Some((piece.form.index, piece.at)));
        let is_bare = piece.is_bare();
        let mut part = Vec::new();
        piece.write(&mut part, &piece.text, losses);
        if piece.is_no_part() {
            return;
        }
        if is_bare {
            self.event(form.added, |event| {
                address(event, id, item, at);
                event.field("part").extend_from_slice(&part);
            });
        } else {
            self.event(form.text_done, |event| {
                address(event, id, item, at);
                event.str(form.text, &piece.text);
                if form.kind == form::TEXT.kind {
                    let fields = extra::peek(piece.extra.as_ref());
                    event.raw("logprobs", fields.get("logprobs").unwrap_or("[]"));
                }
            });
        }
        self.event(form.done, |event| {
            address(event, id, item, at);
            event.field("part").extend_from_slice(&part);
        });
    }
}

/// Says which item and which part of it an event is about.
pub(super) fn address(
    event: &mut Object<'_, '_>,
    id: &str,
    item: usize,
    part: Option<(&str, usize)>,
) {
    event.str("item_id", id);
    event.number("output_index", item);
    if let Some((key, at)) = part {
        event.number(key, at);
    }
}
