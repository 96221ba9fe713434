//! What happens to calls when time passes, callers leave, and servers change or go away.
#![cfg(test)]

mod client_support;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use client_support::{connect, connect_with, door, tool};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt;
use tower_agent_core::{CallId, Effect, ErrorKind, Outcome, Run, ToolCall};
use tower_agent_mcp::client::{
    Backoff, Limits, McpClient, OnProgress, ServerEvent, Snapshot, Status,
};

const SECOND: Duration = Duration::from_secs(1);

fn call(name: &str) -> ToolCall {
    ToolCall::new(name, "{}").with_id("c1")
}

fn done() -> Value {
    json!({"content": [{"type": "text", "text": "done"}]})
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_at_the_server() {
    let (client, mut server, _door) = connect(json!([tool("slow")])).await;
    let open = {
        let open = client.clone().oneshot(call("slow"));
        tokio::select! {
            output = open => panic!("{output:?}"),
            open = server.expect("tools/call") => open,
        }
    };
    let cancelled = server.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], open["id"]);
    assert_eq!(cancelled["params"]["reason"], "the call was dropped");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_cancels_its_calls() {
    let (client, mut server, _door) = connect(json!([tool("slow")])).await;
    let ctx = Run::builder("r1").build();
    let serve = async {
        let open = server.expect("tools/call").await;
        ctx.cancellation().cancel();
        let cancelled = server.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], open["id"]);
    };
    let (output, ()) =
        tokio::join!(client.clone().oneshot(call("slow").with_context(ctx.clone())), serve);
    let error = output.unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!(error.effect(), Effect::Unknown);
}

