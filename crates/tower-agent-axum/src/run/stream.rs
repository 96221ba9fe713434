//! A run's events as server-sent events.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use pin_project_lite::pin_project;
use tokio_util::sync::DropGuard;
use tower_agent_core::{Error, ErrorKind, RunBody, RunEvent, RunResponse};
use uuid::Uuid;

use super::run_report;
use crate::sse;

pin_project! {
    /// Ends after the first error. Dropped before the run is complete, it cancels the run's token.
    pub(super) struct RunFrames {
        #[pin]
        events: RunBody,
        guard: Option<DropGuard>,
        id: Uuid,
        sent: u64,
        complete: bool,
        ended: bool,
    }
}

impl RunFrames {
    pub(super) fn new(run: RunResponse, guard: DropGuard, id: Uuid) -> Self {
        Self { events: run.body, guard: Some(guard), id, sent: 0, complete: false, ended: false }
    }
}

impl Stream for RunFrames {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.project();
        if *this.ended {
            return Poll::Ready(None);
        }
        let (name, data) = match ready!(this.events.poll_next(cx)) {
            Some(Ok(event)) => {
                if let RunEvent::Finished { .. } = event {
                    *this.complete = true;
                    this.guard.take().map(DropGuard::disarm);
                }
                match serde_json::to_string(&event) {
                    Ok(json) => (event.name(), json),
                    Err(error) => fail(this.guard, this.ended, *this.id, &no_json(error)),
                }
            }
            Some(Err(error)) => fail(this.guard, this.ended, *this.id, &error),
            None if *this.complete => {
                *this.ended = true;
                return Poll::Ready(None);
            }
            None => fail(this.guard, this.ended, *this.id, &cut_off()),
        };
        *this.sent += 1;
        Poll::Ready(Some(sse::event(name, *this.sent, &data)))
    }
}

/// The last event; with the guard goes whatever of the run is still alive.
fn fail(
    guard: &mut Option<DropGuard>,
    ended: &mut bool,
    id: Uuid,
    error: &Error,
) -> (&'static str, String) {
    (*guard, *ended) = (None, true);
    ("error", run_report(id, error).to_json())
}

fn cut_off() -> Error {
    Error::new(ErrorKind::Protocol, "the run broke off before it was complete")
        .with_model_text("The run broke off before it was complete.")
}

fn no_json(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Other, "an event has no JSON form").with_source(error)
}
