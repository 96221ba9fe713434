use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
};
use tower_agent::{Tool, ToolCall, ToolSet, ToolSpec};
use tower_agent_mcp::server::McpServer;

pub(crate) type Client = RunningService<RoleClient, ()>;

/// A server behind a pipe, and a client that shook hands with it.
pub(crate) async fn connect(server: McpServer) -> Client {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (served, client) = tokio::join!(server.serve(ours), ().serve(theirs));
    tokio::spawn(served.unwrap().waiting());
    client.unwrap()
}

pub(crate) fn echo() -> ToolSet {
    let echo = Tool::raw(ToolSpec::new("echo", "Repeats"), |call: ToolCall| async move {
        call.arguments.as_str().to_owned()
    });
    ToolSet::builder().tool(echo).build().unwrap()
}

pub(crate) fn call(name: &str, arguments: serde_json::Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().unwrap().clone();
    CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)
}

pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content.first().unwrap().as_text().unwrap().text
}
