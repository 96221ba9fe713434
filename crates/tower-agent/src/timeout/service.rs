use std::task::{Context, Poll};

use tokio::time::Instant;
use tower_agent_core::{Error, Operation};
use tower_service::Service;

use super::{
    ResponseFuture, TimeoutLayer,
    limits::{By, Limits, Until},
};

/// Limits how long calls may take, streams included. See the [module](super) for examples.
#[derive(Clone, Debug)]
pub struct Timeout<S> {
    inner: S,
    config: TimeoutLayer,
}

impl<S> Timeout<S> {
    /// Limits the calls of `inner` as the layer says.
    pub const fn new(inner: S, config: TimeoutLayer) -> Self {
        Self { inner, config }
    }

    /// A layer that limits the whole of each call.
    #[must_use]
    pub const fn layer(total: std::time::Duration) -> TimeoutLayer {
        TimeoutLayer::new(total)
    }

    inner_accessors!();

    /// When a request must be over, and when its head must be there.
    fn due<O: Operation>(&self, request: &mut O, limits: Limits) -> Due {
        let deadline = request.context().deadline().filter(|_| self.config.deadline);
        let deadline = deadline.map(|at| Until { at: at.into(), by: By::Deadline });
        if deadline.is_none() && limits.head.is_none() && limits.total.is_none() {
            return Due { head: None, end: None, late: false };
        }
        let now = Instant::now();
        let total = limits.total.and_then(|limit| Until::after(now, limit, By::Total));
        let head = limits.head.and_then(|limit| Until::after(now, limit, By::Head));
        let end = Until::first(deadline, total);
        if let Some(Until { at, by: By::Total(_) }) = end {
            let own = request.context().deadline().map_or(at.into_std(), |d| d.min(at.into_std()));
            request.context_mut().set_deadline(own);
        }
        let late = deadline.is_some_and(|deadline| deadline.at <= now);
        Due { head: Until::first(head, end), end, late }
    }
}

struct Due {
    head: Option<Until>,
    end: Option<Until>,
    late: bool,
}

impl<O, S> Service<O> for Timeout<S>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
{
    type Response = O::Output;
    type Error = Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: O) -> Self::Future {
        let limits = self.config.limits_of(request.name());
        let due = self.due(&mut request, limits);
        if due.late {
            return ResponseFuture::late();
        }
        ResponseFuture::new(self.inner.call(request), due.head, due.end, limits.idle)
    }
}
