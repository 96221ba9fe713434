use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep_until};
use tower_agent_core::{Error, Output};

use super::{limits::Until, stream::Limited};

pin_project! {
    /// The answer, or the error that it took too long.
    pub struct ResponseFuture<F> {
        #[pin]
        inner: Option<F>,
        // Made only when there is something to wait for.
        #[pin]
        sleep: Option<Sleep>,
        head: Option<Until>,
        end: Option<Until>,
        idle: Option<Duration>,
    }
}

impl<F> ResponseFuture<F> {
    pub(super) fn new(
        inner: F,
        head: Option<Until>,
        end: Option<Until>,
        idle: Option<Duration>,
    ) -> Self {
        Self { inner: Some(inner), sleep: None, head, end, idle }
    }

    pub(super) fn late() -> Self {
        Self { inner: None, sleep: None, head: None, end: None, idle: None }
    }
}

impl<F, R, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<R, E>>,
    R: Output,
    E: Into<Error>,
{
    type Output = Result<R, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(inner) = this.inner.as_mut().as_pin_mut() else {
            return Poll::Ready(Err(Until::too_late()));
        };
        if let Poll::Ready(result) = inner.poll(cx) {
            return Poll::Ready(match result {
                Ok(output) => Ok(Limited::around(output, *this.end, *this.idle)),
                Err(error) => Err(error.into()),
            });
        }
        let Some(head) = *this.head else { return Poll::Pending };
        if this.sleep.is_none() {
            this.sleep.set(Some(sleep_until(head.at)));
        }
        match this.sleep.as_pin_mut().map(|sleep| sleep.poll(cx)) {
            Some(Poll::Ready(())) => Poll::Ready(Err(head.error())),
            _ => Poll::Pending,
        }
    }
}

impl<F: fmt::Debug> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").field("inner", &self.inner).finish_non_exhaustive()
    }
}
