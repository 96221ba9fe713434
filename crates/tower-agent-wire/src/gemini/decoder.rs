use tower_agent_core::{
    Error, FinishReason, Json, ModelEvent, Part, PartDelta, PartStart, Str, TextPart, ToolCallPart,
};

use super::{
    candidate, error, extra::keep, finish, ids::Ids, reply::NAMES, spelling::in_camel_case, usage,
};
use crate::codec::{
    Flaw, Reading, Told,
    raw::{Fields, NULL, items},
};

/// Fields of a candidate that each event says anew, so that the last one counts.
const RENEWED: [&str; 6] = [
    "safetyRatings",
    "groundingMetadata",
    "urlContextMetadata",
    "avgLogprobs",
    "tokenCount",
    "finishMessage",
];

decoder! {
    /// Reads a streamed reply of a provider (`alt=sse`) from bytes that may be cut anywhere.
    ///
    /// Push bytes as they come, take events until there are none, and call [`finish`](Self::finish) at the end of the
    /// body. An error comes once, after all events before it; nothing follows it.
    ///
    /// Each event of the dialect is a whole reply with the next parts. Texts without fields of their own continue the one before;
    /// a part with a `thoughtSignature` stays a part of its own, as the provider asks. [`Finish`](ModelEvent::Finish) comes with
    /// the end of the stream, because some models name a reason in every event; a stream without any was cut.
    pub struct Decoder(Contents), 16 MiB
}

#[derive(Clone, Debug, Default)]
struct Contents {
    told: Told,
    id: Option<Str>,
    model: Option<Str>,
    /// Fields of the reply without a name in the vocabulary, and those of its first candidate.
    extra: Fields<'static>,
    candidate: Fields<'static>,
    is_started: bool,
    /// Whether there are fields that no event has told yet.
    is_news: bool,
    ids: Ids,
    parts: u32,
    open: Option<Kind>,
    has_calls: bool,
    is_blocked: bool,
}

/// A part that the next event may continue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Text,
    Reasoning,
}

impl Reading for Contents {
    fn told(&self) -> &Told {
        &self.told
    }

    fn told_mut(&mut self) -> &mut Told {
        &mut self.told
    }

    fn event(&mut self, _: Option<&str>, fields: Fields<'_>, text: &str) -> Result<(), Error> {
        if let Some(error) = error::in_body(&fields) {
            return Err(error);
        }
        self.reply(fields, text).map_err(Flaw::in_reply)
    }

    fn is_complete(&self) -> bool {
        self.is_blocked || self.candidate.get("finishReason").is_some()
    }

    fn end(&mut self) {
        self.end_part();
        let mut candidate = std::mem::take(&mut self.candidate);
        let reason = match candidate.get("finishReason") {
            None => FinishReason::ContentFilter,
            Some(_) => finish::take(&mut candidate, self.has_calls),
        };
        self.candidate = candidate;
        let last = self.last_extra();
        if last.is_some() {
            self.emit(ModelEvent::Start { id: None, model: None, extra: last });
        }
        self.told.finish(ModelEvent::Finish { reason });
    }
}

impl Contents {
    fn emit(&mut self, event: ModelEvent) {
        self.told.emit(event);
    }

    fn reply(&mut self, mut fields: Fields<'_>, text: &str) -> Result<(), Flaw> {
        in_camel_case(&mut fields, &NAMES);
        let known = [candidate::FIELD, usage::FIELD, "promptFeedback"];
        if known.iter().all(|key| fields.get(key).is_none()) {
            self.emit(ModelEvent::Other { json: Json::from_text(text) });
            return Ok(());
        }
        let used = usage::take(&mut fields);
        let list = fields.take(candidate::FIELD);
        let list = list.as_deref().filter(|raw| *raw != NULL).unwrap_or("[]");
        let flaw = || Flaw::new(candidate::FIELD, "must be an array of objects");
        let list = items(list).ok_or_else(flaw)?;
        self.head(fields);
        for (at, raw) in list.into_iter().enumerate() {
            self.candidate(raw).map_err(|flaw| flaw.at(candidate::FIELD, at))?;
        }
        self.tell_head();
        used.into_iter().for_each(|usage| self.emit(ModelEvent::Usage { usage }));
        Ok(())
    }

    /// What all events have in common is said once. Details of the usage wait for the end: each event has newer ones.
    fn head(&mut self, mut fields: Fields<'_>) {
        let (id, model) = (fields.take_text("responseId"), fields.take_text("modelVersion"));
        for (known, late) in [(&mut self.id, id), (&mut self.model, model)] {
            if known.is_none() && late.is_some() {
                *known = late;
                self.is_news = true;
            }
        }
        if !self.is_started {
            self.ids = Ids::of_reply(self.id.as_ref());
        }
        if let Some(feedback) = fields.get("promptFeedback").and_then(Fields::parse) {
            self.is_blocked |= feedback.get("blockReason").is_some_and(|raw| raw != NULL);
        }
        for (key, raw) in fields.into_pairs() {
            if self.extra.get(&key) != Some(&raw) {
                self.is_news |= key != usage::FIELD;
                self.extra.set(key.into_owned(), raw.into_owned());
            }
        }
    }

