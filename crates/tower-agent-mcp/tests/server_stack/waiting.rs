use rmcp::model::{CallToolResponse, ClientCapabilities, ElicitationCapability};
use serde_json::json;
use tower_agent::{Suspension, ToolOutput, ToolSet};
use tower_agent_mcp::server::Caller;

use crate::support::{call, connect_as, fixed, serve, sessions, stateless, text, tool};

fn suspended() -> ToolSet {
    let suspension = Suspension::new("approval", "ask-7", "Somebody has to approve it.");
    fixed("pay", ToolOutput::default().with_outcome(suspension))
}

fn question() -> Suspension {
    Suspension::new("approval", "ask-7", "Somebody has to approve it.").request(json!({
        "ok": {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "Pay 5?",
                "requestedSchema": { "type": "object", "properties": { "ok": { "type": "boolean" } } },
            },
        },
    }))
}

fn who_can_be_asked() -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = Some(ElicitationCapability::default());
    capabilities
}

#[tokio::test]
async fn a_call_that_waits_is_input_required_where_the_protocol_has_it() {
    let pair = connect_as(serve(suspended()), stateless(), Default::default()).await;

    let response = pair.client.call_tool_once(call("pay", json!({}))).await.unwrap();

    let CallToolResponse::InputRequired(asked) = response else { panic!("{response:?}") };
    assert_eq!(asked.request_state.as_deref(), Some("ask-7"));
    assert!(asked.input_requests.is_none());
}

#[tokio::test]
async fn a_call_that_waits_is_a_readable_error_for_older_clients() {
    let pair = connect_as(serve(suspended()), sessions(), Default::default()).await;

    let result = pair.call("pay", json!({})).await;

    assert_eq!(result.is_error, Some(true));
    assert_eq!(
        text(&result),
        "The call is not finished: it waits. Somebody has to approve it. (id \"ask-7\")"
    );
}

#[tokio::test]
async fn a_question_is_asked_only_of_a_client_that_can_answer() {
    for (capabilities, is_asked) in
        [(who_can_be_asked(), true), (ClientCapabilities::default(), false)]
    {
        let output = ToolOutput::default().with_outcome(question());
        let pair = connect_as(serve(fixed("pay", output)), stateless(), capabilities).await;

        let response = pair.client.call_tool_once(call("pay", json!({}))).await.unwrap();

        match response {
            CallToolResponse::InputRequired(asked) => {
                assert!(is_asked);
                assert!(asked.input_requests.unwrap().contains_key("ok"));
            }
            CallToolResponse::Complete(result) => {
                assert!(!is_asked);
                assert_eq!(result.is_error, Some(true));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn the_answer_comes_back_with_the_next_call() {
    let tools = tool("pay", |call| async move {
        let caller = Caller::of(&call.ctx).unwrap();
        match (caller.request_state(), caller.input_responses()) {
            (Some(state), Some(answers)) => {
                ToolOutput::text(format!("{state} {}", answers.get("ok").unwrap()))
            }
            _ => ToolOutput::default().with_outcome(question()),
        }
    });
    let pair = connect_as(serve(tools), stateless(), who_can_be_asked()).await;

    // rmcp's client answers by itself; the default handler declines.
    let result = pair.call("pay", json!({})).await;

    assert_eq!(text(&result), r#"ask-7 {"action":"decline"}"#);
}

#[tokio::test]
async fn what_another_server_asks_is_passed_on_and_its_task_is_not() {
    let asks = json!({ "resultType": "input_required", "requestState": "theirs" });
    let goes_on = json!({ "resultType": "task", "taskId": "t1", "status": "working" });
    for (request, is_passed_on) in [(asks, true), (goes_on, false)] {
        let suspension = Suspension::new("mcp", "t1", "It goes on elsewhere.").request(request);
        let output = ToolOutput::default().with_outcome(suspension);
        let pair = connect_as(serve(fixed("pay", output)), stateless(), who_can_be_asked()).await;

        match pair.client.call_tool_once(call("pay", json!({}))).await.unwrap() {
            CallToolResponse::InputRequired(asked) => {
                assert_eq!(asked.request_state.as_deref(), is_passed_on.then_some("theirs"));
            }
            CallToolResponse::Complete(result) => {
                assert_eq!((result.is_error, is_passed_on), (Some(true), false));
            }
            other => panic!("{other:?}"),
        }
    }
}
