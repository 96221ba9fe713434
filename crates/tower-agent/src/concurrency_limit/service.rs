use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::PollSemaphore;
use tower_agent_core::{Error, Operation};
use tower_service::Service;

use super::{
    ConcurrencyLimitLayer, ResponseFuture, WhenFull,
    future::{Refusal, Wait},
    layer::Pool,
};

/// Limits how many calls run at a time. See the [module](super) for examples.
#[derive(Debug)]
pub struct ConcurrencyLimit<S> {
    inner: S,
    limit: ConcurrencyLimitLayer,
    queue: PollSemaphore,
    permit: Option<OwnedSemaphorePermit>,
}

impl<S> ConcurrencyLimit<S> {
    /// Limits the calls of `inner` as the layer says, with the layer's permits.
    pub fn new(inner: S, limit: ConcurrencyLimitLayer) -> Self {
        let queue = PollSemaphore::new(Arc::clone(&limit.all.permits));
        Self { inner, limit, queue, permit: None }
    }

    /// A layer for at most `max` calls at a time.
    #[must_use]
    pub fn layer(max: usize) -> ConcurrencyLimitLayer {
        ConcurrencyLimitLayer::new(max)
    }

    inner_accessors!();
}

impl<S: Clone> ConcurrencyLimit<S> {
    /// Takes all permits that a call needs, or says which is missing.
    fn permits(&mut self, name: Option<&Pool>) -> Result<Permits, Refusal> {
        let all = match self.permit.take() {
            Some(permit) => permit,
            None => {
                take(&self.limit.all).ok_or(Refusal { max: self.limit.all.max, by_name: false })?
            }
        };
        let own = match name {
            Some(pool) => Some(take(pool).ok_or(Refusal { max: pool.max, by_name: true })?),
            None => None,
        };
        Ok((all, own))
    }

    /// Two clones that are not ready: one to stay here and one to wait with. The ready one goes, with whatever
    /// it reserved.
    fn unready(&mut self) -> S {
        self.inner = self.inner.clone();
        self.inner.clone()
    }
}

/// A permit of the limit for all, and one of the name's.
pub(super) type Permits = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

fn take(pool: &Pool) -> Option<OwnedSemaphorePermit> {
    Arc::clone(&pool.permits).try_acquire_owned().ok()
}

/// `Clone`, because a call that has to wait for its name waits with a service of its own.
impl<O, S> Service<O> for ConcurrencyLimit<S>
where
    O: Operation,
    S: Service<O, Response = O::Output> + Clone,
    S::Error: Into<Error>,
{
    type Response = O::Output;
    type Error = Error;
    type Future = ResponseFuture<S, O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.limit.when_full == WhenFull::Queue && self.permit.is_none() {
            self.permit = ready!(self.queue.poll_acquire(cx));
        }
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: O) -> Self::Future {
        let own = self.limit.pool_of(request.name()).cloned();
        match self.permits(own.as_ref()) {
            Ok(permits) => ResponseFuture::running(self.inner.call(request), permits),
            Err(refusal) if self.limit.when_full == WhenFull::Reject => {
                ResponseFuture::refused(refusal)
            }
            Err(_) => {
                let service = self.unready();
                ResponseFuture::waiting(Wait::new(service, request, own.as_ref(), &self.limit.all))
            }
        }
    }
}

/// A clone holds no permit.
impl<S: Clone> Clone for ConcurrencyLimit<S> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.limit.clone())
    }
}
