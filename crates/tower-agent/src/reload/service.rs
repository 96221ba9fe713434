use std::{
    fmt,
    marker::PhantomData,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::task::AtomicWaker;
use tower_agent_core::{Error, Operation};
use tower_service::Service;

use super::{ReloadHandle, target::Target};
use crate::{Boxed, Description};

/// Calls the present stack. See the [module](super) for examples.
pub struct Reload<S, O: Operation> {
    target: Arc<Target<O>>,
    // The stack that is asked for readiness, and what it is a clone of.
    ready: Boxed<O>,
    original: Arc<Boxed<O>>,
    // Made when this instance waits for the first time.
    waiter: Option<Arc<AtomicWaker>>,
    inner: PhantomData<fn() -> S>,
}

impl<S, O: Operation> Reload<S, O> {
    /// Builds the handle's stack around `inner`, and again whenever it is replaced.
    pub fn new(inner: S, handle: &ReloadHandle<O>) -> Self
    where
        S: Service<O, Response = O::Output> + Clone + Send + Sync + 'static,
        S::Error: Into<Error>,
        S::Future: Send + 'static,
    {
        Self::of(handle.target(Boxed::new(inner)))
    }

    fn of(target: Arc<Target<O>>) -> Self {
        let original = Arc::clone(&target.stack());
        Self { ready: Boxed::clone(&original), target, original, waiter: None, inner: PhantomData }
    }

    /// What the present stack is made of.
    #[must_use]
    pub fn description(&self) -> Description {
        self.target.stack().description().clone()
    }

    /// Takes the present stack, and says whether it is another one than before.
    fn refresh(&mut self) -> bool {
        let present = self.target.stack();
        if Arc::ptr_eq(&present, &self.original) {
            return false;
        }
        self.ready = Boxed::clone(&present);
        self.original = Arc::clone(&present);
        true
    }
}

impl<S, O: Operation> Service<O> for Reload<S, O> {
    type Response = O::Output;
    type Error = Error;
    type Future = <Boxed<O> as Service<O>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.refresh();
        loop {
            if let Poll::Ready(ready) = self.ready.poll_ready(cx) {
                return Poll::Ready(ready);
            }
            self.waiter.get_or_insert_with(|| self.target.waiter()).register(cx.waker());
            // What was replaced before the registration woke nobody.
            if !self.refresh() {
                return Poll::Pending;
            }
        }
    }

    fn call(&mut self, request: O) -> Self::Future {
        self.ready.call(request)
    }
}

/// A clone takes the present stack, and is not ready.
impl<S, O: Operation> Clone for Reload<S, O> {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.target))
    }
}

impl<S, O: Operation> fmt::Debug for Reload<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reload").field(&self.description()).finish()
    }
}
