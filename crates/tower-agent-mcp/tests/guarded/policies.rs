use rmcp::{ServerHandler, model::CallToolRequestParams};
use serde_json::json;
use tower_agent::{
    AllowListLayer, BoxError, ModelRequest, ToolCall, Verdict,
    plugin::{Plugin, PluginLayer},
};
use tower_agent_mcp::guarded::Guarded;

use crate::support::{Theirs, connect};

fn theirs() -> Theirs {
    Theirs::with_result(json!({ "content": [{ "type": "text", "text": "done" }] }))
}

#[tokio::test]
async fn what_an_allow_list_denies_is_neither_listed_nor_run() {
    let server = theirs();
    let policy = AllowListLayer::new(["read"]).unwrap();
    let guarded = Guarded::builder(server.clone()).policy(policy).build();
    assert!(guarded.get_tool("read").is_some());
    assert!(guarded.get_tool("delete").is_none());
    let pair = connect(guarded).await;

    let tools = pair.client.list_all_tools().await.unwrap();
    let denied = pair.client.call_tool(CallToolRequestParams::new("delete")).await.unwrap();

    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["read"]);
    assert_eq!(denied.is_error, Some(true));
    assert!(server.called().is_empty());
}

/// Allows what says that it changes nothing.
struct ReadOnly;

impl Plugin for ReadOnly {
    fn name(&self) -> &str {
        "read-only"
    }

    async fn before_tool(&self, call: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        let read_only = call.spec.as_ref().and_then(|spec| spec.annotations.read_only);
        if read_only == Some(true) {
            return Ok(Verdict::Allow);
        }
        Ok(Verdict::deny("Nothing may be changed."))
    }

    async fn before_model(
        &self,
        request: &mut ModelRequest,
    ) -> Result<Verdict<ModelRequest>, BoxError> {
        request.tools.retain(|spec| spec.annotations.read_only == Some(true));
        Ok(Verdict::Allow)
    }
}

#[tokio::test]
async fn a_policy_may_go_by_what_a_tool_says_of_itself() {
    let guarded = Guarded::builder(theirs()).policy(PluginLayer::new(ReadOnly)).build();
    let pair = connect(guarded).await;

    let tools = pair.client.list_all_tools().await.unwrap();
    let read = pair.client.call_tool(CallToolRequestParams::new("read")).await.unwrap();
    let delete = pair.client.call_tool(CallToolRequestParams::new("delete")).await.unwrap();

    assert_eq!(tools.len(), 1);
    assert_ne!(read.is_error, Some(true));
    assert_eq!(delete.is_error, Some(true));
}
