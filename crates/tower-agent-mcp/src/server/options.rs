use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use super::{
    calls::{Calls, MAX_CALLS},
    gate::Gate,
    identity::Identify,
};

/// What every server of tools can be told.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) gate: Gate,
    pub(crate) identify: Identify,
    pub(crate) deadline: Option<Duration>,
    pub(crate) max_calls: usize,
}

impl Options {
    pub(crate) fn new(gate: Gate) -> Self {
        Self { gate, identify: Identify::default(), deadline: None, max_calls: MAX_CALLS }
    }

    pub(crate) fn build(self) -> Calls {
        Calls {
            gate: self.gate.catch_panic(),
            identify: self.identify,
            deadline: self.deadline,
            permits: Arc::new(Semaphore::new(self.max_calls)),
        }
    }
}

/// The knobs that the builders of such servers share.
macro_rules! options {
    () => {
        /// Puts a policy around all calls, outside what was added before, and hides from the list what it hides from a
        /// model.
        ///
        /// The policy is one layer, or a `ServiceBuilder` of several, around tools and models alike, such as an
        /// `AllowListLayer` or a plugin. A list
        /// of tools goes through it as a [`ModelRequest`](tower_agent_core::ModelRequest) without messages that offers
        /// all tools; what is left of them is shown. A policy that fails shows none.
        pub fn policy<P, C, O>(mut self, policy: P) -> Self
        where
            P: tower_layer::Layer<tower_agent::BoxToolService, Service = C>
                + tower_layer::Layer<tower_agent::BoxModelService, Service = O>,
            C: tower_service::Service<
                    tower_agent_core::ToolCall,
                    Response = tower_agent_core::ToolOutput,
                > + Clone
                + Send
                + Sync
                + 'static,
            C::Error: Into<tower_agent_core::Error>,
            C::Future: Send + 'static,
            O: tower_service::Service<
                    tower_agent_core::ModelRequest,
                    Response = tower_agent_core::ModelResponse,
                > + Clone
                + Send
                + Sync
                + 'static,
            O::Error: Into<tower_agent_core::Error>,
            O::Future: Send + 'static,
        {
            self.options.gate = self.options.gate.policy(&policy);
            self
        }

        /// Finds out who calls; a refusal is the answer to the call, and shows no tools. By default it is nobody in
        /// particular.
        ///
        /// What needs more than the head of the request, such as a look into a database, belongs into a middleware in
        /// front that leaves what it found in the extensions of the
        /// [HTTP request](crate::server::Caller::http). What the client says of itself is no proof of anything.
        pub fn identity<F>(mut self, find: F) -> Self
        where
            F: Fn(
                    &crate::server::Caller,
                ) -> Result<crate::server::Identity, tower_agent_core::Denial>
                + Send
                + Sync
                + 'static,
        {
            self.options.identify = crate::server::identity::Identify::by(find);
            self
        }

        /// How long a call may take; its context carries the deadline, which time-out layers and agents keep. There
        /// is none by default.
        pub const fn deadline(mut self, limit: std::time::Duration) -> Self {
            self.options.deadline = Some(limit);
            self
        }

        /// The most calls at a time, of all sessions together: 64 by default, at least 1. One more is answered with a
        /// failure that says so, and does not run.
        pub const fn max_calls(mut self, calls: usize) -> Self {
            self.options.max_calls = if calls == 0 { 1 } else { calls };
            self
        }
    };
}
pub(crate) use options;
