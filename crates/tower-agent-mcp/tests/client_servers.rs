//! Several servers as one.
#![cfg(test)]

mod client_support;

use client_support::{Doorway, Server, connect_as, tool};
use serde_json::{Value, json};
use tower::ServiceExt;
use tower_agent::ToolSet;
use tower_agent_core::{Outcome, ToolCall, Tools};
use tower_agent_mcp::client::{McpClient, Servers};

async fn server(name: &str, tools: &[&str]) -> (McpClient, Server, Doorway) {
    let tools: Vec<Value> = tools.iter().map(|name| tool(name)).collect();
    connect_as(name, json!(tools), |builder| builder).await
}

fn names(tools: &Tools) -> Vec<&str> {
    tools.iter().map(|spec| &*spec.name).collect()
}

#[tokio::test(start_paused = true)]
async fn names_that_clash_get_their_servers_name() {
    let (files, _a, _b) = server("files", &["read", "list"]).await;
    let (mail, mut answering, _c) = server("mail", &["read", "send"]).await;
    let servers = Servers::new([files, mail]).unwrap().reserve(["send"]);
    assert_eq!(names(&servers.tools()), ["files__read", "list", "mail__read", "mail__send"]);
    assert!(servers.tools().ptr_eq(&servers.tools()));

    let tools = ToolSet::from_service(servers.tools(), servers.clone()).unwrap();
    let serve = async {
        let call = answering.expect("tools/call").await;
        assert_eq!(call["params"]["name"], "read");
        answering.answer(&call, json!({"content": [{"type": "text", "text": "mail"}]})).await;
    };
    let call = tools.clone().oneshot(ToolCall::new("mail__read", "{}"));
    assert_eq!(tokio::join!(call, serve).0.unwrap().joined_text(), "mail");

    let output = tools.oneshot(ToolCall::new("read", "{}")).await.unwrap();
    assert!(matches!(output.outcome, Outcome::Failed(_)));
    assert_eq!(
        output.joined_text(),
        "The name \"read\" is not clear; nothing ran. Call one of these: files__read, mail__read."
    );
}

#[tokio::test(start_paused = true)]
async fn a_plain_name_that_looks_like_a_prefixed_one_is_told_apart() {
    let (a, _door, _b) = server("a", &["x"]).await;
    let (b, _c, _d) = server("b", &["x", "a__x"]).await;
    let servers = Servers::new([a, b]).unwrap();
    assert_eq!(names(&servers.tools()), ["a__x", "b__x", "b__a__x"]);
    ToolSet::from_service(servers.tools(), servers).unwrap();
}

#[tokio::test(start_paused = true)]
async fn names_that_no_provider_takes_are_cut_and_told_apart() {
    let long = "synchronize.all-customer-data-across-regions-and-continents";
    let (nightly, weekly) = (format!("{long}-nightly"), format!("{long}-weekly"));
    let (a, _a, _b) = server("a", &[&nightly, &weekly, "größe"]).await;
    let (b, mut answering, _c) = server("b", &["a.b"]).await;
    let shown = |clients| Servers::new(clients).unwrap().tools();
    let tools = shown(vec![a.clone(), b.clone()]);
    let again = shown(vec![b.clone(), a.clone()]);

    let mut sorted = (names(&tools), names(&again));
    for name in &sorted.0 {
        let is_taken = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        assert!(name.len() <= 64 && name.bytes().all(is_taken), "{name}");
    }
    assert_eq!(sorted.0.last().unwrap().split_at(4).0, "a_b_");
    sorted.0.sort_unstable();
    sorted.1.sort_unstable();
    assert_eq!(sorted.0, sorted.1);
    sorted.0.dedup();
    assert_eq!(sorted.0.len(), 4);

    let last = names(&tools).pop().unwrap().to_owned();
    let tools = ToolSet::from_service(tools, Servers::new([a, b]).unwrap()).unwrap();
    let serve = async {
        let call = answering.expect("tools/call").await;
        assert_eq!(call["params"]["name"], "a.b");
        answering.answer(&call, json!({"content": []})).await;
    };
    let (output, ()) = tokio::join!(tools.oneshot(ToolCall::new(last, "{}")), serve);
    assert!(output.unwrap().outcome.is_success());
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_changes_the_names() {
    let (a, mut changing, _door) = server("a", &["x"]).await;
    let (b, _b, _c) = server("b", &["y"]).await;
    let servers = Servers::new([a, b]).unwrap();
    let seen = servers.tools();
    let serve = async {
        changing.notify("notifications/tools/list_changed", json!({})).await;
        changing.list(json!([tool("x"), tool("y")])).await;
    };
    let (now, ()) = tokio::join!(servers.changed(&seen), serve);
    assert_eq!(names(&now), ["x", "a__y", "b__y"]);
}

#[tokio::test(start_paused = true)]
async fn two_clients_of_one_name_are_refused() {
    let (a, _door, _b) = server("a", &[]).await;
    let (b, _c, _d) = server("a", &[]).await;
    let error = Servers::new([a, b]).unwrap_err();
    assert_eq!(error.to_string(), "mcp: two servers are named `a`");
}
