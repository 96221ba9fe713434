//! A run is one future that hands out events while it is polled. Nothing is spawned and nothing is queued:
//! after each event the run waits until the reader has taken it.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use futures_core::Stream;
use pin_project_lite::pin_project;
use tower_agent_core::{Error, RunEvent};

#[derive(Clone, Default)]
pub(super) struct Emitter(Arc<Mutex<Option<RunEvent>>>);

impl Emitter {
    /// Hands an event to the reader and waits until it is taken.
    pub(super) async fn emit(&self, event: RunEvent) {
        let mut event = Some(event);
        poll_fn(|_| match event.take() {
            // The stream takes the event as soon as this poll returns, so it needs no waker.
            Some(event) => {
                self.put(event);
                Poll::Pending
            }
            None => Poll::Ready(()),
        })
        .await;
    }

    fn put(&self, event: RunEvent) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(event);
    }

    fn take(&self) -> Option<RunEvent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The events of a run.
pub(super) fn events<F, Fut>(
    run: F,
) -> impl Stream<Item = Result<RunEvent, Error>> + Send + use<F, Fut>
where
    F: FnOnce(Emitter) -> Fut,
    Fut: Future<Output = Result<(), Error>> + Send,
{
    let emitter = Emitter::default();
    Events { run: Some(run(emitter.clone())), emitter }
}

pin_project! {
    struct Events<Fut> {
        #[pin]
        run: Option<Fut>,
        emitter: Emitter,
    }
}

impl<Fut: Future<Output = Result<(), Error>>> Stream for Events<Fut> {
    type Item = Result<RunEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        let Some(run) = this.run.as_mut().as_pin_mut() else {
            return Poll::Ready(None);
        };
        match run.poll(cx) {
            Poll::Pending => match this.emitter.take() {
                Some(event) => Poll::Ready(Some(Ok(event))),
                None => Poll::Pending,
            },
            // Clones of the stacks are let go as soon as the run is over.
            Poll::Ready(result) => {
                this.run.set(None);
                Poll::Ready(result.err().map(Err))
            }
        }
    }
}
