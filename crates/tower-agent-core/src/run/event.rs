use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    CallId, Denial, Effect, ErrorKind, Failure, FinishReason, Json, Message, ModelEvent, Outcome,
    Str, Suspension, ToolOutput, Usage,
};

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// The run begins.
    Started {
        /// The run's id.
        run: Str,
        /// The agent's name.
        agent: Str,
    },
    /// The model is asked.
    TurnStarted {
        /// Which turn, from 1.
        turn: u32,
    },
    /// A piece of the model's reply, when the run was asked to stream.
    Model {
        /// Which turn, from 1.
        turn: u32,
        /// The piece.
        event: ModelEvent,
    },
    /// A whole message was added to the conversation: the input (turn 0), a reply, or a tool's result.
    Message {
        /// Which turn, from 1; 0 for the input.
        turn: u32,
        /// The message.
        message: Message,
    },
    /// The model's reply of a turn is complete.
    TurnFinished {
        /// Which turn, from 1.
        turn: u32,
        /// Why the model stopped.
        finish: FinishReason,
        /// What this model call used, if the provider says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// What all model calls used so far.
        total: Usage,
    },
    /// A tool call begins.
    ToolStarted {
        /// Which turn, from 1.
        turn: u32,
        /// The call's id.
        id: CallId,
        /// The tool's name.
        name: Str,
        /// The arguments as the model wrote them.
        arguments: Json,
    },
    /// A tool call is over. Calls that run at once finish in any order.
    ToolFinished(Box<ToolRecord>),
    /// The run is complete.
    Finished {
        /// Why it stopped.
        finish: RunFinish,
        /// How often the model was asked.
        turns: u32,
        /// What all model calls used.
        usage: Usage,
    },
}

impl RunEvent {
    /// A short stable name, the same that serde writes as `type`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::TurnStarted { .. } => "turn_started",
            Self::TurnFinished { .. } => "turn_finished",
            Self::Model { .. } => "model",
            Self::Message { .. } => "message",
            Self::ToolStarted { .. } => "tool_started",
            Self::ToolFinished(_) => "tool_finished",
            Self::Finished { .. } => "finished",
        }
    }
}

/// One call of a run and its one output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolRecord {
    /// Which turn, from 1.
    pub turn: u32,
    /// The call's id.
    pub id: CallId,
    /// The tool's name.
    pub name: Str,
    /// The arguments as the model wrote them.
    pub arguments: Json,
    /// What came of it.
    pub output: ToolOutput,
    /// How long it took, layers included.
    pub took: Duration,
}

/// Why a run stopped.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunFinish {
    /// The model asked for no more tools.
    Answered,
    /// The turns were used up; the last one had no tools, so the model had to answer.
    TurnLimit,
    /// The model reached its token limit.
    Length,
    /// A filter stopped the model.
    ContentFilter,
    /// A policy refused the run or a model call.
    Denied,
    /// A call waits for somebody; the run can go on when it has its result.
    Suspended,
    /// An error was turned into an answer.
    Failed,
}

impl RunFinish {
    /// How a run that finished so counts: refused, failed and suspended runs are no successes.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Denied => Denial::new("A policy refused the run or a model call.").into(),
            Self::Failed => Failure::new(ErrorKind::Other, Effect::Unknown).into(),
            Self::Suspended => Suspension::new("agent", "", "A call waits for somebody.").into(),
            _ => Outcome::Success,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_every_event_is_what_serde_writes_as_type() {
        let record = ToolRecord {
            turn: 1,
            id: CallId::default(),
            name: Str::default(),
            arguments: Json::object(),
            output: ToolOutput::text(""),
            took: Duration::ZERO,
        };
        let events = [
            RunEvent::Started { run: "r".into(), agent: "a".into() },
            RunEvent::TurnStarted { turn: 1 },
            RunEvent::TurnFinished {
                turn: 1,
                finish: FinishReason::Stop,
                usage: None,
                total: Usage::default(),
            },
            RunEvent::Model { turn: 1, event: ModelEvent::Other { json: Json::object() } },
            RunEvent::Message { turn: 0, message: Message::user("hi") },
            RunEvent::ToolStarted {
                turn: 1,
                id: CallId::default(),
                name: Str::default(),
                arguments: Json::object(),
            },
            RunEvent::ToolFinished(Box::new(record)),
            RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage: Usage::default() },
        ];
        for event in events {
            assert_eq!(serde_json::to_value(&event).unwrap()["type"], event.name());
        }
    }
}
