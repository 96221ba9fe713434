use std::{error::Error as StdError, fmt, sync::Arc};

use rmcp::model::{Implementation, JsonObject, ServerCapabilities, ServerConfig, Tool};
use tower_agent::{BoxToolService, ToolSet};
use tower_agent_core::{Str, ToolSpec, Tools};

use super::{
    McpServer,
    gate::Gate,
    handler::Served,
    options::{Options, options},
};
use crate::convert::to_mcp::{self, NoObject};

/// Builds an [`McpServer`].
#[derive(Debug)]
#[must_use]
pub struct McpServerBuilder {
    tools: Tools,
    info: ServerConfig,
    options: Options,
}

impl McpServerBuilder {
    pub(super) fn new(tools: ToolSet) -> Self {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("tower-agent", env!("CARGO_PKG_VERSION"));
        Self { tools: tools.specs().clone(), info, options: Options::new(Gate::new(boxed(tools))) }
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

    /// Offers log messages, which tools and layers send by [`Caller::log`](super::Caller::log).
    pub fn logging(mut self) -> Self {
        self.info.capabilities.logging = Some(JsonObject::new());
        self
    }

    options!();

    /// Finishes the server.
    ///
    /// # Errors
    /// When a tool's schema is no JSON object.
    pub fn build(self) -> Result<McpServer, BuildError> {
        let shelf = self.tools.iter().map(shelved).collect::<Result<_, _>>()?;
        let served = Served { tools: self.tools, shelf, info: self.info };
        Ok(McpServer::new(served, self.options.build()))
    }
}

fn boxed(tools: ToolSet) -> BoxToolService {
    let description = tools.description().clone();
    BoxToolService::with_description(tools, description)
}

fn shelved(spec: &Arc<ToolSpec>) -> Result<(Arc<ToolSpec>, Tool), BuildError> {
    match to_mcp::tool(spec) {
        Ok(tool) => Ok((Arc::clone(spec), tool)),
        Err(NoObject(which)) => Err(BuildError::Schema(spec.name.clone(), which)),
    }
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
