//! The example as a user runs it: the program itself, over pipes and over a socket.
#![cfg(test)]

use std::{process::Stdio, time::Duration};

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

const PATIENCE: Duration = Duration::from_secs(60);

type Client = RunningService<RoleClient, ()>;

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-server"));
    command.args(args).env("RUST_LOG", "off").kill_on_drop(true);
    command
}

async fn over_pipes() -> Client {
    ().serve(TokioChildProcess::new(program(&[])).unwrap()).await.unwrap()
}

/// A client, and the server that ends with its test.
async fn over_http() -> (Client, Child) {
    let mut child = program(&["--http", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let url = line.strip_prefix("listening on ").unwrap().to_owned();
    // With https compiled in by another package, reqwest wants a crypto provider for plain HTTP, too.
    let _ = rustls::crypto::ring::default_provider().install_default();
    (().serve(StreamableHttpClientTransport::from_uri(url)).await.unwrap(), child)
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().unwrap().clone();
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    client.call_tool(request).await.unwrap()
}

fn text(result: &CallToolResult) -> &str {
    &result.content.first().unwrap().as_text().unwrap().text
}

async fn shows_what_the_readme_says(client: &Client) {
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["list_notes", "read_note"]);

    let listed = call(client, "list_notes", json!({})).await;
    assert_eq!(
        listed.structured_content,
        Some(json!({ "notes": ["shopping", "router", "release"] }))
    );

    let router = call(client, "read_note", json!({ "name": "router" })).await;
    assert!(text(&router).contains("[REDACTED"), "{router:?}");
    assert!(!text(&router).contains("hunter22"), "{router:?}");

    let diary = call(client, "read_note", json!({ "name": "diary" })).await;
    assert_eq!(diary.is_error, Some(true));
    assert!(text(&diary).contains("there is no note \"diary\""), "{diary:?}");

    let denied = call(client, "delete_note", json!({ "name": "router" })).await;
    assert_eq!(denied.is_error, Some(true));
    assert!(text(&denied).contains("is not available"), "{denied:?}");
}

#[tokio::test]
async fn it_serves_standard_input_and_output() {
    let client = over_pipes().await;
    shows_what_the_readme_says(&client).await;
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn it_serves_http() {
    let (client, _server) = over_http().await;
    shows_what_the_readme_says(&client).await;
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn it_ends_when_its_input_ends() {
    let mut child = program(&[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "pipe", "version": "1" },
    } });
    let broken =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": 3 } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let lines = format!("{hello}\n{ready}\nno message at all\n{broken}\n");
    input.write_all(lines.as_bytes()).await.unwrap();
    drop(input);

    let output = timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();

    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("-32602"));
}

#[tokio::test]
async fn a_wrong_flag_is_named() {
    let output = timeout(PATIENCE, program(&["--port", "1"]).output()).await.unwrap().unwrap();

    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--port"));
}
