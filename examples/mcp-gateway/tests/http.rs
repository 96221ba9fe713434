//! The gateway over HTTP.

#![cfg(test)]

mod support;

use std::process::Stdio;

use reqwest::{Client, StatusCode};
use rmcp::{
    ServiceExt,
    transport::{
        StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::json;
use support::{Folder, Gateway, Listener, PATIENCE, TOKEN, call, text};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
    time::timeout,
};

const CONFIG: &str = r#"
    [[server]]
    name = "demo"
    command = "DEMO"
    allow = ["echo", "leak"]
"#;

struct Served {
    child: Child,
    url: String,
    client: Client,
}

impl Served {
    async fn start(folder: &Folder, args: &[&str]) -> Self {
        let mut command = folder.command(&[&["--http", "127.0.0.1:0"], args].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        let url = line.strip_prefix("listening on ").unwrap().to_owned();
        // With https compiled in, reqwest wants a crypto provider for plain HTTP, too.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { child, url, client }
    }

    fn at(&self, path: &str) -> String {
        self.url.replace("/mcp", path)
    }
}

#[tokio::test]
async fn a_client_lists_calls_and_hears_of_changes_and_calls_are_counted() {
    let folder = Folder::new(CONFIG);
    let mut served = Served::start(&folder, &["--token-env", "GATEWAY_TOKEN"]).await;
    let mut config = StreamableHttpClientTransportConfig::with_uri(served.url.as_str());
    config.auth_header = Some(TOKEN.to_owned());
    let transport = StreamableHttpClientTransport::with_client(served.client.clone(), config);
    let listener = Listener::default();
    let client = timeout(PATIENCE, listener.clone().serve(transport)).await.unwrap().unwrap();
    let names = |tools: Vec<rmcp::model::Tool>| {
        tools.into_iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(client.list_all_tools().await.unwrap()), ["echo", "leak"]);
    let leaked = client.call_tool(call("leak", json!({}))).await.unwrap();
    assert!(text(&leaked).contains("[REDACTED:github-pat]"), "{leaked:?}");
    let denied = client.call_tool(call("delete", json!({}))).await.unwrap();
    assert_eq!(denied.is_error, Some(true));

    folder.write("gateway.toml", &CONFIG.replace("\"leak\"", "\"fail\""));
    timeout(PATIENCE, listener.changed.notified()).await.unwrap();
    assert_eq!(names(client.list_all_tools().await.unwrap()), ["echo", "fail"]);

    let asked = served.client.get(served.at("/metrics")).bearer_auth(TOKEN).send().await.unwrap();
    let metrics = asked.text().await.unwrap();
    for line in [
        r#"tower_agent_calls_total{operation="tool",name="leak",outcome="ok"} 1"#,
        r#"tower_agent_calls_total{operation="tool",name="delete",outcome="denied"} 1"#,
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
    client.cancel().await.unwrap();
    #[cfg(unix)]
    {
        let id = served.child.id().unwrap().to_string();
        tokio::process::Command::new("kill").args(["-s", "TERM", &id]).status().await.unwrap();
        let status = timeout(PATIENCE, served.child.wait()).await.unwrap().unwrap();
        assert_eq!(status.code(), Some(0));
    }
}

#[tokio::test]
async fn who_has_no_token_or_comes_under_a_foreign_name_is_kept_out() {
    let folder = Folder::new(CONFIG);
    let served = Served::start(&folder, &["--token-env", "GATEWAY_TOKEN"]).await;
    let get = |path: &str| served.client.get(served.at(path));
    let status =
        |request: reqwest::RequestBuilder| async { request.send().await.unwrap().status() };
    assert_eq!(status(get("/metrics")).await, StatusCode::UNAUTHORIZED);
    assert_eq!(
        status(get("/metrics").bearer_auth("a token for tesks")).await,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(status(get("/metrics").bearer_auth(TOKEN)).await, StatusCode::OK);
    assert_eq!(status(served.client.post(&served.url)).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(get("/healthz")).await, StatusCode::OK);
    let foreign = get("/metrics").bearer_auth(TOKEN).header("host", "evil.example");
    assert_eq!(status(foreign).await, StatusCode::FORBIDDEN);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let page = served.client.post(&served.url).bearer_auth(TOKEN).body(list);
    let page =
        page.header("content-type", "application/json").header("origin", "https://evil.example");
    let page = page.header("accept", "application/json, text/event-stream");
    assert_eq!(status(page).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_server_behind_a_url_is_reached_with_the_token_of_the_environment() {
    let inner = Folder::new(CONFIG);
    let served = Served::start(&inner, &["--token-env", "GATEWAY_TOKEN"]).await;
    let outer = |token: &str| {
        format!("[[server]]\nname = \"inner\"\nurl = \"{}\"\nbearer = \"{token}\"\n", served.url)
    };
    let folder = Folder::new(&outer("env:GATEWAY_TOKEN"));
    let gateway = Gateway::start(&folder).await;
    assert_eq!(gateway.names().await, ["echo", "leak"]);
    assert_eq!(text(&gateway.call("echo", json!({"text": "through two"})).await), "through two");
    gateway.end().await;

    folder.write("gateway.toml", &outer("another one"));
    let (code, out, _) = folder.run(&["--check"]).await;
    assert_eq!(code, Some(1));
    assert!(out.starts_with("inner: cannot be reached: "), "{out}");
    assert!(!out.contains("another one"), "{out}");
}
