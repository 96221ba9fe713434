//! The gateway over HTTP.

#![cfg(test)]

mod support;

use std::process::Stdio;

use reqwest::{Client, StatusCode};
use rmcp::{
    RoleClient, ServiceExt,
    model::RequestMetaObject,
    service::{ClientServiceExt, RunningService},
    transport::{
        StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::json;
use support::{Folder, Gateway, Listener, PATIENCE, TOKEN, appears, call, stateless, text};
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

/// Two clients, each with what it is told.
async fn two(served: &Served) -> [(RunningService<RoleClient, Listener>, Listener); 2] {
    let connect = || async {
        let config = StreamableHttpClientTransportConfig::with_uri(served.url.as_str());
        let transport = StreamableHttpClientTransport::with_client(served.client.clone(), config);
        let listener = Listener::who_takes(json!({"elicitation": {}}));
        let client = timeout(PATIENCE, listener.clone().serve(transport)).await.unwrap().unwrap();
        // A stream of its own may come later than the greeting.
        while listener.logged().is_empty() {
            client.call_tool(call("log", json!({"text": "warm"}))).await.unwrap();
        }
        (client, listener)
    };
    [connect().await, connect().await]
}

const OLD: &str = r#"
    [[server]]
    name = "demo"
    command = "DEMO"
    env = { IS_OLD = "1" }
"#;

const CONFIG_OF_BOTH: &str = "[[server]]\nname = \"demo\"\ncommand = \"DEMO\"\n";

fn texts(listener: &Listener) -> Vec<String> {
    let logged = listener.logged().into_iter();
    let texts = logged.map(|(_, _, data)| data["text"].as_str().unwrap().to_owned());
    texts.filter(|text| text != "warm").collect()
}

#[tokio::test]
async fn what_a_server_says_in_a_call_is_its_clients_alone_and_what_it_says_outside_is_everybodys()
{
    let folder = Folder::new(OLD);
    let served = Served::start(&folder, &[]).await;
    let [(ada, ada_hears), (ben, ben_hears)] = two(&served).await;
    ada.call_tool(call("log", json!({"text": "for ada", "level": "error"}))).await.unwrap();
    let asked = ben.call_tool(call("ask", json!({"method": "elicitation/create"}))).await.unwrap();
    assert!(text(&asked).contains("accept"), "{asked:?}");
    let name = folder.path("now");
    ben.call_tool(call("later", json!({"name": name}))).await.unwrap();
    std::fs::write(name, "").unwrap();
    let both = async {
        while ![&ada_hears, &ben_hears].iter().all(|all| texts(all).contains(&"later".to_owned())) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, both).await.unwrap();
    assert_eq!(texts(&ada_hears), ["for ada", "later"]);
    assert_eq!(texts(&ben_hears), ["later"]);
    assert_eq!(ada_hears.asked.lock().unwrap().len(), 0);
    assert_eq!(ben_hears.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_client_without_a_session_is_asked_by_results_and_hears_what_it_asks_for() {
    for config in [OLD, CONFIG_OF_BOTH] {
        let folder = Folder::new(config);
        let served = Served::start(&folder, &[]).await;
        let config = StreamableHttpClientTransportConfig::with_uri(served.url.as_str());
        let transport = StreamableHttpClientTransport::with_client(served.client.clone(), config);
        let listener = Listener::who_takes(json!({"elicitation": {}}));
        let serving = listener.clone().serve_with_lifecycle(transport, stateless());
        let client = timeout(PATIENCE, serving).await.unwrap().unwrap();
        let ask = call("ask", json!({"method": "elicitation/create"}));
        let asked = client.call_tool(ask).await.unwrap();
        assert!(text(&asked).contains("accept"), "{asked:?}");
        assert_eq!(listener.asked.lock().unwrap().len(), 1);

        let mut log = call("log", json!({"text": "heard", "level": "warning"}));
        let mut meta = RequestMetaObject::new();
        meta.0.0.insert("io.modelcontextprotocol/logLevel".to_owned(), json!("warning"));
        log.meta = Some(meta);
        client.call_tool(log).await.unwrap();
        listener.hears(1).await;
        assert_eq!(texts(&listener), ["heard"]);
    }
}

#[tokio::test]
async fn a_question_that_may_be_for_either_of_two_clients_is_asked_of_neither() {
    let folder = Folder::new(OLD);
    let served = Served::start(&folder, &[]).await;
    let [(ada, ada_hears), (ben, ben_hears)] = two(&served).await;
    let (name, started) = (folder.path("go"), folder.path("go.started"));
    let waits = ada.call_tool(call("wait", json!({"name": name})));
    let asks = async {
        appears(&started).await;
        let ask = call("ask", json!({"method": "elicitation/create"}));
        let asked = ben.call_tool(ask).await.unwrap();
        std::fs::write(&name, "").unwrap();
        asked
    };
    let (waited, asked) = tokio::join!(waits, asks);
    waited.unwrap();
    assert!(text(&asked).contains("it cannot be told which call this belongs to"), "{asked:?}");
    let of = |listener: &Listener| listener.asked.lock().unwrap().len();
    assert_eq!((of(&ada_hears), of(&ben_hears)), (0, 0));
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
