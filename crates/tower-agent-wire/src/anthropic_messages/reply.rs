use std::borrow::Cow;

use bytes::Bytes;
use tower_agent_core::{Error, FinishReason, Message, Reply, Role};

use super::{
    error,
    extra::{keep, open},
    finish, message, usage,
};
use crate::{
    Encoded, LossRule, Stamp,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object},
    },
};

/// Fields of a reply that a user may set beside the dialect's own key.
pub(super) const KNOWN: [&str; 2] = ["container", "context_management"];

/// Reads a whole reply of a provider.
///
/// # Errors
/// [`ErrorKind::Protocol`](tower_agent_core::ErrorKind::Protocol) when the body is no reply; the provider's own error
/// when the body is an error object.
pub fn decode_reply(body: &[u8]) -> Result<Reply, Error> {
    let fields = Fields::of_body(body).map_err(Flaw::in_reply)?;
    if let Some(error) = error::in_body(&fields) {
        return Err(error);
    }
    read(fields).map_err(Flaw::in_reply)
}

fn read(mut fields: Fields<'_>) -> Result<Reply, Flaw> {
    let mut reply = Reply::new(Message::new(Role::Assistant, message::read_reply(&mut fields)?));
    reply.id = fields.take_str("id");
    reply.model = fields.take_str("model");
    reply.usage = usage::take(&mut fields);
    take_usual(&mut fields);
    reply.finish = finish::take(&mut fields);
    reply.extra = keep(&fields);
    Ok(reply)
}

/// What every message has is written unasked.
pub(super) fn take_usual(fields: &mut Fields<'_>) {
    fields.take_if("type", |raw| (raw == "\"message\"").then_some(()));
    fields.take_if("role", |raw| (raw == "\"assistant\"").then_some(()));
    fields.take_if("stop_sequence", |raw| (raw == NULL).then_some(()));
}

/// Writes a whole reply for a client.
///
/// Id and model come from the reply where it has them, else from the stamp.
#[must_use]
pub fn encode_reply(reply: &Reply, stamp: &Stamp) -> Encoded {
    let mut all = Vec::new();
    let mut losses = Losses { place: "reply".into(), all: &mut all };
    let mut out = Vec::new();
    let mut object = Object::new(&mut out, open(reply.extra.as_ref(), &KNOWN, &mut losses));
    object.str("id", reply.id.as_ref().unwrap_or(&stamp.id));
    object.default_raw("type", "\"message\"");
    object.default_raw("role", "\"assistant\"");
    object.str("model", reply.model.as_ref().unwrap_or(&stamp.model));
    message::check_extra(reply.message.extra(), &mut losses);
    message::write_reply(object.field("content"), &reply.message, &mut losses);
    if reply.finish != FinishReason::Unspecified || object.extra().get("stop_reason").is_none() {
        let name = finish::name(&reply.finish, object.extra());
        object.str("stop_reason", &name);
    }
    object.default_raw("stop_sequence", NULL);
    let rest = object.take("usage").unwrap_or(Cow::Borrowed("{}"));
    let rest = Fields::parse(&rest).unwrap_or_default();
    usage::write(object.field("usage"), &reply.usage.unwrap_or_default(), rest);
    object.end();
    // Events without a name belong to a stream; a whole reply has no place for them.
    losses.place = "reply.other".into();
    reply.other.iter().for_each(|_| losses.note(LossRule::Extra));
    Encoded { bytes: Bytes::from(out), losses: all }
}
