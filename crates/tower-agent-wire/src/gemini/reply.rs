use bytes::Bytes;
use tower_agent_core::{Error, FinishReason, Message, Reply, Role};

use super::{
    candidate, error,
    extra::{keep, open, rest},
    finish,
    ids::{Calls, Ids},
    part, spelling, usage,
};
use crate::{
    Encoded, LossRule, Stamp,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, items, write_array},
    },
};

pub(super) const NAMES: [&str; 5] =
    ["promptFeedback", "usageMetadata", "modelVersion", "responseId", "createTime"];

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
    spelling::in_camel_case(&mut fields, &NAMES);
    let mut reply = Reply::new(Message::new(Role::Assistant, Vec::new()));
    reply.id = fields.take_text("responseId");
    reply.model = fields.take_text("modelVersion");
    reply.usage = usage::take(&mut fields);
    let flaw = || Flaw::new(candidate::FIELD, "must be an array of objects");
    let raw = fields.get(candidate::FIELD).unwrap_or("[]").to_owned();
    let list = items(&raw).ok_or_else(flaw)?;
    let Some((first, others)) = list.split_first() else {
        // A prompt that was blocked has no candidate.
        fields.get("promptFeedback").filter(|raw| *raw != NULL).ok_or_else(flaw)?;
        reply.finish = FinishReason::ContentFilter;
        reply.extra = keep(&fields);
        return Ok(reply);
    };
    fields.take(candidate::FIELD);
    let at_first = |flaw: Flaw| flaw.at(candidate::FIELD, 0);
    let mut first = candidate::fields(first).map_err(at_first)?;
    let parts = candidate::take_parts(&mut first, &mut Ids::of_reply(reply.id.as_ref()));
    let parts = parts.map_err(at_first)?;
    let has_calls = parts.iter().any(|part| matches!(part, tower_agent_core::Part::ToolCall(_)));
    reply.finish = finish::take(&mut first, has_calls);
    match first.get("index") {
        None => first.set("index", NULL),
        Some("0") => drop(first.take("index")),
        Some(_) => {}
    }
    keep_candidates(&mut fields, &first, others);
    reply.message = Message::new(Role::Assistant, parts);
    reply.extra = keep(&fields);
    Ok(reply)
}

/// What is left of the first candidate, and the others as they are.
fn keep_candidates(fields: &mut Fields<'_>, first: &Fields<'_>, others: &[&str]) {
    if first.is_empty() && others.is_empty() {
        return;
    }
    let mut list = first.to_text();
    for other in others {
        list.push(',');
        list.push_str(other);
    }
    fields.set(candidate::FIELD, format!("[{list}]"));
}

/// Writes a whole reply for a client.
///
/// Id and model come from the reply where it has them, else from the stamp.
#[must_use]
pub fn encode_reply(reply: &Reply, stamp: &Stamp) -> Encoded {
    let mut all = Vec::new();
    let mut losses = Losses { place: "reply".into(), all: &mut all };
    let mut out = Vec::new();
    let mut object = Object::new(&mut out, open(reply.extra.as_ref(), &[], &mut losses));
    if !open(reply.message.extra(), &[], &mut losses).is_empty() {
        losses.note(LossRule::Extra);
    }
    write_candidates(&mut object, reply, &mut losses);
    if let Some(used) = &reply.usage {
        let raw = object.take(usage::FIELD);
        usage::write(object.field(usage::FIELD), used, rest(raw.as_ref()));
    }
    object.str("modelVersion", reply.model.as_ref().unwrap_or(&stamp.model));
    object.str("responseId", reply.id.as_ref().unwrap_or(&stamp.id));
    object.end();
    // Events without a name belong to a stream; a whole reply has no place for them.
    losses.place = "reply.other".into();
    reply.other.iter().for_each(|_| losses.note(LossRule::Extra));
    Encoded { bytes: Bytes::from(out), losses: all }
}

fn write_candidates(object: &mut Object<'_, '_>, reply: &Reply, losses: &mut Losses<'_>) {
    let kept = object.take(candidate::FIELD);
    let is_blocked = reply.message.parts().is_empty()
        && reply.finish == FinishReason::ContentFilter
        && object.extra().get("promptFeedback").is_some();
    if kept.is_none() && is_blocked {
        return;
    }
    if !finish::is_known(&reply.finish) {
        losses.note(LossRule::FinishReason);
    }
    let list = kept.as_deref().and_then(items).unwrap_or_default();
    let (first, others) = list.split_first().map_or(("{}", [].as_slice()), |(f, o)| (*f, o));
    let out = object.field(candidate::FIELD);
    out.push(b'[');
    write_first(out, Fields::parse(first).unwrap_or_default(), reply, losses);
    for other in others {
        out.push(b',');
        out.extend_from_slice(other.as_bytes());
    }
    out.push(b']');
}

fn write_first(out: &mut Vec<u8>, mut kept: Fields<'_>, reply: &Reply, losses: &mut Losses<'_>) {
    let name = finish::name(&reply.finish, &kept);
    kept.take("finishReason");
    let has_index = !kept.is_null("index");
    kept.retain(|key, raw| key != "index" || raw != NULL);
    let mut object = Object::new(out, kept);
    let parts: Vec<_> =
        reply.message.parts().iter().filter(|part| part::fits_reply(part, losses)).collect();
    if !parts.is_empty() {
        let raw = object.take("content");
        let mut content = Content::of(rest(raw.as_ref()), object.field("content"));
        write_array(content.object.field("parts"), parts, |out, part| {
            part::write(out, part, &Calls::default(), losses);
        });
        content.end();
    }
    if let Some(name) = name {
        object.str("finishReason", &name);
    }
    if has_index {
        object.default_raw("index", "0");
    }
    object.end();
}

/// A content of the model's.
struct Content<'w, 'a> {
    object: Object<'w, 'a>,
    has_role: bool,
}

impl<'w, 'a> Content<'w, 'a> {
    fn of(mut rest: Fields<'a>, out: &'w mut Vec<u8>) -> Self {
        let has_role = !rest.is_null("role");
        rest.retain(|key, raw| key != "role" || raw != NULL);
        Self { object: Object::new(out, rest), has_role }
    }

    fn end(mut self) {
        if self.has_role {
            self.object.default_raw("role", "\"model\"");
        }
        self.object.end();
    }
}
