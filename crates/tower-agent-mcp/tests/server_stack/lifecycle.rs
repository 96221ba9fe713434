use std::time::Duration;

use rmcp::{ServiceExt, model::CallToolRequest};
use serde_json::json;
use tokio::time::{Instant, timeout};
use tower_agent_mcp::server::{Caller, Progress, serve as serve_connection};

use crate::support::{Ended, call, connect, listener, serve, stuck, text, tool};

#[tokio::test]
async fn a_cancelled_call_is_dropped_at_once_and_its_token_is_cancelled() {
    let stuck = stuck();
    let pair = connect(serve(stuck.tools)).await;
    let request = CallToolRequest::new(call("stuck", json!({})));
    let handle =
        pair.client.send_cancellable_request(request.into(), Default::default()).await.unwrap();
    stuck.started.notified().await;

    handle.cancel(Some("enough".to_owned())).await.unwrap();

    assert_eq!(stuck.ended.await, Ok(Ended { was_cancelled: true }));
}

#[tokio::test]
async fn giving_up_a_call_cancels_it() {
    let stuck = stuck();
    let pair = connect(serve(stuck.tools)).await;

    tokio::select! {
        _ = pair.call("stuck", json!({})) => panic!("it never answers"),
        () = stuck.started.notified() => {}
    }

    assert_eq!(stuck.ended.await, Ok(Ended { was_cancelled: true }));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_away_ends_the_connection_and_its_calls() {
    let stuck = stuck();
    let (ours, theirs) = tokio::io::duplex(4096);
    let client = async {
        let client = listener(Default::default()).0.serve(theirs).await.unwrap();
        tokio::select! {
            _ = client.call_tool(call("stuck", json!({}))) => panic!("it never answers"),
            () = stuck.started.notified() => {}
        }
        client.cancel().await.unwrap();
        Instant::now()
    };

    let (served, gone) = tokio::join!(serve_connection(serve(stuck.tools), ours), client);

    served.unwrap();
    assert!(stuck.ended.await.is_ok());
    assert!(gone.elapsed() < Duration::from_secs(2), "{:?}", gone.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_call_may_finish_while_the_grace_lasts() {
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
        r#""capabilities":{},"clientInfo":{"name":"pipe","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slower"}}"#,
        "\n",
    );
    let wait = |seconds| {
        move |_| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            "in time"
        }
    };
    let tools = tower_agent::ToolSet::builder()
        .tools(&tool("slow", wait(1)))
        .tools(&tool("slower", wait(4)))
        .build()
        .unwrap();
    let (output, mut read) = tokio::io::duplex(64 * 1024);

    serve_connection(serve(tools), (input.as_bytes(), output))
        .grace(Duration::from_secs(2))
        .await
        .unwrap();

    let mut answers = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut read, &mut answers).await.unwrap();
    assert!(answers.contains(r#""id":1,"result""#), "{answers}");
    assert!(answers.contains("in time"), "{answers}");
    assert!(!answers.contains(r#""id":2,"result""#), "{answers}");
}

#[tokio::test(start_paused = true)]
async fn a_signal_ends_the_connection_and_drops_what_runs() {
    let stuck = stuck();
    let (ours, theirs) = tokio::io::duplex(4096);
    let (signal, signalled) = tokio::sync::oneshot::channel::<()>();
    let server = serve_connection(serve(stuck.tools), ours).with_shutdown(async {
        let _ = signalled.await;
    });
    let client = async {
        let client = listener(Default::default()).0.serve(theirs).await.unwrap();
        let stop = async {
            stuck.started.notified().await;
            signal.send(()).unwrap();
        };
        tokio::join!(client.call_tool(call("stuck", json!({}))), stop).0
    };

    let (served, answer) = tokio::join!(server.into_future(), client);

    served.unwrap();
    assert!(answer.is_err());
    assert_eq!(stuck.ended.await, Ok(Ended { was_cancelled: true }));
}

#[tokio::test]
async fn dropping_the_connection_drops_what_runs() {
    let stuck = stuck();
    let (ours, theirs) = tokio::io::duplex(4096);
    let server = serve_connection(serve(stuck.tools), ours).into_future();
    let client = async {
        let client = listener(Default::default()).0.serve(theirs).await.unwrap();
        let _ = client.call_tool(call("stuck", json!({}))).await;
        std::future::pending::<()>().await
    };

    tokio::select! {
        served = server => panic!("{served:?}"),
        () = client => {}
        () = stuck.started.notified() => {}
    }

    assert!(timeout(Duration::from_secs(60), stuck.ended).await.unwrap().is_ok());
}

#[tokio::test]
async fn a_connection_that_closes_before_anything_was_said_is_no_error() {
    serve_connection(serve(stuck().tools), (tokio::io::empty(), tokio::io::sink())).await.unwrap();
}

#[tokio::test]
async fn progress_reaches_the_client_before_the_answer() {
    let tools = tool("copy", |call| async move {
        for done in [1.0, 2.0, 2.0, 1.0, f64::NAN, 3.0] {
            Progress::report(&call.ctx, done, Some(3.0), "copied a file").await;
        }
        "copied"
    });
    let mut pair = connect(serve(tools)).await;

    let result = pair.call("copy", json!({})).await;

    let mut reports = Vec::new();
    for _ in 0..3 {
        reports.push(pair.progress.recv().await.unwrap());
    }
    assert_eq!(text(&result), "copied");
    assert_eq!(reports.iter().map(|report| report.progress).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
    assert!(reports.iter().all(|report| report.total == Some(3.0)));
    assert_eq!(reports.first().unwrap().message.as_deref(), Some("copied a file"));
    assert!(pair.progress.try_recv().is_err());
}

#[tokio::test]
async fn progress_that_nobody_asked_for_is_not_sent() {
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
        r#""capabilities":{},"clientInfo":{"name":"pipe","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"copy"}}"#,
        "\n",
    );
    let tools = tool("copy", |call| async move {
        let wanted = Caller::of(&call.ctx).unwrap().progress().is_wanted();
        Progress::report(&call.ctx, 1.0, None, None).await;
        format!("wanted: {wanted}")
    });
    let (output, mut read) = tokio::io::duplex(64 * 1024);

    serve_connection(serve(tools), (input.as_bytes(), output)).await.unwrap();

    let mut answers = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut read, &mut answers).await.unwrap();
    assert!(answers.contains("wanted: false"), "{answers}");
    assert!(!answers.contains("notifications/progress"), "{answers}");
}

#[tokio::test]
async fn each_connection_is_a_session_of_its_own() {
    let tools = tool("session", |call| async move {
        let ctx = &call.ctx;
        format!("{} {}", ctx.run().session().unwrap(), ctx.run().id())
    });
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let (ours, theirs) = tokio::io::duplex(4096);
        let client = async {
            let client = listener(Default::default()).0.serve(theirs).await.unwrap();
            let mut told = Vec::new();
            for _ in 0..2 {
                let result = client.call_tool(call("session", json!({}))).await.unwrap();
                told.push(text(&result).to_owned());
            }
            client.cancel().await.unwrap();
            told
        };
        let (served, told) = tokio::join!(serve_connection(serve(tools.clone()), ours), client);
        served.unwrap();
        sessions.push(told);
    }
    let session = |told: &str| told.split(' ').next().unwrap().to_owned();
    let [first, second] = &sessions[..] else { panic!() };

    assert_eq!(session(&first[0]), session(&first[1]));
    assert_ne!(session(&first[0]), session(&second[0]));
    assert_ne!(first[0], first[1], "each call is a run of its own");
}

#[tokio::test]
#[expect(deprecated, reason = "older clients ask for log messages")]
async fn log_messages_reach_a_client_from_the_level_on_that_it_set() {
    use rmcp::model::{LoggingLevel, SetLevelRequestParams};
    let tools = tool("log", |call| async move {
        let caller = Caller::of(&call.ctx).unwrap();
        for level in [LoggingLevel::Debug, LoggingLevel::Info, LoggingLevel::Error] {
            caller.log(level, &format!("{level:?}")).await;
        }
        "logged"
    });
    let server = tower_agent_mcp::server::McpServer::builder(tools.clone()).logging().build();
    let mut pair = connect(server.unwrap()).await;

    pair.call("log", json!({})).await;
    pair.client.set_level(SetLevelRequestParams::new(LoggingLevel::Warning)).await.unwrap();
    pair.call("log", json!({})).await;
    pair.client.set_level(SetLevelRequestParams::new(LoggingLevel::Debug)).await.unwrap();
    pair.call("log", json!({})).await;

    let mut logs = Vec::new();
    for _ in 0..6 {
        logs.push(pair.logs.recv().await.unwrap());
    }
    assert_eq!(logs, ["Info", "Error", "Error", "Debug", "Info", "Error"]);

    let silent = connect(serve(tools)).await;
    let refused = silent.client.set_level(SetLevelRequestParams::new(LoggingLevel::Debug)).await;
    assert!(refused.is_err(), "a server without log messages has no level for them");
}
