use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use tower_agent_core::{Error, Str};

use super::{
    ledger::{Ledger, Permit},
    plan::{StreamEnd, StreamPlan},
};
use crate::{Piece, panics::panic_with};

/// A call that was made: answered once, or dropped.
pub(super) struct Flight<O> {
    ledger: Arc<Ledger<O>>,
    key: Str,
    over: bool,
    // Dropped last, so that whoever waits for the slot sees the call counted.
    permit: Option<Permit<O>>,
}

impl<O> Flight<O> {
    pub(super) fn new(ledger: Arc<Ledger<O>>, permit: Option<Permit<O>>, key: Str) -> Self {
        let mut permit = permit;
        permit.as_mut().into_iter().for_each(Permit::spend);
        {
            let mut state = ledger.lock();
            state.counts.calls += 1;
            state.counts.in_flight += 1;
        }
        Self { ledger, key, over: false, permit }
    }

    pub(super) fn answered(mut self, with_output: bool) {
        self.over = true;
        let mut state = self.ledger.lock();
        state.counts.in_flight -= 1;
        if with_output {
            state.counts.outputs += 1;
            *state.outputs.entry(self.key.clone()).or_default() += 1;
        } else {
            state.counts.errors += 1;
        }
    }

    pub(super) fn panicked(mut self) {
        self.over = true;
        let mut state = self.ledger.lock();
        state.counts.in_flight -= 1;
        state.counts.panics += 1;
    }
}

impl<O> Drop for Flight<O> {
    fn drop(&mut self) {
        if !self.over {
            let mut state = self.ledger.lock();
            state.counts.in_flight -= 1;
            state.counts.dropped_calls += 1;
        }
        self.permit = None;
    }
}

/// The probe's stream.
pub(super) struct Pieces<O> {
    ledger: Arc<Ledger<O>>,
    plan: StreamPlan,
    given: u32,
    pending: u32,
    state: Progress,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Progress {
    Running,
    /// The last step was handed out, the end not yet.
    Last,
    Ended,
}

impl<O> Pieces<O> {
    pub(super) fn new(ledger: Arc<Ledger<O>>, plan: StreamPlan) -> Self {
        {
            let mut state = ledger.lock();
            state.counts.streams += 1;
            state.counts.open_streams += 1;
        }
        let pending = plan.pending;
        Self { ledger, plan, given: 0, pending, state: Progress::Running }
    }

    /// The step after the pieces of text.
    fn end(&mut self) -> Poll<Option<Result<Piece, Error>>> {
        match self.plan.end {
            StreamEnd::Finish => {
                self.state = Progress::Last;
                self.pending = self.plan.pending;
                Poll::Ready(Some(Ok(Piece::Last)))
            }
            StreamEnd::CutOff => {
                self.state = Progress::Ended;
                Poll::Ready(None)
            }
            StreamEnd::Error(kind) => {
                self.state = Progress::Last;
                Poll::Ready(Some(Err(Error::new(kind, "the probe's stream is told to fail"))))
            }
            StreamEnd::Hang => Poll::Pending,
            StreamEnd::Panic => {
                self.state = Progress::Last;
                self.ledger.lock().counts.panics += 1;
                panic_with("the probe's stream is told to panic")
            }
        }
    }
}

impl<O> Stream for Pieces<O> {
    type Item = Result<Piece, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.pending > 0 {
            self.pending -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.state {
            Progress::Ended => {
                self.ledger.lock().violation("a stream was polled after its end");
                return Poll::Ready(None);
            }
            Progress::Last => {
                self.state = Progress::Ended;
                return Poll::Ready(None);
            }
            Progress::Running => {}
        }
        if self.given < self.plan.pieces {
            self.given += 1;
            self.pending = self.plan.pending;
            return Poll::Ready(Some(Ok(Piece::Text("piece ".into()))));
        }
        self.end()
    }
}

impl<O> Drop for Pieces<O> {
    fn drop(&mut self) {
        let mut state = self.ledger.lock();
        state.counts.open_streams -= 1;
        if self.state == Progress::Running {
            state.counts.dropped_streams += 1;
        } else {
            state.counts.ended_streams += 1;
        }
    }
}
