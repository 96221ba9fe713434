use std::{fmt, pin::Pin};

use futures_core::Stream;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Denial, End, Error, Extensions, ModelRequest, ModelResponse, Outcome, Provenance,
    RunRequest, RunResponse, ToolCall, ToolOutput,
};

/// One of the three kinds of request. Sealed: there are no others.
///
/// A layer that means the same for all three is written once:
///
/// ```
/// use std::task::{Context, Poll};
/// use tower_agent_core::Operation;
/// use tower_service::Service;
///
/// struct PrintName<S>(S);
///
/// impl<O: Operation, S: Service<O, Response = O::Output>> Service<O> for PrintName<S> {
///     type Response = O::Output;
///     type Error = S::Error;
///     type Future = S::Future;
///
///     fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
///         self.0.poll_ready(cx)
///     }
///
///     fn call(&mut self, request: O) -> S::Future {
///         println!("{} {}", O::KIND, request.name());
///         self.0.call(request)
///     }
/// }
/// ```
pub trait Operation: Clone + fmt::Debug + Send + sealed::Sealed + 'static {
    /// What the operation answers with.
    type Output: Output;

    /// Which of the three it is.
    const KIND: OperationKind;

    /// The name of the tool, model or agent.
    fn name(&self) -> &str;

    /// The run that the request belongs to.
    fn context(&self) -> &Context;

    /// The run that the request belongs to, for an edit of the call's own part.
    fn context_mut(&mut self) -> &mut Context;

    /// The answer in place of a call that a policy refuses; it reads as the denial's message.
    fn denied(&self, denial: Denial) -> Self::Output;

    /// The answer in place of an error, which reads as the error's text for models.
    fn failed(&self, error: &Error) -> Self::Output;
}

/// What the answers of all three operations have in common.
pub trait Output: fmt::Debug + Send + sealed::Sealed + Sized + 'static {
    /// What its stream is made of, if it can come in pieces at all.
    type Event: Send + 'static;

    /// What became of the call; of a stream, what was known at its head.
    fn outcome(&self) -> &Outcome;

    /// Where the answer comes from.
    fn provenance(&self) -> &Provenance;

    /// Where the answer comes from, to note what a layer did.
    fn provenance_mut(&mut self) -> &mut Provenance;

    /// What layers attach for those above them.
    fn extensions(&self) -> &Extensions;

    /// What layers attach for those above them.
    fn extensions_mut(&mut self) -> &mut Extensions;

    /// A second handle of a whole answer; there is none of a stream.
    fn try_clone(&self) -> Option<Self>;

    /// Calls `duty` exactly once at the end: at once for a whole answer, otherwise after the last event, on an
    /// error, or when the stream is dropped.
    #[must_use]
    fn on_end<F: FnOnce(End) + Send + 'static>(self, duty: F) -> Self;

    /// Replaces the stream of an answer that comes in pieces; a whole answer stays as it is.
    #[must_use]
    fn map_stream<F>(self, map: F) -> Self
    where
        F: FnOnce(EventStream<Self::Event>) -> EventStream<Self::Event>;
}

/// A boxed stream of the events of one of the three answers.
pub type EventStream<T> = Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>;

/// Which of the three operations.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// A tool call.
    Tool,
    /// A model call.
    Model,
    /// An agent run.
    Run,
}

impl OperationKind {
    /// `tool`, `model` or `run`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Model => "model",
            Self::Run => "run",
        }
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

mod sealed {
    #[expect(unnameable_types, reason = "that nobody can name it is what seals the others")]
    pub trait Sealed {}
    impl Sealed for super::ToolCall {}
    impl Sealed for super::ToolOutput {}
    impl Sealed for super::ModelRequest {}
    impl Sealed for super::ModelResponse {}
    impl Sealed for super::RunRequest {}
    impl Sealed for super::RunResponse {}
}
