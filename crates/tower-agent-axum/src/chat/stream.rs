//! A reply as chunks.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use pin_project_lite::pin_project;
use tower_agent_core::{Error, ErrorKind, FinishReason, ModelBody, ModelEvent, ModelStream};
use tower_agent_wire::openai_chat::{Encoder, Stamp};

use super::Call;
use crate::sse;

pin_project! {
    /// Ends after `[DONE]` or the first error. Dropped before the reply is complete, it cancels the call's token.
    pub(super) struct ChatFrames {
        events: ModelStream,
        encoder: Encoder,
        call: Option<Call>,
    }
}

impl ChatFrames {
    pub(super) fn new(body: ModelBody, stamp: Stamp, usage: bool, call: Call) -> Self {
        let encoder = Encoder::new(stamp).include_usage(usage);
        Self { events: body.into_stream(), encoder, call: Some(call) }
    }
}

impl Stream for ChatFrames {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.project();
        while let Some(call) = this.call {
            let error = match ready!(this.events.as_mut().poll_next(cx)) {
                Some(Ok(event)) => match this.encoder.encode(&for_clients(event, call)) {
                    Some(frame) => return Poll::Ready(Some(frame)),
                    None => continue,
                },
                Some(Err(error)) => Some(error),
                None if call.is_complete() => None,
                None => Some(cut_off()),
            };
            let last = match error {
                Some(error) => sse::data(&call.report(&error).to_json()),
                None => this.encoder.finish(),
            };
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
            call.complete();
            ModelEvent::Finish { reason: finish_for_clients(reason) }
        }
        event => event,
    }
}

/// The dialect has no word for an error that was answered in words.
pub(super) fn finish_for_clients(reason: FinishReason) -> FinishReason {
    match reason {
        FinishReason::Error => FinishReason::Stop,
        reason => reason,
    }
}

fn cut_off() -> Error {
    Error::new(ErrorKind::Protocol, "the reply broke off before it was complete")
        .with_model_text("The model's reply broke off before it was complete.")
}
