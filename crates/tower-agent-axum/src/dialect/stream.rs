//! A reply as frames.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_core::Stream;
use pin_project_lite::pin_project;
use tower_agent_core::{Error, ErrorKind, ModelBody, ModelEvent, ModelStream};

use super::{Call, Dialect, Encode, finish_for_clients, tell};

pin_project! {
    /// Ends after the dialect's last frame or the first error. Dropped before the reply is complete, it cancels the
    /// call's token.
    pub(super) struct Frames<D: Dialect> {
        events: ModelStream,
        encoder: D::Encoder,
        call: Option<Call>,
    }
}

impl<D: Dialect> Frames<D> {
    pub(super) fn new(body: ModelBody, encoder: D::Encoder, call: Call) -> Self {
        Self { events: body.into_stream(), encoder, call: Some(call) }
    }
}

impl<D: Dialect> Stream for Frames<D> {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.project();
        while let Some(call) = this.call {
            let error = match this.events.as_mut().poll_next(cx) {
                Poll::Pending => match this.encoder.flush() {
                    Some(frame) => return Poll::Ready(Some(frame)),
                    None => return Poll::Pending,
                },
                Poll::Ready(Some(Ok(event))) => {
                    match this.encoder.encode(&for_clients(event, call)) {
                        Some(frame) => return Poll::Ready(Some(frame)),
                        None => continue,
                    }
                }
                Poll::Ready(Some(Err(error))) => Some(error),
                Poll::Ready(None) if call.lease.is_complete() => None,
                Poll::Ready(None) => Some(cut_off()),
            };
            let last = match error {
                Some(error) => {
                    let error = call.report(&error);
                    let event = this.encoder.fail(&error);
                    event.unwrap_or_else(|| D::error_event(&error, &call.id.to_string()))
                }
                None => this.encoder.finish(),
            };
            tell(this.encoder.losses());
            *this.call = None;
            return Poll::Ready(Some(last));
        }
        Poll::Ready(None)
    }
}

/// Notes that the reply is complete, and why, in words of the dialect.
fn for_clients(event: ModelEvent, call: &mut Call) -> ModelEvent {
    match event {
        ModelEvent::Finish { reason } => {
            call.lease.complete();
            ModelEvent::Finish { reason: finish_for_clients(reason) }
        }
        event => event,
    }
}

fn cut_off() -> Error {
    Error::new(ErrorKind::Protocol, "the reply broke off before it was complete")
        .with_model_text("The model's reply broke off before it was complete.")
}
