//! Masks replies and runs that come in pieces.

use std::{
    collections::{BTreeMap, VecDeque},
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use super::{
    arguments::Arguments,
    call::{Broken, Call},
    hold::Hold,
    policy::WITHHELD,
};
use crate::{Error, Json, ModelEvent, Part, PartDelta, PartStart, Str};

/// What a stream of events does to each of them.
pub(super) trait Mask {
    type Event;

    /// Takes an event and queues what may go on.
    fn event(&mut self, event: Self::Event, out: &mut VecDeque<Result<Self::Event, Error>>);

    /// Queues what is left when the stream ends without saying so: nobody knows what it would have become.
    fn broke_off(&mut self, out: &mut VecDeque<Result<Self::Event, Error>>);

    fn error(&mut self, error: Error) -> Error;

    /// Tells what was found, once nothing follows.
    fn over(&mut self);
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
                    this.mask.over();
                }
            }
        }
    }
}

pub(super) type Queue<T> = VecDeque<Result<T, Error>>;

/// Masks the events of one reply.
#[derive(Debug)]
pub(super) struct ReplyMask {
    pub(super) call: Call,
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
    pub(super) const fn new(call: Call) -> Self {
        Self { call, parts: BTreeMap::new() }
    }

    fn delta(&mut self, index: u32, delta: PartDelta, out: &mut Queue<ModelEvent>) {
        match &delta {
            PartDelta::Text(text) if self.call.policy().model_output => {
                let empty = || Pending::Text(Hold::default());
                let hold = self.parts.entry(index).or_insert_with(empty);
                out.extend(hold.push(&mut self.call, index, text).map(Ok));
            }
            PartDelta::Reasoning(text) if self.call.policy().model_output => {
                let empty = || Pending::Reasoning(Hold::default());
                let hold = self.parts.entry(index).or_insert_with(empty);
                out.extend(hold.push(&mut self.call, index, text).map(Ok));
            }
            PartDelta::ToolCall { id, name, arguments }
                if self.call.policy().arguments == Arguments::Mask =>
            {
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
            out.extend(pending.finish(&mut self.call, index).map(Ok));
        }
    }

    fn finish_all(&mut self, out: &mut Queue<ModelEvent>) {
        while let Some((index, mut pending)) = self.parts.pop_first() {
            out.extend(pending.finish(&mut self.call, index).map(Ok));
        }
    }

    fn json(&mut self, json: Json) -> Json {
        if !self.call.policy().model_output {
            return json;
        }
        match self.call.search(|walk| walk.extra(&json)) {
            Ok((masked, _)) => masked.unwrap_or(json),
            Err(Broken) => Json::object(),
        }
    }

    fn start(&mut self, start: PartStart) -> PartStart {
        match start {
            PartStart::Whole(part) => PartStart::Whole(self.whole(part)),
            start => start,
        }
    }

    fn whole(&mut self, part: Part) -> Part {
        let parts = self.call.policy().output_parts();
        match self.call.search(|walk| walk.part(&part, parts)) {
            Ok((masked, _)) => masked.unwrap_or(part),
            Err(Broken) => Part::text(WITHHELD),
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
            ModelEvent::PartExtra { index, extra } => {
                ModelEvent::PartExtra { index, extra: self.json(extra) }
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
            out.extend(pending.abandon(index).map(Ok));
        }
    }

    fn error(&mut self, error: Error) -> Error {
        self.call.error(error)
    }

    fn over(&mut self) {
        self.call.report.finish();
    }
}

impl Pending {
    fn push(&mut self, call: &mut Call, index: u32, text: &Str) -> Option<ModelEvent> {
        let (Self::Text(hold) | Self::Reasoning(hold)) = self else { return None };
        let found = call.search(|walk| hold.push(walk, text));
        let out = self.or_withhold(found.map(|(out, _)| out));
        out.map(|text| self.event(index, text))
    }

    fn push_arguments(&mut self, text: &str) {
        if let Self::Arguments(held) = self {
            held.push_str(text);
        }
    }

    fn finish(&mut self, call: &mut Call, index: u32) -> Option<ModelEvent> {
        let out = match self {
            Self::Text(hold) | Self::Reasoning(hold) => {
                let found = call.search(|walk| hold.finish(walk));
                self.or_withhold(found.map(|(out, _)| out))
            }
            Self::Arguments(held) => {
                let held = std::mem::take(held);
                match call.search(|walk| walk.json_str(&held)) {
                    Ok((masked, _)) => Some(masked.unwrap_or_else(|| held.into())),
                    Err(Broken) => Some(WITHHELD.into()),
                }
            }
        };
        out.filter(|text| !text.is_empty()).map(|text| self.event(index, text))
    }

    fn abandon(&mut self, index: u32) -> Option<ModelEvent> {
        let out = match self {
            Self::Text(hold) | Self::Reasoning(hold) => hold.abandon(),
            // Arguments that broke off are not run by anybody.
            Self::Arguments(_) => None,
        };
        out.map(|text| self.event(index, text))
    }

    /// After a broken search nothing more of the part goes on.
    fn or_withhold(&mut self, out: Result<Option<Str>, Broken>) -> Option<Str> {
        out.unwrap_or_else(|Broken| {
            if let Self::Text(hold) | Self::Reasoning(hold) = self {
                hold.withhold();
            }
            Some(WITHHELD.into())
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
