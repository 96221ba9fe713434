use serde_json::json;
use tower::service_fn;
use tower_agent::{
    Agent, Error, Message, ModelRequest, ModelResponse, Part, Reply, Role, Tool, ToolCallPart,
    ToolSet, ToolSpec,
};
use tower_agent_mcp::server::agent_tool;

use crate::support::{connect, serve, text};

/// Asks for the time once and then repeats what it was told.
fn clock() -> ToolSet {
    let model = service_fn(|request: ModelRequest| async move {
        let last = request.messages.last().cloned().unwrap_or_else(|| Message::user(""));
        let message = match last.parts() {
            [Part::ToolResult(result)] => Message::assistant(format!("It is {}.", result.text())),
            _ => Message::new(
                Role::Assistant,
                vec![Part::ToolCall(ToolCallPart::new("1", "now", r#"{"zone":"secret"}"#))],
            ),
        };
        Ok::<_, Error>(ModelResponse::full(Reply::new(message)))
    });
    let now = Tool::raw(ToolSpec::new("now", "Tells the time"), |_| async { "noon" });
    let agent = Agent::builder("clock", model).tools(ToolSet::builder().tool(now).build().unwrap());
    let ask = agent_tool("ask_clock", "Knows the time", agent.build());
    ToolSet::builder().tool(ask).build().unwrap()
}

#[tokio::test]
async fn an_agent_is_one_tool_and_reports_its_steps() {
    let mut pair = connect(serve(clock())).await;

    let result = pair.call("ask_clock", json!({ "input": "What time is it?" })).await;

    let mut steps = Vec::new();
    for _ in 0..4 {
        steps.push(pair.progress.recv().await.unwrap());
    }
    assert_eq!(text(&result), "It is noon.");
    assert!(result.meta.unwrap().0.contains_key("usage"));
    let texts: Vec<_> = steps.iter().map(|step| step.message.as_deref().unwrap()).collect();
    assert_eq!(texts, ["turn 1", "now runs", "now is done", "turn 2"]);
    assert!(steps.is_sorted_by(|one, next| one.progress < next.progress));
}

#[tokio::test]
async fn an_agent_without_its_input_does_not_run() {
    let result = connect(serve(clock())).await.call("ask_clock", json!({})).await;

    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).contains("missing field `input`"), "{result:?}");
}
