//! A run's events as server-sent events.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use pin_project_lite::pin_project;
use tower_agent_core::{Error, ErrorKind, RunBody, RunEvent, RunResponse};
use uuid::Uuid;

use super::run_report;
use crate::{options::Lease, sse};

pin_project! {
    /// Ends after the first error. Dropped before the run is complete, it cancels the run's token.
    pub(super) struct RunFrames {
        #[pin]
        events: RunBody,
        lease: Option<Lease>,
        id: Uuid,
        sent: u64,
    }
}

impl RunFrames {
    pub(super) fn new(run: RunResponse, lease: Lease, id: Uuid) -> Self {
        Self { events: run.body, lease: Some(lease), id, sent: 0 }
    }
}

impl Stream for RunFrames {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.project();
        let Some(lease) = this.lease else { return Poll::Ready(None) };
        let error = match ready!(this.events.poll_next(cx)) {
            Some(Ok(event)) => {
                if let RunEvent::Finished { .. } = event {
                    lease.complete();
                }
                match serde_json::to_string(&event) {
                    Ok(json) => return Poll::Ready(Some(frame(this.sent, event.name(), &json))),
                    Err(error) => no_json(error),
                }
            }
            Some(Err(error)) => error,
            None if lease.is_complete() => {
                *this.lease = None;
                return Poll::Ready(None);
            }
            None => cut_off(),
        };
        // With the lease goes whatever of the run is still alive.
        *this.lease = None;
        let json = run_report(*this.id, &error).to_json();
        Poll::Ready(Some(frame(this.sent, "error", &json)))
    }
}

fn frame(sent: &mut u64, name: &str, json: &str) -> Bytes {
    *sent += 1;
    sse::event(name, *sent, json)
}

fn cut_off() -> Error {
    Error::new(ErrorKind::Protocol, "the run broke off before it was complete")
        .with_model_text("The run broke off before it was complete.")
}

fn no_json(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Other, "an event has no JSON form").with_source(error)
}
