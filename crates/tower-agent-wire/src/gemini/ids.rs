//! Ids of calls, which older models leave out.

use std::collections::{HashMap, HashSet};

use tower_agent_core::{CallId, Conversation, Str};

use super::extra::peek;
use crate::codec::raw::Fields;

/// Makes ids where there are none, and finds the call that a response without an id belongs to.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    reply: Option<Str>,
    made: u32,
    open: Vec<(Str, CallId)>,
}

impl Ids {
    /// Those of a reply; its own id makes them differ from those of other replies.
    pub(super) fn of_reply(id: Option<&Str>) -> Self {
        Self { reply: id.cloned(), ..Self::default() }
    }

    /// The id of a call, which stays open until its response.
    pub(super) fn call(&mut self, given: Option<Str>, name: &Str, arguments: &str) -> CallId {
        let id = given.map_or_else(|| self.make(name, arguments), CallId::from);
        self.open.push((name.clone(), id.clone()));
        id
    }

    /// The id of the call that a response answers.
    pub(super) fn response(&mut self, given: Option<Str>, name: &Str) -> CallId {
        let is_it = |(open, id): &(Str, CallId)| match &given {
            Some(given) => id.as_str() == given.as_str(),
            None => open == name,
        };
        let found = self.open.iter().position(is_it).map(|at| self.open.remove(at).1);
        match (given, found) {
            (Some(given), _) => given.into(),
            (None, Some(id)) => id,
            (None, None) => self.make(name, ""),
        }
    }

    fn make(&mut self, name: &str, arguments: &str) -> CallId {
        let at = self.made;
        self.made = at.saturating_add(1);
        match &self.reply {
            Some(reply) => format!("call-{reply}-{at}").into(),
            None => format!("call-{:016x}-{at}", digest(&[name, arguments])).into(),
        }
    }
}

/// FNV-1a: the same text gives the same id in every process.
fn digest(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What responses need to know of the calls before them.
#[derive(Debug, Default)]
pub(super) struct Calls<'a> {
    names: HashMap<&'a CallId, &'a Str>,
    made: HashSet<&'a CallId>,
}

impl<'a> Calls<'a> {
    pub(super) fn of(messages: &'a Conversation) -> Self {
        let mut calls = Self::default();
        for call in messages.iter().flat_map(|message| message.tool_calls()) {
            calls.names.insert(&call.id, &call.name);
            let inner = peek(call.extra.as_ref());
            let inner = inner.get("functionCall").and_then(Fields::parse).unwrap_or_default();
            if inner.get("id").is_some() {
                calls.made.insert(&call.id);
            } else {
                calls.made.remove(&call.id);
            }
        }
        calls
    }

    pub(super) fn name(&self, id: &CallId) -> Option<&Str> {
        self.names.get(id).copied()
    }

    /// Whether the id was made here, so that the provider does not know it.
    pub(super) fn is_made(&self, id: &CallId) -> bool {
        self.made.contains(id)
    }
}