#[tokio::test(start_paused = true)]
async fn progress_puts_off_the_timeout_and_is_told() {
    let (client, mut server, _door) =
        connect_with(json!([tool("slow")]), |builder| builder.timeout(10 * SECOND)).await;
    let mut events = client.events();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut call = call("slow");
    let notes = Arc::clone(&heard);
    call.ctx.extensions.insert(OnProgress::new(move |progress| {
        notes.lock().unwrap().push(progress.progress);
    }));
    let begun = Instant::now();
    let serve = async {
        let open = server.expect("tools/call").await;
        for step in 1..=5 {
            tokio::time::sleep(9 * SECOND).await;
            server.progress(&open, f64::from(step)).await;
        }
        server.answer(&open, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call), serve);
    assert_eq!(output.unwrap().joined_text(), "done");
    assert_eq!(begun.elapsed().as_secs(), 45);
    assert_eq!(*heard.lock().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    let ServerEvent::Progress(first) = events.try_recv().unwrap() else { panic!("no progress") };
    assert_eq!((first.call, &*first.tool, first.progress), (CallId::from("c1"), "slow", 1.0));
}

#[tokio::test(start_paused = true)]
async fn progress_of_another_call_puts_off_nothing() {
    let (client, mut server, _door) =
        connect_with(json!([tool("slow")]), |builder| builder.timeout(10 * SECOND)).await;
    let serve = async {
        let _first = server.expect("tools/call").await;
        let second = server.expect("tools/call").await;
        for step in 1..=3 {
            tokio::time::sleep(6 * SECOND).await;
            server.progress(&second, f64::from(step)).await;
        }
        server.answer(&second, done()).await;
    };
    let (first, second, ()) =
        tokio::join!(client.clone().oneshot(call("slow")), client.oneshot(call("slow")), serve);
    assert!(first.unwrap_err().is_timeout());
    assert_eq!(second.unwrap().joined_text(), "done");
}

#[tokio::test(start_paused = true)]
async fn no_progress_puts_off_the_end_of_all_patience() {
    let (client, mut server, _door) = connect_with(json!([tool("slow")]), |builder| {
        builder.timeout(10 * SECOND).total_timeout(30 * SECOND)
    })
    .await;
    let begun = Instant::now();
    let serve = async {
        let open = server.expect("tools/call").await;
        for step in 1.. {
            tokio::time::sleep(9 * SECOND).await;
            if begun.elapsed() > 30 * SECOND {
                break;
            }
            server.progress(&open, f64::from(step)).await;
        }
        server.expect("notifications/cancelled").await
    };
    let (output, cancelled) = tokio::join!(client.clone().oneshot(call("slow")), serve);
    let error = output.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Timeout, Effect::Unknown));
    assert_eq!(error.to_string(), "mcp: server `fake` did not finish after 30s");
    assert_eq!(cancelled["params"]["reason"], "the call took too long");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_run_ends_a_call() {
    let (client, _server, _door) = connect(json!([tool("slow")])).await;
    let begun = Instant::now();
    let ctx = Run::builder("r1").deadline((begun + 5 * SECOND).into_std()).build();
    let error = client.oneshot(call("slow").with_context(ctx)).await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(begun.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_answers_its_open_calls_and_is_connected_again() {
    let (client, mut server, mut doorway) = connect(json!([tool("slow")])).await;
    let mut changes = client.changes();
    let begun = Instant::now();
    let die = async {
        server.expect("tools/call").await;
        drop(server);
    };
    let (output, ()) = tokio::join!(client.clone().oneshot(call("slow")), die);
    let error = output.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Unavailable, Effect::Unknown));
    assert_eq!(begun.elapsed(), Duration::ZERO);

    let away = |state: &Snapshot| matches!(state.status, Status::Unavailable { .. });
    let state = changes.wait_for(away).await.unwrap().clone();
    assert_eq!(state.tools.len(), 1);
    assert!(state.available().is_empty());
    let error = client.clone().oneshot(call("slow")).await.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Unavailable, Effect::NotStarted));

    let mut server = doorway.recv().await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(500));
    server.greet().await;
    server.list(json!([tool("slow"), tool("new")])).await;
    let state = changes.wait_for(|state| state.status == Status::Connected).await.unwrap().clone();
    assert_eq!(state.available().len(), 2);
    let serve = async {
        let open = server.expect("tools/call").await;
        server.answer(&open, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call("new")), serve);
    assert_eq!(output.unwrap().outcome, Outcome::Success);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stays_away_is_given_up_when_asked_to() {
    let mut backoff = Backoff::default();
    backoff.attempts = Some(3);
    let (client, server, doorway) =
        connect_with(json!([tool("slow")]), |builder| builder.backoff(backoff)).await;
    drop((server, doorway));
    let begun = Instant::now();
    let mut changes = client.changes();
    let closed = |state: &Snapshot| matches!(state.status, Status::Closed { .. });
    changes.wait_for(closed).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_millis(500 + 1000 + 2000));
    let error = client.oneshot(call("slow")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_is_read_again() {
    let (client, mut server, _door) = connect(json!([tool("old")])).await;
    let before = client.tools();
    let mut changes = client.changes();
    server.notify("notifications/tools/list_changed", json!({})).await;
    server.list(json!([tool("new")])).await;
    changes.changed().await.unwrap();
    let names: Vec<_> = client.tools().iter().map(|spec| spec.name.clone()).collect();
    assert_eq!(names, ["new"]);

    let old = client.clone().oneshot(call("old")).await.unwrap();
    assert_eq!(old.joined_text(), "There is no tool \"old\"; nothing ran.");
    assert!(!before.ptr_eq(&client.tools()));

    // An equal list is the same list.
    let now = client.tools();
    server.notify("notifications/tools/list_changed", json!({})).await;
    server.list(json!([tool("new")])).await;
    server.notify("notifications/tools/list_changed", json!({})).await;
    server.expect("tools/list").await;
    assert!(now.ptr_eq(&client.tools()));
}

#[tokio::test(start_paused = true)]
async fn a_list_is_read_to_its_last_page() {
    let (streams, mut doorway) = door();
    let serve = async {
        let mut server = doorway.recv().await.unwrap();
        server.greet().await;
        let first = server.expect("tools/list").await;
        assert_eq!(first.pointer("/params/cursor"), None);
        server.answer(&first, json!({"tools": [tool("a")], "nextCursor": "p2"})).await;
        let second = server.expect("tools/list").await;
        assert_eq!(second["params"]["cursor"], "p2");
        server.answer(&second, json!({"tools": [tool("b")]})).await;
        server
    };
    let (client, _server) = tokio::join!(McpClient::builder("fake", streams).connect(), serve);
    assert_eq!(client.unwrap().tools().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_list_without_end_is_refused() {
    let (streams, mut doorway) = door();
    let serve = async {
        let mut server = doorway.recv().await.unwrap();
        server.greet().await;
        for _ in 0..2 {
            let list = server.expect("tools/list").await;
            server.answer(&list, json!({"tools": [], "nextCursor": "again"})).await;
        }
        server
    };
    let (client, _server) = tokio::join!(McpClient::builder("fake", streams).connect(), serve);
    let error = client.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert_eq!(
        error.to_string(),
        "mcp: server `fake` sent a malformed reply: its list of tools has no end"
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_too_large_is_refused_and_the_rest_works() {
    let mut limits = Limits::default();
    (limits.tool, limits.result, limits.message) = (300, 1000, 4000);
    let long =
        json!({"name": "long", "description": "x".repeat(300), "inputSchema": {"type": "object"}});
    let (client, mut server, _door) =
        connect_with(json!([tool("short"), long]), |builder| builder.limits(limits)).await;
    let state = client.snapshot();
    assert_eq!(state.tools.len(), 1);
    assert_eq!(&*state.refused[0].tool, "long");
    assert!(
        state.refused[0].reason.ends_with("and 300 are allowed"),
        "{}",
        state.refused[0].reason
    );

    let sizes = [
        (2000, Effect::Completed, "has 2031 bytes, and 1000 are allowed"),
        (9000, Effect::Unknown, "a message is longer than 4000 bytes"),
    ];
    for (size, effect, text) in sizes {
        let serve = async {
            let open = server.expect("tools/call").await;
            let result = json!({"content": [{"type": "text", "text": "x".repeat(size - 8)}]});
            server.answer(&open, result).await;
        };
        let (output, ()) = tokio::join!(client.clone().oneshot(call("short")), serve);
        let error = output.unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(error.effect(), effect);
    }
    let serve = async {
        let open = server.expect("tools/call").await;
        server.answer(&open, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call("short")), serve);
    assert_eq!(output.unwrap().joined_text(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_malformed_reply_is_an_error_at_once() {
    let (client, mut server, _door) = connect(json!([tool("odd")])).await;
    let replies = [
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"content":"#, "a message is malformed"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":[]}"#, "the result is no object"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"content":7}}"#, "`content` is no list"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"riddle"}}"#, "of an unknown type"),
    ];
    let begun = Instant::now();
    for (reply, why) in replies {
        let serve = async {
            let open = server.expect("tools/call").await;
            server.say("some noise of a library").await;
            server.say(&reply.replace("ID", &open["id"].to_string())).await;
        };
        let (output, ()) = tokio::join!(client.clone().oneshot(call("odd")), serve);
        let error = output.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_failures_of_a_server_keep_their_kind() {
    let (client, mut server, _door) = connect(json!([tool("odd")])).await;
    let table = [
        (-32602, ErrorKind::InvalidArguments, Effect::NotStarted),
        (-32601, ErrorKind::NotFound, Effect::NotStarted),
        (-32603, ErrorKind::Upstream { status: None }, Effect::Unknown),
        (-32000, ErrorKind::Upstream { status: None }, Effect::Unknown),
    ];
    for (code, kind, effect) in table {
        let serve = async {
            let open = server.expect("tools/call").await;
            server.refuse(&open, code, "not like this").await;
        };
        let (output, ()) = tokio::join!(client.clone().oneshot(call("odd")), serve);
        let error = output.unwrap_err();
        assert_eq!((error.kind(), error.effect()), (kind, effect), "{code}");
        assert!(error.to_string().ends_with("not like this"), "{error}");
    }
    let serve = async {
        let open = server.expect("tools/call").await;
        let text = json!({"isError": true, "content": [{"type": "text", "text": "no such file"}]});
        server.answer(&open, text).await;
    };
    let (output, ()) = tokio::join!(client.clone().oneshot(call("odd")), serve);
    let output = output.unwrap();
    let Outcome::Failed(failure) = &output.outcome else { panic!("{output:?}") };
    assert_eq!((failure.kind, failure.effect), (ErrorKind::Tool, Effect::Completed));
    assert_eq!(output.joined_text(), "no such file");
}

#[tokio::test(start_paused = true)]
async fn what_a_server_logs_is_an_event() {
    let (client, mut server, _door) = connect(json!([])).await;
    let mut events = client.events();
    let log = json!({"level": "warning", "logger": "disk", "data": {"free": 3}});
    server.notify("notifications/message", log).await;
    let ServerEvent::Log(log) = events.recv().await.unwrap() else { panic!("no log") };
    assert_eq!((&*log.level, log.logger.as_deref()), ("warning", Some("disk")));
    assert_eq!(log.data.as_str(), r#"{"free":3}"#);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_no_tool_takes_do_not_reach_the_server() {
    let (client, mut server, _door) = connect(json!([tool("odd")])).await;
    for arguments in ["[1]", "7", "{\"a\":"] {
        let output = client.clone().oneshot(ToolCall::new("odd", arguments)).await.unwrap();
        let Outcome::Failed(failure) = &output.outcome else { panic!("{output:?}") };
        assert_eq!(
            (failure.kind, failure.effect),
            (ErrorKind::InvalidArguments, Effect::NotStarted)
        );
    }
    // No text at all is an empty object.
    let serve = async {
        let open = server.expect("tools/call").await;
        assert_eq!(open["params"]["arguments"], json!({}));
        server.answer(&open, done()).await;
    };
    tokio::join!(client.oneshot(ToolCall::new("odd", "")), serve).0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_closed_client_answers_at_once() {
    let (client, server, _door) = connect(json!([tool("slow")])).await;
    let open = client.clone().oneshot(call("slow"));
    let close = async {
        tokio::task::yield_now().await;
        client.close().await;
    };
    let (output, ()) = tokio::join!(open, close);
    assert_eq!(output.unwrap_err().effect(), Effect::Unknown);
    let error = client.oneshot(call("slow")).await.unwrap_err();
    assert_eq!(error.to_string(), "mcp: server `fake` is not available: the client was closed");
    drop(server);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let (streams, mut doorway) = door();
    let begun = Instant::now();
    let (client, _server) =
        tokio::join!(McpClient::builder("mute", streams).connect(), doorway.recv());
    assert!(client.unwrap_err().is_timeout());
    assert_eq!(begun.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tools_is_a_server() {
    let (streams, mut doorway) = door();
    let serve = async {
        let mut server = doorway.recv().await.unwrap();
        server.greet().await;
        let list = server.expect("tools/list").await;
        server.refuse(&list, -32601, "Method not found").await;
        server
    };
    let (client, mut server) = tokio::join!(McpClient::builder("fake", streams).connect(), serve);
    let client = client.unwrap();
    assert!(client.tools().is_empty());

    client.refresh().unwrap();
    let mut changes = client.changes();
    let odd =
        json!([tool(" "), tool("a\nb"), {"name": "c"}, {"title": "d"}, 7, tool("e"), tool("e")]);
    server.list(odd).await;
    changes.changed().await.unwrap();
    let state = client.snapshot();
    assert_eq!(state.tools.len(), 1);
    assert_eq!(state.refused.len(), 6);
    assert_eq!(&*state.refused[5].reason, "the server has two tools of this name");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_right_after_its_start_is_tried_ever_more_slowly() {
    let (_client, server, mut doorway) = connect(json!([])).await;
    drop(server);
    let mut waits = Vec::new();
    for _ in 0..4 {
        let begun = Instant::now();
        let mut server = doorway.recv().await.unwrap();
        waits.push(begun.elapsed().as_millis());
        server.greet().await;
        server.list(json!([])).await;
    }
    assert_eq!(waits, [500, 1000, 2000, 4000]);
}

#[tokio::test(start_paused = true)]
async fn patience_without_end_is_no_trouble() {
    let (client, mut server, _door) = connect_with(json!([tool("slow")]), |builder| {
        builder.timeout(Duration::MAX).total_timeout(Duration::MAX)
    })
    .await;
    let serve = async {
        let open = server.expect("tools/call").await;
        tokio::time::sleep(100_000 * SECOND).await;
        server.answer(&open, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call("slow")), serve);
    assert_eq!(output.unwrap().joined_text(), "done");
}
