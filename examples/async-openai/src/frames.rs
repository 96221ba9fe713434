//! A reply as server-sent events.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_core::Stream;
use tower_agent::{ModelBody, ModelStream};

use crate::api::Encoder;

/// Ends after the dialect's last frame or the first error; dropped before, it drops the call.
pub(crate) struct Frames {
    events: ModelStream,
    encoder: Option<Encoder>,
}

impl Frames {
    pub(crate) fn new(body: ModelBody, encoder: Encoder) -> Self {
        Self { events: body.into_stream(), encoder: Some(encoder) }
    }
}

impl Stream for Frames {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        while let Some(encoder) = &mut this.encoder {
            let last = match this.events.as_mut().poll_next(cx) {
                Poll::Pending => {
                    return encoder
                        .flush()
                        .map_or(Poll::Pending, |frame| Poll::Ready(Some(Ok(frame))));
                }
                Poll::Ready(Some(Ok(event))) => match encoder.encode(event) {
                    Some(frame) => return Poll::Ready(Some(Ok(frame))),
                    None => continue,
                },
                Poll::Ready(Some(Err(error))) => encoder.fail(&error),
                Poll::Ready(None) => encoder.finish(),
            };
            this.encoder = None;
            return Poll::Ready(Some(Ok(last)));
        }
        Poll::Ready(None)
    }
}
