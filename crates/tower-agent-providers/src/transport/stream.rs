use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use http_body::Body;
use tower_agent_core::{Error, ModelEvent, Str};

use super::{Decode, Dialect, fault};

/// The events of a streamed answer.
///
/// The body is dropped with the last event, so that a connection is never held by a stream that nobody drops.
pub(super) struct Events<D: Dialect> {
    body: Option<reqwest::Body>,
    decoder: D::Decoder,
    request_id: Option<Str>,
    left: usize,
    limit: usize,
}

impl<D: Dialect> Events<D> {
    pub(super) fn new(body: reqwest::Body, request_id: Option<Str>, limit: usize) -> Self {
        Self { body: Some(body), decoder: D::Decoder::default(), request_id, left: limit, limit }
    }

    /// Reads on. An error after the provider said why it stopped costs nothing but a late usage.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let Some(body) = &mut self.body else { return Poll::Ready(Ok(())) };
        match ready!(Pin::new(body).poll_frame(cx)) {
            Some(Ok(frame)) => self.take(&frame.into_data().unwrap_or_default())?,
            Some(Err(error)) if !self.decoder.is_complete() => {
                return Poll::Ready(Err(fault::of_body(error)));
            }
            Some(Err(_)) | None => self.end(),
        }
        Poll::Ready(Ok(()))
    }

    fn take(&mut self, data: &[u8]) -> Result<(), Error> {
        self.left =
            self.left.checked_sub(data.len()).ok_or_else(|| fault::too_large(self.limit))?;
        self.decoder.push(data);
        Ok(())
    }

    fn end(&mut self) {
        self.body = None;
        self.decoder.finish();
    }

    fn dress(&self, error: Error) -> Error {
        fault::with_request_id(error.with_layer(D::NAME), self.request_id.as_ref())
    }
}

impl<D: Dialect> Stream for Events<D> {
    type Item = Result<ModelEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.decoder.next_event() {
                if event.is_err() || this.decoder.is_over() {
                    this.body = None;
                }
                return Poll::Ready(Some(event.map_err(|error| this.dress(error))));
            }
            if this.body.is_none() {
                return Poll::Ready(None);
            }
            if let Err(error) = ready!(this.poll_read(cx)) {
                this.body = None;
                return Poll::Ready(Some(Err(this.dress(error))));
            }
        }
    }
}
