use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::Buf;
use http_body::{Body, Frame, SizeHint};
use tower_agent_core::Json;

use super::raw;

/// What was read of the body of an HTTP request, in the extensions of its head.
#[derive(Clone, Default)]
pub(crate) struct Copied(Arc<Mutex<Vec<u8>>>);

impl Copied {
    /// The arguments of the call that the body is; they can be taken once.
    pub(crate) fn take(&self) -> Option<Json> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        raw::arguments(&bytes).map(|(_, json)| json)
    }
}

/// A body of which a copy is kept as it is read, so never of more than the library reads.
#[derive(Debug)]
#[expect(unnameable_types, reason = "the service that it goes to is named by it")]
pub struct CopiedBody<B> {
    inner: Pin<Box<B>>,
    copy: Copied,
}

impl<B> CopiedBody<B> {
    pub(crate) fn new(inner: B) -> (Self, Copied) {
        let copy = Copied::default();
        (Self { inner: Box::pin(inner), copy: copy.clone() }, copy)
    }
}

impl<B: Body> Body for CopiedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let frame = ready!(self.inner.as_mut().poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let mut copy = self.copy.0.lock().unwrap_or_else(PoisonError::into_inner);
            // One that comes in several pieces is left to the library: what is missing here makes no message.
            copy.extend_from_slice(data.chunk());
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl std::fmt::Debug for Copied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Copied")
    }
}
