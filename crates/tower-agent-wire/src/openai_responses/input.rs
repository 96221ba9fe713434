//! The input of a request: a text, or items.

use std::collections::{HashMap, HashSet};

use tower_agent_core::{
    CallId, Conversation, Json, Message, ModelRequest, Part, Role, Str, ToolResultPart,
};

use super::{
    call, content, extra,
    item::{self, Reader, Run},
    message,
    reply::take_refusal,
    result,
};
use crate::{
    Loss, LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, items, string},
    },
};

/// Takes the input as messages. A text is marked by `null`; an empty input stays in the fields.
///
/// All that the model says in a row is one message: dialects that have no items need its calls together.
pub(super) fn read(fields: &mut Fields<'_>) -> Result<Conversation, Flaw> {
    if let Some(text) = fields.take_text("input") {
        fields.set("input", NULL);
        return Ok(vec![Message::user(text)].into());
    }
    let Some(raw) = fields.get("input").filter(|raw| !matches!(*raw, NULL | "\"\"")) else {
        return Ok(Conversation::new());
    };
    let list = items(raw).ok_or_else(|| Flaw::new("input", "must be a string or an array"))?;
    let mut messages = Messages::default();
    for (index, raw) in list.iter().enumerate() {
        messages.read(raw).map_err(|flaw| flaw.at("input", index))?;
    }
    if !list.is_empty() {
        fields.take("input");
    }
    Ok(messages.finish())
}

#[derive(Default)]
struct Messages {
    done: Vec<Message>,
    /// What the model said since somebody else did.
    said: Vec<Part>,
    names: HashMap<CallId, Str>,
}

impl Messages {
    fn read(&mut self, raw: &str) -> Result<(), Flaw> {
        let fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
        let kind = fields.get("type").and_then(string);
        match kind.as_deref() {
            None | Some("message") if !item::is_of_model(&fields) => {
                let message = message::read(fields)?;
                self.push(message);
            }
            // Not the model's: whoever sends it continues the conversation.
            Some(kind) if kind.ends_with("_output") || kind.ends_with("_response") => {
                let part = match result::read(fields) {
                    Some(result) => {
                        let mut result = result?;
                        result.name = self.names.get(&result.call_id).cloned();
                        Part::ToolResult(result)
                    }
                    None => Part::Opaque { json: Json::from_text(raw) },
                };
                self.push(Message::new(Role::Tool, vec![part]));
            }
            _ => {
                let parts = item::read(raw)?;
                self.names.extend(parts.iter().filter_map(|part| match part {
                    Part::ToolCall(call) => Some((call.id.clone(), call.name.clone())),
                    _ => None,
                }));
                item::push(&mut self.said, parts);
            }
        }
        Ok(())
    }

    fn push(&mut self, message: Message) {
        self.flush();
        self.done.push(message);
    }

    fn flush(&mut self) {
        if !self.said.is_empty() {
            self.done.push(Message::new(Role::Assistant, std::mem::take(&mut self.said)));
        }
    }

    fn finish(mut self) -> Conversation {
        self.flush();
        self.done.into()
    }
}

/// Writes the input, unless there is none.
pub(super) fn write(object: &mut Object<'_, '_>, request: &ModelRequest, losses: &mut Vec<Loss>) {
    if request.messages.is_empty() {
        return;
    }
    if object.extra().is_null("input")
        && let [message] = &*request.messages
        && let [Part::Text(part)] = message.parts()
        && (message.role(), message.extra(), &part.extra) == (&Role::User, None, &None)
        && message.name().is_none()
    {
        return object.str("input", &part.text);
    }
    let mut array = Array::new(object.field("input"));
    for (index, message) in request.messages.iter().enumerate() {
        let mut places = Losses { place: format!("messages[{index}]"), all: losses };
        if is_items(message) {
            array.items(message, &mut places);
        } else {
            array.message(message, &mut places);
        }
    }
    array.end();
}

/// Whether the parts of a message are items, and not the content of one.
fn is_items(message: &Message) -> bool {
    let is_item = |part: &Part| matches!(part, Part::ToolResult(_) | Part::Opaque { .. });
    match message.role() {
        Role::Assistant => true,
        Role::Tool => message.parts().iter().all(is_item),
        _ => false,
    }
}

/// An array whose items may turn out to be nothing.
struct Array<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
    count: usize,
    /// Calls of custom tools, whose results are called so too.
    custom: HashSet<CallId>,
}

impl<'a> Array<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, is_first: true, count: 0, custom: HashSet::new() }
    }

    fn item(&mut self, write: impl FnOnce(&mut Vec<u8>, usize) -> bool) {
        let start = self.out.len();
        if !self.is_first {
            self.out.push(b',');
        }
        if write(self.out, self.count) {
            self.is_first = false;
            self.count += 1;
        } else {
            self.out.truncate(start);
        }
    }

    fn items(&mut self, message: &Message, losses: &mut Losses<'_>) {
        lose_name(message, losses);
        let refusal = take_refusal(message.extra(), losses).map(message::refusal);
        let refusal = refusal.map(Part::Text);
        for parts in [message.parts(), refusal.as_slice()] {
            for run in item::runs(parts, losses) {
                match run {
                    Run::Result(part) => self.result(part, losses),
                    Run::Call(part) if call::is_custom(part) => {
                        self.custom.insert(part.id.clone());
                        self.run(run, losses);
                    }
                    run => self.run(run, losses),
                }
            }
        }
    }

    fn run(&mut self, run: Run<'_>, losses: &mut Losses<'_>) {
        self.item(|out, at| item::write(out, run, at, Reader::Provider, losses));
    }

    fn result(&mut self, part: &ToolResultPart, losses: &mut Losses<'_>) {
        let is_custom = self.custom.contains(&part.call_id);
        let shape = if is_custom { call::CUSTOM } else { call::FUNCTION };
        self.item(|out, _| {
            result::write(out, part, shape, losses);
            true
        });
    }

    /// Results come first: they must follow the calls.
    fn message(&mut self, message: &Message, losses: &mut Losses<'_>) {
        let mut has_rest = message.parts().is_empty();
        for part in message.parts() {
            match part {
                Part::ToolResult(part) => self.result(part, losses),
                Part::Reasoning(_) | Part::ToolCall(_) => losses.note(LossRule::PartInReply),
                _ => has_rest = true,
            }
        }
        if !has_rest {
            return;
        }
        lose_name(message, losses);
        self.item(|out, _| {
            let mut object = Object::new(out, extra::open(message.extra(), &[], losses));
            object.str("role", role_name(message.role()));
            content::write(&mut object, message, losses);
            object.end();
            true
        });
    }

    fn end(self) {
        self.out.push(b']');
    }
}

fn lose_name(message: &Message, losses: &mut Losses<'_>) {
    if message.name().is_some() {
        losses.note(LossRule::Name);
    }
}

fn role_name(role: &Role) -> &str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::Other(name) => name,
        _ => "user",
    }
}
