//! Runs that outlive their connections.

mod kept;
mod log;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use http::StatusCode;
use tokio::{task::JoinSet, time::timeout};
use uuid::Uuid;

use self::{kept::Kept, log::Room};
pub(super) use self::{kept::Reader, log::Lost};
use crate::{ApiError, identity::Caller};

/// Owns the runs of a [`resumable`](crate::RunRouter::resumable) router, which go on while their readers are away.
///
/// ```
/// use std::time::Duration;
/// use tower_agent_axum::RunStore;
///
/// let runs = RunStore::new()
///     .wait(Duration::from_secs(300))
///     .events_per_run(1024)
///     .bytes_per_run(512 * 1024)
///     .max_runs(2048)
///     .max_runs_per_user(4);
/// # let _ = runs;
/// ```
///
/// # What is kept
///
/// Of each run its last events, at most [`events_per_run`](Self::events_per_run) and [`bytes_per_run`](Self::bytes_per_run) and
/// one event more. A run that is half of that ahead of its reader waits, whether the reader is slow or away.
///
/// # How long
///
/// Each run is a task that the store owns. It ends when nobody read it for as long as [`wait`](Self::wait) says, and a run
/// that was not complete by then is dropped and its token cancelled. Clones share the runs; dropping the last one drops
/// all of them. A router holds a clone.
#[derive(Clone)]
pub struct RunStore {
    bounds: Bounds,
    shared: Arc<Shared>,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    room: Room,
    wait: Duration,
    runs: usize,
    runs_per_user: usize,
}

#[derive(Default)]
struct Shared {
    runs: Mutex<Runs>,
    // Apart from the runs, as a future that cannot be spawned any more is dropped right there, and then frees its slot.
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct Runs {
    kept: HashMap<Uuid, Arc<Kept>>,
    /// How many each caller has, those that are about to begin included.
    slots: HashMap<Caller, usize>,
    all: usize,
    closed: bool,
}

impl Default for RunStore {
    fn default() -> Self {
        Self::new()
    }
}

impl RunStore {
    /// A store with the default bounds.
    #[must_use]
    pub fn new() -> Self {
        let bounds = Bounds {
            room: Room { events: 4096, bytes: 1024 * 1024 },
            wait: Duration::from_secs(60),
            runs: 1024,
            runs_per_user: 16,
        };
        Self { bounds, shared: Arc::default() }
    }

    /// How long a run waits for its reader, and stays to be read after its end: 60 seconds by default.
    #[must_use]
    pub const fn wait(mut self, limit: Duration) -> Self {
        self.bounds.wait = limit;
        self
    }

    /// The most events kept of a run, 4096 by default.
    #[must_use]
    pub const fn events_per_run(mut self, events: usize) -> Self {
        self.bounds.room.events = events;
        self
    }

    /// The most bytes of events kept of a run, 1 MiB by default. A single event may be larger.
    #[must_use]
    pub const fn bytes_per_run(mut self, bytes: usize) -> Self {
        self.bounds.room.bytes = bytes;
        self
    }

    /// The most runs kept in all, 1024 by default; more are answered with 503.
    #[must_use]
    pub const fn max_runs(mut self, runs: usize) -> Self {
        self.bounds.runs = runs;
        self
    }

    /// The most runs kept for one user of one tenant, 16 by default; more are answered with 429. Callers without a name
    /// count as one.
    ///
    /// A run counts until it is forgotten. One that is complete and was read makes room for a new one.
    #[must_use]
    pub const fn max_runs_per_user(mut self, runs: usize) -> Self {
        self.bounds.runs_per_user = runs;
        self
    }

    /// How many runs are kept, complete ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.runs().kept.len()
    }

    /// Whether no run is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes no more runs, lets those that there are finish within the grace period, then drops what is left.
    ///
    /// A run whose reader is away finishes only as far as its events fit. [`Serve::with_runs`](crate::Serve::with_runs)
    /// does it when the server stops.
    pub async fn shutdown(&self, grace: Duration) {
        if timeout(grace, self.finish()).await.is_err() {
            tracing::warn!("dropped runs that the shutdown did not wait for");
        }
        self.drop_all().await;
    }

    /// Takes no more runs and waits for the end of those that there are.
    pub(crate) async fn finish(&self) {
        for run in self.shared.close() {
            run.ended().await;
        }
    }

    pub(crate) async fn drop_all(&self) {
        // Also one whose task is spawned only now.
        self.shared.close().iter().for_each(|run| run.stop());
        let mut tasks = std::mem::take(&mut *self.shared.tasks());
        tasks.shutdown().await;
    }

