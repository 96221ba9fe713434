use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tower_agent_core::{Error, Operation};
use tower_layer::Layer;
use tower_service::Service;

use super::{Reload, target::Target};
use crate::{Boxed, Description};

/// Builds a stack around a service, which can be replaced later. See the [module](super) for examples.
pub struct ReloadLayer<O: Operation> {
    handle: ReloadHandle<O>,
}

/// Replaces what a [`ReloadLayer`] builds. Clones are the same handle.
pub struct ReloadHandle<O: Operation>(Arc<Mutex<Plan<O>>>);

/// How to build the present stack, and all services that have one.
struct Plan<O: Operation> {
    build: Build<O>,
    targets: Vec<Weak<Target<O>>>,
}

type Build<O> = Box<dyn Fn(Boxed<O>) -> Boxed<O> + Send>;

impl<O: Operation> ReloadLayer<O> {
    /// Begins with what a layer adds.
    pub fn new<L>(layer: L) -> Self
    where
        L: Layer<Boxed<O>> + Send + 'static,
        L::Service: Service<O, Response = O::Output> + Clone + Send + Sync + 'static,
        <L::Service as Service<O>>::Error: Into<Error>,
        <L::Service as Service<O>>::Future: Send + 'static,
    {
        let plan = Plan { build: build(layer), targets: Vec::new() };
        Self { handle: ReloadHandle(Arc::new(Mutex::new(plan))) }
    }

    /// What replaces it later.
    #[must_use]
    pub fn handle(&self) -> ReloadHandle<O> {
        self.handle.clone()
    }
}

fn build<O, L>(layer: L) -> Build<O>
where
    O: Operation,
    L: Layer<Boxed<O>> + Send + 'static,
    L::Service: Service<O, Response = O::Output> + Clone + Send + Sync + 'static,
    <L::Service as Service<O>>::Error: Into<Error>,
    <L::Service as Service<O>>::Future: Send + 'static,
{
    Box::new(move |inner| {
        let description = Description::of::<L::Service>().around(inner.description());
        Boxed::with_description(layer.layer(inner), description)
    })
}

impl<O: Operation> ReloadHandle<O> {
    /// Builds the stack of every service anew, for all calls from now on.
    pub fn replace<L>(&self, layer: L)
    where
        L: Layer<Boxed<O>> + Send + 'static,
        L::Service: Service<O, Response = O::Output> + Clone + Send + Sync + 'static,
        <L::Service as Service<O>>::Error: Into<Error>,
        <L::Service as Service<O>>::Future: Send + 'static,
    {
        let mut plan = self.plan();
        plan.build = build(layer);
        let Plan { build, targets } = &mut *plan;
        targets.retain(|target| {
            let target = target.upgrade();
            if let Some(target) = &target {
                target.replace(build(target.inner()));
            }
            target.is_some()
        });
    }

    pub(super) fn target(&self, inner: Boxed<O>) -> Arc<Target<O>> {
        let mut plan = self.plan();
        let stack = (plan.build)(inner.clone());
        let target = Arc::new(Target::new(inner, stack));
        plan.targets.push(Arc::downgrade(&target));
        target
    }

    fn plan(&self) -> MutexGuard<'_, Plan<O>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O, S> Layer<S> for ReloadLayer<O>
where
    O: Operation,
    S: Service<O, Response = O::Output> + Clone + Send + Sync + 'static,
    S::Error: Into<Error>,
    S::Future: Send + 'static,
{
    type Service = Reload<S, O>;

    fn layer(&self, inner: S) -> Reload<S, O> {
        Reload::new(inner, &self.handle)
    }
}

impl<O: Operation> Clone for ReloadLayer<O> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone() }
    }
}

impl<O: Operation> Clone for ReloadHandle<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<O: Operation> fmt::Debug for ReloadLayer<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReloadLayer").finish_non_exhaustive()
    }
}

impl<O: Operation> fmt::Debug for ReloadHandle<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReloadHandle").finish_non_exhaustive()
    }
}
