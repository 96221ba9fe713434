use std::{fmt, fmt::Write as _, ops::AddAssign, sync::Arc};

use tower_agent_core::Str;

use super::ledger::Ledger;
use crate::panics::panic_with;

/// What a [`Probe`](crate::Probe) has counted, over all its clones.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Counts {
    /// Calls of `poll_ready`.
    pub polls: usize,
    /// Times that readiness was reserved.
    pub reserved: usize,
    /// Reservations that were dropped without a call.
    pub given_back: usize,
    /// Times that `poll_ready` failed, as planned.
    pub ready_errors: usize,
    /// Clones that were made.
    pub clones: usize,
    /// Calls.
    pub calls: usize,
    /// Calls that were answered with an output.
    pub outputs: usize,
    /// Calls that were answered with an error.
    pub errors: usize,
    /// Calls and streams that panicked, as planned.
    pub panics: usize,
    /// Calls that were dropped before they were answered.
    pub dropped_calls: usize,
    /// Calls that have not been answered yet.
    pub in_flight: usize,
    /// Answers that came in pieces.
    pub streams: usize,
    /// Streams that were read to their end or to an error.
    pub ended_streams: usize,
    /// Streams that were dropped before.
    pub dropped_streams: usize,
    /// Streams that somebody still holds.
    pub open_streams: usize,
    /// Instances that still exist.
    pub instances: usize,
}

/// What a test reads about a [`Probe`](crate::Probe).
///
/// When it is dropped with violations that nobody looked at, it panics, so that a test that forgets
/// [`verify`](Self::verify) fails all the same.
pub struct ProbeHandle<O> {
    ledger: Arc<Ledger<O>>,
}

impl<O> ProbeHandle<O> {
    pub(super) const fn new(ledger: Arc<Ledger<O>>) -> Self {
        Self { ledger }
    }

    /// What was counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.ledger.lock().counts
    }

    /// Every request that reached the probe.
    #[must_use]
    pub fn requests(&self) -> Vec<O>
    where
        O: Clone,
    {
        self.ledger.lock().requests.clone()
    }

    /// How many outputs each call got, by its key. More than one means that something called again.
    #[must_use]
    pub fn outputs(&self) -> Vec<(Str, usize)> {
        self.ledger.lock().outputs.iter().map(|(key, count)| (key.clone(), *count)).collect()
    }

    /// Takes the violations so far; none is good.
    #[must_use]
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.ledger.lock().violations)
    }

    /// Checks that the contract was kept.
    ///
    /// # Panics
    /// When it was not; the text lists what went wrong.
    #[track_caller]
    pub fn verify(&self) {
        self.fail_on("the probe", &self.take_violations());
    }

    /// Checks besides that everything is over: nothing is in flight, no stream is open, and every reservation
    /// was used or given back.
    ///
    /// # Panics
    /// When it is not so.
    #[track_caller]
    pub fn verify_idle(&self) {
        self.check_idle("the probe");
    }

    #[track_caller]
    pub(crate) fn check_idle(&self, story: &str) {
        let mut faults = self.take_violations();
        let counts = self.counts();
        if counts.in_flight > 0 {
            faults.push(format!("{} calls are still in flight", counts.in_flight));
        }
        if counts.open_streams > 0 {
            faults.push(format!("{} streams are still open", counts.open_streams));
        }
        if counts.held() > 0 {
            faults.push(format!("{} reservations are still held", counts.held()));
        }
        self.fail_on(story, &faults);
    }

    #[track_caller]
    fn fail_on(&self, story: &str, faults: &[String]) {
        if faults.is_empty() {
            return;
        }
        let mut text = format!("{story}: the service contract was broken:");
        for fault in faults {
            let _ = write!(text, "\n- {fault}");
        }
        let _ = write!(text, "\ncounted: {:?}", self.counts());
        panic_with(&text)
    }
}

impl<O> Drop for ProbeHandle<O> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.verify();
        }
    }
}

impl<O> fmt::Debug for ProbeHandle<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeHandle").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Counts {
    /// Reservations that were neither used nor given back yet.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.reserved.saturating_sub(self.given_back).saturating_sub(self.calls)
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.polls += other.polls;
        self.reserved += other.reserved;
        self.given_back += other.given_back;
        self.ready_errors += other.ready_errors;
        self.clones += other.clones;
        self.calls += other.calls;
        self.outputs += other.outputs;
        self.errors += other.errors;
        self.panics += other.panics;
        self.dropped_calls += other.dropped_calls;
        self.in_flight += other.in_flight;
        self.streams += other.streams;
        self.ended_streams += other.ended_streams;
        self.dropped_streams += other.dropped_streams;
        self.open_streams += other.open_streams;
        self.instances += other.instances;
    }
}
