use std::collections::VecDeque;

use tower_agent_core::{Error, ErrorKind, Json, ModelEvent};

use super::{
    finish,
    parts::{Kind, Parts},
    place::{Place, item},
    reply::{Head, keep},
    usage,
};
use crate::{
    codec::{
        Flaw, cut_off,
        raw::{self, Fields, items, string},
    },
    openai_error as error,
    sse::{Event, ParseError, Parser},
};

const EVENT_LIMIT: usize = 64 << 20;

/// Reads a streamed reply of a provider from bytes that may be cut anywhere.
///
/// Push bytes as they come, take events until there are none, and call [`finish`](Self::finish) at the end of the
/// body. An error comes once, after all events before it; nothing follows it.
///
/// Indices of parts are made of those of the item and its content, so they have gaps; what is collected is in the order of
/// the whole reply. What an event of the end says beyond the events before it (text, whole items, fields) is told then, so a
/// server that leaves events out loses nothing.
#[derive(Clone, Debug)]
pub struct Decoder {
    sse: Parser,
    events: VecDeque<Result<ModelEvent, Error>>,
    parts: Parts,
    head: Option<Option<Json>>,
    is_over: bool,
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sse: Parser::new().limit(EVENT_LIMIT),
            events: VecDeque::new(),
            parts: Parts::default(),
            head: None,
            is_over: false,
        }
    }

    /// Sets how many bytes one event may have; without it 64 MiB, since the last event holds the whole reply.
    #[must_use]
    pub fn event_limit(mut self, bytes: usize) -> Self {
        self.sse = self.sse.limit(bytes);
        self
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.is_over {
            self.sse.push(bytes);
            if let Err(error) = self.read() {
                self.fail(error);
            }
        }
    }

    /// Takes the end of the body.
    pub fn finish(&mut self) {
        if self.is_over {
            return;
        }
        self.sse.finish();
        match self.read() {
            // Half an event is no malformed one: what matters is that the reply is not complete.
            Err(error) if error.kind() != ErrorKind::Protocol => self.fail(error),
            _ if self.is_over => {}
            _ => {
                let text = "the provider's stream broke off before the reply was complete";
                self.fail(cut_off(text));
            }
        }
    }

    /// The next event, or the error that ends the stream.
    pub fn next_event(&mut self) -> Option<Result<ModelEvent, Error>> {
        self.events.pop_front()
    }

    /// Whether the provider said that the reply is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_over
    }

    /// Whether the stream has ended, so that further bytes mean nothing.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    fn read(&mut self) -> Result<(), Error> {
        while !self.is_over {
            match self.sse.next_event() {
                None => break,
                Some(event) => self.event(&event.map_err(malformed)?)?,
            }
        }
        Ok(())
    }

    fn fail(&mut self, error: Error) {
        self.is_over = true;
        self.events.push_back(Err(error));
    }

    fn emit(&mut self, event: ModelEvent) {
        self.events.push_back(Ok(event));
    }

    fn event(&mut self, event: &Event) -> Result<(), Error> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let flaw = |reason| Flaw::new("event", reason).in_reply();
        let text = raw::check(data.as_bytes()).map_err(flaw)?;
        let fields = Fields::parse(text).ok_or_else(|| flaw("is no JSON object"))?;
        let named = event.name.as_deref();
        let kind = fields.get("type").and_then(string).or_else(|| named.map(Into::into));
        let kind = kind.unwrap_or_default();
        if let Some(error) = error::in_chunk(&fields, Some(&kind)) {
            return Err(error);
        }
        match kind.as_str() {
            "response.completed" | "response.incomplete" | "response.failed" => self.end(fields),
            _ => self.part_of(&kind, fields, text).map_err(Flaw::in_reply),
        }
    }

    fn part_of(&mut self, kind: &str, mut fields: Fields<'_>, text: &str) -> Result<(), Flaw> {
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => self.begin(fields),
            "response.output_item.added" => {
                let (at, raw) = (item(&mut fields)?, fields.take("item").unwrap_or_default());
                self.parts.item_begins(at, &raw)
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
        let events = self.parts.take_events().map(Ok);
        self.events.extend(events);
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
            Piece::Nothing => Ok(()),
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
        self.emit(ModelEvent::Finish { reason });
        self.is_over = true;
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

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

/// What an event says of a part.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Begin,
    Delta(Kind),
    /// The whole text, under a key; what did not come in deltas is added.
    Whole(Kind, &'static str),
    /// What other events say as well.
    Nothing,
}

impl Piece {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind.strip_prefix("response.")? {
            "content_part.added" | "reasoning_summary_part.added" => Self::Begin,
            "content_part.done" | "reasoning_summary_part.done" => Self::Nothing,
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

fn malformed(error: ParseError) -> Error {
    Flaw::new("stream", error.to_string()).in_reply().with_source(error)
}
