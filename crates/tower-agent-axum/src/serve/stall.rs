//! Giving up on a peer that takes nothing.

use std::{
    io::{self, ErrorKind, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use pin_project_lite::pin_project;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

pin_project! {
    /// Fails a write that stands still for too long. A peer that takes a byte now and then may take its time.
    pub(super) struct Stall<T> {
        #[pin]
        io: T,
        limit: Duration,
        waiting: bool,
        #[pin]
        patience: Sleep,
    }
}

impl<T> Stall<T> {
    pub(super) fn new(io: T, limit: Duration) -> Self {
        Self { io, limit, waiting: false, patience: sleep(limit) }
    }

    /// Passes on what a write came to, and counts the time while it comes to nothing.
    fn watch<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        written: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        let mut this = self.project();
        if written.is_ready() {
            *this.waiting = false;
            return written;
        }
        if !*this.waiting {
            *this.waiting = true;
            let end = Instant::now().checked_add(*this.limit);
            end.into_iter().for_each(|end| this.patience.as_mut().reset(end));
        }
        ready!(this.patience.poll(cx));
        Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "the peer takes nothing")))
    }
}

impl<T: AsyncRead> AsyncRead for Stall<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.project().io.poll_read(cx, buf)
    }
}

impl<T: AsyncWrite> AsyncWrite for Stall<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = self.as_mut().project().io.poll_write(cx, buf);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = self.as_mut().project().io.poll_write_vectored(cx, bufs);
        self.watch(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.as_mut().project().io.poll_flush(cx);
        self.watch(cx, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().io.poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}
