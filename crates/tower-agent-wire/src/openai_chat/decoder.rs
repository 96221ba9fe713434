use serde_json::{Map, Value};
use tower_agent_core::{Error, FinishReason, Json, ModelEvent, Part, PartDelta, PartStart, Str};

use super::{
    calls::{Calls, Piece},
    merge, usage,
};
use crate::{
    codec::{
        Flaw, Reading, Told,
        raw::{Fields, NULL, items},
    },
    openai_error,
};

const REASONING: u32 = 0;
const TEXT: u32 = 1;
const FIRST_OTHER: u32 = 2;

decoder! {
    /// Reads a streamed reply of a provider from bytes that may be cut anywhere.
    ///
    /// Push bytes as they come, take events until there are none, and call [`finish`](Self::finish) at the end of the
    /// body. An error comes once, after all events before it; nothing follows it.
    ///
    /// Parts have fixed places, as in a whole reply: reasoning 0, text 1, then calls in the order of their first pieces.
    /// [`Finish`](ModelEvent::Finish) comes with the end of the stream and not with the chunk that names the
    /// reason, because the usage and further fields come after that chunk; so whoever stops at `Finish` misses nothing.
    pub struct Decoder(Chat), 16 MiB
}

#[derive(Clone, Debug, Default)]
struct Chat {
    told: Told,
    id: Option<Str>,
    model: Option<Str>,
    extra: Fields<'static>,
    is_started: bool,
    chunks: u64,
    reasoning: Option<Option<Json>>,
    has_text: bool,
    calls: Calls,
    call_parts: Vec<u32>,
    wholes: u32,
    message_extra: Map<String, Value>,
    finish: Option<FinishReason>,
}

impl Reading for Chat {
    const UNIT: &'static str = "chunk";

    fn told(&self) -> &Told {
        &self.told
    }

    fn told_mut(&mut self) -> &mut Told {
        &mut self.told
    }

    fn event(&mut self, name: Option<&str>, fields: Fields<'_>, text: &str) -> Result<(), Error> {
        if let Some(error) = openai_error::in_chunk(&fields, name) {
            return Err(error);
        }
        self.chunk(fields, text).map_err(Flaw::in_reply)
    }

    fn done(&mut self) {
        self.end();
    }

    fn is_complete(&self) -> bool {
        self.finish.is_some()
    }

    fn end(&mut self) {
        if let Some(extra) = self.reasoning.take() {
            self.emit(ModelEvent::PartEnd { index: REASONING, extra });
        }
        if self.has_text {
            self.emit(ModelEvent::PartEnd { index: TEXT, extra: None });
        }
        for (call, index) in self.calls.iter().zip(&self.call_parts) {
            let extra = (!call.extra.is_empty()).then(|| Value::from(call.extra.clone()).into());
            self.told.emit(ModelEvent::PartEnd { index: *index, extra });
        }
        if !self.message_extra.is_empty() {
            let extra = Value::from(std::mem::take(&mut self.message_extra)).into();
            self.emit(ModelEvent::MessageExtra { extra });
        }
        let reason = self.finish.take().unwrap_or(FinishReason::Unspecified);
        self.told.finish(ModelEvent::Finish { reason });
    }
}

impl Chat {
    fn emit(&mut self, event: ModelEvent) {
        self.told.emit(event);
    }

    fn chunk(&mut self, mut fields: Fields<'_>, text: &str) -> Result<(), Flaw> {
        self.chunks += 1;
        let list = fields.take("choices");
        let used = usage::take(&mut fields);
        let Some(list) = list.or(used.map(|_| "[]".into())) else {
            self.emit(ModelEvent::Other { json: Json::from_text(text) });
            return Ok(());
        };
        let choices = if list == NULL { Some(Vec::new()) } else { items(&list) };
        let choices = choices.ok_or_else(|| Flaw::new("choices", "must be an array"))?;
        self.head(fields, !choices.is_empty() || used.is_some());
        for (at, raw) in choices.into_iter().enumerate() {
            let choice = Fields::parse(raw)
                .ok_or_else(|| Flaw::new("", "must be an object").at("choices", at))?;
            match choice.get("index") {
                None | Some("0" | NULL) => {
                    self.choice(choice).map_err(|flaw| flaw.at("choices", at))?
                }
                Some(_) => self.other("choices", &format!("[{raw}]")),
            }
        }
        if let Some(usage) = used {
            self.emit(ModelEvent::Usage { usage });
        }
        Ok(())
    }

    /// What all chunks have in common is said once; what comes late is said again, and what differs is told apart.
    fn head(&mut self, mut fields: Fields<'_>, is_reply: bool) {
        let id = fields.take_text("id").filter(|_| self.id.is_none());
        let model = fields.take_text("model").filter(|_| self.model.is_none());
        let mut is_news = id.is_some() || model.is_some();
        self.id = id.clone().or(self.id.take());
        self.model = model.clone().or(self.model.take());
        for key in ["id", "model", "object", "obfuscation"] {
            fields.take(key);
        }
        for (key, raw) in fields.iter().filter(|(_, raw)| *raw != NULL) {
            match self.extra.get(key) {
                Some(before) if before == raw || key == "created" => {}
                Some(_) if key != "usage" => self.other(key, raw),
                _ => {
                    is_news = true;
                    self.extra.set(key.to_owned(), raw.to_owned());
                }
            }
        }
        if self.is_started && is_news {
            self.emit(ModelEvent::Start { id, model, extra: self.extra.to_extra() });
        } else if !self.is_started && (self.id.is_some() || is_reply) {
            self.is_started = true;
            let (id, model) = (self.id.clone(), self.model.clone());
            self.emit(ModelEvent::Start { id, model, extra: self.extra.to_extra() });
        }
    }

