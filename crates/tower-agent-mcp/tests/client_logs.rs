//! What servers log, and who hears it.
#![cfg(test)]
#![expect(deprecated, reason = "log messages are gone from later versions of the protocol")]

mod client_support;

use std::sync::{Arc, Mutex};

use client_support::{Server, connect, connect_with, door, tool};
use rmcp::model::LoggingLevel;
use serde_json::{Value, json};
use tower::ServiceExt;
use tower_agent_core::{Run, ToolCall};
use tower_agent_mcp::client::{Backoff, Log, McpClient, OnLog, ServerEvent};

type Lines = Arc<Mutex<Vec<String>>>;

fn call(run: &str, session: &str) -> (ToolCall, Lines) {
    let lines = Lines::default();
    let notes = Arc::clone(&lines);
    let hear = OnLog::new(move |log| notes.lock().unwrap().push(log.data.as_str().to_owned()));
    let ctx = Run::builder(run.to_owned()).session(session.to_owned()).build();
    let mut call = ToolCall::new("work", "{}").with_context(ctx);
    call.ctx.extensions.insert(hear);
    (call, lines)
}

async fn log(server: &mut Server, data: &str) {
    server
        .notify("notifications/message", json!({"level": "notice", "logger": "db", "data": data}))
        .await;
}

fn told(event: ServerEvent) -> Log {
    let ServerEvent::Log(log) = event else { panic!("{event:?}") };
    log
}

fn done() -> Value {
    json!({"content": []})
}

#[tokio::test(start_paused = true)]
async fn what_a_server_logs_is_heard_by_those_who_call_and_each_line_once() {
    let (client, mut server, _door) = connect(json!([tool("work")])).await;
    let mut events = client.events();
    let (first, first_lines) = call("r1", "s1");
    let (second, second_lines) = call("r2", "s1");
    let (other, other_lines) = call("r3", "s2");
    log(&mut server, "before").await;
    let before = told(events.recv().await.unwrap());
    assert_eq!((&*before.level, before.logger.as_deref()), ("notice", Some("db")));
    assert_eq!((before.severity(), before.is_heard), (LoggingLevel::Notice, false));
    let serve = async {
        let open = [
            server.expect("tools/call").await,
            server.expect("tools/call").await,
            server.expect("tools/call").await,
        ];
        log(&mut server, "during").await;
        for call in open {
            server.answer(&call, done()).await;
        }
    };
    let (client_1, client_2) = (client.clone(), client.clone());
    let calls = async {
        tokio::join!(client_1.oneshot(first), client_2.oneshot(second), client.oneshot(other))
    };
    let ((one, two, three), ()) = tokio::join!(calls, serve);
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    assert!(told(events.recv().await.unwrap()).is_heard);
    let heard = |lines: &Lines| lines.lock().unwrap().clone();
    assert_eq!([heard(&first_lines), heard(&second_lines)].concat(), [r#""during""#]);
    assert_eq!(heard(&other_lines), [r#""during""#]);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_panics_costs_nobody_his_connection() {
    let (client, mut server, _door) = connect(json!([tool("work")])).await;
    let mut call = ToolCall::new("work", "{}");
    call.ctx.extensions.insert(OnLog::new(|_| panic!("no")));
    let serve = async {
        let call = server.expect("tools/call").await;
        log(&mut server, "during").await;
        server.answer(&call, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call), serve);
    output.unwrap();
}

/// Greets as a server of 2025-11-25 that logs.
async fn greet(server: &mut Server) {
    let discover = server.expect("server/discover").await;
    server.refuse(&discover, -32601, "Method not found").await;
    let initialize = server.expect("initialize").await;
    let result = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "logging": {}},
        "serverInfo": {"name": "fake", "version": "1"},
    });
    server.answer(&initialize, result).await;
    server.expect("notifications/initialized").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_is_told_how_much_to_log_and_told_again_when_it_comes_back() {
    let (streams, mut doorway) = door();
    let serve = async {
        let mut server = doorway.recv().await.unwrap();
        greet(&mut server).await;
        server.list(json!([])).await;
        server
    };
    let mut backoff = Backoff::default();
    backoff.attempts = Some(1);
    let builder = McpClient::builder("fake", streams).backoff(backoff);
    let (client, mut server) = tokio::join!(builder.connect(), serve);
    let client = client.unwrap();
    let serve = async {
        let set = server.expect("logging/setLevel").await;
        assert_eq!(set["params"]["level"], "debug");
        server.answer(&set, json!({})).await;
    };
    let (set, ()) = tokio::join!(client.set_log_level(LoggingLevel::Debug), serve);
    set.unwrap();
    drop(server);

    let mut server = doorway.recv().await.unwrap();
    greet(&mut server).await;
    let set = server.expect("logging/setLevel").await;
    assert_eq!(set["params"]["level"], "debug");
    // One that cannot is served all the same.
    server.refuse(&set, -32603, "no").await;
    server.list(json!([tool("late")])).await;
    let mut changes = client.changes();
    changes.wait_for(|state| state.available().len() == 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_log_is_told_nothing() {
    let (client, mut server, _door) = connect_with(json!([tool("work")]), |builder| builder).await;
    client.set_log_level(LoggingLevel::Debug).await.unwrap();
    let serve = async {
        let call = server.expect("tools/call").await;
        let meta = &call["params"]["_meta"];
        assert_eq!(meta.get("io.modelcontextprotocol/logLevel"), None);
        server.answer(&call, done()).await;
    };
    let mut call = ToolCall::new("work", "{}");
    call.ctx.extensions.insert(OnLog::new(|_| {}).from_level(LoggingLevel::Debug));
    let (output, ()) = tokio::join!(client.oneshot(call), serve);
    output.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_newer_server_is_told_with_each_call_how_much_to_log() {
    let (streams, mut doorway) = door();
    let serve = async {
        let mut server = doorway.recv().await.unwrap();
        server.discover().await;
        let list = server.expect("tools/list").await;
        server.answer(&list, json!({"resultType": "complete", "tools": [tool("work")], "ttlMs": 0, "cacheScope": "private"})).await;
        server.expect("subscriptions/listen").await;
        server
    };
    let (client, mut server) = tokio::join!(McpClient::builder("fake", streams).connect(), serve);
    let client = client.unwrap();
    client.set_log_level(LoggingLevel::Debug).await.unwrap();
    for (level, expected) in [(None, Value::Null), (Some(LoggingLevel::Warning), json!("warning"))]
    {
        let mut call = ToolCall::new("work", "{}");
        let hear = OnLog::new(|_| {});
        call.ctx.extensions.insert(match level {
            Some(level) => hear.from_level(level),
            None => hear,
        });
        let serve = async {
            let call = server.expect("tools/call").await;
            let meta = &call["params"]["_meta"];
            assert_eq!(meta["io.modelcontextprotocol/logLevel"], expected);
            server.answer(&call, json!({"resultType": "complete", "content": []})).await;
        };
        let (output, ()) = tokio::join!(client.clone().oneshot(call), serve);
        output.unwrap();
    }
}
