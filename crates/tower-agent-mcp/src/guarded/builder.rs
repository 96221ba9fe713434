use std::sync::Arc;

use rmcp::ServerHandler;
use tower_agent::BoxToolService;
use tower_agent_core::{Error, ToolCall, ToolOutput};
use tower_layer::Layer;
use tower_service::Service;

use super::{Guarded, leaf::HandlerService};
use crate::server::{
    gate::Gate,
    options::{Options, options},
};

/// Builds a [`Guarded`].
#[derive(Debug)]
#[must_use]
pub struct GuardedBuilder<H> {
    handler: Arc<H>,
    options: Options,
}

impl<H: ServerHandler> GuardedBuilder<H> {
    pub(super) fn new(handler: H) -> Self {
        let handler = Arc::new(handler);
        let leaf = HandlerService::new(Arc::clone(&handler));
        Self { handler, options: Options::new(Gate::new(BoxToolService::new(leaf))) }
    }

    /// Wraps the calls in a layer, outside what was added before. To read a stack from the outside in, add one
    /// `ServiceBuilder`. It does not change what is listed; a [`policy`](Self::policy) does.
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<BoxToolService>,
        L::Service: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
        <L::Service as Service<ToolCall>>::Error: Into<Error>,
        <L::Service as Service<ToolCall>>::Future: Send + 'static,
    {
        self.options.gate = self.options.gate.layer(&layer);
        self
    }

    options!();

    /// Finishes the server.
    pub fn build(self) -> Guarded<H> {
        Guarded::new(self.handler, self.options.build())
    }
}
