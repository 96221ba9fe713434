use std::task::{Context, Poll};

use tower_agent_core::{Error, Operation};
use tower_service::Service;

use super::{LogLayer, ResponseFuture, entry::Entry};

/// Logs calls. See the [module](super) for examples.
#[derive(Clone, Debug)]
pub struct Log<S> {
    inner: S,
    config: LogLayer,
}

impl<S> Log<S> {
    /// Logs the calls of `inner`, as the layer says.
    pub const fn new(inner: S, config: LogLayer) -> Self {
        Self { inner, config }
    }

    /// A layer that logs calls without their arguments and results.
    #[must_use]
    pub fn layer() -> LogLayer {
        LogLayer::new()
    }

    inner_accessors!();
}

impl<O, S> Service<O> for Log<S>
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

    fn call(&mut self, request: O) -> Self::Future {
        let Some(mut entry) = Entry::begin(&request, self.config.arguments.as_ref()) else {
            return ResponseFuture::silent(self.inner.call(request));
        };
        let inner = entry.watch(|| self.inner.call(request));
        ResponseFuture::new(inner, entry, self.config.results.clone())
    }
}
