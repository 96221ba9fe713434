//! What a call says to a server, and what its answer becomes.
#![cfg(test)]

mod client_support;

use client_support::{connect, door, tool};
use serde_json::json;
use tower::ServiceExt;
use tower_agent::ToolSet;
use tower_agent_core::{Content, Json, Outcome, ToolCall};
use tower_agent_mcp::client::{McpClient, RequestMeta, Status};

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
    call.ctx.extensions.insert(RequestMeta(Json::from_text(r#"{"example.com/trace": "t1"}"#)));
    let serve = async {
        let call = server.expect("tools/call").await;
        assert_eq!(call["params"]["_meta"]["example.com/trace"], "t1");
        server
            .answer_text(&call, r#"{"_meta":{"cost":123456789012345678901234567890},"structuredContent":null,"content":[{"type":"text","text":"a","annotations":{"priority":0.50},"_meta":{"k":1}},{"type":"hologram","data":"x"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"file:///a","text":"t","_meta":{"v":1.0}},"annotations":{"audience":["user"]}}]}"#)
            .await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call), serve);
    let output = output.unwrap();
    assert_eq!(output.outcome, Outcome::Success);
    assert_eq!(output.structured.unwrap().as_str(), "null");
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
