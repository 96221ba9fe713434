use std::{fmt, pin::Pin, task};

use futures_core::Stream;
use serde::{Deserialize, Serialize};

use crate::{
    Collector, End, EndReason, Error, EventStream, Extensions, FinishReason, Json, Message,
    ModelEvent, Outcome, Output, Part, PartDelta, PartStart, Provenance, Str, Usage,
    settle::{Ending, Progress},
};

/// The answer of a model: what is known at once, and a body that is whole or comes in pieces.
#[derive(Debug, Default)]
pub struct ModelResponse {
    /// What is known at once.
    pub head: ModelHead,
    /// The reply.
    pub body: ModelBody,
}

/// What is known of an answer at once.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ModelHead {
    /// The provider's id of the request, for its support.
    pub request_id: Option<Str>,
    /// The model that was asked.
    pub model: Str,
    /// What became of the call, as far as the head tells.
    pub outcome: Outcome,
    /// Where the answer comes from.
    pub provenance: Provenance,
    /// What layers attach for those above them.
    pub extensions: Extensions,
}

/// The one body type of whole and streamed replies.
///
/// A layer is written once, against events: [`into_stream`](Self::into_stream) of a whole reply and
/// [`collect`](Self::collect) of a stream are inverse.
pub enum ModelBody {
    /// The whole reply.
    Full(Box<Reply>),
    /// A reply that comes in pieces.
    Stream(ModelStream),
}

/// A boxed stream of events. Boxed once at its leaf; a layer that transforms it boxes its own adaptor.
pub type ModelStream = EventStream<ModelEvent>;

/// A whole reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// The provider's id of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Str>,
    /// The model that answered, as the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Str>,
    /// What the model said.
    pub message: Message,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it used, if the provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Fields of the dialect, an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
    /// Events of the dialect that have no name here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<Json>,
}

impl ModelResponse {
    /// An answer with a whole reply.
    #[must_use]
    pub fn full(reply: Reply) -> Self {
        Self { head: ModelHead::default(), body: ModelBody::full(reply) }
    }

    /// An answer that comes in pieces.
    pub fn stream(events: impl Stream<Item = Result<ModelEvent, Error>> + Send + 'static) -> Self {
        Self { head: ModelHead::default(), body: ModelBody::stream(events) }
    }

    /// The same answer with another body, keeping the head.
    #[must_use]
    pub fn map_body(self, map: impl FnOnce(ModelBody) -> ModelBody) -> Self {
        Self { head: self.head, body: map(self.body) }
    }
}

impl Reply {
    /// A message that the model had finished.
    #[must_use]
    pub fn new(message: Message) -> Self {
        let asks = message.tool_calls().next().is_some();
        let finish = if asks { FinishReason::ToolCalls } else { FinishReason::Stop };
        Self { id: None, model: None, message, finish, usage: None, extra: None, other: Vec::new() }
    }

    /// Adds what it used.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// The events that collect to this reply.
    #[must_use]
    pub fn into_events(self) -> Vec<ModelEvent> {
        let mut events = Vec::with_capacity(self.message.parts().len() * 4 + 4);
        events.push(ModelEvent::Start { id: self.id, model: self.model, extra: self.extra });
        for (index, part) in (0u32..).zip(self.message.parts()) {
            push_part(&mut events, index, part);
        }
        events.extend(
            self.message.extra().map(|extra| ModelEvent::MessageExtra { extra: extra.clone() }),
        );
        events.extend(self.other.into_iter().map(|json| ModelEvent::Other { json }));
        events.push(ModelEvent::Finish { reason: self.finish });
        events.extend(self.usage.map(|usage| ModelEvent::Usage { usage }));
        events
    }
}

fn push_part(events: &mut Vec<ModelEvent>, index: u32, part: &Part) {
    let (start, delta, extra) = match part {
        Part::Text(part) => (PartStart::Text, PartDelta::Text(part.text.clone()), &part.extra),
        Part::Reasoning(part) => {
            (PartStart::Reasoning, PartDelta::Reasoning(part.text.clone()), &part.extra)
        }
        Part::ToolCall(call) => (
            PartStart::ToolCall { id: Some(call.id.clone()), name: Some(call.name.clone()) },
            PartDelta::arguments(call.arguments.as_str()),
            &call.extra,
        ),
        whole => {
            events.push(ModelEvent::PartStart { index, part: PartStart::Whole(whole.clone()) });
            events.push(ModelEvent::PartEnd { index, extra: None });
            return;
        }
    };
    events.push(ModelEvent::PartStart { index, part: start });
    events.extend(extra.clone().map(|extra| ModelEvent::PartExtra { index, extra }));
    if !delta.text().is_empty() {
        events.push(ModelEvent::PartDelta { index, delta });
    }
    events.push(ModelEvent::PartEnd { index, extra: extra.clone() });
}

