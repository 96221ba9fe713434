//! What answers a request: an agent or a model stack.

use tower::{Service, ServiceExt, util::BoxCloneSyncService};
use tower_agent_core::{Error, ModelRequest, ModelResponse, RunRequest, RunResponse, Str};

use super::agent;

/// Boxed, because one router holds many of different types.
#[derive(Clone)]
pub(crate) enum Target {
    Agent(BoxCloneSyncService<RunRequest, RunResponse, Error>),
    Model(BoxCloneSyncService<ModelRequest, ModelResponse, Error>),
}

impl Target {
    pub(crate) fn agent<A>(agent: A) -> Self
    where
        A: Service<RunRequest, Response = RunResponse> + Clone + Send + Sync + 'static,
        A::Error: Into<Error>,
        A::Future: Send,
    {
        Self::Agent(BoxCloneSyncService::new(agent.map_err(Into::into)))
    }

    pub(crate) fn model<M>(stack: M) -> Self
    where
        M: Service<ModelRequest, Response = ModelResponse> + Clone + Send + Sync + 'static,
        M::Error: Into<Error>,
        M::Future: Send,
    {
        Self::Model(BoxCloneSyncService::new(stack.map_err(Into::into)))
    }

    pub(crate) const fn is_agent(&self) -> bool {
        matches!(self, Self::Agent(_))
    }

    /// What the run's context calls the agent: the id that it is offered under.
    pub(crate) fn agent_name(&self, id: &Str) -> Str {
        if self.is_agent() { id.clone() } else { Str::default() }
    }

    /// Asks once it is ready; an agent answers as a model would.
    pub(crate) async fn ask(self, request: ModelRequest) -> Result<ModelResponse, Error> {
        match self {
            Self::Model(stack) => stack.oneshot(request).await,
            Self::Agent(agent) => {
                let run = agent::run_of(request);
                let input = run.input.clone();
                Ok(agent::as_model(agent.oneshot(run).await?, input))
            }
        }
    }
}
