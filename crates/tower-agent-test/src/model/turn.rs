use std::{
    collections::VecDeque,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_core::Stream;
use tokio::time::{Sleep, sleep};
use tower_agent_core::{
    CallId, Error, FinishReason, Json, Message, ModelBody, ModelEvent, ModelHead, ModelRequest,
    ModelResponse, Part, PartDelta, Reply, Role, Str, TextPart, ToolCallPart, Usage,
};

use crate::panics::panic_with;

/// One turn of a [`ScriptedModel`](crate::ScriptedModel): what it answers to one request.
///
/// ```
/// use std::time::Duration;
/// use tower_agent_core::{Error, ErrorKind, Usage};
/// use tower_agent_test::Turn;
///
/// Turn::text("The capital is Paris.").usage(Usage::new(12, 6));
/// Turn::text("I shall look.").and_tool_call("c1", "search", r#"{"query": "tower"}"#);
/// Turn::text("slowly, word by word").in_pieces(6).after(Duration::from_secs(2));
/// Turn::error(Error::new(ErrorKind::Upstream { status: Some(503) }, "bad day"));
/// Turn::respond(|request| Turn::text(format!("{} messages", request.messages.len())));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Turn {
    delay: Option<Duration>,
    head: ModelHead,
    shape: Shape,
    answer: Answer,
}

/// Whether the answer is whole or comes in pieces.
#[derive(Clone, Copy, Debug)]
enum Shape {
    AsScripted,
    AsAsked,
    Whole,
    Streamed,
}

#[derive(Clone)]
enum Answer {
    Reply { reply: Reply, piece: Option<usize> },
    Steps(Vec<Step>),
    Error(Error),
    Panic(Str),
    Hang,
    Respond(Arc<dyn Fn(&ModelRequest) -> Turn + Send + Sync>),
}

/// One step of a scripted stream. When the steps are used up, the stream ends.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// An event.
    Event(ModelEvent),
    /// An error; steps after it are still handed out to whoever goes on reading.
    Error(Error),
    /// A pause before the next step.
    Wait(Duration),
    /// Nothing comes any more, not even the end.
    Hang,
    /// A panic while the stream is read.
    Panic(Str),
}

impl Turn {
    fn new(answer: Answer) -> Self {
        Self { delay: None, head: ModelHead::default(), shape: Shape::AsScripted, answer }
    }

    /// A whole reply.
    pub fn reply(reply: Reply) -> Self {
        Self::new(Answer::Reply { reply, piece: None })
    }

    /// A whole reply with a text.
    pub fn text(text: impl Into<Str>) -> Self {
        Self::reply(Reply::new(Message::assistant(text)))
    }

    /// A whole reply that asks for a tool.
    pub fn tool_call(
        id: impl Into<CallId>,
        name: impl Into<Str>,
        arguments: impl Into<Json>,
    ) -> Self {
        let call = Part::ToolCall(ToolCallPart::new(id, name, arguments));
        Self::reply(Reply::new(Message::new(Role::Assistant, vec![call])))
    }

    /// A stream of exactly these steps: events, errors, pauses.
    pub fn stream<S: Into<Step>>(steps: impl IntoIterator<Item = S>) -> Self {
        Self::new(Answer::Steps(steps.into_iter().map(Into::into).collect()))
    }

    /// An error in place of an answer.
    pub fn error(error: Error) -> Self {
        Self::new(Answer::Error(error))
    }

    /// A panic when the answer is awaited.
    pub fn panic(message: impl Into<Str>) -> Self {
        Self::new(Answer::Panic(message.into()))
    }

    /// No answer, ever.
    pub fn hang() -> Self {
        Self::new(Answer::Hang)
    }

    /// A turn that depends on the request.
    pub fn respond(respond: impl Fn(&ModelRequest) -> Self + Send + Sync + 'static) -> Self {
        Self::new(Answer::Respond(Arc::new(respond)))
    }

    /// Adds a text to a whole reply; other turns stay as they are.
    pub fn and_text(self, text: impl Into<Str>) -> Self {
        self.and_part(Part::text(text))
    }

    /// Adds what the model thought to a whole reply; other turns stay as they are.
    pub fn and_reasoning(self, text: impl Into<Str>) -> Self {
        self.and_part(Part::Reasoning(TextPart { text: text.into(), extra: None }))
    }

    /// Adds a tool call to a whole reply; other turns stay as they are.
    pub fn and_tool_call(
        self,
        id: impl Into<CallId>,
        name: impl Into<Str>,
        arguments: impl Into<Json>,
    ) -> Self {
        self.and_part(Part::ToolCall(ToolCallPart::new(id, name, arguments)))
            .finish(FinishReason::ToolCalls)
    }

    /// Adds any part to a whole reply; other turns stay as they are.
    pub fn and_part(self, part: Part) -> Self {
        self.edit(|reply| reply.message.parts_mut().push(part))
    }

    /// Sets what a whole reply used; other turns stay as they are.
    pub fn usage(self, usage: Usage) -> Self {
        self.edit(|reply| reply.usage = Some(usage))
    }

    /// Sets why a whole reply ended; other turns stay as they are.
    pub fn finish(self, reason: FinishReason) -> Self {
        self.edit(|reply| reply.finish = reason)
    }

    fn edit(mut self, edit: impl FnOnce(&mut Reply)) -> Self {
        if let Answer::Reply { reply, .. } = &mut self.answer {
            edit(reply);
        }
        self
    }

