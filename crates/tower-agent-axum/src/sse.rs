//! Server-sent events, as bytes.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderName, header};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep};

/// A proxy that buffers would turn a stream into one late lump.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What is between the items of a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// Each is a frame of events.
    Events,
    /// Together they are one JSON array.
    Array,
}

impl Form {
    const fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::Array => "application/json",
        }
    }

    /// What fills silence and means nothing.
    const fn filler(self) -> &'static [u8] {
        match self {
            Self::Events => b": keep-alive\n\n",
            Self::Array => b"\n",
        }
    }
}

/// A response that sends each item as it comes, and nothing ahead of its reader.
pub(crate) fn response(
    frames: impl Stream<Item = Bytes> + Send + 'static,
    keep_alive: Duration,
) -> Response {
    response_in(Form::Events, frames, keep_alive)
}

pub(crate) fn response_in(
    form: Form,
    frames: impl Stream<Item = Bytes> + Send + 'static,
    keep_alive: Duration,
) -> Response {
    let headers = [
        (header::CONTENT_TYPE, form.content_type()),
        (header::CACHE_CONTROL, "no-cache"),
        (NO_BUFFERING, "no"),
    ];
    let filler = form.filler();
    let frames = KeepAlive { frames, filler, every: keep_alive, silence: sleep(keep_alive) };
    (headers, Body::from_stream(frames)).into_response()
}

/// One event. Neither part may hold a line end, which compact JSON never does.
pub(crate) fn event(name: &str, id: u64, data: &str) -> Bytes {
    format!("event: {name}\nid: {id}\ndata: {data}\n\n").into()
}

/// An event with a name and no number; its JSON is compact.
pub(crate) fn named(name: &str, json: &[u8]) -> Bytes {
    [b"event: ", name.as_bytes(), b"\ndata: ", json, b"\n\n"].concat().into()
}

/// An event without a name, as OpenAI's streams have them.
pub(crate) fn data(json: &str) -> Bytes {
    format!("data: {json}\n\n").into()
}

pin_project! {
    /// Fills silence with comments. A comment neither asks for the next event nor holds one back.
    struct KeepAlive<S> {
        #[pin]
        frames: S,
        filler: &'static [u8],
        every: Duration,
        #[pin]
        silence: Sleep,
    }
}

impl<S: Stream<Item = Bytes>> Stream for KeepAlive<S> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        let item = match this.frames.poll_next(cx) {
            Poll::Ready(item) => item,
            Poll::Pending if this.silence.as_mut().poll(cx).is_ready() => {
                Some(Bytes::from_static(this.filler))
            }
            Poll::Pending => return Poll::Pending,
        };
        let next = Instant::now().checked_add(*this.every);
        if let Some(next) = next {
            this.silence.reset(next);
        }
        Poll::Ready(item.map(Ok))
    }
}
