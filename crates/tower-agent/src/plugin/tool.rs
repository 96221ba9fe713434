//! The hooks around a tool call.

use std::task::{Context, Poll};

use tokio::time::Instant;
use tower_agent_core::{Error, ToolCall, ToolOutput};
use tower_service::Service;

use super::{
    Plugin, PluginService, ResponseFuture,
    run::Entered,
    stack::{After, Before},
    trail::Trail,
};

impl<S, P> Service<ToolCall> for PluginService<S, P>
where
    S: Service<ToolCall, Response = ToolOutput> + Clone + Send + 'static,
    S::Error: Into<Error>,
    S::Future: Send,
    P: Plugin,
{
    type Response = ToolOutput;
    type Error = Error;
    type Future = ResponseFuture<ToolOutput>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut call: ToolCall) -> Self::Future {
        let mut inner = self.take_ready();
        let shared = self.shared.clone();
        // One block and not a function, whose arguments would lie in the future once more.
        ResponseFuture::new(async move {
            let shared = &*shared;
            let mut entered = Entered::new(shared, Trail::new(call.clone()));
            let start = Instant::now();
            let trail = &mut entered.trail;
            let mut before = Before { names: &shared.names, trail, request: &mut call };
            let mut result = match shared.plugin.tool_before(&mut before).await {
                Some(stop) => stop.map(|answer| *answer),
                None => inner.call(call).await.map_err(Into::into),
            };
            let took = start.elapsed();
            let mut after = After::new(&shared.names, &mut entered.trail, &mut result, took);
            shared.plugin.tool_after(&mut after).await;
            result
        })
    }
}
