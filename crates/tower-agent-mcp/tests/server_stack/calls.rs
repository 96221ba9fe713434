use std::sync::Arc;

use futures_util::future::join_all;
use rmcp::{ServiceError, model::ErrorCode};
use serde_json::json;
use tokio::sync::Barrier;
use tower::ServiceBuilder;
use tower_agent::{
    BoxError, Denial, Error, ErrorKind, RedactLayer, ToolCall, ToolOutput, ToolSet, hooks::before,
};
use tower_agent_mcp::server::{Caller, McpServer};

use crate::support::{connect, connect_as, fixed, serve, sessions, stateless, text, tool};

fn echo() -> ToolSet {
    tool("echo", |call| async move { call.arguments.as_str().to_owned() })
}

#[tokio::test]
async fn a_stack_is_listed_and_called_in_both_generations() {
    for generation in [sessions(), stateless()] {
        let pair = connect_as(serve(echo()), generation, Default::default()).await;

        let result = pair.call("echo", json!({ "a": 9_007_199_254_740_993_u64 })).await;

        assert_eq!(pair.tools().await, ["echo"]);
        assert_eq!(text(&result), r#"{"a":9007199254740993}"#);
        assert_eq!(result.is_error, Some(false));
    }
}

#[tokio::test]
async fn a_call_without_arguments_has_an_empty_object() {
    let pair = connect(serve(echo())).await;

    let request = rmcp::model::CallToolRequestParams::new("echo");
    let result = pair.client.call_tool(request).await.unwrap();

    assert_eq!(text(&result), "{}");
}

#[tokio::test]
async fn an_error_reads_as_its_text_for_models_alone() {
    let tools = tool("read", |_| async {
        let error = Error::new(ErrorKind::Timeout, "10.0.0.7 took 30 s");
        Err::<&str, BoxError>(error.into())
    });

    let result = connect(serve(tools)).await.call("read", json!({})).await;

    assert_eq!(result.is_error, Some(true));
    assert_eq!(text(&result), "The call took too long and was stopped.");
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol() {
    let error = connect(serve(echo())).await.try_call("ecco", json!({})).await.unwrap_err();

    let ServiceError::McpError(error) = error else { panic!("{error}") };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert_eq!(error.message, "Unknown tool: ecco");
}

#[tokio::test]
async fn a_hook_may_lead_an_unknown_name_to_a_tool() {
    let tools = ToolSet::builder()
        .tools(&echo())
        .layer(before(|call: &mut ToolCall| {
            if call.name == *"ecco" {
                call.name = "echo".into();
            }
        }))
        .build()
        .unwrap();

    let result = connect(serve(tools)).await.call("ecco", json!({})).await;

    assert_eq!(text(&result), "{}");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_answered_for_the_model() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Add {
        a: i64,
    }
    let add = tower_agent::tool_fn("add", "Adds", |add: Add, _| async move { add.a.to_string() });
    let tools = ToolSet::builder().tool(add).build().unwrap();

    let result = connect(serve(tools)).await.call("add", json!({ "a": "one" })).await;

    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).starts_with("The arguments do not fit the tool \"add\""), "{result:?}");
}

#[tokio::test]
async fn a_refusal_is_a_result_and_the_tool_does_not_run() {
    let tools = ToolSet::builder()
        .tools(&tool("drop_table", |_| async { panic!("it ran") as &str }))
        .layer(before(|_: &mut ToolCall| Denial::new("Not on a Sunday.")))
        .build()
        .unwrap();

    let result = connect(serve(tools)).await.call("drop_table", json!({})).await;

    assert_eq!(result.is_error, Some(true));
    assert_eq!(text(&result), "Not on a Sunday.");
}

#[tokio::test]
async fn a_panic_is_answered_and_the_server_goes_on() {
    let tools = ToolSet::builder()
        .tools(&echo())
        .tools(&tool("crash", |_| async { panic!("secret detail") as &str }))
        .build()
        .unwrap();
    let pair = connect(serve(tools)).await;

    let crashed = pair.call("crash", json!({})).await;
    let next = pair.call("echo", json!({})).await;

    assert_eq!(crashed.is_error, Some(true));
    assert!(!text(&crashed).contains("secret"), "{crashed:?}");
    assert_eq!(text(&next), "{}");
}

#[tokio::test]
async fn several_calls_run_at_once() {
    let barrier = Arc::new(Barrier::new(8));
    let tools = tool("meet", move |call| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            call.arguments.as_str().to_owned()
        }
    });
    let pair = connect(serve(tools)).await;

    let calls = (0..8).map(|number| pair.call("meet", json!({ "number": number })));
    let results = join_all(calls).await;

    let texts: Vec<_> = results.iter().map(text).collect();
    let wanted: Vec<_> = (0..8).map(|number| format!(r#"{{"number":{number}}}"#)).collect();
    assert_eq!(texts, wanted);
}

#[tokio::test]
async fn a_call_too_many_is_answered_and_does_not_run() {
    let stuck = crate::support::stuck();
    let server = McpServer::builder(stuck.tools).max_calls(1).build().unwrap();
    let pair = connect(server).await;
    let first = pair.call("stuck", json!({}));
    tokio::pin!(first);

    tokio::select! {
        _ = &mut first => panic!("it never answers"),
        () = stuck.started.notified() => {}
    }
    let second = pair.call("stuck", json!({})).await;

    assert_eq!(text(&second), "The system is overloaded; the call did not run. Try again later.");
    assert_eq!(second.is_error, Some(true));
}

#[tokio::test]
async fn what_a_layer_masks_does_not_reach_the_client() {
    let tools = ToolSet::builder()
        .tools(&fixed("read", ToolOutput::text("password = hunter22")))
        .layer(ServiceBuilder::new().layer(RedactLayer::default()))
        .build()
        .unwrap();

    let result = connect(serve(tools)).await.call("read", json!({})).await;

    assert_eq!(text(&result), "password = [REDACTED:generic-password]");
}

#[tokio::test]
async fn a_tool_knows_its_client_and_the_request() {
    let tools = tool("who", |call| async move {
        let caller = Caller::of(&call.ctx).unwrap();
        let meta = caller.meta().get_traceparent().unwrap_or("none").to_owned();
        format!("{} {} {}", caller.client().unwrap().name, caller.protocol_version().unwrap(), meta)
    });
    let pair = connect_as(serve(tools), stateless(), Default::default()).await;

    let mut request = crate::support::call("who", json!({}));
    let mut meta = rmcp::model::RequestMetaObject::new();
    meta.0.set_traceparent("00-1-2-03");
    request.meta = Some(meta);
    let result = pair.client.call_tool(request).await.unwrap();

    assert_eq!(text(&result), "listener 2026-07-28 00-1-2-03");
}

#[tokio::test]
async fn parameters_that_cannot_be_read_are_named_as_what_is_wrong() {
    let pair = connect(serve(echo())).await;
    for (method, params, code) in [
        ("tools/call", json!({ "name": "echo", "arguments": [1] }), ErrorCode::INVALID_PARAMS),
        ("tools/call", json!({ "name": 3 }), ErrorCode::INVALID_PARAMS),
        ("tools/guess", json!({}), ErrorCode::METHOD_NOT_FOUND),
    ] {
        let request = rmcp::model::CustomRequest::new(method, Some(params));
        let request = rmcp::model::ClientRequest::CustomRequest(request);

        let error = pair.client.send_request(request).await.unwrap_err();

        let ServiceError::McpError(error) = error else { panic!("{error}") };
        assert_eq!(error.code, code, "{error}");
    }
}