impl ModelBody {
    /// The whole reply.
    #[must_use]
    pub fn full(reply: Reply) -> Self {
        Self::Full(Box::new(reply))
    }

    /// A reply that comes in pieces.
    pub fn stream(events: impl Stream<Item = Result<ModelEvent, Error>> + Send + 'static) -> Self {
        Self::Stream(Box::pin(events))
    }

    /// The reply as events, whichever way it came.
    #[must_use]
    pub fn into_stream(self) -> ModelStream {
        match self {
            Self::Full(reply) => Box::pin(Events(reply.into_events().into_iter())),
            Self::Stream(stream) => stream,
        }
    }

    /// The whole reply, whichever way it comes.
    ///
    /// # Errors
    /// The stream's own error; [`Protocol`](crate::ErrorKind::Protocol) when it ends before the reply is complete.
    pub async fn collect(self) -> Result<Reply, Error> {
        let mut stream = match self {
            Self::Full(reply) => return Ok(*reply),
            Self::Stream(stream) => stream,
        };
        let mut collector = Collector::new();
        while let Some(event) = std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            collector.push(event?)?;
        }
        collector.finish()
    }

    /// Whether it comes in pieces.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }
}

struct Events(std::vec::IntoIter<ModelEvent>);

impl Stream for Events {
    type Item = Result<ModelEvent, Error>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut task::Context<'_>,
    ) -> task::Poll<Option<Self::Item>> {
        task::Poll::Ready(self.0.next().map(Ok))
    }
}

impl Default for ModelBody {
    /// An empty reply.
    fn default() -> Self {
        Self::full(Reply::new(Message::new(crate::Role::Assistant, Vec::new())))
    }
}

impl fmt::Debug for ModelBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(reply) => f.debug_tuple("Full").field(reply).finish(),
            Self::Stream(_) => f.write_str("Stream(..)"),
        }
    }
}

impl Output for ModelResponse {
    type Event = ModelEvent;

    fn outcome(&self) -> &Outcome {
        &self.head.outcome
    }

    fn provenance(&self) -> &Provenance {
        &self.head.provenance
    }

    fn provenance_mut(&mut self) -> &mut Provenance {
        &mut self.head.provenance
    }

    fn extensions(&self) -> &Extensions {
        &self.head.extensions
    }

    fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.head.extensions
    }

    fn try_clone(&self) -> Option<Self> {
        match &self.body {
            ModelBody::Full(reply) => {
                Some(Self { head: self.head.clone(), body: ModelBody::Full(reply.clone()) })
            }
            ModelBody::Stream(_) => None,
        }
    }

    fn on_end<F: FnOnce(End) + Send + 'static>(self, duty: F) -> Self {
        let outcome = self.head.outcome.clone();
        self.map_body(|body| match body {
            ModelBody::Full(reply) => {
                duty(End::new(EndReason::Complete(outcome)).with_usage(reply.usage));
                ModelBody::Full(reply)
            }
            ModelBody::Stream(stream) => {
                ModelBody::Stream(Box::pin(Ending::new(stream, outcome, duty)))
            }
        })
    }

    fn map_stream<F: FnOnce(ModelStream) -> ModelStream>(self, map: F) -> Self {
        self.map_body(|body| match body {
            ModelBody::Full(reply) => ModelBody::Full(reply),
            ModelBody::Stream(stream) => ModelBody::Stream(map(stream)),
        })
    }
}

impl Progress for ModelEvent {
    fn usage(&self) -> Option<Usage> {
        match self {
            Self::Usage { usage } => Some(*usage),
            _ => None,
        }
    }

    fn is_final(&self) -> bool {
        matches!(self, Self::Finish { .. })
    }
}
