use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Conversation, Error, ErrorKind, Message, Role, RunEvent, RunFinish, Str, ToolRecord, Usage,
};

/// What a run did, from its events: storable, and complete as far as the run got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Transcript {
    /// The run's id.
    pub run: Str,
    /// The agent's name.
    pub agent: Str,
    /// What the run added to the conversation: its input, the model's replies, the tools' results.
    pub messages: Conversation,
    /// Every call with its one output, in order of completion.
    pub tools: Vec<ToolRecord>,
    /// Why the run stopped; nothing if it broke off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<RunFinish>,
    /// How often the model was asked.
    pub turns: u32,
    /// What all model calls used.
    pub usage: Usage,
}

impl Transcript {
    /// Notes the next event.
    pub fn push(&mut self, event: &RunEvent) {
        if !matches!(event, RunEvent::Model { .. }) {
            self.take(event.clone());
        }
    }

    /// Notes the next event, whose own parts it keeps.
    pub(crate) fn take(&mut self, event: RunEvent) {
        match event {
            RunEvent::Started { run, agent } => (self.run, self.agent) = (run, agent),
            RunEvent::TurnStarted { turn } => self.turns = turn,
            RunEvent::TurnFinished { total, .. } => self.usage = total,
            RunEvent::Message { message, .. } => self.messages.push(message),
            RunEvent::ToolFinished(record) => self.tools.push(*record),
            RunEvent::Finished { finish, turns, usage } => {
                (self.finish, self.turns, self.usage) = (Some(finish), turns, usage);
            }
            RunEvent::Model { .. } | RunEvent::ToolStarted { .. } => {}
        }
    }

    pub(crate) fn checked(self) -> Result<Self, Error> {
        if self.finish.is_some() {
            return Ok(self);
        }
        let error = Error::new(ErrorKind::Protocol, "the run broke off before it was complete");
        Err(error.with_extension(self))
    }

    /// The last text of the model: the answer.
    #[must_use]
    pub fn text(&self) -> String {
        let last = self.messages.iter().rev().find(|message| *message.role() == Role::Assistant);
        last.map(Message::text).unwrap_or_default()
    }

    /// What had happened before an error ended a run.
    #[must_use]
    pub fn of_error(error: &Error) -> Option<Arc<Self>> {
        error.extensions().get_arc()
    }
}
