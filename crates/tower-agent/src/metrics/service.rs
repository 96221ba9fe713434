use std::task::{Context, Poll};

use tower_agent_core::{Classify, DefaultClassify, Error, Operation};
use tower_service::Service;

use super::{MetricsLayer, Registry, ResponseFuture, call::Call};

/// Counts calls. See the [module](super) for examples.
#[derive(Clone, Debug)]
pub struct Metrics<S, C = DefaultClassify> {
    inner: S,
    config: MetricsLayer<C>,
}

impl<S> Metrics<S> {
    /// A layer that counts into a registry of its own.
    #[must_use]
    pub fn layer() -> MetricsLayer {
        MetricsLayer::new()
    }
}

impl<S, C> Metrics<S, C> {
    /// Counts the calls of `inner` as the layer does.
    pub const fn new(inner: S, config: MetricsLayer<C>) -> Self {
        Self { inner, config }
    }

    /// Where the numbers are.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        self.config.registry()
    }

    inner_accessors!();
}

impl<O, S, C> Service<O> for Metrics<S, C>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
    C: Classify<O> + Clone + Send + 'static,
{
    type Response = O::Output;
    type Error = Error;
    type Future = ResponseFuture<S::Future, O, C>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: O) -> Self::Future {
        let mut call = Call::begin(self.config.registry.series(O::KIND, request.name()));
        let inner = call.watch(|| self.inner.call(request));
        ResponseFuture::new(inner, call, self.config.classify.clone())
    }
}