    /// Sets the head of the answer, such as its request id.
    pub fn head(mut self, edit: impl FnOnce(&mut ModelHead)) -> Self {
        edit(&mut self.head);
        self
    }

    /// Waits before it answers.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Answers in pieces or whole, whatever was scripted and whatever the request wishes.
    pub fn streamed(mut self, streamed: bool) -> Self {
        self.shape = if streamed { Shape::Streamed } else { Shape::Whole };
        self
    }

    /// Answers in pieces if the request wishes a stream, else whole, as a real provider does.
    pub fn as_asked(mut self) -> Self {
        self.shape = Shape::AsAsked;
        self
    }

    /// Streams the reply with that many characters in each piece of text and arguments.
    pub fn in_pieces(mut self, characters: usize) -> Self {
        if let Answer::Reply { piece, .. } = &mut self.answer {
            *piece = Some(characters.max(1));
        }
        self.streamed(true)
    }

    /// Carries the turn out.
    pub(super) async fn play(self, request: ModelRequest) -> Result<ModelResponse, Error> {
        let mut turn = self;
        loop {
            if let Some(delay) = turn.delay {
                sleep(delay).await;
            }
            match turn.answer {
                Answer::Respond(respond) => turn = respond(&request),
                Answer::Error(error) => return Err(error),
                Answer::Hang => std::future::pending().await,
                Answer::Panic(message) => panic_with(&message),
                Answer::Reply { reply, piece } => {
                    let streamed = turn.shape.streams(false, &request);
                    let body = if streamed {
                        ModelBody::stream(Steps::new(steps_of(reply, piece)))
                    } else {
                        ModelBody::full(reply)
                    };
                    return Ok(response(turn.head, request, body));
                }
                Answer::Steps(steps) => {
                    let mut body = ModelBody::stream(Steps::new(steps));
                    if !turn.shape.streams(true, &request) {
                        body = ModelBody::full(body.collect().await?);
                    }
                    return Ok(response(turn.head, request, body));
                }
            }
        }
    }
}

fn response(mut head: ModelHead, request: ModelRequest, body: ModelBody) -> ModelResponse {
    if head.model.is_empty() {
        head.model = request.model;
    }
    let mut response = ModelResponse::default().map_body(|_| body);
    response.head = head;
    response
}

impl Shape {
    const fn streams(self, scripted: bool, request: &ModelRequest) -> bool {
        match self {
            Self::AsScripted => scripted,
            Self::AsAsked => request.stream,
            Self::Whole => false,
            Self::Streamed => true,
        }
    }
}

fn steps_of(reply: Reply, piece: Option<usize>) -> Vec<Step> {
    let events = reply.into_events().into_iter();
    match piece {
        None => events.map(Step::Event).collect(),
        Some(characters) => {
            events.flat_map(|event| cut(event, characters)).map(Step::Event).collect()
        }
    }
}

fn cut(event: ModelEvent, characters: usize) -> Vec<ModelEvent> {
    let ModelEvent::PartDelta { index, delta } = event else { return vec![event] };
    let text: Vec<char> = delta.text().chars().collect();
    let pieces = text.chunks(characters).map(|piece| {
        let mut delta = delta.clone();
        *delta.text_mut() = String::from_iter(piece).into();
        ModelEvent::PartDelta { index, delta }
    });
    pieces.collect()
}

/// Plays the steps of a stream.
struct Steps {
    steps: VecDeque<Step>,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Steps {
    fn new(steps: Vec<Step>) -> Self {
        Self { steps: steps.into(), waiting: None }
    }
}

impl Stream for Steps {
    type Item = Result<ModelEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(sleep) = &mut self.waiting {
                ready!(sleep.as_mut().poll(cx));
                self.waiting = None;
            }
            match self.steps.pop_front() {
                None => return Poll::Ready(None),
                Some(Step::Event(event)) => return Poll::Ready(Some(Ok(event))),
                Some(Step::Error(error)) => return Poll::Ready(Some(Err(error))),
                Some(Step::Wait(delay)) => self.waiting = Some(Box::pin(sleep(delay))),
                Some(Step::Panic(message)) => panic_with(&message),
                Some(Step::Hang) => {
                    self.steps.push_front(Step::Hang);
                    return Poll::Pending;
                }
            }
        }
    }
}

impl Step {
    /// A piece of text of the first part.
    pub fn text(text: impl Into<Str>) -> Self {
        Self::Event(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) })
    }

    /// The usage so far.
    #[must_use]
    pub const fn usage(usage: Usage) -> Self {
        Self::Event(ModelEvent::Usage { usage })
    }

    /// The end of a complete reply.
    #[must_use]
    pub const fn finish(reason: FinishReason) -> Self {
        Self::Event(ModelEvent::Finish { reason })
    }
}

impl From<ModelEvent> for Step {
    fn from(event: ModelEvent) -> Self {
        Self::Event(event)
    }
}

impl From<Error> for Step {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Duration> for Step {
    fn from(pause: Duration) -> Self {
        Self::Wait(pause)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply { reply, .. } => f.debug_tuple("Reply").field(reply).finish(),
            Self::Steps(steps) => f.debug_tuple("Steps").field(steps).finish(),
            Self::Error(error) => f.debug_tuple("Error").field(error).finish(),
            Self::Panic(message) => f.debug_tuple("Panic").field(message).finish(),
            Self::Hang => f.write_str("Hang"),
            Self::Respond(_) => f.write_str("Respond(..)"),
        }
    }
}
