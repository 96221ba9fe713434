use std::{fmt, pin::Pin, task};

use futures_core::Stream;

use crate::{
    End, Error, EventStream, Extensions, Outcome, Output, Provenance, RunEvent, Transcript, Usage,
    settle::{Ending, Progress},
};

/// The answer of an agent: what is known at once, and the steps of the run.
#[derive(Debug, Default)]
pub struct RunResponse {
    /// What is known at once.
    pub head: RunHead,
    /// The steps of the run. Dropping it cancels the run.
    pub body: RunBody,
}

/// What is known of a run at once.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunHead {
    /// What became of the run, as far as the head tells.
    pub outcome: Outcome,
    /// Where the answer comes from.
    pub provenance: Provenance,
    /// What layers attach for those above them.
    pub extensions: Extensions,
}

/// The steps of a run. Nothing runs but while it is polled, and dropping it cancels the run.
#[must_use = "a run does nothing unless its events are read"]
pub struct RunBody(RunStream);

/// A boxed stream of a run's steps.
pub type RunStream = EventStream<RunEvent>;

impl RunResponse {
    /// An answer that takes the given steps.
    pub fn new(events: impl Stream<Item = Result<RunEvent, Error>> + Send + 'static) -> Self {
        Self { head: RunHead::default(), body: RunBody::new(events) }
    }

    /// The same answer with other steps, keeping the head.
    #[must_use]
    pub fn map_body(self, map: impl FnOnce(RunBody) -> RunBody) -> Self {
        Self { head: self.head, body: map(self.body) }
    }

    /// Reads the run to its end.
    ///
    /// # Errors
    /// The error that ended the run. [`Transcript::of_error`] finds what had happened so far.
    pub async fn collect(self) -> Result<Transcript, Error> {
        self.body.collect().await
    }
}

impl RunBody {
    /// Steps from a stream.
    pub fn new(events: impl Stream<Item = Result<RunEvent, Error>> + Send + 'static) -> Self {
        Self(Box::pin(events))
    }

    /// Steps that are known already.
    pub fn from_events(events: Vec<RunEvent>) -> Self {
        Self::new(Events(events.into_iter()))
    }

    /// The stream itself.
    #[must_use]
    pub fn into_stream(self) -> RunStream {
        self.0
    }

    /// Reads the run to its end.
    ///
    /// # Errors
    /// The error that ended the run. [`Transcript::of_error`] finds what had happened so far.
    pub async fn collect(mut self) -> Result<Transcript, Error> {
        let mut transcript = Transcript::default();
        while let Some(event) = std::future::poll_fn(|cx| self.0.as_mut().poll_next(cx)).await {
            match event {
                Ok(event) => transcript.take(event),
                Err(error) => return Err(error.with_extension(transcript)),
            }
        }
        transcript.checked()
    }
}

impl Stream for RunBody {
    type Item = Result<RunEvent, Error>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
    ) -> task::Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

struct Events(std::vec::IntoIter<RunEvent>);

impl Stream for Events {
    type Item = Result<RunEvent, Error>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut task::Context<'_>,
    ) -> task::Poll<Option<Self::Item>> {
        task::Poll::Ready(self.0.next().map(Ok))
    }
}

impl Default for RunBody {
    fn default() -> Self {
        Self::from_events(Vec::new())
    }
}

impl fmt::Debug for RunBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunBody(..)")
    }
}

impl Output for RunResponse {
    type Event = RunEvent;

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
        None
    }

    fn on_end<F: FnOnce(End) + Send + 'static>(self, duty: F) -> Self {
        let outcome = self.head.outcome.clone();
        self.map_body(|body| RunBody::new(Ending::new(body.0, outcome, duty)))
    }

    fn map_stream<F: FnOnce(RunStream) -> RunStream>(self, map: F) -> Self {
        self.map_body(|body| RunBody(map(body.0)))
    }
}

impl Progress for RunEvent {
    fn usage(&self) -> Option<Usage> {
        match self {
            Self::Finished { usage, .. } | Self::TurnFinished { total: usage, .. } => Some(*usage),
            _ => None,
        }
    }

    fn is_final(&self) -> bool {
        matches!(self, Self::Finished { .. })
    }

    fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Finished { finish, .. } => Some(finish.outcome()),
            _ => None,
        }
    }
}
