use serde_json::json;
use tower_agent_mcp::server::McpServer;

use crate::support::{call, connect, echo, text};

#[tokio::test]
async fn a_stack_is_listed_and_called() {
    let client = connect(McpServer::builder(echo()).build().unwrap()).await;

    let tools = client.list_all_tools().await.unwrap();
    let result = client.call_tool(call("echo", json!({ "a": 1 }))).await.unwrap();

    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["echo"]);
    assert_eq!(text(&result), r#"{"a":1}"#);
    assert_eq!(result.is_error, Some(false));
}
