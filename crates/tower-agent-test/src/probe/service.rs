use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tower_agent_core::{Effect, Error, ErrorKind, Str};
use tower_service::Service;

use super::{
    flight::{Flight, Pieces},
    handle::ProbeHandle,
    ledger::{Ledger, Permit, Rules},
    plan::{Answer, Plan},
};
use crate::{PieceStream, Sample, panics::panic_with};

/// A leaf service for any operation that finds out whether what stands above it keeps tower's contract.
///
/// It notes a violation when it is called without being ready *on that instance* (readiness is lost on
/// clone), when its future is polled after it answered, and when its stream is polled after its end. It counts
/// everything else, see [`Counts`](crate::Counts).
///
/// ```should_panic
/// use tower_agent_core::ToolCall;
/// use tower_agent_test::{Probe, Sample};
/// use tower_service::Service;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (mut probe, handle) = Probe::<ToolCall>::new();
/// std::future::poll_fn(|cx| probe.poll_ready(cx)).await.unwrap();
/// // The clone is not ready, though the original is.
/// let _ = probe.clone().call(ToolCall::sample("c1")).await;
/// handle.verify();
/// # }
/// ```
pub struct Probe<O> {
    ledger: Arc<Ledger<O>>,
    permit: Option<Permit<O>>,
    unready: u32,
}

/// Says what a [`Probe`] does.
#[derive(Clone, Debug)]
#[must_use]
pub struct ProbeBuilder<O> {
    rules: Rules,
    operation: PhantomData<fn(O)>,
}

impl<O: Sample> Probe<O> {
    /// A probe that is always ready and answers every call well.
    #[must_use]
    pub fn new() -> (Self, ProbeHandle<O>) {
        Self::builder().build()
    }

    /// A probe that follows the plans, one per call, and then answers well.
    #[must_use]
    pub fn scripted(plans: impl IntoIterator<Item = Plan>) -> (Self, ProbeHandle<O>) {
        Self::builder().plans(plans).build()
    }

    /// Says more about what it does.
    pub fn builder() -> ProbeBuilder<O> {
        let rules = Rules {
            plans: VecDeque::new(),
            by_key: BTreeMap::new(),
            otherwise: Plan::ok(),
            unready: 0,
            fails: None,
            permits: None,
        };
        ProbeBuilder { rules, operation: PhantomData }
    }
}

impl<O: Sample> ProbeBuilder<O> {
    /// One plan per call.
    pub fn plans(mut self, plans: impl IntoIterator<Item = Plan>) -> Self {
        self.rules.plans.extend(plans);
        self
    }

    /// The plan of every call with a key, before all others.
    pub fn plan_for(mut self, key: impl Into<Str>, plan: Plan) -> Self {
        self.rules.by_key.insert(key.into(), plan);
        self
    }

    /// What happens when the plans are used up.
    pub fn otherwise(mut self, plan: Plan) -> Self {
        self.rules.otherwise = plan;
        self
    }

    /// Makes each instance pending that often before it becomes ready, each time anew.
    pub fn unready(mut self, polls: u32) -> Self {
        self.rules.unready = polls;
        self
    }

    /// Makes `poll_ready` fail once that many calls were made.
    pub fn fail_ready_after(mut self, calls: usize, kind: ErrorKind) -> Self {
        self.rules.fails = Some((calls, kind));
        self
    }

    /// Lets only that many calls be reserved or in flight at a time, as a concurrency limit does.
    pub fn permits(mut self, permits: usize) -> Self {
        self.rules.permits = Some(permits);
        self
    }

    /// The probe and what a test reads about it.
    #[must_use]
    pub fn build(self) -> (Probe<O>, ProbeHandle<O>) {
        let unready = self.rules.unready;
        let ledger = Arc::new(Ledger::new(self.rules));
        ledger.lock().counts.instances = 1;
        let handle = ProbeHandle::new(Arc::clone(&ledger));
        (Probe { ledger, permit: None, unready }, handle)
    }
}

impl<O> Clone for Probe<O> {
    /// The clone is not ready, whatever the original is.
    fn clone(&self) -> Self {
        let mut state = self.ledger.lock();
        state.counts.clones += 1;
        state.counts.instances += 1;
        Self { ledger: Arc::clone(&self.ledger), permit: None, unready: state.rules.unready }
    }
}

impl<O> Drop for Probe<O> {
    fn drop(&mut self) {
        self.ledger.lock().counts.instances -= 1;
    }
}

impl<O: Sample> Service<O> for Probe<O> {
    type Response = O::Output;
    type Error = Error;
    type Future = ProbeFuture<O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.ledger.lock().counts.polls += 1;
        if self.permit.is_some() {
            return Poll::Ready(Ok(()));
        }
        if self.unready > 0 {
            self.unready -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.permit = Some(ready!(self.ledger.poll_reserve(cx))?);
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: O) -> ProbeFuture<O> {
        let permit = self.permit.take();
        let key = request.key();
        let plan = {
            let mut state = self.ledger.lock();
            self.unready = state.rules.unready;
            if permit.is_none() {
                state.violation(format!("call {key:?} was made on an instance that was not ready"));
            }
            state.requests.push(request.clone());
            state.next_plan(&key)
        };
        let flight = Flight::new(Arc::clone(&self.ledger), permit, key);
        if plan.answer == Answer::PanicInCall {
            flight.panicked();
            panic_with("the probe is told to panic in call");
        }
        ProbeFuture { flight: Some(flight), plan, request, ledger: Arc::clone(&self.ledger) }
    }
}

/// The answer of a [`Probe`].
#[must_use = "futures do nothing unless polled"]
pub struct ProbeFuture<O> {
    flight: Option<Flight<O>>,
    plan: Plan,
    request: O,
    ledger: Arc<Ledger<O>>,
}

impl<O: Sample> Future for ProbeFuture<O> {
    type Output = Result<O::Output, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.flight.is_none() {
            this.ledger.lock().violation("a future was polled after it had answered");
            return Poll::Pending;
        }
        if this.plan.pending > 0 {
            this.plan.pending -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if this.plan.answer == Answer::Hang {
            return Poll::Pending;
        }
        let answer = this.answer();
        Poll::Ready(answer)
    }
}

impl<O: Sample> ProbeFuture<O> {
    fn answer(&mut self) -> Result<O::Output, Error> {
        let flight = self.flight.take();
        let answer = match &self.plan.answer {
            Answer::Error(kind) => Err(Error::new(*kind, "the probe is told to fail")),
            Answer::Failed => {
                let error = Error::new(ErrorKind::Tool, "it failed").with_effect(Effect::Completed);
                Ok(self.request.failed(&error))
            }
            Answer::Stream(plan) if O::STREAMS => {
                let pieces = Pieces::new(Arc::clone(&self.ledger), plan.clone());
                Ok(self.request.answer_in_pieces(PieceStream::new(pieces)))
            }
            Answer::Panic | Answer::PanicInCall => {
                flight.into_iter().for_each(Flight::panicked);
                panic_with("the probe is told to panic");
            }
            Answer::Whole | Answer::Stream(_) | Answer::Hang => Ok(self.request.answer("whole")),
        };
        flight.into_iter().for_each(|flight| flight.answered(answer.is_ok()));
        answer
    }
}

impl<O> fmt::Debug for Probe<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("ready", &self.permit.is_some()).finish_non_exhaustive()
    }
}

impl<O> fmt::Debug for ProbeFuture<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeFuture").field("plan", &self.plan).finish_non_exhaustive()
    }
}
