//! A server behind a URL.
#![cfg(test)]

mod client_support;

use std::{sync::Arc, time::Duration};

use client_support::real::Real;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::{net::TcpListener, sync::mpsc, task::JoinSet};
use tower::ServiceExt;
use tower_agent_core::{Content, Error, ErrorKind, Json, Run, ToolCall};
use tower_agent_mcp::client::{
    Ask, Backoff, Http, Limits, McpClient, Protocol, Question, ServerEvent, Status,
};

struct Host {
    url: String,
    told: mpsc::UnboundedReceiver<&'static str>,
    _tasks: JoinSet<()>,
}

/// A server that answers by streams, or with `json` by plain bodies.
async fn host(json: bool) -> Host {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    host_on(listener, json)
}

fn host_on(listener: TcpListener, json: bool) -> Host {
    let (sender, told) = mpsc::unbounded_channel();
    let config = StreamableHttpServerConfig::default().with_json_response(json);
    let service = StreamableHttpService::new(
        move || Ok(Real { told: Some(sender.clone()) }),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = axum::Router::new().route_service("/mcp", service);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    Host { url, told, _tasks: tasks }
}

async fn connect(url: &str, protocol: Protocol) -> McpClient {
    let mut backoff = Backoff::default();
    backoff.first = Duration::from_millis(1);
    McpClient::builder("real", Http::new(url))
        .protocol(protocol)
        .backoff(backoff)
        .connect()
        .await
        .unwrap()
}

#[tokio::test]
async fn both_generations_work_by_streams_and_by_bodies() {
    for json in [false, true] {
        for (protocol, version) in
            [(Protocol::Handshake, "2025-11-25"), (Protocol::Auto, "2026-07-28")]
        {
            let host = host(json).await;
            let client = connect(&host.url, protocol).await;
            let server = client.snapshot().server.unwrap();
            assert_eq!((&*server.name, &*server.protocol), ("real", version), "{json}");
            let call = ToolCall::new("echo", r#"{"b": 1.50, "a": [ 18446744073709551615 ]}"#);
            let output = client.clone().oneshot(call).await.unwrap();
            assert_eq!(
                output.structured.unwrap().as_str(),
                r#"{"a":[18446744073709551615],"b":1.5}"#
            );
            assert_eq!(output.meta.unwrap().value().unwrap()["k"], 1);
            let output = client.oneshot(ToolCall::new("routed", r#"{"to": "x"}"#)).await.unwrap();
            assert_eq!(output.joined_text(), "x");
        }
    }
}

#[tokio::test]
async fn progress_comes_over_http() {
    let host = host(false).await;
    for protocol in [Protocol::Handshake, Protocol::Stateless] {
        let client = connect(&host.url, protocol).await;
        let mut events = client.events();
        let output = client.oneshot(ToolCall::new("steps", "{}")).await.unwrap();
        assert_eq!(output.joined_text(), "done");
        let ServerEvent::Progress(first) = events.try_recv().unwrap() else {
            panic!("no progress")
        };
        assert_eq!(first.progress, 1.0);
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_over_http() {
    let mut host = host(false).await;
    for protocol in [Protocol::Handshake, Protocol::Stateless] {
        let client = connect(&host.url, protocol).await;
        let open = client.clone().oneshot(ToolCall::new("wait", "{}"));
        tokio::select! {
            output = open => panic!("{output:?}"),
            told = host.told.recv() => assert_eq!(told, Some("waits")),
        }
        assert_eq!(host.told.recv().await, Some("cancelled"), "{protocol:?}");
    }
}

#[tokio::test]
async fn a_server_that_restarts_is_connected_again() {
    let host = host(false).await;
    let client = connect(&host.url, Protocol::Auto).await;
    let address = host.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    drop(host);
    let error = client.clone().oneshot(ToolCall::new("echo", "{}")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let mut changes = client.changes();
    changes.wait_for(|state| state.status != Status::Connected).await.unwrap();
    let _host = host_on(TcpListener::bind(&address).await.unwrap(), false);
    changes.wait_for(|state| state.status == Status::Connected).await.unwrap();
    client.oneshot(ToolCall::new("echo", "{}")).await.unwrap();
}

#[tokio::test]
async fn who_may_not_come_in_is_told_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = axum::Router::new().fallback(async |request: axum::extract::Request| {
        assert_eq!(request.headers()["authorization"], "Bearer stale");
        assert_eq!(request.headers()["x-team"], "blue");
        (axum::http::StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer")])
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    let server = Http::new(url).bearer("stale").header("x-team", "blue");
    let error = McpClient::builder("real", server).connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized, "{error}");
    assert!(!format!("{error:?}").contains("stale"));
}

#[tokio::test]
async fn each_question_over_http_is_its_own_callers_whoever_else_calls() {
    let host = host(false).await;
    let both = Arc::new(tokio::sync::Barrier::new(2));
    let service = tower::service_fn(move |question: Question| {
        let both = Arc::clone(&both);
        async move {
            // Neither is answered before both are asked.
            both.wait().await;
            let user = question.ctx.run().user().unwrap();
            let message = question.params.value().unwrap()["message"].clone();
            let content = serde_json::json!({"user": user, "message": message});
            let answer = serde_json::json!({"action": "accept", "content": content});
            Ok::<_, Error>(Json::from_value(answer))
        }
    });
    let client = McpClient::builder("real", Http::new(&*host.url))
        .protocol(Protocol::Handshake)
        .answer(Ask::ALL, service)
        .connect()
        .await
        .unwrap();
    let ask = |user: &str| {
        let ctx = Run::builder(user.to_owned()).user(user.to_owned()).build();
        let call = ToolCall::new("ask", format!(r#"{{"message": "for {user}"}}"#));
        client.clone().oneshot(call.with_context(ctx))
    };
    let (ada, ben) = tokio::join!(ask("ada"), ask("ben"));
    for (user, output) in [("ada", ada), ("ben", ben)] {
        let content = format!(r#"{{"message":"for {user}","user":"{user}"}}"#);
        let expected = format!(r#"{{"action":"accept","content":{content}}}"#);
        assert_eq!(output.unwrap().joined_text(), expected);
    }
}

/// A server of 2025-11-25 that sends just these results, as bodies or as streams of events.
async fn bare(events: bool) -> Host {
    use axum::{body::Bytes, http::header::CONTENT_TYPE, response::IntoResponse};

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (sender, told) = mpsc::unbounded_channel();
    let answer = move |body: Bytes| async move {
        let message: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let Some(id) = message.get("id") else {
            return axum::http::StatusCode::ACCEPTED.into_response();
        };
        let result = match message["method"].as_str().unwrap() {
            "initialize" => {
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bare","version":"1"}}"#
            }
            "tools/list" => {
                r#"{"tools":[{"name":"show","inputSchema":{"type":"object"},"later":1.0}]}"#
            }
            "tools/call" => {
                let text = std::str::from_utf8(&body).unwrap();
                assert!(text.contains(ARGUMENTS), "{text}");
                RESULT
            }
            method => panic!("{method}"),
        };
        let reply = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let (kind, body) = if events {
            ("text/event-stream", format!("data: {reply}\n\n"))
        } else {
            ("application/json", reply)
        };
        ([(CONTENT_TYPE, kind)], body).into_response()
    };
    let router = axum::Router::new().route("/mcp", axum::routing::post(answer));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let _open = sender;
        axum::serve(listener, router).await.unwrap();
    });
    Host { url, told, _tasks: tasks }
}

const ARGUMENTS: &str = r#"{"z": 123456789012345678901234567890, "a": 1.0}"#;
const RESULT: &str = r#"{"content":[{"type":"hologram","w":1.50}],"structuredContent":                                                          null,"cost":123456789012345678901234567890}"#;

#[tokio::test]
async fn nothing_is_lost_over_http() {
    for events in [false, true] {
        let host = bare(events).await;
        let client = connect(&host.url, Protocol::Handshake).await;
        assert_eq!(client.tools()[0].extra.as_ref().unwrap().as_str(), r#"{"later":1.0}"#);
        let output = client.oneshot(ToolCall::new("show", ARGUMENTS)).await.unwrap();
        let [Content::Opaque { json }] = &output.content[..] else { panic!("{output:?}") };
        assert_eq!(json.as_str(), r#"{"type":"hologram","w":1.50}"#);
        assert_eq!(output.structured.unwrap().as_str(), "null");
        assert_eq!(output.extra.unwrap().as_str(), r#"{"cost":123456789012345678901234567890}"#);
    }
}

#[tokio::test]
async fn what_is_too_long_is_refused_over_http() {
    for events in [false, true] {
        let host = bare(events).await;
        let mut limits = Limits::default();
        limits.message = 180;
        let client = McpClient::builder("real", Http::new(&*host.url))
            .protocol(Protocol::Handshake)
            .limits(limits)
            .timeout(Duration::from_secs(5))
            .connect()
            .await
            .unwrap();
        let error = client.oneshot(ToolCall::new("show", ARGUMENTS)).await.unwrap_err();
        assert_eq!(error.effect(), tower_agent_core::Effect::Unknown, "{error}");
        assert!(!error.is_timeout(), "{error}");
    }
}
