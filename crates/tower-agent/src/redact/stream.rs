//! Masks replies and runs that come in pieces.

use std::{
    collections::{BTreeMap, VecDeque},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use super::{
    hold::Hold,
    policy::{Broken, Policy},
};
use crate::{Error, Json, ModelEvent, Part, PartDelta, PartStart, RunEvent, Str};

/// What a stream of events does to each of them.
pub(super) trait Mask {
    type Event;

    /// Takes an event and queues what may go on.
    fn event(&mut self, event: Self::Event, out: &mut VecDeque<Result<Self::Event, Error>>);

    /// Queues what is left when the stream ends without saying so: nobody knows what it would have become.
    fn broke_off(&mut self, out: &mut VecDeque<Result<Self::Event, Error>>);

    fn error(&self, error: Error) -> Error;
}

/// A stream with its events masked.
pub(super) struct Masked<S, M: Mask> {
    stream: S,
    mask: M,
    queue: VecDeque<Result<M::Event, Error>>,
    over: bool,
}

impl<S, M: Mask> Masked<S, M> {
    pub(super) const fn new(stream: S, mask: M) -> Self {
        Self { stream, mask, queue: VecDeque::new(), over: false }
    }
}

impl<S, M> Stream for Masked<S, M>
where
    S: Stream<Item = Result<M::Event, Error>> + Unpin,
    M: Mask + Unpin,
    M::Event: Unpin,
{
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = &mut *self;
        loop {
            if let Some(item) = this.queue.pop_front() {
                return Poll::Ready(Some(item));
            }
            if this.over {
                return Poll::Ready(None);
            }
            match ready!(Pin::new(&mut this.stream).poll_next(cx)) {
                Some(Ok(event)) => this.mask.event(event, &mut this.queue),
                Some(Err(error)) => {
                    this.mask.broke_off(&mut this.queue);
                    let error = this.mask.error(error);
                    this.queue.push_back(Err(error));
                }
                None => {
                    this.over = true;
                    this.mask.broke_off(&mut this.queue);
                }
            }
        }
    }
}

type Queue<T> = VecDeque<Result<T, Error>>;

/// Masks the events of one reply.
#[derive(Debug)]
pub(super) struct ReplyMask {
    policy: Arc<Policy>,
    parts: BTreeMap<u32, Pending>,
}

/// What is held of one part.
#[derive(Debug)]
enum Pending {
    Text(Hold),
    Reasoning(Hold),
    /// Arguments are of no use to anybody before they are whole, and are masked as JSON.
    Arguments(String),
}

impl ReplyMask {
    pub(super) const fn new(policy: Arc<Policy>) -> Self {
        Self { policy, parts: BTreeMap::new() }
    }

    fn delta(&mut self, index: u32, delta: PartDelta, out: &mut Queue<ModelEvent>) {
        match &delta {
            PartDelta::Text(text) if self.policy.model_output => {
                let empty = || Pending::Text(Hold::default());
                let hold = self.parts.entry(index).or_insert_with(empty);
                out.extend(hold.push(&self.policy, index, text).map(Ok));
            }
            PartDelta::Reasoning(text) if self.policy.model_output => {
                let empty = || Pending::Reasoning(Hold::default());
                let hold = self.parts.entry(index).or_insert_with(empty);
                out.extend(hold.push(&self.policy, index, text).map(Ok));
            }
            PartDelta::ToolCall { id, name, arguments } if self.policy.arguments => {
                let empty = || Pending::Arguments(String::new());
                let held = self.parts.entry(index).or_insert_with(empty);
                held.push_arguments(arguments);
                if id.is_some() || name.is_some() {
                    let (id, name) = (id.clone(), name.clone());
                    let delta = PartDelta::ToolCall { id, name, arguments: Str::default() };
                    out.push_back(Ok(ModelEvent::PartDelta { index, delta }));
                }
            }
            _ => out.push_back(Ok(ModelEvent::PartDelta { index, delta })),
        }
    }

    fn finish_part(&mut self, index: u32, out: &mut Queue<ModelEvent>) {
        if let Some(mut pending) = self.parts.remove(&index) {
            out.extend(pending.finish(&self.policy, index).map(Ok));
        }
    }

    fn finish_all(&mut self, out: &mut Queue<ModelEvent>) {
        while let Some((index, mut pending)) = self.parts.pop_first() {
            out.extend(pending.finish(&self.policy, index).map(Ok));
        }
    }

    fn json(&self, json: Json) -> Json {
        if !self.policy.model_output {
            return json;
        }
        match self.policy.search(|walk| walk.json(&json)) {
            Ok((masked, _)) => masked.unwrap_or(json),
            Err(Broken) => Json::object(),
        }
    }

    fn start(&self, start: PartStart) -> PartStart {
        match start {
            PartStart::Whole(part) => PartStart::Whole(self.whole(part)),
            start => start,
        }
    }

    fn whole(&self, part: Part) -> Part {
        match self.policy.search(|walk| walk.part(&part, self.policy.output_parts())) {
            Ok((masked, _)) => masked.unwrap_or(part),
            Err(Broken) => Part::text(self.policy.engine.replacement().clone()),
        }
    }
}

impl Mask for ReplyMask {
    type Event = ModelEvent;

