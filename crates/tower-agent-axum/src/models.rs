//! What answers: agents and model stacks by the names that clients ask for.

mod agent;
mod target;

use std::fmt;

use tower_agent_core::Str;

pub(crate) use self::target::Target;

/// What is served, as a set of it and the routers of all dialects take it.
macro_rules! models {
    ($this:ident => $models:expr) => {
        /// Adds an agent under a model's name. Of two things under one name, the first answers.
        pub fn agent<A>(mut $this, id: impl Into<tower_agent_core::Str>, agent: A) -> Self
        where
            A: tower::Service<
                    tower_agent_core::RunRequest,
                    Response = tower_agent_core::RunResponse,
                > + Clone
                + Send
                + Sync
                + 'static,
            A::Error: Into<tower_agent_core::Error>,
            A::Future: Send,
        {
            $models.targets.push((id.into(), $crate::models::Target::agent(agent)));
            $this
        }

        /// Adds a model stack under a name. Of two things under one name, the first answers.
        pub fn model<M>(mut $this, id: impl Into<tower_agent_core::Str>, stack: M) -> Self
        where
            M: tower::Service<
                    tower_agent_core::ModelRequest,
                    Response = tower_agent_core::ModelResponse,
                > + Clone
                + Send
                + Sync
                + 'static,
            M::Error: Into<tower_agent_core::Error>,
            M::Future: Send,
        {
            $models.targets.push((id.into(), $crate::models::Target::model(stack)));
            $this
        }

        /// Sends requests for all other names to a model stack, with the name as it came.
        ///
        /// Without it, they are answered with 404. Such names do not appear in a list of models.
        pub fn any_model<M>(mut $this, stack: M) -> Self
        where
            M: tower::Service<
                    tower_agent_core::ModelRequest,
                    Response = tower_agent_core::ModelResponse,
                > + Clone
                + Send
                + Sync
                + 'static,
            M::Error: Into<tower_agent_core::Error>,
            M::Future: Send,
        {
            $models.rest = Some($crate::models::Target::model(stack));
            $this
        }
    };
    () => {
        models!(self => self.models);

        /// Serves a set of agents and model stacks, which routers of other dialects may serve as well.
        pub fn models(mut self, models: $crate::Models) -> Self {
            self.models.extend(models);
            self
        }
    };
}

/// Agents and model stacks by name, for routers of several dialects.
///
/// ```
/// use tower::service_fn;
/// use tower_agent_axum::{Models, chat_router};
/// use tower_agent_core::{Error, ModelRequest, ModelResponse};
///
/// let model = service_fn(|_: ModelRequest| async { Ok::<_, Error>(ModelResponse::default()) });
/// let models = Models::new().model("demo", model);
/// // Each router takes a clone, and what is behind it is shared.
/// let app: axum::Router = axum::Router::new().merge(chat_router().models(models.clone()));
/// # let _ = (app, models);
/// ```
#[derive(Clone, Default)]
#[must_use = "it serves nothing until a router takes it"]
pub struct Models {
    pub(crate) targets: Vec<(Str, Target)>,
    pub(crate) rest: Option<Target>,
}

impl Models {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    models!(self => self);

    pub(crate) fn extend(&mut self, other: Self) {
        self.targets.extend(other.targets);
        self.rest = other.rest.or(self.rest.take());
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &Str> {
        self.targets.iter().map(|(id, _)| id)
    }

    pub(crate) fn find(&self, model: &str) -> Option<Target> {
        let named = self.targets.iter().find(|(id, _)| id == model).map(|(_, target)| target);
        named.or(self.rest.as_ref()).cloned()
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models")
            .field("models", &self.ids().collect::<Vec<_>>())
            .field("any_model", &self.rest.is_some())
            .finish()
    }
}
