//! What a call says to a server, and what its answer becomes.
#![cfg(test)]

mod client_support;

use client_support::{connect, connect_with, door, tool};
use serde_json::json;
use tower::ServiceExt;
use tower_agent::{RedactLayer, ToolSet};
use tower_agent_core::{Content, Json, Outcome, ToolCall};
use tower_agent_mcp::client::{Answers, McpClient, RequestMeta, Status};

#[tokio::test(start_paused = true)]
async fn a_servers_tools_are_a_tool_set() {
    let (client, mut server, _door) = connect(json!([tool("add"), tool("sub")])).await;
    let tools = ToolSet::from_service(client.tools(), client.clone()).unwrap();
    let call = tools.oneshot(ToolCall::new("add", r#"{"a": 1}"#));
    let serve = async {
        let call = server.expect("tools/call").await;
        assert_eq!(call["params"]["name"], "add");
        server.answer(&call, json!({"content": [{"type": "text", "text": "2"}]})).await;
    };
    let (output, ()) = tokio::join!(call, serve);
    assert_eq!(output.unwrap().joined_text(), "2");
}

#[tokio::test(start_paused = true)]
async fn a_server_of_the_newer_generation_needs_no_handshake() {
    let (streams, mut doorway) = door();
    let serve = async {
        let mut server = doorway.recv().await.unwrap();
        server.discover().await;
        let list = server.expect("tools/list").await;
        let meta = &list["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        server.answer(&list, json!({"resultType": "complete", "tools": [tool("now")], "ttlMs": 0, "cacheScope": "private"})).await;
        server
    };
    let (client, mut server) = tokio::join!(McpClient::builder("fake", streams).connect(), serve);
    let client = client.unwrap();
    let state = client.snapshot();
    assert_eq!(state.status, Status::Connected);
    assert_eq!(&*state.server.unwrap().protocol, "2026-07-28");
    let listen = server.expect("subscriptions/listen").await;
    assert_eq!(listen["params"]["notifications"]["toolsListChanged"], true);

    let meta = json!({"io.modelcontextprotocol/subscriptionId": listen["id"]});
    let accepted = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    server.notify("notifications/subscriptions/acknowledged", accepted).await;
    server.notify("notifications/tools/list_changed", json!({"_meta": meta})).await;
    let mut changes = client.changes();
    server.list(json!([tool("now"), tool("later")])).await;
    changes.changed().await.unwrap();
    assert_eq!(client.tools().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_knows_the_newer_greeting_and_older_versions_alone_gets_the_older_one() {
    let (streams, mut doorway) = door();
    let serve = async {
        let mut server = doorway.recv().await.unwrap();
        let discover = server.expect("server/discover").await;
        let result = json!({
            "resultType": "complete",
            "supportedVersions": ["2025-11-25"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "2.0.0"},
            "ttlMs": 0,
            "cacheScope": "private",
        });
        server.answer(&discover, result).await;
        let mut server = doorway.recv().await.unwrap();
        let initialize = server.expect("initialize").await;
        let result = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "2.0.0"},
        });
        server.answer(&initialize, result).await;
        server.expect("notifications/initialized").await;
        server.list(json!([tool("now")])).await;
        server
    };
    let (client, _server) = tokio::join!(McpClient::builder("fake", streams).connect(), serve);
    assert_eq!(&*client.unwrap().snapshot().server.unwrap().protocol, "2025-11-25");
}

#[tokio::test(start_paused = true)]
async fn arguments_reach_the_server_byte_for_byte() {
    let (client, mut server, _door) = connect(json!([tool("add")])).await;
    let arguments = r#"{"z": 123456789012345678901234567890, "a": 1.0, "a": 2}"#;
    let call = client.oneshot(ToolCall::new("add", arguments));
    let serve = async {
        let text = server.text().await;
        assert!(text.contains(arguments), "{text}");
        let call = serde_json::from_str(&text).unwrap();
        server.answer(&call, json!({"content": []})).await;
    };
    let (output, ()) = tokio::join!(call, serve);
    assert!(output.unwrap().content.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_result_loses_nothing() {
    let (client, mut server, _door) = connect(json!([tool("show")])).await;
    let mut call = ToolCall::new("show", "{}");
    call.ctx.extensions.insert(RequestMeta(Json::from_text(
        "{\"example.com/n\": 123456789012345678901234567890,\n \"progressToken\": 7}",
    )));
    let serve = async {
        let text = server.text().await;
        assert!(text.contains(r#""example.com/n":123456789012345678901234567890"#), "{text}");
        // The protocol's own keys are the client's.
        assert_eq!(text.matches("progressToken").count(), 1);
        let call = serde_json::from_str(&text).unwrap();
        server
            .answer_text(&call, r#"{"ttl":1.0,"_meta":{"cost":123456789012345678901234567890},"structuredContent":null,"content":[{"type":"text","text":"a","annotations":{"priority":0.50},"_meta":{"k":1}},{"type":"hologram","data":"x"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"file:///a","text":"t","_meta":{"v":1.0}},"annotations":{"audience":["user"]}}]}"#)
            .await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call), serve);
    let output = output.unwrap();
    assert_eq!(output.outcome, Outcome::Success);
    assert_eq!(output.structured.unwrap().as_str(), "null");
    assert_eq!(output.extra.unwrap().as_str(), r#"{"ttl":1.0}"#);
    assert_eq!(output.meta.unwrap().as_str(), r#"{"cost":123456789012345678901234567890}"#);
    let [
        Content::Text(text),
        Content::Opaque { json },
        Content::Image(image),
        Content::Resource(resource),
    ] = &output.content[..]
    else {
        panic!("{:?}", output.content)
    };
    assert_eq!(
        text.extra.as_ref().unwrap().as_str(),
        r#"{"annotations":{"priority":0.50},"_meta":{"k":1}}"#
    );
    assert_eq!(json.as_str(), r#"{"type":"hologram","data":"x"}"#);
    assert_eq!(image.mime_type.as_deref(), Some("image/png"));
    assert_eq!(
        resource.extra.as_ref().unwrap().as_str(),
        r#"{"annotations":{"audience":["user"]},"resource":{"_meta":{"v":1.0}}}"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_of_the_server_suspends_the_call_until_it_is_answered() {
    let (client, mut server, _door) =
        connect_with(json!([tool("book")]), |builder| builder.input(true)).await;
    let asked = r#"{"resultType":"input_required","inputRequests":{"seat":{"method":"elicitation/create","params":{"message":"Which seat?"}}},"requestState":"s1","_meta":{"m":1}}"#;
    let serve = async {
        let call = server.expect("tools/call").await;
        server.answer_text(&call, asked).await;
    };
    let call = ToolCall::new("book", r#"{"day": 1}"#);
    let (output, ()) = tokio::join!(client.clone().oneshot(call.clone()), serve);
    let output = output.unwrap();
    let Outcome::Suspended(suspension) = &output.outcome else { panic!("{output:?}") };
    assert_eq!((&*suspension.layer, &*suspension.id), ("mcp", "s1"));
    assert_eq!(suspension.request.as_ref().unwrap().as_str(), asked);
    assert_eq!(output.meta.unwrap().as_str(), r#"{"m":1}"#);

    let responses = r#"{"seat":{"action":"accept","content":{"row":3}}}"#;
    let mut again = call;
    again.ctx.extensions.insert(Answers::new(suspension, responses).unwrap());
    let serve = async {
        let call = server.expect("tools/call").await;
        assert_eq!(call["params"]["requestState"], "s1");
        assert_eq!(call["params"]["inputResponses"]["seat"]["content"]["row"], 3);
        assert_eq!(call["params"]["arguments"]["day"], 1);
        server.answer(&call, json!({"resultType": "complete", "content": []})).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(again), serve);
    assert_eq!(output.unwrap().outcome, Outcome::Success);
}

#[tokio::test(start_paused = true)]
async fn the_state_of_a_question_survives_a_layer_that_masks_the_question() {
    const STATE: &str = "token=ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6";
    let (client, mut server, _door) =
        connect_with(json!([tool("book")]), |builder| builder.input(true)).await;
    let tools = ToolSet::from_service(client.tools(), client.clone()).unwrap();
    let tools = ToolSet::builder().tools(&tools).layer(RedactLayer::secrets()).build().unwrap();
    let serve = async {
        let call = server.expect("tools/call").await;
        let asked = json!({"resultType": "input_required", "requestState": STATE});
        server.answer(&call, asked).await;
    };
    let call = ToolCall::new("book", "{}");
    let (output, ()) = tokio::join!(tools.clone().oneshot(call.clone()), serve);
    let Outcome::Suspended(suspension) = output.unwrap().outcome else { panic!("not suspended") };
    assert!(!suspension.request.as_ref().unwrap().as_str().contains(STATE));

    let mut again = call;
    again.ctx.extensions.insert(Answers::new(&suspension, "{}").unwrap());
    let serve = async {
        let call = server.expect("tools/call").await;
        assert_eq!(call["params"]["requestState"], STATE);
        server.answer(&call, json!({"content": []})).await;
    };
    let (output, ()) = tokio::join!(tools.oneshot(again), serve);
    output.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_becomes_a_task_is_suspended() {
    let (client, mut server, _door) =
        connect_with(json!([tool("build")]), |builder| builder.tasks(true)).await;
    let task = r#"{"resultType":"task","taskId":"t1","status":"working","ttlMs":60000,"createdAt":"2026-12-01T00:00:00Z","lastUpdatedAt":"2026-12-01T00:00:00Z"}"#;
    let serve = async {
        let call = server.expect("tools/call").await;
        server.answer_text(&call, task).await;
    };
    let (output, ()) = tokio::join!(client.clone().oneshot(ToolCall::new("build", "{}")), serve);
    let output = output.unwrap();
    let Outcome::Suspended(suspension) = &output.outcome else { panic!("{output:?}") };
    assert_eq!(&*suspension.id, "t1");
    assert_eq!(suspension.request.as_ref().unwrap().as_str(), task);

    // Whoever keeps it asks the server for its state.
    let serve = async {
        let ask = server.expect("tasks/get").await;
        assert_eq!(ask["params"]["taskId"], "t1");
        server
            .answer_text(
                &ask,
                r#"{"resultType":"complete","taskId":"t1","status":"completed","n":1.0}"#,
            )
            .await;
    };
    let (state, ()) = tokio::join!(client.request("tasks/get", r#"{"taskId":"t1"}"#), serve);
    assert!(state.unwrap().as_str().ends_with(r#""n":1.0}"#));
}
