//! The hooks around a tool call.

use std::task::{Context, Poll};

use tokio::time::Instant;
use tower_agent_core::{Error, ToolCall, ToolOutput};
use tower_service::Service;

use super::{
    Plugin, PluginService, ResponseFuture, Shared,
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

    fn call(&mut self, call: ToolCall) -> Self::Future {
        let inner = self.take_ready();
        let shared = self.shared.clone();
        ResponseFuture::new(async move { around(&shared, inner, call).await })
    }
}

async fn around<S, P>(
    shared: &Shared<P>,
    mut inner: S,
    mut call: ToolCall,
) -> Result<ToolOutput, Error>
where
    S: Service<ToolCall, Response = ToolOutput>,
    S::Error: Into<Error>,
    P: Plugin,
{
    let mut entered = Entered::new(shared, Trail::new(call.clone()));
    let start = Instant::now();
    let mut before = Before { names: &shared.names, trail: &mut entered.trail, request: &mut call };
    let mut result = match shared.plugin.tool_before(&mut before).await {
        Some(stop) => stop,
        None => inner.call(call).await.map_err(Into::into),
    };
    let mut after = After::new(&shared.names, &mut entered.trail, &mut result, start.elapsed());
    shared.plugin.tool_after(&mut after).await;
    result
}
