use std::{fmt, sync::Arc};

use futures_util::FutureExt;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams,
        ServerConfig, Tool,
    },
    service::RequestContext,
};
use tower_agent::ToolSet;
use tower_agent_core::{
    Context, Error, ErrorKind, Operation, Outcome, ToolCall, ToolOutput, ToolSpec, Tools,
};

use super::{
    McpServerBuilder,
    calls::{Answer, Calls},
};
use crate::convert::to_mcp;

/// A tool stack as an MCP server. See the [module](super).
#[derive(Clone)]
pub struct McpServer {
    served: Arc<Served>,
    pub(super) calls: Calls,
}

/// What all sessions of a server share.
pub(super) struct Served {
    pub(super) tools: Tools,
    /// The tools as clients see them, in the same order.
    pub(super) listed: Vec<Tool>,
    pub(super) info: ServerConfig,
}

impl McpServer {
    /// Starts a server of these tools.
    pub fn builder(tools: ToolSet) -> McpServerBuilder {
        McpServerBuilder::new(tools)
    }

    pub(super) fn new(served: Served, calls: Calls) -> Self {
        Self { served: Arc::new(served), calls }
    }

    /// A tool as clients see it; a policy may have changed what it says of itself.
    fn listed(&self, spec: &Arc<ToolSpec>) -> Option<Tool> {
        let known = self.served.tools.iter().zip(&self.served.listed);
        if let Some((_, tool)) = known.into_iter().find(|(known, _)| Arc::ptr_eq(known, spec)) {
            return Some(tool.clone());
        }
        to_mcp::tool(spec)
            .inspect_err(|_| tracing::warn!(tool = %spec.name, "hidden, as its schema is no object"))
            .ok()
    }

    fn respond(&self, name: &str, answer: Answer) -> Result<CallToolResponse, ErrorData> {
        let output = match answer.result {
            Ok(output) => output,
            Err(error) => failed(name, &error),
        };
        if is_unknown(&output) && self.served.tools.find(name).is_none() {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None));
        }
        Ok(to_mcp::result(output).into())
    }
}

/// The text for operators goes to the log, and only what a model may read to the client.
fn failed(name: &str, error: &Error) -> ToolOutput {
    tracing::warn!(tool = name, %error, "a call failed");
    ToolCall::new(name, "{}").failed(error)
}

fn is_unknown(output: &ToolOutput) -> bool {
    matches!(&output.outcome, Outcome::Failed(failure) if failure.kind == ErrorKind::NotFound)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        self.served.info.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("there is no such page of tools", None));
        }
        let visible = self.calls.visible(self.served.tools.clone(), context).await?;
        let tools = visible.iter().filter_map(|spec| self.listed(spec)).collect();
        Ok(ListToolsResult { tools, ..ListToolsResult::default() })
    }

    /// What a caller without a name may see, as far as the policies decide that at once.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let visible = self.calls.gate.visible(self.served.tools.clone(), Context::default());
        let visible = visible.now_or_never()?.ok()?;
        self.listed(visible.find(name)?)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        let answer = self.calls.run(request, context).await?;
        self.respond(&name, answer)
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.served.tools.iter().map(|spec| &spec.name).collect();
        f.debug_struct("McpServer").field("tools", &tools).finish_non_exhaustive()
    }
}
