//! Messages of a request, and the message of a reply, which has the same form.

use std::collections::HashMap;

use tower_agent_core::{
    CallId, Conversation, Json, Message, ModelRequest, Part, Role, Str, TextPart, ToolCallPart,
    ToolResultPart,
};

use super::{content, tool_call};
use crate::{
    Loss, LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, items, write_array, write_str},
    },
};

pub(super) fn read_all(list: &[&str]) -> Result<Conversation, Flaw> {
    let mut names = HashMap::new();
    let mut messages = Vec::with_capacity(list.len());
    for (index, raw) in list.iter().enumerate() {
        let mut message = read(raw).map_err(|flaw| flaw.at("messages", index))?;
        learn_names(&mut message, &mut names);
        messages.push(message);
    }
    Ok(messages.into())
}

/// A result names only its call; layers that go by the tool need its name as well.
fn learn_names(message: &mut Message, names: &mut HashMap<CallId, Str>) {
    names.extend(message.tool_calls().map(|call| (call.id.clone(), call.name.clone())));
    if *message.role() == Role::Tool {
        for part in message.parts_mut() {
            if let Part::ToolResult(result) = part {
                result.name = names.get(&result.call_id).cloned();
            }
        }
    }
}

fn read(raw: &str) -> Result<Message, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let role = fields.take_str("role").ok_or_else(|| Flaw::new("role", "must be a string"))?;
    match role.as_str() {
        "tool" => read_tool_result(fields),
        "assistant" => read_assistant(fields),
        "system" => read_plain(Role::System, fields),
        "developer" => read_plain(Role::Developer, fields),
        "user" => read_plain(Role::User, fields),
        _ => read_plain(Role::Other(role), fields),
    }
}

fn read_plain(role: Role, mut fields: Fields<'_>) -> Result<Message, Flaw> {
    let parts = content::read(&mut fields)?;
    Ok(finish(role, parts, fields))
}

pub(super) fn read_assistant(mut fields: Fields<'_>) -> Result<Message, Flaw> {
    let mut parts: Vec<Part> =
        read_reasoning(&mut fields).map(Part::Reasoning).into_iter().collect();
    parts.extend(content::read(&mut fields)?);
    parts.extend(read_calls(&mut fields)?.into_iter().map(Part::ToolCall));
    Ok(finish(Role::Assistant, parts, fields))
}

fn read_tool_result(mut fields: Fields<'_>) -> Result<Message, Flaw> {
    let call_id = fields
        .take_str("tool_call_id")
        .ok_or_else(|| Flaw::new("tool_call_id", "must be a string"))?;
    let name = fields.take_str("name");
    let content = content::read_result(&mut fields)?;
    let result = ToolResultPart {
        call_id: call_id.into(),
        name: None,
        content,
        structured: None,
        is_error: false,
        extra: fields.to_extra(),
    };
    Ok(Message::tool_result(result).with_name(name))
}

fn finish(role: Role, parts: Vec<Part>, mut fields: Fields<'_>) -> Message {
    let name = fields.take_str("name");
    Message::new(role, parts).with_name(name).with_extra(fields.to_extra())
}