    fn tell_head(&mut self) {
        if self.is_started && !std::mem::take(&mut self.is_news) {
            return;
        }
        (self.is_started, self.is_news) = (true, false);
        let (id, model) = (self.id.clone(), self.model.clone());
        self.emit(ModelEvent::Start { id, model, extra: self.all_extra() });
    }

    fn all_extra(&self) -> Option<Json> {
        let mut all = self.extra.clone();
        let mut candidate = self.candidate.clone();
        candidate.retain(|key, _| key != "finishReason");
        if !candidate.is_empty() {
            all.set(candidate::FIELD, format!("[{}]", candidate.to_text()));
        }
        keep(&all)
    }

    fn candidate(&mut self, raw: &str) -> Result<(), Flaw> {
        let mut fields = candidate::fields(raw)?;
        if !candidate::is_first(&fields) {
            self.other(raw);
            return Ok(());
        }
        fields.take("index");
        let parts = candidate::take_parts(&mut fields, &mut self.ids)?;
        fields.take("content");
        for (key, raw) in fields.into_pairs() {
            match self.candidate.get(&key) {
                Some(before) if before == raw => {}
                _ if raw == NULL => {}
                Some(_) if key != "finishReason" && !RENEWED.contains(&&*key) => {
                    let mut own = Fields::default();
                    own.set(key, raw);
                    self.other(&own.to_text());
                }
                _ => {
                    self.is_news |= key != "finishReason";
                    self.candidate.set(key.into_owned(), raw.into_owned());
                }
            }
        }
        self.tell_head();
        parts.into_iter().for_each(|part| self.part(part));
        Ok(())
    }

    fn other(&mut self, candidate: &str) {
        let mut fields = Fields::default();
        fields.set(candidate::FIELD, format!("[{candidate}]"));
        self.emit(ModelEvent::Other { json: Json::from_text(fields.to_text()) });
    }

    fn part(&mut self, part: Part) {
        match part {
            // An empty text adds nothing.
            Part::Text(TextPart { text, extra }) if text.is_empty() && is_bare(extra.as_ref()) => {}
            Part::Text(part) => self.text(Kind::Text, part.extra.is_none(), part),
            Part::Reasoning(part) => {
                self.text(Kind::Reasoning, is_bare(part.extra.as_ref()), part);
            }
            Part::ToolCall(call) => self.call(call),
            part => {
                let index = self.begin(PartStart::Whole(part), None);
                self.emit(ModelEvent::PartEnd { index, extra: None });
            }
        }
    }

    fn text(&mut self, kind: Kind, is_bare: bool, part: TextPart) {
        let (start, delta) = match kind {
            Kind::Text => (PartStart::Text, PartDelta::Text(part.text)),
            Kind::Reasoning => (PartStart::Reasoning, PartDelta::Reasoning(part.text)),
        };
        let index = if is_bare && self.open == Some(kind) {
            self.parts.saturating_sub(1)
        } else {
            self.begin(start, part.extra.as_ref())
        };
        if !delta.text().is_empty() {
            self.emit(ModelEvent::PartDelta { index, delta });
        }
        if is_bare {
            self.open = Some(kind);
        } else {
            self.emit(ModelEvent::PartEnd { index, extra: part.extra });
        }
    }

    fn call(&mut self, call: ToolCallPart) {
        self.has_calls = true;
        let start = PartStart::ToolCall { id: Some(call.id), name: Some(call.name) };
        let index = self.begin(start, call.extra.as_ref());
        if !call.arguments.as_str().is_empty() {
            let delta = PartDelta::arguments(call.arguments.as_str());
            self.emit(ModelEvent::PartDelta { index, delta });
        }
        self.emit(ModelEvent::PartEnd { index, extra: call.extra });
    }

    /// Begins a part, which ends the one before.
    fn begin(&mut self, part: PartStart, extra: Option<&Json>) -> u32 {
        self.end_part();
        let index = self.parts;
        self.parts = index.saturating_add(1);
        self.emit(ModelEvent::PartStart { index, part });
        if let Some(extra) = extra.cloned() {
            self.emit(ModelEvent::PartExtra { index, extra });
        }
        index
    }

    fn end_part(&mut self) {
        if self.open.take().is_some() {
            let index = self.parts.saturating_sub(1);
            self.emit(ModelEvent::PartEnd { index, extra: None });
        }
    }

    /// What is only known now: details of the usage, and a reason that the vocabulary has no name for.
    fn last_extra(&self) -> Option<Json> {
        let mut all = self.extra.clone();
        if !self.candidate.is_empty() {
            all.set(candidate::FIELD, format!("[{}]", self.candidate.to_text()));
        }
        let is_news =
            all.get(usage::FIELD).is_some() || self.candidate.get("finishReason").is_some();
        if is_news { keep(&all) } else { None }
    }
}

/// Whether a part has no fields but what every such part has.
fn is_bare(extra: Option<&Json>) -> bool {
    let Some(extra) = extra else { return true };
    [r#"{"gemini":{"thought":true}}"#, r#"{"gemini":{"text":""}}"#].contains(&extra.as_str())
}
