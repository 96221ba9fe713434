use std::{
    future::IntoFuture,
    sync::{Arc, Mutex},
};

use rmcp::{
    ErrorData, RoleClient, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig,
        ExtensionCapabilities, Implementation, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tower_agent::Error;
use tower_agent_mcp::server::serve;

/// A server as somebody might have written it. It answers each call with what the test gave it, and notes the calls.
#[derive(Clone)]
pub(crate) struct Theirs {
    pub(crate) answer: Arc<dyn Fn() -> Result<CallToolResponse, ErrorData> + Send + Sync>,
    pub(crate) calls: Arc<Mutex<Vec<CallToolRequestParams>>>,
}

impl Theirs {
    pub(crate) fn answering(
        answer: impl Fn() -> Result<CallToolResponse, ErrorData> + Send + Sync + 'static,
    ) -> Self {
        Self { answer: Arc::new(answer), calls: Arc::default() }
    }

    /// Answers with a result in its JSON form.
    pub(crate) fn with_result(result: Value) -> Self {
        Self::answering(move || {
            let result: rmcp::model::CallToolResult =
                serde_json::from_value(result.clone()).unwrap();
            Ok(result.into())
        })
    }

    pub(crate) fn called(&self) -> Vec<CallToolRequestParams> {
        self.calls.lock().unwrap().clone()
    }
}

/// One tool that changes nothing and one that does, with fields that our vocabulary has no names for.
pub(crate) fn tools() -> Vec<Tool> {
    let tool = |name: &str, read_only: bool| {
        serde_json::from_value(json!({
            "name": name,
            "title": "A title",
            "description": "A tool of theirs",
            "inputSchema": { "type": "object", "properties": { "id": { "type": "integer" } } },
            "outputSchema": { "type": "object" },
            "annotations": { "title": "Another title", "readOnlyHint": read_only },
            "icons": [{ "src": "data:image/png;base64,aGk=", "sizes": ["16x16"] }],
            "_meta": { "owner": "them" },
        }))
        .unwrap()
    };
    vec![tool("read", true), tool("delete", false)]
}

impl ServerHandler for Theirs {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        capabilities.extensions = Some(tasks());
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut page = ListToolsResult::default();
        let mut all = tools().into_iter();
        if request.and_then(|request| request.cursor).is_none() {
            page.tools.extend(all.next());
            page.next_cursor = Some("2".to_owned());
        } else {
            page.tools.extend(all.nth(1));
        }
        Ok(page)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.calls.lock().unwrap().push(request);
        (self.answer)()
    }
}

pub(crate) fn tasks() -> ExtensionCapabilities {
    serde_json::from_value(json!({ "io.modelcontextprotocol/tasks": {} })).unwrap()
}

/// A client that can do all that a server may ask for.
pub(crate) struct Able;

impl rmcp::ClientHandler for Able {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::builder().enable_elicitation().build();
        capabilities.extensions = Some(tasks());
        ClientConfig::new(capabilities, Implementation::new("able", "1"))
    }
}

pub(crate) struct Pair {
    pub(crate) client: RunningService<RoleClient, Able>,
    _server: JoinSet<Result<(), Error>>,
}

pub(crate) async fn connect(server: impl ServerHandler) -> Pair {
    connect_as(server, sessions()).await
}

pub(crate) async fn connect_as(
    server: impl ServerHandler,
    generation: ClientLifecycleMode,
) -> Pair {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let mut running = JoinSet::new();
    running.spawn(serve(server, ours).into_future());
    Pair { client: Able.serve_with_lifecycle(theirs, generation).await.unwrap(), _server: running }
}

pub(crate) fn sessions() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

pub(crate) fn stateless() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

pub(crate) fn read() -> CallToolRequestParams {
    CallToolRequestParams::new("read")
}

impl Pair {
    /// The answer to a call in its JSON form.
    pub(crate) async fn answer(&self) -> Value {
        match self.client.call_tool_once(read()).await.unwrap() {
            CallToolResponse::Complete(result) => json!(result),
            CallToolResponse::InputRequired(result) => json!(result),
            CallToolResponse::Task(result) => json!(result),
            other => panic!("{other:?}"),
        }
    }
}
