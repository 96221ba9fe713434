use std::borrow::Cow;

use bytes::Bytes;
use tower_agent_core::{Error, FinishReason, Json, Message, Reply, Role, Str};

use super::{
    Stamp, extra,
    finish::{self, Ending},
    item::{self, Reader},
    message, usage,
};
use crate::{
    Encoded, LossRule,
    codec::{
        Flaw, Losses,
        raw::{self, Fields, NULL, Object, items},
    },
    openai_error as error,
};

pub(super) const OBJECT: &str = "\"response\"";

/// Reads a provider's whole reply.
///
/// # Errors
/// [`ErrorKind::Protocol`](tower_agent_core::ErrorKind::Protocol) when the body is no reply, or one that is not complete
/// yet, such as that of a background task; the provider's own error when the reply failed, or when the body is an error
/// object.
pub fn decode_reply(body: &[u8]) -> Result<Reply, Error> {
    let mut fields = Fields::of_body(body).map_err(Flaw::in_reply)?;
    if let Some(error) = error::in_body(&fields) {
        return Err(error);
    }
    let output = read_output(&mut fields).map_err(Flaw::in_reply)?;
    let asks = output.iter().any(|part| matches!(part, tower_agent_core::Part::ToolCall(_)));
    let end = finish::read(&mut fields, asks)?;
    let head = Head::read(&mut fields);
    let mut reply = Reply::new(Message::new(Role::Assistant, output));
    reply.finish = end;
    reply.id = head.id;
    reply.model = head.model;
    reply.usage = usage::take(&mut fields);
    reply.extra = keep(fields);
    Ok(reply)
}

fn read_output(fields: &mut Fields<'_>) -> Result<Vec<tower_agent_core::Part>, Flaw> {
    let raw = fields.take("output");
    let list = raw.as_deref().and_then(items);
    let list = list.ok_or_else(|| Flaw::new("output", "must be an array of objects"))?;
    let mut parts = Vec::new();
    for (index, raw) in list.into_iter().enumerate() {
        let next = item::read(raw).map_err(|flaw| flaw.at("output", index))?;
        item::push(&mut parts, next);
    }
    Ok(parts)
}

/// What is known of a reply before its end.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) id: Option<Str>,
    pub(super) model: Option<Str>,
}

impl Head {
    pub(super) fn read(fields: &mut Fields<'_>) -> Self {
        fields.take_if("object", |raw| (raw == OBJECT).then_some(()));
        Self { id: fields.take_text("id"), model: fields.take_text("model") }
    }
}

/// What is left of a reply. Chat completions know when it was made, under another name.
pub(super) fn keep(mut fields: Fields<'_>) -> Option<Json> {
    let mut shared = extra::take_shared(&mut fields, &["service_tier"]);
    if let Some(raw) = fields.take("created_at") {
        shared.set("created", raw);
    }
    extra::keep_beside(&fields, shared)
}

/// Writes a whole reply for a client.
///
/// Id, model and time come from the reply where it has them, else from the stamp. Items without an id get one that is
/// made of the reply's.
#[must_use]
pub fn encode_reply(reply: &Reply, stamp: &Stamp) -> Encoded {
    let mut all = Vec::new();
    let mut losses = Losses { place: "reply".into(), all: &mut all };
    let mut out = Vec::new();
    let id = reply.id.as_ref().unwrap_or(&stamp.id);
    let items = write_items(reply, id, &mut losses);
    let ending = finish::of(&reply.finish, reply.extra.as_ref(), &mut losses);
    let response = Response {
        id,
        model: reply.model.as_ref().unwrap_or(&stamp.model),
        created: stamp.created,
        extra: reply.extra.as_ref(),
        ending: Some(&ending),
        usage: reply.usage.as_ref(),
    };
    response.write(&mut out, items.iter().map(Vec::as_slice), &mut losses);
    // Events without a name belong to a stream; a whole reply has no place for them.
    losses.place = "reply.other".into();
    reply.other.iter().for_each(|_| losses.note(LossRule::Extra));
    Encoded { bytes: Bytes::from(out), losses: all }
}

fn write_items(reply: &Reply, id: &str, losses: &mut Losses<'_>) -> Vec<Vec<u8>> {
    let reader = Reader::Client { ids: id };
    let refusal = take_refusal(reply.message.extra(), losses).map(message::refusal);
    let refusal = refusal.map(tower_agent_core::Part::Text);
    let mut items = Vec::new();
    for parts in [reply.message.parts(), refusal.as_slice()] {
        for run in item::runs(parts, losses) {
            let mut item = Vec::new();
            if item::write(&mut item, run, items.len(), reader, losses) {
                items.push(item);
            }
        }
    }
    items
}

/// A refusal that another dialect keeps beside the content; the rest of such fields has no place here.
pub(super) fn take_refusal(extra: Option<&Json>, losses: &mut Losses<'_>) -> Option<Str> {
    extra::open(extra, &["refusal"], losses).take_text("refusal")
}

/// A response object, whole or as far as it has come.
pub(super) struct Response<'a> {
    pub(super) id: &'a str,
    pub(super) model: &'a str,
    pub(super) created: u64,
    pub(super) extra: Option<&'a Json>,
    /// None while it goes on.
    pub(super) ending: Option<&'a Ending>,
    pub(super) usage: Option<&'a tower_agent_core::Usage>,
}

impl Response<'_> {
    pub(super) fn write<'i>(
        &self,
        out: &mut Vec<u8>,
        output: impl Iterator<Item = &'i [u8]>,
        losses: &mut Losses<'_>,
    ) {
        let mut extra = extra::open(self.extra, &["created", "service_tier"], losses);
        let created = extra.take("created").unwrap_or_else(|| self.created.to_string().into());
        let mut object = Object::new(out, extra);
        object.str("id", self.id);
        object.default_raw("object", OBJECT);
        object.raw("created_at", &created);
        match self.ending {
            Some(ending) => ending.write(&mut object),
            None => {
                object.str("status", "in_progress");
                object.raw("error", NULL);
                object.raw("incomplete_details", NULL);
            }
        }
        object.str("model", self.model);
        raw::write_array(object.field("output"), output, |out, item| out.extend_from_slice(item));
        self.write_usage(&mut object);
        object.end();
    }

    fn write_usage(&self, object: &mut Object<'_, '_>) {
        match self.usage {
            Some(used) => {
                let rest = object.take("usage").unwrap_or(Cow::Borrowed("{}"));
                usage::write(object.field("usage"), used, Fields::parse(&rest).unwrap_or_default());
            }
            None if self.ending.is_none() => object.raw("usage", NULL),
            None => object.default_raw("usage", NULL),
        }
    }
}

/// The reason of a reply, for a reply that has none.
pub(super) const fn usual_finish(asks: bool) -> FinishReason {
    if asks { FinishReason::ToolCalls } else { FinishReason::Stop }
}
