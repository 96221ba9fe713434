use std::{fmt, sync::Arc};

use futures_util::FutureExt;
#[expect(deprecated, reason = "the protocol that most clients speak has it")]
use rmcp::model::SetLevelRequestParams;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
        ListToolsResult, PaginatedRequestParams, ServerConfig, SetLevelRequestMethod, Tool,
    },
    service::RequestContext,
};
use tower_agent::ToolSet;
use tower_agent_core::{Context, ErrorKind, Outcome, ToolOutput, Tools};

use super::{
    McpServerBuilder,
    calls::{Answer, Calls},
    log::{LogLevel, SharedLogLevel},
    respond::{failed, respond},
    shelf::Shelf,
};

/// A tool stack as an MCP server. See the [module](super).
#[derive(Clone)]
pub struct McpServer {
    served: Arc<Served>,
    calls: Calls,
    log_level: LogLevel,
}

/// What all sessions of a server share.
pub(super) struct Served {
    pub(super) tools: Tools,
    pub(super) shelf: Shelf,
    pub(super) info: ServerConfig,
}

impl McpServer {
    /// Starts a server of these tools.
    pub fn builder(tools: ToolSet) -> McpServerBuilder {
        McpServerBuilder::new(tools)
    }

    pub(super) fn new(served: Served, calls: Calls) -> Self {
        Self { served: Arc::new(served), calls, log_level: LogLevel::default() }
    }

    fn logs(&self) -> bool {
        self.served.info.capabilities.logging.is_some()
    }

    fn respond(&self, name: &str, answer: Answer) -> Result<CallToolResponse, ErrorData> {
        let output = answer.result.unwrap_or_else(|error| failed(name, &error));
        if is_unknown(&output) && self.served.tools.find(name).is_none() {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None));
        }
        Ok(respond(output, &answer.caller))
    }
}

/// What the specification says a name is answered with that no tool has; a policy's refusal of it stays a result.
fn is_unknown(output: &ToolOutput) -> bool {
    matches!(&output.outcome, Outcome::Failed(failure) if failure.kind == ErrorKind::NotFound)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        self.served.info.clone()
    }

    #[expect(deprecated, reason = "the protocol that most clients speak has it")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.logs() {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.log_level.set(request.level);
        Ok(())
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
        Ok(ListToolsResult {
            tools: self.served.shelf.take(&visible),
            ..ListToolsResult::default()
        })
    }

    /// rmcp takes a request whose parameters it cannot read for one of a method that it does not know.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(match request.method.as_str() {
            method @ ("tools/call" | "tools/list") => {
                let text = format!("the parameters of {method} are malformed; nothing ran");
                ErrorData::invalid_params(text, None)
            }
            method => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None),
        })
    }

    /// What a caller without a name may see, as far as the policies decide that at once.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let visible = self.calls.gate.visible(self.served.tools.clone(), Context::default());
        let visible = visible.now_or_never()?.ok()?;
        self.served.shelf.find(visible.find(name)?)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Whoever stands around this server may have said it already.
        if self.logs() && context.extensions.get::<SharedLogLevel>().is_none() {
            self.log_level.mark(&mut context);
        }
        let name = request.name.to_string();
        let answer = self.calls.run(request, None, context).await?;
        self.respond(&name, answer)
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.served.tools.iter().map(|spec| &spec.name).collect();
        f.debug_struct("McpServer").field("tools", &tools).finish_non_exhaustive()
    }
}
