use std::{
    convert::Infallible,
    future::{Ready, ready},
    task::{self, Poll},
};

use tower::ServiceExt;
use tower_agent::{BoxModelService, BoxToolService, catch_panic::CatchPanicLayer};
use tower_agent_core::{
    Context, Error, Message, ModelRequest, ModelResponse, Reply, ToolCall, ToolOutput, Tools,
};
use tower_layer::Layer;
use tower_service::Service;

/// A stack of calls and, beside it, the policies of it that say which tools are shown.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    calls: BoxToolService,
    offer: BoxModelService,
}

impl Gate {
    pub(crate) fn new(calls: BoxToolService) -> Self {
        Self { calls, offer: BoxModelService::new(Offer) }
    }

    /// Puts one policy around both.
    pub(crate) fn policy<P, C, O>(self, policy: &P) -> Self
    where
        P: Layer<BoxToolService, Service = C> + Layer<BoxModelService, Service = O>,
        C: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
        C::Error: Into<Error>,
        C::Future: Send + 'static,
        O: Service<ModelRequest, Response = ModelResponse> + Clone + Send + Sync + 'static,
        O::Error: Into<Error>,
        O::Future: Send + 'static,
    {
        Self {
            calls: BoxToolService::new(policy.layer(self.calls)),
            offer: BoxModelService::new(policy.layer(self.offer)),
        }
    }

    /// Puts a layer around the calls alone.
    pub(crate) fn layer<L>(self, layer: &L) -> Self
    where
        L: Layer<BoxToolService>,
        L::Service: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
        <L::Service as Service<ToolCall>>::Error: Into<Error>,
        <L::Service as Service<ToolCall>>::Future: Send + 'static,
    {
        Self { calls: BoxToolService::new(layer.layer(self.calls)), offer: self.offer }
    }

    /// Answers in place of what panics.
    pub(crate) fn catch_panic(self) -> Self {
        self.policy(&CatchPanicLayer::new())
    }

    pub(crate) async fn call(&self, call: ToolCall) -> Result<ToolOutput, Error> {
        self.calls.clone().oneshot(call).await
    }

    /// The tools that the policies leave in a request to a model. A policy that refuses or answers shows none.
    pub(crate) async fn visible(&self, tools: Tools, ctx: Context) -> Result<Tools, Error> {
        let mut request = ModelRequest::in_context(ctx, "", Vec::new());
        request.tools = tools;
        let response = self.offer.clone().oneshot(request).await?;
        Ok(response.head.extensions.get::<Tools>().cloned().unwrap_or_default())
    }
}

/// In the place of a model, it hands back the tools that it was offered.
#[derive(Clone, Copy, Debug)]
struct Offer;

impl Service<ModelRequest> for Offer {
    type Response = ModelResponse;
    type Error = Infallible;
    type Future = Ready<Result<ModelResponse, Infallible>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ModelRequest) -> Self::Future {
        let mut response = ModelResponse::full(Reply::new(Message::assistant("")));
        response.head.extensions.insert(request.tools);
        ready(Ok(response))
    }
}
