use std::collections::BTreeMap;

use tower_agent_core::{Error, FinishReason, Json, ModelEvent};

use super::{building::Building, error, extra::keep, finish, reply::take_usual, usage};
use crate::codec::{
    Flaw, Reading, Told,
    raw::{Fields, NULL, string},
};

decoder! {
    /// Reads a streamed reply of a provider from bytes that may be cut anywhere.
    ///
    /// Push bytes as they come, take events until there are none, and call [`finish`](Self::finish) at the end of the
    /// body. An error comes once, after all events before it; nothing follows it.
    ///
    /// Only `message_stop` ends a reply: a body that ends without it was cut, and that is an error even if the
    /// provider had said why it stops. [`Finish`](ModelEvent::Finish) comes with it.
    pub struct Decoder(Messages), 16 MiB
}

#[derive(Clone, Debug, Default)]
struct Messages {
    told: Told,
    /// Fields of the reply without a name in the vocabulary.
    extra: Fields<'static>,
    usage: Fields<'static>,
    blocks: BTreeMap<u32, Building>,
    finish: Option<FinishReason>,
}

impl Reading for Messages {
    fn told(&self) -> &Told {
        &self.told
    }

    fn told_mut(&mut self) -> &mut Told {
        &mut self.told
    }

    fn event(&mut self, name: Option<&str>, fields: Fields<'_>, text: &str) -> Result<(), Error> {
        let kind = fields.get("type").and_then(string).or_else(|| name.map(Into::into));
        let kind = kind.ok_or_else(|| Flaw::new("event", "has no type").in_reply())?;
        if kind == "error" {
            return Err(error::broken(&fields));
        }
        self.known(&kind, fields, text).map_err(Flaw::in_reply)
    }
}

impl Messages {
    fn emit(&mut self, event: ModelEvent) {
        self.told.emit(event);
    }

    fn known(&mut self, kind: &str, mut fields: Fields<'_>, text: &str) -> Result<(), Flaw> {
        match kind {
            "message_start" => self.message_start(&fields),
            "content_block_start" => self.block_start(&fields),
            "content_block_delta" => self.block_delta(&fields, text),
            "content_block_stop" => self.block_stop(index(&fields)?),
            "message_delta" => {
                fields.take("type");
                self.message_delta(fields)
            }
            "message_stop" => self.end(),
            // It keeps connections alive and says nothing.
            "ping" => Ok(()),
            _ => {
                self.emit(ModelEvent::Other { json: Json::from_text(text) });
                Ok(())
            }
        }
    }

    fn message_start(&mut self, fields: &Fields<'_>) -> Result<(), Flaw> {
        let mut message = object(fields, "message")?;
        let (id, model) = (message.take_text("id"), message.take_text("model"));
        message.take_if("content", |raw| (raw == "[]").then_some(()));
        message.take_if("stop_reason", |raw| (raw == NULL).then_some(()));
        take_usual(&mut message);
        let used = message.take("usage").filter(|raw| raw != NULL);
        if let Some(raw) = &used {
            self.take_usage(raw);
        }
        self.add(message);
        self.emit(ModelEvent::Start { id, model, extra: keep(&self.extra) });
        if used.is_some() {
            self.tell_usage();
        }
        Ok(())
    }

    /// Adds fields of the reply; what is `null` says no more than what was there.
    fn add(&mut self, fields: Fields<'_>) -> bool {
        let mut is_news = false;
        for (key, raw) in fields.into_pairs() {
            let before = self.extra.get(&key);
            if before == Some(&raw) || (raw == NULL && before.is_some()) {
                continue;
            }
            is_news = true;
            self.extra.set(key.into_owned(), raw.into_owned());
        }
        is_news
    }

    /// Adds counts; later ones are totals and replace earlier ones. What has no name stays in the extra.
    fn take_usage(&mut self, raw: &str) -> bool {
        for (key, raw) in Fields::parse(raw).unwrap_or_default().into_pairs() {
            if raw != NULL || self.usage.get(&key).is_none() {
                self.usage.set(key.into_owned(), raw.into_owned());
            }
        }
        let mut rest = self.usage.clone();
        usage::read(&mut rest);
        let mut fields = Fields::default();
        fields.set_rest("usage", &rest);
        self.add(fields)
    }

    fn tell_usage(&mut self) {
        let usage = usage::read(&mut self.usage.clone());
        self.emit(ModelEvent::Usage { usage });
    }

    fn block_start(&mut self, fields: &Fields<'_>) -> Result<(), Flaw> {
        let index = index(fields)?;
        let block = object(fields, "content_block")?;
        if self.blocks.contains_key(&index) {
            return Err(Flaw::new("index", "names a block that has begun already"));
        }
        let building = Building::start(&block)?;
        self.told.extend(building.begun(index));
        self.blocks.insert(index, building);
        Ok(())
    }

    fn block_delta(&mut self, fields: &Fields<'_>, text: &str) -> Result<(), Flaw> {
        let index = index(fields)?;
        let delta = object(fields, "delta")?;
        let block = self.blocks.get_mut(&index).filter(|block| !block.is_ended());
        let block = block.ok_or_else(|| Flaw::new("index", "names no open block"))?;
        match block.push(&delta)? {
            Some(piece) if !piece.text().is_empty() => {
                self.emit(ModelEvent::PartDelta { index, delta: piece });
            }
            Some(_) => {}
            None => self.emit(ModelEvent::Other { json: Json::from_text(text) }),
        }
        Ok(())
    }

    fn block_stop(&mut self, index: u32) -> Result<(), Flaw> {
        let block = self.blocks.get_mut(&index);
        let block = block.ok_or_else(|| Flaw::new("index", "names no open block"))?;
        let events = block.end(index);
        self.told.extend(events);
        Ok(())
    }

    fn message_delta(&mut self, mut fields: Fields<'_>) -> Result<(), Flaw> {
        let raw = fields.take("delta");
        let delta = raw.as_deref().and_then(Fields::parse);
        let mut delta = delta.ok_or_else(|| Flaw::new("delta", "must be an object"))?;
        delta.take_if("stop_sequence", |raw| (raw == NULL).then_some(()));
        delta.take_if("stop_reason", |raw| (raw == NULL).then_some(()));
        if delta.get("stop_reason").is_some() {
            self.finish = Some(finish::take(&mut delta));
        }
        let used = fields.take("usage").filter(|raw| raw != NULL);
        let mut is_news = self.add(delta) | self.add(fields);
        if let Some(raw) = &used {
            is_news |= self.take_usage(raw);
        }
        if is_news {
            self.emit(ModelEvent::Start { id: None, model: None, extra: keep(&self.extra) });
        }
        if used.is_some() {
            self.tell_usage();
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Flaw> {
        let open: Vec<_> =
            self.blocks.iter_mut().flat_map(|(index, block)| block.end(*index)).collect();
        self.told.extend(open);
        let reason = self.finish.take().unwrap_or(FinishReason::Unspecified);
        self.told.finish(ModelEvent::Finish { reason });
        Ok(())
    }
}

fn index(fields: &Fields<'_>) -> Result<u32, Flaw> {
    let index = fields.get("index").and_then(|raw| raw.parse().ok());
    index.ok_or_else(|| Flaw::new("index", "must be a small whole number"))
}

fn object<'a>(fields: &'a Fields<'_>, key: &'static str) -> Result<Fields<'a>, Flaw> {
    fields.get(key).and_then(Fields::parse).ok_or_else(|| Flaw::new(key, "must be an object"))
}
