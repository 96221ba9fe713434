use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};

use tower::util::{Oneshot, ServiceExt};
use tower_agent_core::{Error, ErrorKind, Operation, Str, ToolCall, ToolOutput, Tools};
use tower_service::Service;

use super::function::refusal;
use crate::boxed::BoxToolService;

/// Leads a call to the tool of its name. It stands inside all layers of a [`ToolSet`](super::ToolSet), so a name that
/// nobody has and arguments that are no JSON are answered where hooks and audit see it.
///
/// It is always ready: each call takes a clone of its tool and waits for that clone.
#[derive(Clone)]
pub struct ToolRouter {
    routes: Arc<HashMap<Str, BoxToolService>>,
    specs: Tools,
}

impl ToolRouter {
    pub(super) fn new(routes: HashMap<Str, BoxToolService>, specs: Tools) -> Self {
        Self { routes: Arc::new(routes), specs }
    }

    /// A layer of the set may have led the call to another tool, whose spec it then needs.
    fn respec(&self, call: &mut ToolCall) {
        if call.spec.as_ref().is_none_or(|spec| spec.name != *call.name) {
            call.spec = self.specs.find(&call.name).cloned();
        }
    }

    fn unknown(&self, call: &ToolCall) -> ToolOutput {
        let names: Vec<_> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
        let tools = if names.is_empty() {
            "There are no tools.".to_owned()
        } else {
            format!("The tools are: {}.", names.join(", "))
        };
        let text = format!("There is no tool \"{}\"; nothing ran. {tools}", call.name);
        call.failed(&Error::new(ErrorKind::NotFound, text.clone()).with_model_text(text))
    }
}

impl Service<ToolCall> for ToolRouter {
    type Response = ToolOutput;
    type Error = Error;
    type Future = ToolRouterFuture;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut call: ToolCall) -> ToolRouterFuture {
        self.respec(&mut call);
        let Some(tool) = self.routes.get(&call.name) else {
            return ToolRouterFuture::answer(self.unknown(&call));
        };
        match refusal(&call) {
            None => ToolRouterFuture(State::Running(tool.clone().oneshot(call))),
            Some(output) => ToolRouterFuture::answer(output),
        }
    }
}

impl fmt::Debug for ToolRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs.iter().map(|spec| &spec.name)).finish()
    }
}

/// What the tool will answer.
pub struct ToolRouterFuture(State);

enum State {
    Running(Oneshot<BoxToolService, ToolCall>),
    Answered(Option<Box<ToolOutput>>),
}

impl ToolRouterFuture {
    fn answer(output: ToolOutput) -> Self {
        Self(State::Answered(Some(Box::new(output))))
    }
}

impl Future for ToolRouterFuture {
    type Output = Result<ToolOutput, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Running(future) => Pin::new(future).poll(cx),
            State::Answered(output) => {
                Poll::Ready(Ok(output.take().map(|output| *output).unwrap_or_default()))
            }
        }
    }
}

impl fmt::Debug for ToolRouterFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolRouterFuture")
    }
}
