use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use arc_swap::{ArcSwap, Guard};
use futures_util::task::AtomicWaker;
use tower_agent_core::Operation;

use crate::Boxed;

/// A service that stays, and the stack around it that does not.
pub(super) struct Target<O: Operation> {
    inner: Boxed<O>,
    stack: ArcSwap<Boxed<O>>,
    waiting: Mutex<Vec<Weak<AtomicWaker>>>,
}

impl<O: Operation> Target<O> {
    pub(super) fn new(inner: Boxed<O>, stack: Boxed<O>) -> Self {
        Self { inner, stack: ArcSwap::from_pointee(stack), waiting: Mutex::default() }
    }

    pub(super) fn inner(&self) -> Boxed<O> {
        self.inner.clone()
    }

    pub(super) fn stack(&self) -> Guard<Arc<Boxed<O>>> {
        self.stack.load()
    }

    /// Puts another stack in place, and tells everybody who waits for the old one.
    pub(super) fn replace(&self, stack: Boxed<O>) {
        self.stack.store(Arc::new(stack));
        let waiting: Vec<_> = self.waiting().iter().filter_map(Weak::upgrade).collect();
        waiting.iter().for_each(|waker| waker.wake());
    }

    /// What to register with in order to be told.
    pub(super) fn waiter(&self) -> Arc<AtomicWaker> {
        let waker = Arc::new(AtomicWaker::new());
        let mut waiting = self.waiting();
        waiting.retain(|other| other.strong_count() > 0);
        waiting.push(Arc::downgrade(&waker));
        waker
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Weak<AtomicWaker>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
