//! One run that outlives its connection, and its reader.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use http::StatusCode;
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::log::{Log, Lost, Room};
use crate::{ApiError, identity::Caller, sse};

/// What the run's task and its reader share.
#[derive(Debug)]
pub(in crate::run) struct Kept {
    owner: Caller,
    state: Mutex<State>,
    /// Tells the reader of events, of the end, and of one who takes its place.
    news: Notify,
    /// Tells the run that events were taken, or that a reader came or went.
    moved: Notify,
    stop: CancellationToken,
}

#[derive(Debug)]
struct State {
    log: Log,
    /// How many readers there were; the last one counts.
    readers: u64,
    /// Since when nobody reads.
    alone: Option<Instant>,
    end: End,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    /// More events may come.
    Open,
    /// All events are there.
    Complete,
    /// No more events come, although some are missing.
    Stopped,
}

/// What a reader finds.
enum Found {
    Event(Bytes),
    Nothing,
    End,
    Error(ApiError),
}

impl Kept {
    /// A run and its first reader.
    pub(super) fn open(owner: Caller, room: Room) -> (Arc<Self>, Reader) {
        let state = State { log: Log::new(room), readers: 1, alone: None, end: End::Open };
        let kept = Arc::new(Self {
            owner,
            state: Mutex::new(state),
            news: Notify::new(),
            moved: Notify::new(),
            stop: CancellationToken::new(),
        });
        let reader = Reader { kept: kept.clone(), number: 1, after: 0, over: false, at_end: false };
        (kept, reader)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn belongs_to(&self, caller: &Caller) -> bool {
        self.owner == *caller
    }

    pub(super) const fn owner(&self) -> &Caller {
        &self.owner
    }

    /// Whether nobody can miss it: its reader took everything and left.
    pub(super) fn is_read(&self) -> bool {
        let state = self.state();
        state.end == End::Complete && state.alone.is_some() && state.log.is_read()
    }

    /// Ends the run, and the waiting for its reader.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits for the last event to be made.
    pub(super) async fn ended(&self) {
        loop {
            let news = self.news.notified();
            if self.state().end != End::Open {
                return;
            }
            news.await;
        }
    }

    /// Makes the run's events as there is room for them, until all are read or nobody wants them.
    pub(super) async fn drive(&self, events: impl Stream<Item = Bytes>, wait: Duration) {
        let _ending = Ending(self);
        let fill = async {
            self.fill(events).await;
            std::future::pending().await
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {}
            () = self.deserted(wait) => {}
            () = fill => {}
        }
    }

    async fn fill(&self, events: impl Stream<Item = Bytes>) {
        let mut events = std::pin::pin!(events);
        loop {
            // A run that never waits lets others have their turn, the one that stops it among them.
            tokio::task::consume_budget().await;
            self.room().await;
            let event = std::future::poll_fn(|cx| events.as_mut().poll_next(cx)).await;
            let mut state = self.state();
            match event {
                Some(event) => state.log.push(event),
                None => state.end = End::Complete,
            }
            let end = state.end;
            drop(state);
            self.news.notify_waiters();
            if end != End::Open {
                return;
            }
        }
    }

    async fn room(&self) {
        loop {
            let moved = self.moved.notified();
            if self.state().log.has_room() {
                return;
            }
            moved.await;
        }
    }

    /// Waits until nobody has read for so long. From then on nobody can.
    async fn deserted(&self, wait: Duration) {
        loop {
            let moved = self.moved.notified();
            let Some(end) = self.patience(wait) else { return };
            match end {
                Some(end) => drop(timeout_at(end, moved).await),
                None => moved.await,
            }
        }
    }

    /// When to give the reader up, if it is away; nothing once that time has come.
    fn patience(&self, wait: Duration) -> Option<Option<Instant>> {
        let mut state = self.state();
        let end = state.alone.and_then(|since| since.checked_add(wait));
        if end.is_some_and(|end| end <= Instant::now()) {
            state.end = End::Stopped;
            return None;
        }
        Some(end)
    }

    /// A reader that has seen the events up to this one. It takes the place of the one before.
    ///
    /// Nothing where the run was given up meanwhile.
    pub(super) fn read(self: &Arc<Self>, after: u64) -> Option<Result<Reader, Lost>> {
        let mut state = self.state();
        if state.end == End::Stopped {
            return None;
        }
        if let Err(lost) = state.log.seek(after) {
            return Some(Err(lost));
        }
        state.readers += 1;
        state.alone = None;
        let number = state.readers;
        let at_end = state.end == End::Complete && after == state.log.made();
        drop(state);
        self.news.notify_waiters();
        self.moved.notify_waiters();
        Some(Ok(Reader { kept: self.clone(), number, after, over: false, at_end }))
    }

    fn find(&self, reader: u64, after: u64) -> Found {
        let mut state = self.state();
        if state.readers != reader {
            return Found::Error(taken_over());
        }
        match (state.log.take(after), state.end) {
            (Some(event), _) => Found::Event(event),
            (None, End::Open) => Found::Nothing,
            (None, End::Complete) => Found::End,
            (None, End::Stopped) => Found::Error(stopped()),
        }
    }

    fn leave(&self, reader: u64) {
        let mut state = self.state();
        if state.readers == reader {
            state.alone = Some(Instant::now());
        }
        drop(state);
        self.moved.notify_waiters();
    }
}

/// Tells the reader that nothing more comes, also where the run panicked or its task was aborted.
struct Ending<'a>(&'a Kept);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        if state.end == End::Open {
            state.end = End::Stopped;
        }
        drop(state);
        self.0.news.notify_waiters();
    }
}

/// The one who reads a run. Dropped, it leaves the run to whoever comes next.
#[derive(Debug)]
pub(in crate::run) struct Reader {
    kept: Arc<Kept>,
    number: u64,
    after: u64,
    over: bool,
    at_end: bool,
}

impl Reader {
    /// Whether it came when there was nothing left to read.
    pub(in crate::run) const fn is_at_end(&self) -> bool {
        self.at_end
    }

    pub(in crate::run) fn into_stream(self) -> impl Stream<Item = Bytes> + Send + 'static {
        futures_util::stream::unfold(self, |mut reader| async move {
            let event = reader.next().await?;
            Some((event, reader))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        while !self.over {
            let news = self.kept.news.notified();
            match self.kept.find(self.number, self.after) {
                Found::Event(event) => {
                    self.after += 1;
                    self.kept.moved.notify_waiters();
                    return Some(event);
                }
                Found::Nothing => news.await,
                Found::End => self.over = true,
                Found::Error(error) => {
                    self.over = true;
                    return Some(sse::named("error", error.to_json().as_bytes()));
                }
            }
        }
        None
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.kept.leave(self.number);
    }
}

fn taken_over() -> ApiError {
    let text = "the run is read by another connection now";
    ApiError::new(StatusCode::CONFLICT, "taken_over", text)
}

fn stopped() -> ApiError {
    let text = "the run was stopped before it was complete";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "run_stopped", text)
}
