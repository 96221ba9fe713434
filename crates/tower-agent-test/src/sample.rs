use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use tower_agent_core::{
    Error, FinishReason, Message, ModelBody, ModelEvent, ModelRequest, ModelResponse, Operation,
    PartDelta, Reply, Run, RunBody, RunEvent, RunFinish, RunRequest, RunResponse, Str, ToolCall,
    ToolOutput, Usage,
};

/// An operation of which tests can make requests and answers without knowing which one it is.
///
/// Implemented for all three operations; as [`Operation`] is sealed, there are no others.
pub trait Sample: Operation + Unpin {
    /// Whether answers may come in pieces.
    const STREAMS: bool;

    /// A request that can be told apart from others by its key.
    fn sample(key: &str) -> Self;

    /// The key: a tool call's id, or the run's.
    fn key(&self) -> Str;

    /// A whole answer.
    fn answer(&self, text: &str) -> Self::Output;

    /// An answer that comes in pieces. A tool's answer never does: it comes whole, without the pieces.
    fn answer_in_pieces(&self, pieces: PieceStream) -> Self::Output;

    /// The steps of an answer, so that a test can read as many of them as it likes; nothing for a whole one.
    fn into_steps(output: Self::Output) -> Option<PieceStream>;
}

/// A step of an answer that comes in pieces.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Piece {
    /// Some of the answer.
    Text(Str),
    /// The answer is complete.
    Last,
    /// The answer ends by saying that it failed.
    Failed,
    /// Anything else.
    Other,
}

/// The steps of an answer.
pub struct PieceStream(Pin<Box<dyn Stream<Item = Result<Piece, Error>> + Send>>);

/// What came out of a stream that was read to its end.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Drained {
    /// All text.
    pub text: String,
    /// How many steps came.
    pub steps: usize,
    /// How often it said that the answer is complete; a failed answer does not count.
    pub completions: usize,
    /// The error that ended it.
    pub error: Option<Error>,
}

impl PieceStream {
    /// Steps from a stream.
    pub fn new(steps: impl Stream<Item = Result<Piece, Error>> + Send + 'static) -> Self {
        Self(Box::pin(steps))
    }

    /// Reads all steps, up to and including an error.
    pub async fn drain(mut self) -> Drained {
        let mut drained = Drained::default();
        while let Some(step) = std::future::poll_fn(|cx| self.0.as_mut().poll_next(cx)).await {
            if !drained.take(step) {
                break;
            }
        }
        drained
    }
}

impl Drained {
    fn take(&mut self, step: Result<Piece, Error>) -> bool {
        self.steps += 1;
        match step {
            Ok(Piece::Text(text)) => self.text.push_str(&text),
            Ok(Piece::Last) => self.completions += 1,
            Ok(Piece::Failed | Piece::Other) => {}
            Err(error) => self.error = Some(error),
        }
        self.error.is_none()
    }
}

impl Stream for PieceStream {
    type Item = Result<Piece, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for PieceStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PieceStream(..)")
    }
}

/// Maps the steps of a stream one by one.
struct Mapped<S, F>(Pin<Box<S>>, F);

impl<S, F, T, U> Stream for Mapped<S, F>
where
    S: Stream<Item = Result<T, Error>>,
    F: Fn(T) -> U + Unpin,
{
    type Item = Result<U, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let step = self.0.as_mut().poll_next(cx);
        step.map(|step| step.map(|step| step.map(&self.1)))
    }
}

fn map<S, T, U>(
    stream: S,
    map: impl Fn(T) -> U + Unpin + Send + 'static,
) -> impl Stream<Item = Result<U, Error>> + Send + 'static
where
    S: Stream<Item = Result<T, Error>> + Send + 'static,
    T: 'static,
    U: 'static,
{
    Mapped(Box::pin(stream), map)
}

impl Sample for ToolCall {
    const STREAMS: bool = false;

    fn sample(key: &str) -> Self {
        Self::new("probe", "{}").with_id(key)
    }

    fn key(&self) -> Str {
        self.id.clone().into()
    }

    fn answer(&self, text: &str) -> ToolOutput {
        ToolOutput::text(text)
    }

    fn answer_in_pieces(&self, _: PieceStream) -> ToolOutput {
        self.answer("whole")
    }

    fn into_steps(_: ToolOutput) -> Option<PieceStream> {
        None
    }
}

fn text_event(text: Str) -> ModelEvent {
    ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text) }
}

fn piece_of(event: &ModelEvent) -> Piece {
    match event {
        ModelEvent::PartDelta { delta, .. } => Piece::Text(delta.text().clone()),
        ModelEvent::Finish { reason: FinishReason::Error } => Piece::Failed,
        ModelEvent::Finish { .. } => Piece::Last,
        _ => Piece::Other,
    }
}

impl Sample for ModelRequest {
    const STREAMS: bool = true;

    fn sample(key: &str) -> Self {
        let mut request = Self::new("probe", vec![Message::user("hello")]);
        request.ctx = Run::builder(key).build();
        request
    }

    fn key(&self) -> Str {
        self.ctx.run().id().clone()
    }

    fn answer(&self, text: &str) -> ModelResponse {
        ModelResponse::full(Reply::new(Message::assistant(text)).with_usage(Usage::new(1, 1)))
    }

    fn answer_in_pieces(&self, pieces: PieceStream) -> ModelResponse {
        ModelResponse::stream(map(pieces, |piece| match piece {
            Piece::Text(text) => text_event(text),
            Piece::Last => ModelEvent::Finish { reason: FinishReason::Stop },
            Piece::Failed => ModelEvent::Finish { reason: FinishReason::Error },
            Piece::Other => ModelEvent::Usage { usage: Usage::new(1, 1) },
        }))
    }

    fn into_steps(output: ModelResponse) -> Option<PieceStream> {
        match output.body {
            ModelBody::Full(_) => None,
            ModelBody::Stream(stream) => {
                Some(PieceStream::new(map(stream, |event| piece_of(&event))))
            }
        }
    }
}

fn finished(finish: RunFinish) -> RunEvent {
    RunEvent::Finished { finish, turns: 1, usage: Usage::new(1, 1) }
}

impl Sample for RunRequest {
    const STREAMS: bool = true;

    fn sample(key: &str) -> Self {
        Self::user("hello").with_context(Run::builder(key).agent("probe").build())
    }

    fn key(&self) -> Str {
        self.ctx.run().id().clone()
    }

    fn answer(&self, text: &str) -> RunResponse {
        let message = RunEvent::Message { turn: 1, message: Message::assistant(text) };
        let body = RunBody::from_events(vec![message, finished(RunFinish::Answered)]);
        RunResponse::new(body.into_stream())
    }

    fn answer_in_pieces(&self, pieces: PieceStream) -> RunResponse {
        RunResponse::new(map(pieces, |piece| match piece {
            Piece::Text(text) => RunEvent::Model { turn: 1, event: text_event(text) },
            Piece::Last => finished(RunFinish::Answered),
            Piece::Failed => finished(RunFinish::Failed),
            Piece::Other => RunEvent::TurnStarted { turn: 1 },
        }))
    }

    fn into_steps(output: RunResponse) -> Option<PieceStream> {
        Some(PieceStream::new(map(output.body.into_stream(), |event| match event {
            RunEvent::Model { event, .. } => piece_of(&event),
            RunEvent::Message { message, .. } => Piece::Text(message.text().into()),
            RunEvent::Finished { finish: RunFinish::Failed, .. } => Piece::Failed,
            RunEvent::Finished { .. } => Piece::Last,
            _ => Piece::Other,
        })))
    }
}
