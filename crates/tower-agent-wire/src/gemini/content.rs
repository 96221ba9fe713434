//! Contents: the messages of a request.

use tower_agent_core::{Message, ModelRequest, Part, Role};

use super::{
    extra::{keep, open},
    ids::{Calls, Ids},
    part::{self, list_of},
};
use crate::{
    Loss, LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, string, write_array},
    },
};

pub(super) fn read_all(list: &[&str]) -> Result<Vec<Message>, Flaw> {
    let mut ids = Ids::default();
    let read = |(index, raw): (usize, &&str)| {
        read(raw, &mut ids).map_err(|flaw| flaw.at("contents", index))
    };
    list.iter().enumerate().map(read).collect()
}

fn read(raw: &str, ids: &mut Ids) -> Result<Message, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    let parts = read_parts(&mut fields, ids)?;
    let role = read_role(&mut fields, &parts)?;
    Ok(Message::new(role, parts).with_extra(keep(&fields)))
}

/// The parts of a content; none at all stay in the fields, as they were.
pub(super) fn read_parts(fields: &mut Fields<'_>, ids: &mut Ids) -> Result<Vec<Part>, Flaw> {
    let Some(raw) = fields.get("parts").map(str::to_owned) else {
        fields.set("parts", NULL);
        return Ok(Vec::new());
    };
    if raw == NULL {
        return Ok(Vec::new());
    }
    let list = list_of(&raw).ok_or_else(|| Flaw::new("parts", "must be an array of objects"))?;
    if !list.is_empty() {
        fields.take("parts");
    }
    part::read_all(&list, ids)
}

/// The role; one that is written otherwise than usual stays in the fields.
fn read_role(fields: &mut Fields<'_>, parts: &[Part]) -> Result<Role, Flaw> {
    let name = match fields.get("role") {
        None => {
            fields.set("role", NULL);
            return Ok(role_of("user", parts));
        }
        Some(NULL) => return Ok(role_of("user", parts)),
        Some(raw) => string(raw).ok_or_else(|| Flaw::new("role", "must be a string"))?,
    };
    let role = role_of(&name, parts);
    if usual(&role) == name.as_str() {
        fields.take("role");
    }
    Ok(role)
}

fn role_of(name: &str, parts: &[Part]) -> Role {
    let is_results =
        !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::ToolResult(_)));
    match name.to_ascii_lowercase().as_str() {
        "user" | "function" if is_results => Role::Tool,
        "user" => Role::User,
        "model" => Role::Assistant,
        _ => Role::Other(name.into()),
    }
}

fn usual(role: &Role) -> &str {
    match role {
        Role::Assistant => "model",
        Role::Other(name) => name,
        _ => "user",
    }
}

/// Whether a message is the operator's.
pub(super) fn is_system(message: &Message) -> bool {
    matches!(message.role(), Role::System | Role::Developer)
}

/// Messages that become one content.
struct Turn<'a> {
    role: &'a Role,
    members: Vec<(usize, &'a Message)>,
}

/// The messages in turns: responses to calls that were made together come together, as the dialect asks.
fn turns(request: &ModelRequest) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let others = request.messages.iter().enumerate().filter(|(_, message)| !is_system(message));
    for (index, message) in others {
        let role = message.role();
        let before =
            turns.last_mut().filter(|turn| *role == Role::Tool && *turn.role == Role::Tool);
        match before {
            Some(turn) => turn.members.push((index, message)),
            None => turns.push(Turn { role, members: vec![(index, message)] }),
        }
    }
    turns
}

pub(super) fn write_all(out: &mut Vec<u8>, request: &ModelRequest, losses: &mut Vec<Loss>) {
    let calls = Calls::of(&request.messages);
    let turns: Vec<_> =
        turns(request).into_iter().filter_map(|turn| turn.prepare(losses)).collect();
    write_array(out, turns, |out, turn| turn.write(out, &calls, losses));
}

/// A turn whose parts all have a place.
struct Prepared<'a> {
    role: &'a Role,
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
            let fitting = message.parts().iter().filter(|part| part::fits(part, &mut losses));
            parts.extend(fitting.map(|part| (place.clone(), part)));
        }
        let says = !parts.is_empty() || extra.get("parts").is_some();
        says.then_some(Prepared { role: self.role, extra, parts })
    }
}

impl Prepared<'_> {
    fn write(mut self, out: &mut Vec<u8>, calls: &Calls<'_>, losses: &mut Vec<Loss>) {
        let kept = self.extra.take("role");
        self.extra.retain(|key, raw| key != "parts" || raw != NULL);
        let mut object = Object::new(out, self.extra);
        match kept.as_deref() {
            Some(NULL) if matches!(self.role, Role::User | Role::Tool) => {}
            Some(raw) if means(raw, self.role) => object.raw("role", raw),
            _ => object.str("role", usual(self.role)),
        }
        if !self.parts.is_empty() {
            write_array(object.field("parts"), &self.parts, |out, (place, part)| {
                part::write(out, part, calls, &mut Losses { place: place.clone(), all: losses });
            });
        }
        object.end();
    }
}

/// Whether a kept name is another way to write a role.
fn means(raw: &str, role: &Role) -> bool {
    let name = string(raw).unwrap_or_default().to_ascii_lowercase();
    match role {
        Role::Assistant => name == "model",
        Role::Tool => name == "user" || name == "function",
        Role::User => name == "user",
        _ => false,
    }
}
