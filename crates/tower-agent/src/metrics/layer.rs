use tower_agent_core::DefaultClassify;
use tower_layer::Layer;

use super::{Metrics, Registry};

/// Counts calls. See the [module](super) for examples.
#[derive(Clone, Debug, Default)]
pub struct MetricsLayer<C = DefaultClassify> {
    pub(super) registry: Registry,
    pub(super) classify: C,
}

impl MetricsLayer {
    /// Counts into a registry of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<C> MetricsLayer<C> {
    /// Counts into a registry that others count into as well.
    #[must_use]
    pub fn with_registry(mut self, registry: &Registry) -> Self {
        self.registry = registry.clone();
        self
    }

    /// Says what counts as a failure. What it says of a call's head stands, unless that is
    /// [`Ok`](tower_agent_core::Class::Ok): then it is asked about the end.
    #[must_use]
    pub fn classify<D>(self, classify: D) -> MetricsLayer<D> {
        MetricsLayer { registry: self.registry, classify }
    }

    /// Where the numbers are.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }
}

impl<S, C: Clone> Layer<S> for MetricsLayer<C> {
    type Service = Metrics<S, C>;

    fn layer(&self, inner: S) -> Metrics<S, C> {
        Metrics::new(inner, self.clone())
    }
}
