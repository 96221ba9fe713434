//! Masks the steps of a run.

use std::collections::VecDeque;

use super::{
    arguments::Arguments,
    call::{Broken, Call},
    policy::{Policy, WITHHELD},
    stream::{Mask, Queue, ReplyMask},
};
use crate::{Error, Json, Message, ModelEvent, Part, Role, RunEvent};

/// Masks the steps of a run.
#[derive(Debug)]
pub(super) struct RunMask {
    reply: ReplyMask,
    turn: u32,
    queue: Queue<ModelEvent>,
}

impl RunMask {
    pub(super) const fn new(call: Call) -> Self {
        Self { reply: ReplyMask::new(call), turn: 0, queue: VecDeque::new() }
    }

    fn policy(&self) -> &Policy {
        self.reply.call.policy()
    }

    fn pass(&mut self, out: &mut Queue<RunEvent>) {
        let turn = self.turn;
        let events = self.queue.drain(..);
        out.extend(events.map(|event| event.map(|event| RunEvent::Model { turn, event })));
    }

    fn message(&mut self, event: RunEvent) -> RunEvent {
        let RunEvent::Message { turn, message } = event else { return event };
        let parts = match message.role() {
            Role::Assistant | Role::Tool => self.policy().output_parts(),
            _ if self.policy().model_input => Policy::input_parts(),
            _ => return RunEvent::Message { turn, message },
        };
        let message = match self.reply.call.search(|walk| walk.message(&message, parts)) {
            Ok((masked, _)) => masked.unwrap_or(message),
            Err(Broken) => Message::new(message.role().clone(), vec![Part::text(WITHHELD)]),
        };
        RunEvent::Message { turn, message }
    }

    fn arguments(&mut self, arguments: Json) -> Json {
        if self.policy().arguments != Arguments::Mask {
            return arguments;
        }
        match self.reply.call.search(|walk| walk.json(&arguments)) {
            Ok((masked, _)) => masked.unwrap_or(arguments),
            Err(Broken) => Json::object(),
        }
    }
}

impl Mask for RunMask {
    type Event = RunEvent;

    fn event(&mut self, event: RunEvent, out: &mut Queue<RunEvent>) {
        let event = match event {
            RunEvent::Model { turn, event } => {
                if turn != self.turn {
                    self.broke_off(out);
                    self.turn = turn;
                }
                self.reply.event(event, &mut self.queue);
                return self.pass(out);
            }
            RunEvent::ToolStarted { turn, id, name, arguments } => {
                RunEvent::ToolStarted { turn, id, name, arguments: self.arguments(arguments) }
            }
            RunEvent::ToolFinished(mut record) => {
                record.arguments = self.arguments(record.arguments);
                self.reply.call.tool_output(&mut record.output);
                RunEvent::ToolFinished(record)
            }
            event @ RunEvent::Message { .. } => self.message(event),
            event => event,
        };
        out.push_back(Ok(event));
    }

    fn broke_off(&mut self, out: &mut Queue<RunEvent>) {
        self.reply.broke_off(&mut self.queue);
        self.pass(out);
    }

    fn error(&mut self, error: Error) -> Error {
        self.reply.call.error(error)
    }

    fn over(&mut self) {
        self.reply.over();
    }
}