    fn event(&mut self, event: ModelEvent, out: &mut Queue<ModelEvent>) {
        let event = match event {
            ModelEvent::PartDelta { index, delta } => return self.delta(index, delta, out),
            ModelEvent::PartStart { index, part } => {
                ModelEvent::PartStart { index, part: self.start(part) }
            }
            ModelEvent::PartEnd { index, extra } => {
                self.finish_part(index, out);
                ModelEvent::PartEnd { index, extra: extra.map(|json| self.json(json)) }
            }
            ModelEvent::Finish { reason } => {
                self.finish_all(out);
                ModelEvent::Finish { reason }
            }
            ModelEvent::Start { id, model, extra } => {
                ModelEvent::Start { id, model, extra: extra.map(|json| self.json(json)) }
            }
            ModelEvent::MessageExtra { extra } => {
                ModelEvent::MessageExtra { extra: self.json(extra) }
            }
            ModelEvent::Other { json } => ModelEvent::Other { json: self.json(json) },
            event => event,
        };
        out.push_back(Ok(event));
    }

    fn broke_off(&mut self, out: &mut Queue<ModelEvent>) {
        while let Some((index, mut pending)) = self.parts.pop_first() {
            out.extend(pending.abandon(&self.policy, index).map(Ok));
        }
    }

    fn error(&self, error: Error) -> Error {
        self.policy.error(error)
    }
}

impl Pending {
    fn push(&mut self, policy: &Policy, index: u32, text: &Str) -> Option<ModelEvent> {
        let (Self::Text(hold) | Self::Reasoning(hold)) = self else { return None };
        let found = policy.search(|walk| hold.push(walk.engine, text, &mut walk.tally));
        let out = self.or_withhold(policy, found.map(|(out, _)| out));
        out.map(|text| self.event(index, text))
    }

    fn push_arguments(&mut self, text: &str) {
        if let Self::Arguments(held) = self {
            held.push_str(text);
        }
    }

    fn finish(&mut self, policy: &Policy, index: u32) -> Option<ModelEvent> {
        let out = match self {
            Self::Text(hold) | Self::Reasoning(hold) => {
                let found = policy.search(|walk| hold.finish(walk.engine, &mut walk.tally));
                self.or_withhold(policy, found.map(|(out, _)| out))
            }
            Self::Arguments(held) => {
                let held = std::mem::take(held);
                match policy.search(|walk| walk.data(&held)) {
                    Ok((masked, _)) => Some(masked.unwrap_or_else(|| held.into())),
                    Err(Broken) => Some(policy.engine.replacement().clone()),
                }
            }
        };
        out.filter(|text| !text.is_empty()).map(|text| self.event(index, text))
    }

    fn abandon(&mut self, policy: &Policy, index: u32) -> Option<ModelEvent> {
        let out = match self {
            Self::Text(hold) | Self::Reasoning(hold) => hold.abandon(&policy.engine),
            // Arguments that broke off are not run by anybody.
            Self::Arguments(_) => None,
        };
        out.map(|text| self.event(index, text))
    }

    /// After a broken search nothing more of the part goes on.
    fn or_withhold(&mut self, policy: &Policy, out: Result<Option<Str>, Broken>) -> Option<Str> {
        out.unwrap_or_else(|Broken| {
            if let Self::Text(hold) | Self::Reasoning(hold) = self {
                hold.withhold();
            }
            Some(policy.engine.replacement().clone())
        })
    }

    fn event(&self, index: u32, text: Str) -> ModelEvent {
        let delta = match self {
            Self::Text(_) => PartDelta::Text(text),
            Self::Reasoning(_) => PartDelta::Reasoning(text),
            Self::Arguments(_) => PartDelta::arguments(text),
        };
        ModelEvent::PartDelta { index, delta }
    }
}

/// Masks the steps of a run.
#[derive(Debug)]
pub(super) struct RunMask {
    reply: ReplyMask,
    turn: u32,
    queue: Queue<ModelEvent>,
}

impl RunMask {
    pub(super) const fn new(policy: Arc<Policy>) -> Self {
        Self { reply: ReplyMask::new(policy), turn: 0, queue: VecDeque::new() }
    }

    fn policy(&self) -> &Policy {
        &self.reply.policy
    }

    fn pass(&mut self, out: &mut Queue<RunEvent>) {
        let turn = self.turn;
        let events = self.queue.drain(..);
        out.extend(events.map(|event| event.map(|event| RunEvent::Model { turn, event })));
    }

    fn message(&self, event: RunEvent) -> RunEvent {
        let RunEvent::Message { turn, message } = event else { return event };
        let parts = match message.role() {
            crate::Role::Assistant | crate::Role::Tool => self.policy().output_parts(),
            _ if self.policy().model_input => self.policy().input_parts(),
            _ => return RunEvent::Message { turn, message },
        };
        let message = match self.policy().search(|walk| walk.message(&message, parts)) {
            Ok((masked, _)) => masked.unwrap_or(message),
            Err(Broken) => {
                let text = Part::text(self.policy().engine.replacement().clone());
                crate::Message::new(message.role().clone(), vec![text])
            }
        };
        RunEvent::Message { turn, message }
    }

    fn arguments(&self, arguments: Json) -> Json {
        if !self.policy().arguments {
            return arguments;
        }
        match self.policy().search(|walk| walk.json(&arguments)) {
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
                self.policy().tool_output(&mut record.output);
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

    fn error(&self, error: Error) -> Error {
        self.policy().error(error)
    }
}