    /// A place for one more run.
    pub(super) fn reserve(&self, owner: Caller) -> Result<Slot, ApiError> {
        let mut runs = self.shared.runs();
        if runs.closed {
            return Err(closing());
        }
        if runs.of(&owner) >= self.bounds.runs_per_user && !runs.forget_one(Some(&owner)) {
            let text = "too many of your runs are open: read them to their end, or delete some";
            return Err(ApiError::rate_limited(text));
        }
        if runs.all >= self.bounds.runs && !runs.forget_one(None) {
            return Err(ApiError::overloaded("too many runs are open"));
        }
        runs.all += 1;
        *runs.slots.entry(owner.clone()).or_default() += 1;
        drop(runs);
        Ok(Slot { shared: Arc::downgrade(&self.shared), owner, run: None })
    }

    /// Drives a run from here on, whoever reads it.
    pub(super) fn keep(
        &self,
        mut slot: Slot,
        id: Uuid,
        events: impl Stream<Item = Bytes> + Send + 'static,
    ) -> Result<Reader, ApiError> {
        let (kept, reader) = Kept::open(slot.owner.clone(), self.bounds.room);
        if !self.shared.runs().insert(id, &kept) {
            return Err(closing());
        }
        slot.run = Some(id);
        let wait = self.bounds.wait;
        let mut tasks = self.shared.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            kept.drive(events, wait).await;
            drop(slot);
        });
        Ok(reader)
    }

    /// The caller's run of that id.
    fn find(&self, id: Uuid, caller: &Caller) -> Result<Arc<Kept>, ApiError> {
        let kept = self.shared.runs().kept.get(&id).cloned();
        // One that is somebody else's does not exist.
        kept.filter(|kept| kept.belongs_to(caller)).ok_or_else(not_found)
    }

    /// Goes on reading after an event.
    pub(super) fn read(&self, id: Uuid, caller: &Caller, after: u64) -> Result<Reader, ApiError> {
        let reader = self.find(id, caller)?.read(after).ok_or_else(not_found)?;
        reader.map_err(|lost| match lost {
            Lost::UpTo(event) => {
                let text = format!("the events up to {event} are no longer kept");
                ApiError::new(StatusCode::GONE, "events_gone", text)
            }
            Lost::Future(event) => {
                let text = format!("there are only {event} events yet");
                ApiError::bad_request("unknown_event", text)
            }
        })
    }

    /// Drops a run, complete or not.
    pub(super) fn delete(&self, id: Uuid, caller: &Caller) -> Result<(), ApiError> {
        self.find(id, caller)?;
        self.shared.runs().forget(id);
        Ok(())
    }
}

impl fmt::Debug for RunStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunStore")
            .field("bounds", &self.bounds)
            .field("runs", &self.len())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) -> Vec<Arc<Kept>> {
        let mut runs = self.runs();
        runs.closed = true;
        runs.kept.values().cloned().collect()
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runs {
    fn of(&self, owner: &Caller) -> usize {
        self.slots.get(owner).copied().unwrap_or_default()
    }

    fn insert(&mut self, id: Uuid, kept: &Arc<Kept>) -> bool {
        if !self.closed {
            self.kept.insert(id, kept.clone());
        }
        !self.closed
    }

    /// Makes room by the oldest run that nobody can miss.
    fn forget_one(&mut self, owner: Option<&Caller>) -> bool {
        let read = self
            .kept
            .iter()
            .filter(|(_, kept)| owner.is_none_or(|owner| kept.belongs_to(owner)) && kept.is_read());
        // Ids are sorted by time.
        let oldest = read.map(|(id, _)| *id).min();
        oldest.is_some_and(|id| self.forget(id))
    }

    /// Ends a run and gives its slot back; nothing where that was done before.
    fn forget(&mut self, id: Uuid) -> bool {
        let Some(kept) = self.kept.remove(&id) else { return false };
        kept.stop();
        self.free(kept.owner());
        true
    }

    fn free(&mut self, owner: &Caller) {
        self.all = self.all.saturating_sub(1);
        if let Some(count) = self.slots.get_mut(owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.slots.remove(owner);
            }
        }
    }
}

/// A place in the store. Dropped, it is free again.
pub(super) struct Slot {
    shared: Weak<Shared>,
    owner: Caller,
    run: Option<Uuid>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let mut runs = shared.runs();
        match self.run {
            Some(id) => drop(runs.forget(id)),
            None => runs.free(&self.owner),
        }
        drop(runs);
    }
}

fn not_found() -> ApiError {
    let text = "there is no such run; one that nobody reads for too long is forgotten";
    ApiError::new(StatusCode::NOT_FOUND, "run_not_found", text)
}

fn closing() -> ApiError {
    ApiError::overloaded("the host is shutting down")
}
