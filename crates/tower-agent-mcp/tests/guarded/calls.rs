use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, ErrorCode, ServerCapabilities, ServerConfig},
    service::RequestContext,
};
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use tower::ServiceBuilder;
use tower_agent::{
    CatchPanicLayer, RedactLayer, ReportErrorsLayer, ToolCall, TruncateLayer, hooks::before,
};
use tower_agent_mcp::{guarded::Guarded, server::Identity};

use crate::support::{Theirs, connect, read};

#[tokio::test]
async fn layers_stand_around_the_handler() {
    let theirs = Theirs::with_result(json!({
        "content": [{ "type": "text", "text": "password = hunter22", "_meta": { "a": 1 } }],
    }));
    let stack = ServiceBuilder::new().layer(TruncateLayer::default()).layer(RedactLayer::default());

    let pair = connect(Guarded::builder(theirs).layer(stack).build()).await;

    let text = json!([{ "type": "text", "text": "password = [REDACTED:generic-password]", "_meta": { "a": 1 } }]);
    assert_eq!(pair.answer().await["content"], text);
}

#[tokio::test]
async fn the_handler_gets_the_request_as_the_layers_left_it() {
    let theirs = Theirs::with_result(json!({ "content": [] }));
    let edit = before(|call: &mut ToolCall| -> Result<(), tower_agent::BoxError> {
        if call.name == *"read" && call.ctx.run().user().is_some_and(|user| *user == "ada") {
            call.arguments.make_mut()?["limit"] = json!(10);
        }
        Ok(())
    });
    let guarded = Guarded::builder(theirs.clone())
        .layer(edit)
        .identity(|_| Ok(Identity::default().with_user("ada")))
        .build();
    let pair = connect(guarded).await;

    let request = read().with_arguments(json!({ "id": 7 }).as_object().unwrap().clone());
    pair.client.call_tool(request).await.unwrap();

    let called = theirs.called();
    assert_eq!(json!(called[0].arguments), json!({ "id": 7, "limit": 10 }));
}

#[tokio::test]
async fn a_request_without_arguments_stays_one() {
    let theirs = Theirs::with_result(json!({ "content": [] }));
    let pair = connect(Guarded::builder(theirs.clone()).build()).await;

    pair.client.call_tool(read()).await.unwrap();

    assert_eq!(theirs.called()[0].arguments, None);
}

#[tokio::test]
async fn a_layer_may_make_a_readable_answer_of_an_error_of_the_protocol() {
    let theirs = Theirs::answering(|| {
        Err(ErrorData::new(ErrorCode::INTERNAL_ERROR, "The disk is full.", None))
    });
    let guarded = Guarded::builder(theirs).layer(ReportErrorsLayer::new()).build();

    let answer = connect(guarded).await.answer().await;

    assert_eq!(answer["isError"], true);
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("The tool \"read\" failed: The disk is full."), "{text}");
}

#[tokio::test]
async fn a_handler_that_panics_is_answered() {
    let theirs = Theirs::answering(|| panic!("at their place"));
    let pair = connect(Guarded::builder(theirs).layer(CatchPanicLayer::new()).build()).await;

    let (first, second) = (pair.answer().await, pair.answer().await);

    assert_eq!((&first["isError"], &second["isError"]), (&json!(true), &json!(true)));
    assert!(!first.to_string().contains("their place"), "{first}");
}

/// A handler that never answers, and says what becomes of it.
struct Stuck {
    started: Arc<Notify>,
    ended: mpsc::UnboundedSender<&'static str>,
}

impl ServerHandler for Stuck {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        struct OnDrop(mpsc::UnboundedSender<&'static str>, RequestContext<RoleServer>);
        impl Drop for OnDrop {
            fn drop(&mut self) {
                let _ = self.0.send(if self.1.ct.is_cancelled() { "cancelled" } else { "dropped" });
            }
        }
        let _guard = OnDrop(self.ended.clone(), context);
        self.started.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_cancelled_call_drops_the_handlers_future_at_once() {
    let started = Arc::new(Notify::new());
    let (sender, mut ended) = mpsc::unbounded_channel();
    let stuck = Stuck { started: Arc::clone(&started), ended: sender };
    let pair = connect(Guarded::builder(stuck).build()).await;

    tokio::select! {
        answer = pair.client.call_tool(read()) => panic!("{answer:?}"),
        () = started.notified() => {}
    }

    assert_eq!(ended.recv().await, Some("cancelled"));
}
