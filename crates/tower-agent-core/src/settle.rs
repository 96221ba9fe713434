use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

use crate::{Error, ErrorKind, Outcome, Usage};

/// How a response ended, told once to whoever has duties at its end.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct End {
    /// Why it ended.
    pub reason: EndReason,
    /// What it used, as far as was seen.
    pub usage: Option<Usage>,
}

/// Why a response ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EndReason {
    /// The whole of it was handed out, with this outcome.
    Complete(Outcome),
    /// It broke off with an error.
    Failed(ErrorKind),
    /// It stopped without saying that it was finished, so half a reply was all there was.
    CutOff,
    /// The reader dropped it first.
    Dropped,
}

/// A duty that is carried out exactly once: when told to, or on drop.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use tower_agent_core::{EndReason, OnEnd};
///
/// static ENDS: AtomicU32 = AtomicU32::new(0);
/// let guard = OnEnd::new(|end: tower_agent_core::End| {
///     assert_eq!(end.reason, EndReason::Dropped);
///     ENDS.fetch_add(1, Ordering::Relaxed);
/// });
/// drop(guard);
/// assert_eq!(ENDS.load(Ordering::Relaxed), 1);
/// ```
#[must_use = "dropping it settles the duty as `Dropped`"]
pub struct OnEnd<F: FnOnce(End)> {
    duty: Option<F>,
    usage: Option<Usage>,
    on_drop: EndReason,
}

impl End {
    /// An end without usage.
    #[must_use]
    pub const fn new(reason: EndReason) -> Self {
        Self { reason, usage: None }
    }

    /// Adds what was used.
    #[must_use]
    pub const fn with_usage(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }
}

impl<F: FnOnce(End)> OnEnd<F> {
    /// Takes on a duty.
    pub const fn new(duty: F) -> Self {
        Self { duty: Some(duty), usage: None, on_drop: EndReason::Dropped }
    }

    /// Notes the usage so far, which the end will carry.
    pub fn saw_usage(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    /// Carries the duty out; later calls and the drop do nothing.
    pub fn settle(&mut self, reason: EndReason) {
        if let Some(duty) = self.duty.take() {
            duty(End { reason, usage: self.usage });
        }
    }

    /// Changes what a drop counts as; once a reply was handed out whole, dropping it is no loss.
    pub fn settle_on_drop_as(&mut self, reason: EndReason) {
        self.on_drop = reason;
    }

    /// Runs something whose panic is what a later drop counts as.
    pub(crate) fn watch<R>(&mut self, run: impl FnOnce() -> R) -> R {
        let on_drop = std::mem::replace(&mut self.on_drop, EndReason::Failed(ErrorKind::Panic));
        let result = run();
        self.on_drop = on_drop;
        result
    }

    /// Carries the duty out as a drop would.
    pub fn settle_as_on_drop(&mut self) {
        let reason = std::mem::replace(&mut self.on_drop, EndReason::Dropped);
        self.settle(reason);
    }

    /// Gives the duty up without carrying it out, to hand it on.
    pub fn disarm(&mut self) -> Option<F> {
        self.duty.take()
    }

    /// Whether the duty was carried out or given up.
    pub const fn is_settled(&self) -> bool {
        self.duty.is_none()
    }
}

impl<F: FnOnce(End)> Drop for OnEnd<F> {
    fn drop(&mut self) {
        self.settle_as_on_drop();
    }
}

impl<F: FnOnce(End)> fmt::Debug for OnEnd<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnEnd")
            .field("settled", &self.is_settled())
            .field("usage", &self.usage)
            .finish()
    }
}

/// What an end-of-stream duty must know about an event.
pub(crate) trait Progress {
    /// The usage so far, if the event tells it.
    fn usage(&self) -> Option<Usage>;

    /// Whether nothing that matters follows.
    fn is_final(&self) -> bool;

    /// What became of the call, where the last event tells more than the head did.
    fn outcome(&self) -> Option<Outcome> {
        None
    }
}

pin_project! {
    /// Passes events on and settles a duty once at the end. It never polls, spawns or drains on drop.
    pub(crate) struct Ending<S, F: FnOnce(End)> {
        #[pin]
        stream: S,
        complete: bool,
        outcome: Outcome,
        guard: OnEnd<F>,
    }
}

impl<S, F: FnOnce(End)> Ending<S, F> {
    pub(crate) fn new(stream: S, outcome: Outcome, duty: F) -> Self {
        Self { stream, complete: false, outcome, guard: OnEnd::new(duty) }
    }
}

impl<S, T, F> Stream for Ending<S, F>
where
    S: Stream<Item = Result<T, Error>>,
    T: Progress,
    F: FnOnce(End),
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if this.guard.is_settled() {
            return Poll::Ready(None);
        }
        let item = ready!(this.guard.watch(|| this.stream.poll_next(cx)));
        match &item {
            Some(Ok(event)) => {
                if let Some(usage) = event.usage() {
                    this.guard.saw_usage(usage);
                }
                if event.is_final() && !*this.complete {
                    *this.complete = true;
                    let head = std::mem::take(this.outcome);
                    let outcome = event.outcome().filter(|_| head.is_success()).unwrap_or(head);
                    this.guard.settle_on_drop_as(EndReason::Complete(outcome));
                }
            }
            Some(Err(error)) => this.guard.settle(EndReason::Failed(error.kind())),
            None if *this.complete => this.guard.settle_as_on_drop(),
            None => this.guard.settle(EndReason::CutOff),
        }
        Poll::Ready(item)
    }
}
