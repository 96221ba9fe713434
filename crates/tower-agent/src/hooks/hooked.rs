use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use tower_agent_core::{Error, Operation};
use tower_layer::Layer;
use tower_service::Service;

use super::{
    answer::OrAnswer,
    list::{Entry, HookList},
};
use crate::{
    FailMode, Verdict,
    blame::answered,
    contain::{Panic, caught, panicked},
    enforce::{Before, failed_after, settle_on_error},
    trail::{Snapshot, Trail},
};

/// The service of a [`HookList`].
pub struct Hooked<S, O: Operation> {
    inner: S,
    hooks: Hooks<O>,
}

impl<S, O: Operation> Hooked<S, O> {
    /// Wraps a service.
    pub fn new(inner: S, hooks: &HookList<O>) -> Self {
        hooks.layer(inner)
    }

    pub(super) const fn of_entries(inner: S, entries: Arc<[Entry<O>]>) -> Self {
        Self { inner, hooks: Hooks(entries) }
    }

    inner_accessors!();
}

impl<S: Clone, O: Operation> Clone for Hooked<S, O> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), hooks: self.hooks.clone() }
    }
}

impl<S: fmt::Debug, O: Operation> fmt::Debug for Hooked<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.hooks.0.iter().map(|entry| &*entry.name).collect();
        f.debug_struct("Hooked").field("inner", &self.inner).field("hooks", &names).finish()
    }
}

impl<S, O> Service<O> for Hooked<S, O>
where
    O: Snapshot,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
{
    type Response = O::Output;
    type Error = Error;
    type Future = HookedFuture<S::Future, O>;

    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline]
    fn call(&mut self, mut request: O) -> Self::Future {
        let mut trail = Trail::new(request.clone());
        let inner = match self.hooks.descend(&mut trail, &mut request) {
            None => OrAnswer::inner(self.inner.call(request)),
            Some(answer) => OrAnswer::answer(answer),
        };
        HookedFuture { inner, hooks: self.hooks.clone(), trail }
    }
}

pin_project! {
    /// The future of a [`HookList`].
    pub struct HookedFuture<F, O: Operation> {
        #[pin]
        inner: OrAnswer<F, O::Output>,
        hooks: Hooks<O>,
        trail: Trail<O>,
    }
}

impl<F, O, E> Future for HookedFuture<F, O>
where
    O: Snapshot,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
{
    type Output = Result<O::Output, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut polled = this.inner.poll(cx);
        if let Poll::Ready(result) = &mut polled {
            this.hooks.ascend(this.trail, result);
        }
        polled
    }
}

impl<F, O: Operation> fmt::Debug for HookedFuture<F, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookedFuture").finish_non_exhaustive()
    }
}

struct Hooks<O: Operation>(Arc<[Entry<O>]>);

impl<O: Operation> Clone for Hooks<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Panics are caught for many hooks at once; the trail tells whose turn it was.
impl<O: Snapshot> Hooks<O> {
    /// Runs the before-hooks. `None`: the call goes on.
    fn descend(&self, trail: &mut Trail<O>, request: &mut O) -> Option<Result<O::Output, Error>> {
        loop {
            let verdict = caught(|| self.enter_all(trail, request)).transpose()?;
            let entry = self.0.get(trail.entered())?;
            let verdict = verdict.map_err(|panic| panicked(&entry.name, "before", &*panic));
            let before = Before::new(entry.mode, trail.last());
            if let Some(stop) = before.enforce(&entry.name, request, verdict) {
                return Some(stop);
            }
            trail.enter(request);
        }
    }

    /// Enters hooks until one does more than to let the call go on.
    fn enter_all(&self, trail: &mut Trail<O>, request: &mut O) -> Option<Verdict<O>> {
        while let Some(entry) = self.0.get(trail.entered()) {
            match entry.hook.before(request) {
                Verdict::Allow if request.is_untouched(trail.last()) => trail.enter_untouched(),
                verdict => return Some(verdict),
            }
        }
        None
    }

    /// Runs the after- and error-hooks of those that were entered.
    fn ascend(&self, trail: &mut Trail<O>, result: &mut Result<O::Output, Error>) {
        while let Err(panic) = caught(|| self.leave_all(trail, result)) {
            let Some(entry) = self.0.get(trail.entered()) else { return };
            self.absorb(entry, trail.seen(trail.entered()), result, &panic);
        }
    }

    fn leave_all(&self, trail: &mut Trail<O>, result: &mut Result<O::Output, Error>) {
        while let Some(index) = trail.entered().checked_sub(1) {
            // A hook that panics has had its turn.
            trail.leave(index);
            let Some(entry) = self.0.get(index) else { continue };
            let seen = trail.seen(index);
            match result {
                Ok(output) => entry.hook.after(seen, output),
                Err(error) => {
                    if let Some(output) = entry.hook.on_error(seen, error) {
                        *result = Ok(answered(&entry.name, output));
                    }
                }
            }
        }
    }

    fn absorb(
        &self,
        entry: &Entry<O>,
        seen: &O,
        result: &mut Result<O::Output, Error>,
        panic: &Panic,
    ) {
        match result {
            Ok(output) => {
                let withhold = (entry.mode == FailMode::Closed).then_some(seen);
                failed_after(
                    &entry.name,
                    withhold,
                    output,
                    panicked(&entry.name, "after", &**panic),
                );
            }
            Err(_) => {
                let failure = panicked(&entry.name, "on_error", &**panic);
                settle_on_error::<O::Output>(&entry.name, Err(failure));
            }
        }
    }
}
