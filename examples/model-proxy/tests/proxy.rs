//! The program in front of its built-in provider, as clients of all four APIs see it.
#![cfg(test)]

use std::{process::Stdio, time::Duration};

use reqwest::{Client, Response, header::HeaderMap};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);
const OURS: &str = "ghp_k3Jd8sQz0VxPq7LmN2bRtYw5HcFgAe4UiOpX";
const THEIRS: &str = "AKIAZ7QX4NBV2CDK5MWT";

/// The program, which ends with its test.
struct Proxy {
    _child: Child,
    url: String,
    client: Client,
}

impl Proxy {
    async fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_model-proxy"));
        command.args(["--addr", "127.0.0.1:0", "--demo"]).args(args).env("RUST_LOG", "off");
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        let url = line.strip_prefix("listening on ").unwrap().to_owned();
        // With https compiled in, reqwest wants a crypto provider for plain HTTP, too.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { _child: child, url, client }
    }

    async fn post(&self, path: &str, key: (&'static str, &str), body: &Value) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(key.0, key.1.parse().unwrap());
        let request = self.client.post(format!("{}{path}", self.url)).headers(headers);
        request.json(body).send().await.unwrap()
    }

    async fn get(&self, path: &str) -> String {
        let answer = self.client.get(format!("{}{path}", self.url)).send().await.unwrap();
        answer.text().await.unwrap()
    }
}

/// One API: where it is, how a key is sent, and a request with two tools.
struct Api {
    path: &'static str,
    streamed: &'static str,
    key: (&'static str, &'static str),
    body: Value,
}

fn apis() -> Vec<Api> {
    let text = format!("My token is {OURS}, keep it.");
    let schema = json!({"type": "object"});
    let chat =
        |name: &str| json!({"type": "function", "function": {"name": name, "parameters": schema}});
    let flat = |name: &str| json!({"type": "function", "name": name, "parameters": schema, "strict": false});
    let plain = |name: &str| json!({"name": name, "input_schema": schema});
    vec![
        Api {
            path: "/v1/chat/completions",
            streamed: "/v1/chat/completions",
            key: ("authorization", "Bearer sk-1234"),
            body: json!({"model": "m", "messages": [{"role": "user", "content": text}], "tools": [chat("read"), chat("delete")]}),
        },
        Api {
            path: "/v1/responses",
            streamed: "/v1/responses",
            key: ("authorization", "Bearer sk-1234"),
            body: json!({"model": "m", "input": text, "store": false, "tools": [flat("read"), flat("delete")]}),
        },
        Api {
            path: "/v1/messages",
            streamed: "/v1/messages",
            key: ("x-api-key", "sk-ant-1234"),
            body: json!({"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": text}], "tools": [plain("read"), plain("delete")]}),
        },
        Api {
            path: "/v1beta/models/m:generateContent",
            streamed: "/v1beta/models/m:streamGenerateContent?alt=sse",
            key: ("x-goog-api-key", "AIza-1234"),
            body: json!({"contents": [{"role": "user", "parts": [{"text": text}]}], "tools": [{"functionDeclarations": [{"name": "read"}, {"name": "delete"}]}]}),
        },
    ]
}

/// All texts of pieces, whatever the dialect.
fn texts(body: &str) -> String {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let text = |event: Value| {
        let places = [
            "/choices/0/delta/content",
            "/delta/text",
            "/delta",
            "/candidates/0/content/parts/0/text",
        ];
        let found =
            places.iter().find_map(|place| event.pointer(place)?.as_str().map(str::to_owned));
        found.unwrap_or_default()
    };
    events.map(text).collect()
}

#[tokio::test]
async fn secrets_are_masked_on_the_way_there_and_back_in_every_api() {
    let proxy = Proxy::start(&["--allow", "read*"]).await;
    for api in apis() {
        let answer = proxy.post(api.path, api.key, &api.body).await;
        assert_eq!(answer.status(), 200, "{}", api.path);
        let whole = answer.text().await.unwrap();
        let mut body = api.body.clone();
        if api.path == api.streamed {
            body["stream"] = true.into();
        }
        let answer = proxy.post(api.streamed, api.key, &body).await;
        assert_eq!(answer.headers()["content-type"], "text/event-stream", "{}", api.path);
        let body = answer.text().await.unwrap();
        let streamed = texts(&body);
        for text in [&whole, &body, &streamed] {
            assert!(!text.contains(OURS) && !text.contains(THEIRS), "{}: {text}", api.path);
        }
        for text in [&whole, &streamed] {
            assert!(text.contains("I heard: My token is [REDACTED"), "{}: {text}", api.path);
            assert!(text.contains("Your key ends in 1234."), "the key was not passed on: {text}");
            assert!(
                text.contains("Tools: read."),
                "a tool that is not allowed was offered: {text}"
            );
            assert!(text.contains("My own key is [REDACTED"), "{}: {text}", api.path);
        }
    }
    let metrics = proxy.get("/metrics").await;
    assert!(
        metrics.lines().any(|line| line.starts_with("tower_agent") && line.ends_with(" 8")),
        "{metrics}"
    );
}

#[tokio::test]
async fn what_the_provider_says_of_its_limits_comes_back_in_every_api() {
    let proxy = Proxy::start(&[]).await;
    for api in apis() {
        let mut streamed = api.body.clone();
        streamed["stream"] = true.into();
        let calls = [(api.key, &api.body), (api.key, &streamed), (("x-nothing", "1"), &api.body)];
        for (key, body) in calls {
            let answer = proxy.post(api.path, key, body).await;
            let left = answer.headers().get("x-ratelimit-remaining-requests");
            assert_eq!(left.unwrap(), "59", "{} {}", api.path, answer.status());
        }
    }
}

#[tokio::test]
async fn what_the_provider_refuses_is_passed_on_in_its_words() {
    let proxy = Proxy::start(&[]).await;
    for api in apis() {
        let answer = proxy.post(api.path, ("x-nothing", "1"), &api.body).await;
        assert_eq!(answer.status(), 401, "{}", api.path);
        let body = answer.text().await.unwrap();
        assert!(body.contains("no key was sent"), "{}: {body}", api.path);
    }
}

#[tokio::test]
async fn other_paths_are_forwarded_only_if_that_is_wished() {
    let key = ("authorization", "Bearer sk-1");
    let proxy = Proxy::start(&[]).await;
    assert_eq!(proxy.post("/v1/embeddings", key, &json!({})).await.status(), 404);
    let proxy = Proxy::start(&["--forward"]).await;
    let answer = proxy.post("/v1/embeddings", key, &json!({})).await;
    assert_eq!(
        (answer.status().as_u16(), answer.text().await.unwrap().as_str()),
        (200, "embedded")
    );
}

#[tokio::test]
async fn a_flag_that_nobody_knows_is_explained() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_model-proxy"));
    let output = command.arg("--demmo").output().await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--help"));
}
