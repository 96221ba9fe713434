//! Messages of a request, and the operator's text before them.

use std::collections::HashMap;

use tower_agent_core::{CallId, Json, Message, ModelRequest, Part, Role, Str, TextPart};

use super::{
    block::{self, take_list},
    extra::{keep, open},
};
use crate::{
    Loss, LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, Object, items, write_array, write_str},
    },
};

/// Reads the operator's text: a text is the instructions, a list of blocks a message of its own.
pub(super) fn read_system(
    request: &mut ModelRequest,
    fields: &mut Fields<'_>,
) -> Result<Option<Message>, Flaw> {
    if let Some(text) = fields.take_text("system") {
        request.instructions = Some(text);
        return Ok(None);
    }
    let list = match fields.get("system") {
        None | Some("\"\"" | "null") => return Ok(None),
        Some(raw) => items(raw),
    };
    let list = list.ok_or_else(|| Flaw::new("system", "must be a string or an array of blocks"))?;
    if list.is_empty() {
        return Ok(None);
    }
    let parts = block::read_all("system", &list)?;
    fields.take("system");
    Ok(Some(Message::new(Role::System, parts)))
}

pub(super) fn read_all(list: &[&str], first: Option<Message>) -> Result<Vec<Message>, Flaw> {
    let mut names = HashMap::new();
    let mut messages: Vec<_> = first.into_iter().collect();
    for (index, raw) in list.iter().enumerate() {
        let mut message = read(raw).map_err(|flaw| flaw.at("messages", index))?;
        learn_names(&mut message, &mut names);
        messages.push(message);
    }
    Ok(messages)
}

/// A result names only its call; layers that go by the tool need its name as well.
fn learn_names(message: &mut Message, names: &mut HashMap<CallId, Str>) {
    names.extend(message.tool_calls().map(|call| (call.id.clone(), call.name.clone())));
    if message.parts().iter().any(|part| matches!(part, Part::ToolResult(_))) {
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
    let parts = read_content(&mut fields)?;
    let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
    let role = match role.as_str() {
        "user" if !parts.is_empty() && parts.iter().all(is_result) => Role::Tool,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::Other(role),
    };
    Ok(Message::new(role, parts).with_extra(keep(&fields)))
}

/// An empty content stays in the fields.
fn read_content(fields: &mut Fields<'_>) -> Result<Vec<Part>, Flaw> {
    if let Some(text) = fields.take_text("content") {
        return Ok(vec![Part::text(text)]);
    }
    match fields.get("content") {
        None => Err(Flaw::new("content", "must be a string or an array of blocks")),
        Some("\"\"") => Ok(Vec::new()),
        Some(_) => {
            let list = take_list(fields)?.unwrap_or_default();
            block::read_all("content", &list.iter().map(String::as_str).collect::<Vec<_>>())
        }
    }
}

/// Whether a message is the operator's.
fn is_system(message: &Message) -> bool {
    matches!(message.role(), Role::System | Role::Developer)
}

/// Writes instructions and operators' messages, which stand before all others.
pub(super) fn write_system(
    object: &mut Object<'_, '_>,
    request: &ModelRequest,
    losses: &mut Vec<Loss>,
) {
    let instructions = request.instructions.iter().filter(|text| !text.is_empty());
    let mut parts: Vec<(String, Part)> =
        instructions.map(|text| ("instructions".into(), Part::text(text.clone()))).collect();
    let mut is_before = true;
    for (index, message) in request.messages.iter().enumerate() {
        let place = format!("messages[{index}]");
        if !is_system(message) {
            is_before = false;
            continue;
        }
        let mut losses = Losses { place: place.clone(), all: losses };
        if !is_before {
            losses.note(LossRule::Moved);
        }
        drop(open(message.extra(), &[], &mut losses));
        parts.extend(message.parts().iter().map(|part| (place.clone(), part.clone())));
    }
    match parts.as_slice() {
        [] => {}
        [(_, Part::Text(TextPart { text, extra: None }))] => object.str("system", text),
        parts => write_parts(object.field("system"), parts, losses),
    }
}

fn write_parts(out: &mut Vec<u8>, parts: &[(String, Part)], losses: &mut Vec<Loss>) {
    let mut fitting = Vec::new();
    for (place, part) in parts {
        if block::fits(part, &mut Losses { place: place.clone(), all: losses }) {
            fitting.push((place, part));
        }
    }
    write_array(out, fitting, |out, (place, part)| {
        block::write(out, part, &mut Losses { place: place.clone(), all: losses });
    });
}

/// Messages that become one of the dialect.
struct Turn<'a> {
    role: &'a str,
    members: Vec<(usize, &'a Message)>,
}

/// The messages in turns: results of calls that were made together come together, as the dialect asks.
fn turns(request: &ModelRequest) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let others = request.messages.iter().enumerate().filter(|(_, message)| !is_system(message));
    for (index, message) in others {
        let is_result = *message.role() == Role::Tool;
        let before = turns.last_mut().filter(|turn| {
            is_result && turn.members.iter().all(|(_, message)| *message.role() == Role::Tool)
        });
        match before {
            Some(turn) => turn.members.push((index, message)),
            None => turns
                .push(Turn { role: role_name(message.role()), members: vec![(index, message)] }),
        }
    }
    turns
}