fn read_reasoning(fields: &mut Fields<'_>) -> Option<TextPart> {
    if let Some(text) = fields.take_text("reasoning_content") {
        return Some(TextPart { text, extra: None });
    }
    let text = fields.take_text("reasoning")?;
    Some(TextPart { text, extra: Some(Json::from_text(r#"{"reasoning":null}"#)) })
}

fn read_calls(fields: &mut Fields<'_>) -> Result<Vec<ToolCallPart>, Flaw> {
    let Some(list) = fields.take("tool_calls") else { return Ok(Vec::new()) };
    let calls = items(&list).filter(|calls| !calls.is_empty());
    let Some(calls) = calls else {
        if list == NULL || list.starts_with('[') {
            fields.set("tool_calls", list);
            return Ok(Vec::new());
        }
        return Err(Flaw::new("tool_calls", "must be an array of objects"));
    };
    let read =
        |(index, raw)| tool_call::read(raw).map_err(|flaw: Flaw| flaw.at("tool_calls", index));
    calls.into_iter().enumerate().map(read).collect()
}

pub(super) fn write_all(out: &mut Vec<u8>, request: &ModelRequest, losses: &mut Vec<Loss>) {
    let instructions = request.instructions.as_ref().filter(|text| !text.is_empty());
    let first = instructions.map(|text| Message::system(text.clone()));
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    messages.extend(first.iter().map(|message| Entry { message, place: None, what: What::Rest }));
    for (index, message) in request.messages.iter().enumerate() {
        messages.extend(Entry::all_of(message, index));
    }
    write_array(out, messages, |out, entry| entry.write(out, losses));
}

/// One message of the dialect, which may be a part of one of the vocabulary.
struct Entry<'a> {
    message: &'a Message,
    place: Option<usize>,
    what: What<'a>,
}

enum What<'a> {
    Result(&'a ToolResultPart),
    Rest,
}

impl<'a> Entry<'a> {
    /// Results come first: they must follow the message with their calls.
    fn all_of(message: &'a Message, index: usize) -> impl Iterator<Item = Self> {
        let results = message.parts().iter().filter_map(|part| match part {
            Part::ToolResult(result) => Some(What::Result(result)),
            _ => None,
        });
        let has_rest = message.parts().is_empty()
            || message.parts().iter().any(|part| !matches!(part, Part::ToolResult(_)));
        results.chain(has_rest.then_some(What::Rest)).map(move |what| Self {
            message,
            place: Some(index),
            what,
        })
    }

    fn place(&self) -> String {
        self.place.map_or_else(|| "instructions".into(), |index| format!("messages[{index}]"))
    }

    fn write(self, out: &mut Vec<u8>, losses: &mut Vec<Loss>) {
        let mut places = Losses { place: self.place(), all: losses };
        match self.what {
            What::Result(result) => write_result(out, self.message, result, &mut places),
            What::Rest => {
                let object = Object::new(out, places.fields(self.message.extra()));
                write_rest(object, self.message, &mut places);
            }
        }
    }
}

fn write_result(
    out: &mut Vec<u8>,
    message: &Message,
    result: &ToolResultPart,
    losses: &mut Losses<'_>,
) {
    let mut fields = losses.fields(result.extra.as_ref());
    for (key, value) in losses.fields(message.extra()).iter() {
        if fields.get(key).is_none() {
            fields.set(key.to_owned(), value.to_owned());
        }
    }
    if result.is_error {
        losses.note(LossRule::ErrorFlag);
    }
    let mut object = Object::new(out, fields);
    object.str("role", "tool");
    object.str("tool_call_id", result.call_id.as_str());
    if let Some(name) = message.name() {
        object.str("name", name);
    }
    content::write_result(&mut object, result, losses);
    object.end();
}

fn write_rest(mut object: Object<'_, '_>, message: &Message, losses: &mut Losses<'_>) {
    object.str("role", role_name(message.role()));
    if let Some(name) = message.name() {
        object.str("name", name);
    }
    write_reasoning(&mut object, message.parts(), losses);
    content::write(&mut object, message, losses);
    write_calls(&mut object, message, losses);
    object.end();
}

fn role_name(role: &Role) -> &str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Other(name) => name,
        _ => "user",
    }
}

pub(super) fn write_reasoning(
    object: &mut Object<'_, '_>,
    parts: &[Part],
    losses: &mut Losses<'_>,
) {
    let parts = parts.iter().filter_map(|part| match part {
        Part::Reasoning(part) => Some(part),
        _ => None,
    });
    let (mut text, mut key) = (String::new(), None);
    for part in parts {
        let mut extra = losses.fields(part.extra.as_ref());
        let is_short = extra.take("reasoning").is_some();
        if !extra.is_empty() {
            losses.note(LossRule::Extra);
        }
        key.get_or_insert(if is_short { "reasoning" } else { "reasoning_content" });
        text.push_str(&part.text);
    }
    // Reasoning that only another model can read has no text.
    if let Some(key) = key.filter(|_| !text.is_empty()) {
        object.str(key, &text);
    }
}

pub(super) fn write_calls(object: &mut Object<'_, '_>, message: &Message, losses: &mut Losses<'_>) {
    if message.tool_calls().next().is_some() {
        write_array(object.field("tool_calls"), message.tool_calls(), |out, call| {
            tool_call::write(out, call, losses);
        });
    }
}

/// The message of a reply.
pub(super) fn write_reply(out: &mut Vec<u8>, message: &Message, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, losses.fields(message.extra()));
    if object.extra().get("role").is_none() {
        write_str(object.field("role"), "assistant");
    }
    if let Some(name) = message.name() {
        object.str("name", name);
    }
    write_reasoning(&mut object, message.parts(), losses);
    content::write_reply(&mut object, message, losses);
    write_calls(&mut object, message, losses);
    object.end();
}
