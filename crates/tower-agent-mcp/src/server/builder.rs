use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use rmcp::model::{Implementation, ServerCapabilities, ServerConfig, Tool};
use tokio::sync::Semaphore;
use tower_agent::{BoxModelService, BoxToolService, ToolSet};
use tower_agent_core::{
    Denial, Error, ModelRequest, ModelResponse, Str, ToolCall, ToolOutput, ToolSpec, Tools,
};
use tower_layer::Layer;
use tower_service::Service;

use super::{
    Caller, Identity, McpServer, calls::Calls, gate::Gate, handler::Served, identity::Identify,
};
use crate::convert::to_mcp;

/// Builds an [`McpServer`].
#[derive(Debug)]
#[must_use]
pub struct McpServerBuilder {
    tools: Tools,
    gate: Gate,
    info: ServerConfig,
    identify: Identify,
    deadline: Option<Duration>,
    max_calls: usize,
}

impl McpServerBuilder {
    pub(super) fn new(tools: ToolSet) -> Self {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("tower-agent", env!("CARGO_PKG_VERSION"));
        Self {
            tools: tools.specs().clone(),
            gate: Gate::new(BoxToolService::new(tools)),
            info,
            identify: Identify::default(),
            deadline: None,
            max_calls: Calls::MAX_CALLS,
        }
    }

    /// Names the server and its version; `tower-agent` and this crate's version by default.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.info.server_info.name = name.into();
        self.info.server_info.version = version.into();
        self
    }

    /// Tells clients, and their models, what the server is for.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.info.instructions = Some(instructions.into());
        self
    }

    /// Changes what the server says of itself, such as its title, or further capabilities.
    pub fn info(mut self, edit: impl FnOnce(&mut ServerConfig)) -> Self {
        edit(&mut self.info);
        self
    }

    /// Puts a policy around all calls, outside those before, and hides from the list what it hides from a model.
    ///
    /// The policy is one layer, or a `ServiceBuilder` of several, around tools and models alike, such as an
    /// [`AllowListLayer`](https://docs.rs/tower-agent) or a plugin. A list of tools goes through it as a
    /// [`ModelRequest`] without messages that offers all tools; what is left of them is shown.
    pub fn policy<P, C, O>(mut self, policy: P) -> Self
    where
        P: Layer<BoxToolService, Service = C> + Layer<BoxModelService, Service = O>,
        C: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
        C::Error: Into<Error>,
        C::Future: Send + 'static,
        O: Service<ModelRequest, Response = ModelResponse> + Clone + Send + Sync + 'static,
        O::Error: Into<Error>,
        O::Future: Send + 'static,
    {
        self.gate = self.gate.policy(&policy);
        self
    }

    /// Finds out who calls; a refusal is the answer to the call, and shows no tools. By default it is nobody in
    /// particular.
    ///
    /// What needs more than the head of the request, such as a look into a database, belongs into a middleware in
    /// front that leaves what it found in the extensions of the [HTTP request](Caller::http). What the client says
    /// of itself is no proof of anything.
    pub fn identity<F>(mut self, find: F) -> Self
    where
        F: Fn(&Caller) -> Result<Identity, Denial> + Send + Sync + 'static,
    {
        self.identify = Identify::by(find);
        self
    }

    /// How long a call may take; its context carries the deadline, which time-out layers and agents keep. There is
    /// none by default.
    pub const fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// The most calls at a time, of all sessions together: 64 by default, at least 1. One more is answered with a
    /// failure that says so and does not run.
    pub const fn max_calls(mut self, calls: usize) -> Self {
        self.max_calls = if calls == 0 { 1 } else { calls };
        self
    }

    /// Finishes the server.
    ///
    /// # Errors
    /// When a tool's schema is no JSON object.
    pub fn build(self) -> Result<McpServer, BuildError> {
        let mut calls = Calls::new(self.gate);
        calls.identify = self.identify;
        calls.deadline = self.deadline;
        calls.permits = Arc::new(Semaphore::new(self.max_calls));
        let listed = self.tools.iter().map(|spec| listed(spec)).collect::<Result<_, _>>()?;
        let served = Served { tools: self.tools, listed, info: self.info };
        Ok(McpServer::new(served, calls))
    }
}

fn listed(spec: &ToolSpec) -> Result<Tool, BuildError> {
    to_mcp::tool(spec).map_err(|schema| BuildError::Schema(spec.name.clone(), schema.0))
}

/// Why a server cannot be built.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The named tool's `input` or `output` schema is no JSON object.
    Schema(Str, &'static str),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(tool, which) => {
                write!(f, "the {which} schema of the tool `{tool}` is no JSON object")
            }
        }
    }
}

impl StdError for BuildError {}