fn role_name(role: &Role) -> &str {
    match role {
        Role::Assistant => "assistant",
        Role::Other(name) => name,
        _ => "user",
    }
}

pub(super) fn write_all(out: &mut Vec<u8>, request: &ModelRequest, losses: &mut Vec<Loss>) {
    let turns: Vec<_> =
        turns(request).into_iter().filter_map(|turn| turn.prepare(losses)).collect();
    write_array(out, turns, |out, turn| turn.write(out, losses));
}

/// A turn whose parts all have a place.
struct Prepared<'a> {
    role: &'a str,
    extra: Fields<'a>,
    parts: Vec<(String, &'a Part)>,
}

impl<'a> Turn<'a> {
    /// A turn that has nothing to say is left out: the provider refuses it.
    fn prepare(self, losses: &mut Vec<Loss>) -> Option<Prepared<'a>> {
        let (mut extra, mut parts) = (Fields::default(), Vec::new());
        for (index, message) in self.members {
            let place = format!("messages[{index}]");
            let mut losses = Losses { place: place.clone(), all: losses };
            if message.name().is_some() && *message.role() != Role::Tool {
                losses.note(LossRule::Name);
            }
            extra = open(message.extra(), &[], &mut losses);
            let fits = if self.role == "user" { block::fits_user } else { block::fits };
            let fitting = message.parts().iter().filter(|part| fits(part, &mut losses));
            parts.extend(fitting.map(|part| (place.clone(), part)));
        }
        let says = !parts.is_empty() || extra.get("content").is_some();
        says.then_some(Prepared { role: self.role, extra, parts })
    }
}

impl Prepared<'_> {
    fn write(self, out: &mut Vec<u8>, losses: &mut Vec<Loss>) {
        let mut object = Object::new(out, self.extra);
        object.str("role", self.role);
        match self.parts.as_slice() {
            [] => {}
            [(_, Part::Text(TextPart { text, extra: None }))] => {
                write_str(object.field("content"), text);
            }
            parts => write_array(object.field("content"), parts, |out, (place, part)| {
                block::write(out, part, &mut Losses { place: place.clone(), all: losses });
            }),
        }
        object.end();
    }
}

/// The blocks of a reply.
pub(super) fn read_reply(fields: &mut Fields<'_>) -> Result<Vec<Part>, Flaw> {
    let raw = fields.take("content");
    let list = raw.as_deref().and_then(items);
    let list = list.ok_or_else(|| Flaw::new("content", "must be an array of blocks"))?;
    let read =
        |(index, raw): (usize, &&str)| block::read(raw).map_err(|flaw| flaw.at("content", index));
    list.iter().enumerate().map(read).collect()
}

/// Writes the blocks of a reply.
pub(super) fn write_reply(out: &mut Vec<u8>, message: &Message, losses: &mut Losses<'_>) {
    let mut fitting = Vec::new();
    for part in message.parts() {
        if fits_reply(part, losses) {
            fitting.push(part);
        }
    }
    write_array(out, fitting, |out, part| block::write(out, part, losses));
}

/// Whether a part has a block in a reply; what has none is noted.
pub(super) fn fits_reply(part: &Part, losses: &mut Losses<'_>) -> bool {
    match part {
        // A client may read reasoning that nobody signed.
        Part::Reasoning(_) => true,
        Part::Image(_) | Part::Audio(_) | Part::File(_) | Part::ToolResult(_) => {
            losses.note(LossRule::PartInReply);
            false
        }
        part => block::fits(part, losses),
    }
}

/// Fields of a message have no place here.
pub(super) fn check_extra(extra: Option<&Json>, losses: &mut Losses<'_>) {
    if !open(extra, &[], losses).is_empty() {
        losses.note(LossRule::Extra);
    }
}
