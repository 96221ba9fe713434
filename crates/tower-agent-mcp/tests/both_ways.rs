//! Our client and our server, at the two ends of a connection.
#![cfg(test)]

use axum::Router;
use tokio::{net::TcpListener, sync::Mutex, task::JoinSet};
use tower::ServiceExt;
use tower_agent::{Tool, ToolCall, ToolSet, ToolSpec};
use tower_agent_mcp::{
    client::{Endpoint, Http, McpClient, Protocol, Streams},
    server::{McpServer, http_config, http_service, serve_lines},
};

const WRITTEN: &str =
    r#"{"z": 123456789012345678901234567890, "a": [1.50, {"y": null, "x": "\u00e9"}], "b": -0}"#;

/// A tool that shows its arguments.
fn server() -> McpServer {
    let show =
        Tool::raw(ToolSpec::new("show", "Shows its arguments"), |call: ToolCall| async move {
            call.arguments.as_str().to_owned()
        });
    McpServer::builder(ToolSet::builder().tool(show).build().unwrap()).build().unwrap()
}

async fn shown(endpoint: impl Into<Endpoint>, protocol: Protocol, arguments: &str) -> String {
    let builder = McpClient::builder("show", endpoint).protocol(protocol);
    let client = builder.connect().await.unwrap();
    client.oneshot(ToolCall::new("show", arguments)).await.unwrap().joined_text()
}

fn by_lines() -> (Streams, std::sync::Arc<Mutex<JoinSet<()>>>) {
    let running = std::sync::Arc::new(Mutex::new(JoinSet::new()));
    let tasks = std::sync::Arc::clone(&running);
    let streams = Streams::new(move || {
        let tasks = std::sync::Arc::clone(&tasks);
        async move {
            let (ours, theirs) = tokio::io::duplex(64);
            let (read, write) = tokio::io::split(theirs);
            tasks.lock().await.spawn(async move {
                serve_lines(server(), read, write).await.unwrap();
            });
            Ok(tokio::io::split(ours))
        }
    });
    (streams, running)
}

async fn by_http() -> (Http, JoinSet<()>) {
    let app = Router::new().nest_service("/mcp", http_service(server(), http_config()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let mut running = JoinSet::new();
    running.spawn(async move { axum::serve(listener, app).await.unwrap() });
    (Http::new(url), running)
}

#[tokio::test]
async fn arguments_reach_a_tool_as_they_were_written_by_lines_and_over_http() {
    for protocol in [Protocol::Handshake, Protocol::Stateless] {
        let (lines, _running) = by_lines();
        assert_eq!(shown(lines, protocol, WRITTEN).await, WRITTEN);
        let (http, _running) = by_http().await;
        assert_eq!(shown(http, protocol, WRITTEN).await, WRITTEN);
    }
}

#[tokio::test]
async fn arguments_in_which_a_key_stands_twice_mean_the_same_to_everybody_behind() {
    let twice = r#"{"path": "/etc/passwd", "path": "/srv/notes"}"#;
    for protocol in [Protocol::Handshake, Protocol::Stateless] {
        let (lines, _running) = by_lines();
        assert_eq!(shown(lines, protocol, twice).await, r#"{"path":"/srv/notes"}"#);
        let (http, _running) = by_http().await;
        assert_eq!(shown(http, protocol, twice).await, r#"{"path":"/srv/notes"}"#);
    }
}
