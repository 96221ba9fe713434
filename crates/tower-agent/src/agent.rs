//! The loop of model and tools, as a service.
//!
//! An [`Agent`] asks its model, runs the tools that the model asks for, and goes on until the model asks for no
//! more. It is a `Service<RunRequest>` over any model service and any tool service, so whatever stands in
//! those stacks, and in the stack around the agent itself, is on the only path.
//!
//! # Example
//!
//! ```
//! use tower::{ServiceExt, service_fn};
//! use tower_agent::{
//!     Agent, Error, Message, ModelRequest, ModelResponse, Part, Reply, Role, RunRequest, Tool, ToolCallPart,
//!     ToolSet, ToolSpec,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A model that asks for the time once and then repeats what it was told.
//! let model = service_fn(|request: ModelRequest| async move {
//!     let last = request.messages.last().cloned().unwrap_or_else(|| Message::user(""));
//!     let message = match last.parts() {
//!         [Part::ToolResult(result)] => Message::assistant(format!("It is {}.", result.text())),
//!         _ => Message::new(Role::Assistant, vec![Part::ToolCall(ToolCallPart::new("1", "now", "{}"))]),
//!     };
//!     Ok::<_, Error>(ModelResponse::full(Reply::new(message)))
//! });
//!
//! let now = Tool::raw(ToolSpec::new("now", "Tells the time"), |_| async { "noon" });
//! let agent = Agent::builder("clock", model).tools(ToolSet::builder().tool(now).build()?).build();
//!
//! let run = agent.oneshot(RunRequest::user("What time is it?")).await?;
//! assert_eq!(run.collect().await?.text(), "It is noon.");
//! # Ok(())
//! # }
//! ```
//!
//! # Calls
//!
//! Calls of one turn run at once, [8](AgentBuilder::parallel_calls) at most, and two calls of a tool that is
//! [one at a time](crate::Tool::one_at_a_time) never overlap. Events come in the order of completion; results
//! go to the model in the order of the calls. Every call id gets exactly one output, also when the call is
//! denied, panics, takes too long or is cancelled. Ids that a model left out or gave twice in a run are replaced.
//!
//! # Limits
//!
//! After [40](AgentBuilder::max_turns) model calls the run finishes with [`RunFinish::TurnLimit`]; the last turn
//! offers no tools, so the model has to answer. This is a finish and not an error.
//!
//! # Errors
//!
//! An error of the model, or one of a tool that no layer answers, ends the run: the calls that still ran are
//! dropped and answered as cancelled, and the error is the last item of the body, its source kept.
//! [`RunResponse::collect`] attaches what had happened so far, see [`Transcript::of_error`]. A run that is
//! [cancelled](crate::Context::cancellation) or past its [deadline](crate::Context::deadline) ends the same way.
//! A panic of a tool is answered like a failure; a panic of the model ends the run.
//!
//! # Readiness and drop
//!
//! An agent is always ready; each call takes clones of its stacks and waits for those. Nothing runs but while
//! the body is read, so a slow reader slows the run down, and dropping the body cancels all that runs.
//!
//! [`RunFinish::TurnLimit`]: crate::RunFinish::TurnLimit
//! [`RunResponse::collect`]: crate::RunResponse::collect
//! [`Transcript::of_error`]: crate::Transcript::of_error

mod batch;
mod builder;
mod emit;
mod nested;
mod run;
mod stop;

use std::{
    fmt,
    future::{Ready, ready},
    sync::Arc,
    task::{Context, Poll},
};

use tower_agent_core::{
    Error, ModelRequest, ModelResponse, RunRequest, RunResponse, ToolCall, ToolOutput, Tools,
};
use tower_service::Service;

pub use self::{builder::AgentBuilder, nested::AgentTool};
use self::{builder::Config, run::RunLoop};
use crate::ToolSet;

/// A model and tools in a loop. See the [module](self).
#[derive(Clone)]
pub struct Agent<M, T = ToolSet> {
    config: Arc<Config>,
    model: M,
    tools: T,
}

impl<M> Agent<M> {
    /// Starts an agent with a name and a model.
    pub fn builder(name: impl Into<tower_agent_core::Str>, model: M) -> AgentBuilder<M> {
        AgentBuilder::new(name.into(), model)
    }
}

impl<M, T> Agent<M, T> {
    /// The agent's name.
    pub fn name(&self) -> &tower_agent_core::Str {
        &self.config.name
    }

    /// The model that it asks for.
    pub fn model(&self) -> &tower_agent_core::Str {
        &self.config.model
    }

    /// The tools that it offers to the model.
    pub fn specs(&self) -> &Tools {
        &self.config.specs
    }
}

impl<M, T> Service<RunRequest> for Agent<M, T>
where
    M: Service<ModelRequest, Response = ModelResponse> + Clone + Send + Sync + 'static,
    M::Error: Into<Error> + Send,
    M::Future: Send,
    T: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
    T::Error: Into<Error> + Send,
    T::Future: Send,
{
    type Response = RunResponse;
    type Error = Error;
    type Future = Ready<Result<RunResponse, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: RunRequest) -> Self::Future {
        let run =
            RunLoop::new(Arc::clone(&self.config), self.model.clone(), self.tools.clone(), request);
        ready(Ok(RunResponse::new(emit::events(|emitter| run.drive(emitter)))))
    }
}

impl<M, T> fmt::Debug for Agent<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("config", &self.config).finish_non_exhaustive()
    }
}
