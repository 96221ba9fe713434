use tower_agent_core::{Error, Json, ModelEvent};

use super::{
    finish,
    parts::{Kind, Parts},
    place::{Place, item},
    reply::{Head, keep},
    usage,
};
use crate::{
    codec::{
        Flaw, Reading, Told,
        raw::{Fields, items, string},
    },
    openai_error as error,
};

decoder! {
    /// Reads a streamed reply of a provider from bytes that may be cut anywhere.
    ///
    /// Push bytes as they come, take events until there are none, and call [`finish`](Self::finish) at the end of the
    /// body. An error comes once, after all events before it; nothing follows it.
    ///
    /// Indices of parts are made of those of the item and its content, so they have gaps; what is collected is in the order of
    /// the whole reply. What an event of the end says beyond the events before it (text, whole items, fields) is told then, so a
    /// server that leaves events out loses nothing.
    pub struct Decoder(Responses), 64 MiB
}

#[derive(Clone, Debug, Default)]
struct Responses {
    told: Told,
    parts: Parts,
    head: Option<Option<Json>>,
}

impl Reading for Responses {
    fn told(&self) -> &Told {
        &self.told
    }

    fn told_mut(&mut self) -> &mut Told {
        &mut self.told
    }

    fn event(&mut self, name: Option<&str>, fields: Fields<'_>, text: &str) -> Result<(), Error> {
        let kind = fields.get("type").and_then(string).or_else(|| name.map(Into::into));
        let kind = kind.unwrap_or_default();
        if let Some(error) = error::in_chunk(&fields, Some(&kind)) {
            return Err(error);
        }
        match kind.as_str() {
            "response.completed" | "response.incomplete" | "response.failed" => self.end(fields),
            _ => self.part_of(&kind, fields, text).map_err(Flaw::in_reply),
        }
    }
}

impl Responses {
    fn emit(&mut self, event: ModelEvent) {
        self.told.emit(event);
    }

    fn part_of(&mut self, kind: &str, mut fields: Fields<'_>, text: &str) -> Result<(), Flaw> {
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => self.begin(fields),
            "response.output_item.added" => {
                let (at, raw) = (item(&mut fields)?, fields.take("item").unwrap_or_default());
                let has_parts = self.parts.item_begins(at, &raw)?;
                self.take_parts();
                if !has_parts {
                    // It comes at once with its end; until then, only this says that it has begun.
                    self.emit(ModelEvent::Other { json: Json::from_text(text) });
                }
                Ok(())
            }
            "response.output_item.done" => {
                let (at, raw) = (item(&mut fields)?, fields.take("item").unwrap_or_default());
                self.parts.item_ends(at, &raw)
            }
            _ => match Piece::of(kind) {
                Some(piece) => self.piece(piece, fields),
                None => {
                    self.take_parts();
                    self.emit(ModelEvent::Other { json: Json::from_text(text) });
                    Ok(())
                }
            },
        }?;
        self.take_parts();
        Ok(())
    }

    fn take_parts(&mut self) {
        self.told.extend(self.parts.take_events());
    }

    /// What is known of the reply is said once, and again at the end if more is known then.
    fn begin(&mut self, mut fields: Fields<'_>) -> Result<(), Flaw> {
        if self.head.is_some() {
            return Ok(());
        }
        let raw = fields.take("response").unwrap_or_default();
        let mut fields =
            Fields::parse(&raw).ok_or_else(|| Flaw::new("response", "must be an object"))?;
        let head = Head::read(&mut fields);
        for key in ["status", "output", "usage"] {
            fields.take(key);
        }
        self.start(head, keep(fields));
        Ok(())
    }

    fn start(&mut self, head: Head, extra: Option<Json>) {
        self.head = Some(extra.clone());
        self.emit(ModelEvent::Start { id: head.id, model: head.model, extra });
    }

    fn piece(&mut self, piece: Piece, mut fields: Fields<'_>) -> Result<(), Flaw> {
        let place = Place::named(&mut fields)?;
        match piece {
            Piece::Begin => {
                let raw = fields.take("part").unwrap_or_default();
                self.parts.part_begins(place, &raw)
            }
            Piece::Delta(kind) => match fields.take_str("delta") {
                Some(delta) => self.parts.delta(place, kind, delta),
                None => Err(Flaw::new("delta", "must be a string")),
            },
            Piece::Whole(kind, key) => match fields.take_str(key) {
                Some(text) => self.parts.rest(place, kind, &text),
                None => Ok(()),
            },
            Piece::End => {
                let raw = fields.take("part").unwrap_or_default();
                self.parts.part_ends_as(place, &raw)
            }
        }
    }

    fn end(&mut self, mut fields: Fields<'_>) -> Result<(), Error> {
        let raw = fields.take("response").unwrap_or_default();
        let flaw = || Flaw::new("response", "must be an object").in_reply();
        let mut fields = Fields::parse(&raw).ok_or_else(flaw)?;
        if let Some(error) = error::in_body(&fields) {
            return Err(error);
        }
        self.last_items(&fields).map_err(Flaw::in_reply)?;
        let reason = finish::read(&mut fields, self.parts.asks())?;
        let head = Head::read(&mut fields);
        fields.take("output");
        let usage = usage::take(&mut fields);
        let extra = keep(fields);
        if self.head.as_ref() != Some(&extra) {
            let head = if self.head.is_none() { head } else { Head::default() };
            self.start(head, extra);
        }
        self.take_parts();
        usage.into_iter().for_each(|usage| self.emit(ModelEvent::Usage { usage }));
        self.told.finish(ModelEvent::Finish { reason });
        Ok(())
    }

    /// Items whose ends did not come are told by the last event.
    fn last_items(&mut self, fields: &Fields<'_>) -> Result<(), Flaw> {
        let list = fields.get("output").and_then(items).unwrap_or_default();
        for (at, raw) in (0u64..).zip(list) {
            self.parts
                .item_ends(at, raw)
                .map_err(|flaw| flaw.at("response.output", at as usize))?;
        }
        self.parts.end();
        Ok(())
    }
}

/// What an event says of a part.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Begin,
    Delta(Kind),
    /// The whole text, under a key; what did not come in deltas is added.
    Whole(Kind, &'static str),
    /// The whole part, with its own fields.
    End,
}

impl Piece {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind.strip_prefix("response.")? {
            "content_part.added" | "reasoning_summary_part.added" => Self::Begin,
            "content_part.done" | "reasoning_summary_part.done" => Self::End,
            "output_text.delta" => Self::Delta(Kind::Text),
            "output_text.done" => Self::Whole(Kind::Text, "text"),
            "refusal.delta" => Self::Delta(Kind::Refusal),
            "refusal.done" => Self::Whole(Kind::Refusal, "refusal"),
            "reasoning_summary_text.delta" => Self::Delta(Kind::Summary),
            "reasoning_summary_text.done" => Self::Whole(Kind::Summary, "text"),
            "reasoning_text.delta" => Self::Delta(Kind::Thought),
            "reasoning_text.done" => Self::Whole(Kind::Thought, "text"),
            "function_call_arguments.delta" | "custom_tool_call_input.delta" => {
                Self::Delta(Kind::Arguments)
            }
            "function_call_arguments.done" => Self::Whole(Kind::Arguments, "arguments"),
            "custom_tool_call_input.done" => Self::Whole(Kind::Arguments, "input"),
            _ => return None,
        })
    }
}
