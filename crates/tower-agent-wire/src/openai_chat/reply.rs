use std::borrow::Cow;

use bytes::Bytes;
use tower_agent_core::{Error, FinishReason, Reply};

use super::{message, usage};
use crate::{
    Encoded, LossRule, Stamp,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, items, write_array},
    },
    openai_error,
};

const OBJECT: &str = "\"chat.completion\"";

/// Reads a whole reply of a provider.
///
/// # Errors
/// [`ErrorKind::Protocol`](tower_agent_core::ErrorKind::Protocol) when the body is no reply; the provider's own error
/// when the body is an error object, which some servers send with a status of success.
pub fn decode_reply(body: &[u8]) -> Result<Reply, Error> {
    let fields = Fields::of_body(body).map_err(Flaw::in_reply)?;
    if let Some(error) = openai_error::in_body(&fields) {
        return Err(error);
    }
    read(fields).map_err(Flaw::in_reply)
}

fn read(mut fields: Fields<'_>) -> Result<Reply, Flaw> {
    let raw = fields.take("choices");
    let choices = raw.as_deref().and_then(items).unwrap_or_default();
    let Some((first, others)) = choices.split_first() else {
        return Err(Flaw::new("choices", "must be an array with a choice"));
    };
    let (mut reply, rest) = read_choice(first).map_err(|flaw| flaw.at("choices", 0))?;
    if !rest.is_empty() || !others.is_empty() {
        let mut kept = Vec::new();
        let rest = rest.to_text();
        write_array(
            &mut kept,
            std::iter::once(&*rest).chain(others.iter().copied()),
            |out, raw| {
                out.extend_from_slice(raw.as_bytes());
            },
        );
        fields.set("choices", String::from_utf8(kept).unwrap_or_default());
    }
    reply.id = fields.take_str("id");
    reply.model = fields.take_str("model");
    reply.usage = usage::take(&mut fields);
    fields.take_if("object", |raw| (raw == OBJECT).then_some(()));
    reply.extra = fields.to_extra();
    Ok(reply)
}

/// The reply of a choice, and what is left of it.
fn read_choice(raw: &str) -> Result<(Reply, Fields<'_>), Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let text = fields.take("message");
    let mut inner = text
        .as_deref()
        .and_then(Fields::parse)
        .ok_or_else(|| Flaw::new("message", "must be an object"))?;
    inner.take_if("role", |raw| (raw == "\"assistant\"").then_some(()));
    inner.take_if("content", |raw| (raw == NULL).then_some(()));
    let mut reply = Reply::new(message::read_assistant(inner)?);
    reply.finish = fields
        .take_str("finish_reason")
        .map_or(FinishReason::Unspecified, |reason| (&*reason).into());
    fields.take_if("index", |raw| (raw == "0").then_some(()));
    Ok((reply, fields))
}

/// Writes a whole reply for a client.
///
/// Id, model and time come from the reply where it has them, else from the stamp.
#[must_use]
pub fn encode_reply(reply: &Reply, stamp: &Stamp) -> Encoded {
    let mut all = Vec::new();
    let mut losses = Losses { place: "reply".into(), all: &mut all };
    let mut out = Vec::new();
    let mut object = Object::new(&mut out, losses.fields(reply.extra.as_ref()));
    object.str("id", reply.id.as_ref().unwrap_or(&stamp.id));
    object.default_raw("object", OBJECT);
    object.default_raw("created", &stamp.created.to_string());
    object.str("model", reply.model.as_ref().unwrap_or(&stamp.model));
    let choices = object.take("choices").unwrap_or(Cow::Borrowed("[]"));
    let choices = items(&choices).unwrap_or_default();
    let (rest, others) = match choices.split_first() {
        Some((rest, others)) => (Fields::parse(rest).unwrap_or_default(), others),
        None => (Fields::default(), &[][..]),
    };
    let out_choices = object.field("choices");
    out_choices.push(b'[');
    write_choice(out_choices, reply, rest, &mut losses);
    for other in others {
        out_choices.push(b',');
        out_choices.extend_from_slice(other.as_bytes());
    }
    out_choices.push(b']');
    if let Some(used) = &reply.usage {
        let rest = object.take("usage").unwrap_or(Cow::Borrowed("{}"));
        usage::write(object.field("usage"), used, Fields::parse(&rest).unwrap_or_default());
    }
    object.end();
    // Events without a name belong to a stream; a whole reply has no place for them.
    losses.place = "reply.other".into();
    reply.other.iter().for_each(|_| losses.note(LossRule::Extra));
    Encoded { bytes: Bytes::from(out), losses: all }
}

fn write_choice(out: &mut Vec<u8>, reply: &Reply, rest: Fields<'_>, losses: &mut Losses<'_>) {
    let mut choice = Object::new(out, rest);
    choice.default_raw("index", "0");
    message::write_reply(choice.field("message"), &reply.message, losses);
    match &reply.finish {
        FinishReason::Unspecified => choice.default_raw("finish_reason", "\"stop\""),
        reason => choice.str("finish_reason", reason.as_str()),
    }
    choice.end();
}