    fn other(&mut self, key: &str, raw: &str) {
        let mut fields = Fields::default();
        fields.set(key, raw);
        self.emit(ModelEvent::Other { json: Json::from_text(fields.to_text()) });
    }

    fn choice(&mut self, mut fields: Fields<'_>) -> Result<(), Flaw> {
        fields.take("index");
        let delta = fields.take("delta").filter(|raw| raw != NULL);
        if let Some(raw) = delta {
            let delta =
                Fields::parse(&raw).ok_or_else(|| Flaw::new("delta", "must be an object"))?;
            self.delta(delta)?;
        }
        if let Some(reason) = fields.take_text("finish_reason") {
            self.finish = Some((&*reason).into());
        }
        fields.retain(|_, raw| raw != NULL);
        fields.take("finish_reason");
        if !fields.is_empty() {
            self.other("choices", &format!("[{}]", fields.to_text()));
        }
        Ok(())
    }

    fn delta(&mut self, mut fields: Fields<'_>) -> Result<(), Flaw> {
        fields.take_if("role", |raw| (raw == "\"assistant\"").then_some(()));
        self.reasoning(&mut fields);
        if let Some(text) = fields.take_text("content") {
            self.text(text);
        } else if let Some(list) =
            fields.take_if("content", |raw| items(raw).map(|_| raw.to_owned()))
        {
            self.content_list(&list)?;
        }
        if let Some(list) = fields.take("tool_calls").filter(|raw| raw != NULL) {
            let list =
                items(&list).ok_or_else(|| Flaw::new("delta.tool_calls", "must be an array"))?;
            for raw in list {
                self.call(raw)?;
            }
        }
        // Empty values only announce that a field may come.
        fields.retain(|_, raw| ![NULL, "\"\"", "[]", "{}"].contains(&raw));
        if !fields.is_empty()
            && let Ok(rest) = serde_json::from_str(&fields.to_text())
        {
            merge::object(&mut self.message_extra, rest);
        }
        Ok(())
    }

    fn reasoning(&mut self, fields: &mut Fields<'_>) {
        let (text, extra) = match fields.take_text("reasoning_content") {
            Some(text) => (text, None),
            None => match fields.take_text("reasoning") {
                Some(text) => (text, Some(Json::from_text(r#"{"reasoning":null}"#))),
                None => return,
            },
        };
        if self.reasoning.is_none() {
            self.reasoning = Some(extra);
            self.emit(ModelEvent::PartStart { index: REASONING, part: PartStart::Reasoning });
        }
        self.emit(ModelEvent::PartDelta { index: REASONING, delta: PartDelta::Reasoning(text) });
    }

    fn text(&mut self, text: Str) {
        if !std::mem::replace(&mut self.has_text, true) {
            self.emit(ModelEvent::PartStart { index: TEXT, part: PartStart::Text });
        }
        self.emit(ModelEvent::PartDelta { index: TEXT, delta: PartDelta::Text(text) });
    }

    /// Some servers stream a list of parts: its texts are the text, the rest are parts of their own.
    fn content_list(&mut self, raw: &str) -> Result<(), Flaw> {
        for raw in items(raw).unwrap_or_default() {
            let mut part = Fields::parse(raw).ok_or_else(|| {
                Flaw::new("delta.content", "must be a text or an array of objects")
            })?;
            if part.get("type") == Some("\"text\"") {
                part.take_text("text").into_iter().for_each(|text| self.text(text));
            } else {
                let index = self.next_other();
                self.wholes += 1;
                let part = PartStart::Whole(Part::Opaque { json: Json::from_text(raw) });
                self.emit(ModelEvent::PartStart { index, part });
                self.emit(ModelEvent::PartEnd { index, extra: None });
            }
        }
        Ok(())
    }

    fn next_other(&self) -> u32 {
        let calls = u32::try_from(self.call_parts.len()).unwrap_or(u32::MAX);
        FIRST_OTHER.saturating_add(calls).saturating_add(self.wholes)
    }

    fn call(&mut self, raw: &str) -> Result<(), Flaw> {
        let mut piece = Piece::read(raw)
            .ok_or_else(|| Flaw::new("delta.tool_calls", "must be an array of objects"))?;
        let (at, is_new) = self.calls.take(&mut piece, self.chunks);
        let Piece { id, name, arguments, .. } = piece;
        let (id, name) = (id.map(Into::into), name);
        if is_new {
            let index = self.next_other();
            self.call_parts.push(index);
            self.emit(ModelEvent::PartStart { index, part: PartStart::ToolCall { id, name } });
            if !arguments.is_empty() {
                self.emit(ModelEvent::PartDelta { index, delta: PartDelta::arguments(arguments) });
            }
        } else if id.is_some() || name.is_some() || !arguments.is_empty() {
            let index = self.call_parts.get(at).copied().unwrap_or_default();
            let delta = PartDelta::ToolCall { id, name, arguments };
            self.emit(ModelEvent::PartDelta { index, delta });
        }
        Ok(())
    }
}
