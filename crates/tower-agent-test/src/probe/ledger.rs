use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use tower_agent_core::{Error, ErrorKind, Str};

use super::{handle::Counts, plan::Plan};

/// What all clones of a probe, their calls and the handle share.
#[derive(Debug)]
pub(super) struct Ledger<O> {
    state: Mutex<State<O>>,
}

#[derive(Debug)]
pub(super) struct State<O> {
    pub(super) counts: Counts,
    pub(super) requests: Vec<O>,
    pub(super) outputs: BTreeMap<Str, usize>,
    pub(super) violations: Vec<String>,
    pub(super) rules: Rules,
    slots_taken: usize,
    waiting: Vec<Waker>,
}

/// What the probe does, as its builder was told.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) plans: VecDeque<Plan>,
    pub(super) by_key: BTreeMap<Str, Plan>,
    pub(super) otherwise: Plan,
    /// How often each instance is pending before it becomes ready.
    pub(super) unready: u32,
    /// After how many calls readiness fails, and how.
    pub(super) fails: Option<(usize, ErrorKind)>,
    pub(super) permits: Option<usize>,
}

impl<O> Ledger<O> {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            state: Mutex::new(State {
                counts: Counts::default(),
                requests: Vec::new(),
                outputs: BTreeMap::new(),
                violations: Vec::new(),
                rules,
                slots_taken: 0,
                waiting: Vec::new(),
            }),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves the right to make one call.
    pub(super) fn poll_reserve(
        self: &Arc<Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Permit<O>, Error>> {
        let mut state = self.lock();
        if let Some((calls, kind)) = state.rules.fails
            && state.counts.calls >= calls
        {
            state.counts.ready_errors += 1;
            return Poll::Ready(Err(Error::new(kind, "the probe is told to fail in poll_ready")));
        }
        if state.rules.permits.is_some_and(|permits| state.slots_taken >= permits) {
            state.waiting.push(cx.waker().clone());
            return Poll::Pending;
        }
        state.slots_taken += 1;
        state.counts.reserved += 1;
        Poll::Ready(Ok(Permit { ledger: Arc::clone(self), used: false }))
    }

    /// Wakes whoever waits for a slot, after the lock is gone.
    fn release(&self, used: bool) {
        let waiting = {
            let mut state = self.lock();
            state.slots_taken = state.slots_taken.saturating_sub(1);
            if !used {
                state.counts.given_back += 1;
            }
            mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl<O> State<O> {
    pub(super) fn next_plan(&mut self, key: &str) -> Plan {
        if let Some(plan) = self.rules.by_key.get(key) {
            return plan.clone();
        }
        self.rules.plans.pop_front().unwrap_or_else(|| self.rules.otherwise.clone())
    }

    pub(super) fn violation(&mut self, text: impl Into<String>) {
        self.violations.push(text.into());
    }
}

/// The right to make one call: reserved by `poll_ready`, used by `call`, given back on drop. As with tower's
/// concurrency limit, its slot stays taken until the call is answered.
#[derive(Debug)]
pub(super) struct Permit<O> {
    ledger: Arc<Ledger<O>>,
    used: bool,
}

impl<O> Permit<O> {
    pub(super) fn spend(&mut self) {
        self.used = true;
    }
}

impl<O> Drop for Permit<O> {
    fn drop(&mut self) {
        self.ledger.release(self.used);
    }
}
