use std::{collections::HashMap, sync::Arc};

use tokio::sync::Semaphore;
use tower_agent_core::Str;
use tower_layer::Layer;

use super::ConcurrencyLimit;

/// Limits how many calls run at a time. See the [module](super) for examples.
#[derive(Clone, Debug)]
pub struct ConcurrencyLimitLayer {
    pub(super) all: Pool,
    names: Option<Arc<HashMap<Str, Pool>>>,
    pub(super) when_full: WhenFull,
}

/// What becomes of a call for which there is no permit.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum WhenFull {
    /// It waits, in the order of arrival.
    #[default]
    Queue,
    /// It fails at once.
    Reject,
}

#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) permits: Arc<Semaphore>,
    pub(super) max: usize,
}

impl Pool {
    fn new(max: usize) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        Self { permits: Arc::new(Semaphore::new(max)), max }
    }

    fn in_flight(&self) -> usize {
        self.max.saturating_sub(self.permits.available_permits())
    }
}

impl ConcurrencyLimitLayer {
    /// At most `max` calls at a time, whatever their names. With 0 nothing ever runs.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self { all: Pool::new(max), names: None, when_full: WhenFull::Queue }
    }

    /// No limit but those that [`for_name`](Self::for_name) sets.
    #[must_use]
    pub fn by_name() -> Self {
        Self::new(Semaphore::MAX_PERMITS)
    }

    /// At most `max` calls of one tool, model or agent at a time, within the limit for all.
    #[must_use]
    pub fn for_name(mut self, name: impl Into<Str>, max: usize) -> Self {
        Arc::make_mut(self.names.get_or_insert_default()).insert(name.into(), Pool::new(max));
        self
    }

    /// What becomes of a call for which there is no permit; it waits by default.
    #[must_use]
    pub const fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    /// How many permits are out: calls that run, and services that are ready for one.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.all.in_flight()
    }

    /// How many permits of a name are out; none for a name without a limit of its own.
    #[must_use]
    pub fn in_flight_of(&self, name: &str) -> Option<usize> {
        self.pool_of(name).map(Pool::in_flight)
    }

    pub(super) fn pool_of(&self, name: &str) -> Option<&Pool> {
        self.names.as_ref()?.get(name)
    }
}

impl<S> Layer<S> for ConcurrencyLimitLayer {
    type Service = ConcurrencyLimit<S>;

    fn layer(&self, inner: S) -> ConcurrencyLimit<S> {
        ConcurrencyLimit::new(inner, self.clone())
    }
}
