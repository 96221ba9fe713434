//! A text of an item, while it grows.

use tower_agent_core::{Json, TextPart};

use super::{
    extra,
    form::{self, Form},
    item::{END, ITEM, Piece},
    message, reasoning,
};
use crate::codec::Losses;

/// A piece of text as far as it has come.
#[derive(Clone, Debug)]
pub(super) struct Growing {
    pub(super) form: &'static Form,
    /// Its place among those of its list.
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) extra: Option<Json>,
    pub(super) is_over: bool,
}

impl Growing {
    /// Whether it stands for an item without content, or for a part without text.
    pub(super) fn is_bare(&self) -> bool {
        let fields = extra::peek(self.extra.as_ref());
        self.text.is_empty() && (fields.is_null("type") || fields.is_null("text"))
    }

    /// Whether it only stands for an item without content.
    pub(super) fn is_no_part(&self) -> bool {
        self.text.is_empty() && extra::peek(self.extra.as_ref()).is_null("type")
    }

    pub(super) fn write(&self, out: &mut Vec<u8>, text: &str, losses: &mut Losses<'_>) {
        let mut extra = extra::open(self.extra.as_ref(), &[], losses);
        extra.take(ITEM);
        extra.take(END);
        let piece = Piece { text, extra };
        if [form::SUMMARY.kind, form::THOUGHT.kind].contains(&self.form.kind) {
            reasoning::write_entry(out, piece);
        } else {
            message::write_text(out, piece);
        }
    }

    pub(super) fn part(&self) -> TextPart {
        TextPart { text: self.text.as_str().into(), extra: self.extra.clone() }
    }
}
