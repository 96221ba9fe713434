//! Leads a call to the stack of its tool.

use std::{
    collections::HashMap,
    sync::Arc,
    task::{self, Poll},
};

use tower::util::{Oneshot, ServiceExt};
use tower_agent::{BoxToolService, Error, Str, ToolCall, ToolOutput, ToolSpec};
use tower_service::Service;

/// All stacks by the names of their tools, those of tools that are not listed too.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    routes: Arc<HashMap<Str, Route>>,
    unknown: BoxToolService,
}

#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// None for a tool that is kept out.
    pub(crate) spec: Option<Arc<ToolSpec>>,
    pub(crate) stack: BoxToolService,
}

impl Router {
    pub(crate) fn new(routes: HashMap<Str, Route>, unknown: BoxToolService) -> Self {
        Self { routes: Arc::new(routes), unknown }
    }
}

impl Service<ToolCall> for Router {
    type Response = ToolOutput;
    type Error = Error;
    type Future = Oneshot<BoxToolService, ToolCall>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut call: ToolCall) -> Self::Future {
        let Some(route) = self.routes.get(&call.name) else {
            return self.unknown.clone().oneshot(call);
        };
        call.spec.clone_from(&route.spec);
        route.stack.clone().oneshot(call)
    }
}
