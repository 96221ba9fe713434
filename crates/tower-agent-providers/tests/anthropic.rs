//! A model of Anthropic's messages over real sockets, against servers that behave and servers that do not.

#![cfg(feature = "anthropic")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

mod support;

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode, header},
    routing::post,
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower::ServiceExt;
use tower_agent_core::{
    Effect, ErrorKind, FinishReason, Message, ModelEvent, ModelRequest, Part, PartDelta, Usage,
};
use tower_agent_providers::{Anthropic, anthropic::Builder};
use tower_agent_wire::ApiError;

use support::{Server, ask, fault, script, serve};

const PATH: &str = "/v1/messages";

fn builder<T>(server: &Server<T>) -> Builder {
    Anthropic::builder(format!("http://{}/v1", server.addr))
        .read_timeout(Duration::from_secs(20))
        .max_tokens(64)
}

fn model<T>(server: &Server<T>) -> Anthropic {
    builder(server).build().unwrap()
}

fn whole() -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-9",
        "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 2}})
}

fn frame(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn start() -> String {
    frame(
        &json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-9",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 1}}}),
    ) + &frame(
        &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ) + &frame(&json!({"type": "ping"}))
}

fn text(text: &str) -> String {
    frame(
        &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
    )
}

fn reason() -> String {
    frame(&json!({"type": "content_block_stop", "index": 0}))
        + &frame(
            &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 2}}),
        )
}

fn stop() -> String {
    reason() + &frame(&json!({"type": "message_stop"}))
}

/// An app that answers with a status, headers and a body.
fn answer(
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
) -> Router {
    let status = StatusCode::from_u16(status).unwrap();
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| {
            (name.parse::<axum::http::HeaderName>().unwrap(), value.parse().unwrap())
        })
        .collect();
    Router::new().route(PATH, post(move || async move { (status, headers, body) }))
}

#[tokio::test]
async fn a_whole_reply_comes_back_with_its_usage_and_the_request_id() {
    let app = Router::new().route(
        PATH,
        post(|headers: HeaderMap, Json(body): Json<Value>| async move {
            assert_eq!(headers["x-api-key"], "sk-1");
            assert_eq!(headers["anthropic-version"], "2023-06-01");
            assert_eq!(headers["anthropic-beta"], "one-2025,two-2025");
            assert_eq!(headers.get(header::AUTHORIZATION), None);
            assert_eq!(
                body,
                json!({"model": "gpt-4o", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello"}]})
            );
            ([("request-id", "req_1")], Json(whole()))
        }),
    );
    let server = serve(app).await;
    let model = builder(&server).api_key("sk-1").beta("one-2025").beta("two-2025").build().unwrap();
    let response = ask(model, false).await.unwrap();
    assert_eq!(response.head.request_id.as_deref(), Some("req_1"));
    assert_eq!(response.head.provenance.marks, [], "nothing was dropped or made up");
    let reply = response.body.collect().await.unwrap();
    assert_eq!((&*reply.message.text(), reply.model.as_deref()), ("Hi", Some("claude-9")));
    let mut usage = Usage::new(9, 2);
    usage.cached_read = 5;
    assert_eq!(reply.usage, Some(usage));
}

#[tokio::test]
async fn a_gateway_gets_a_bearer_token_and_another_version() {
    let app = Router::new().route(
        PATH,
        post(|headers: HeaderMap, Json(body): Json<Value>| async move {
            assert_eq!(headers[header::AUTHORIZATION], "Bearer t-1");
            assert_eq!(headers["anthropic-version"], "2026-10-21");
            assert_eq!((headers.get("x-api-key"), headers.get("anthropic-beta")), (None, None));
            assert_eq!(body["max_tokens"], 8192);
            Json(whole())
        }),
    );
    let server = serve(app).await;
    let model = Anthropic::builder(format!("http://{}/v1/", server.addr))
        .auth_token("t-1")
        .version("2026-10-21")
        .build()
        .unwrap();
    let response = ask(model, false).await.unwrap();
    let marks: Vec<_> =
        response.head.provenance.marks.iter().map(|mark| mark.detail.as_deref()).collect();
    assert_eq!(marks, [Some("max_tokens at sampling")], "a limit that nobody chose is told");
}

#[tokio::test]
async fn an_event_is_handed_out_before_the_next_one_is_written() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk(&(start() + &text("first"))).await;
        gate.notified().await;
        socket.write_chunk(&(text("second") + &stop())).await;
        socket.write_chunk("").await;
    })
    .await;
    let mut events = ask(model(&server), true).await.unwrap().body.into_stream();
    let (mut texts, mut last) = (Vec::new(), None);
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        if let ModelEvent::PartDelta { delta: PartDelta::Text(text), .. } = &event {
            texts.push(text.to_string());
            go.notify_one();
        }
        last = Some(event);
    }
    assert_eq!(texts, ["first", "second"]);
    assert_eq!(last, Some(ModelEvent::Finish { reason: FinishReason::Stop }));
}

#[tokio::test]
async fn a_streamed_reply_is_whole_only_with_its_last_event() {
    for (end, is_whole) in [(stop(), true), (reason(), false), (String::new(), false)] {
        let body = start() + &text("Hi") + &end;
        let app = Router::new().route(
            PATH,
            post(move || async move {
                (
                    [
                        (header::CONTENT_TYPE, "text/event-stream"),
                        (header::HeaderName::from_static("request-id"), "req_7"),
                    ],
                    body,
                )
            }),
        );
        let server = serve(app).await;
        let response = ask(model(&server), true).await.unwrap();
        assert_eq!(response.head.request_id.as_deref(), Some("req_7"));
        match response.body.collect().await {
            Ok(reply) => {
                assert!(is_whole);
                assert_eq!((&*reply.message.text(), reply.usage), ("Hi", Some(Usage::new(9, 2))));
            }
            Err(error) => {
                assert!(!is_whole, "{error}");
                assert_eq!((error.kind(), error.layer()), (ErrorKind::Protocol, Some("anthropic")));
                let said = error.extensions().get::<ApiError>().unwrap();
                assert_eq!(said.request_id.as_deref(), Some("req_7"));
            }
        }
    }
}

#[tokio::test]
async fn an_error_inside_the_stream_says_what_it_is() {
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
        socket.write_chunk(&(start() + &text("half") + &frame(&error))).await;
        socket.closed().await;
    })
    .await;
    let error = fault(model(&server), true).await;
    assert_eq!(error.kind(), ErrorKind::RateLimited { retry_after: None });
    assert_eq!(error.effect(), Effect::Unknown);
    let said = error.extensions().get::<ApiError>().unwrap();
    assert_eq!(
        (said.kind.as_deref(), said.message.as_deref()),
        (Some("overloaded_error"), Some("Overloaded"))
    );
}

#[tokio::test]
async fn a_connection_that_breaks_is_an_error_even_after_the_reason() {
    for sent in [start() + &text("Hi"), start() + &text("Hi") + &reason()] {
        let server = script(|mut socket| async move {
            socket.write_stream_head().await;
            socket.write_chunk(&sent).await;
            socket.reset();
        })
        .await;
        let error = fault(model(&server), true).await;
        assert_eq!(error.kind(), ErrorKind::Upstream { status: None }, "{error}");
    }
}

#[tokio::test]
async fn limits_and_overload_say_how_long_to_wait() {
    let overloaded = r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_5"}"#;
    for (status, effect) in [(429, Effect::NotStarted), (529, Effect::Unknown)] {
        let server = serve(answer(status, &[("retry-after", "3")], overloaded)).await;
        for stream in [false, true] {
            let error = fault(model(&server), stream).await;
            assert_eq!(error.retry_after(), Some(Duration::from_secs(3)));
            assert_eq!(error.effect(), effect);
            let said = error.extensions().get::<ApiError>().unwrap();
            assert_eq!((said.request_id.as_deref(), said.status), (Some("req_5"), Some(status)));
        }
    }
}

#[tokio::test]
async fn a_refusal_says_what_and_that_nothing_ran() {
    let said = r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: too large"}}"#;
    let server = serve(answer(400, &[("request-id", "req_2")], said)).await;
    let error = fault(model(&server), false).await;
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Upstream { status: Some(400) }, Effect::NotStarted)
    );
    assert_eq!(error.model_text(), "max_tokens: too large");
    let server = serve(answer(401, &[], said)).await;
    assert_eq!(fault(model(&server), false).await.kind(), ErrorKind::Unauthorized);
}

#[tokio::test]
async fn the_key_is_in_no_debug_text_and_no_error() {
    let server = serve(answer(500, &[], r#"{"error": {"message": "key sk-secret is bad"}}"#)).await;
    let model = builder(&server).api_key("sk-secret").build().unwrap();
    let shown = format!(
        "{:?} {model:?} {:?}",
        builder(&server).api_key("sk-secret"),
        fault(model.clone(), false).await
    );
    assert!(!shown.contains("sk-secret"), "{shown}");
}

#[tokio::test]
async fn signed_thinking_goes_back_to_the_provider_as_it_came() {
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
    let redacted = json!({"type": "redacted_thinking", "data": "ZGF0YQ=="});
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}});
    let content = json!([thinking, redacted, call]);
    let expected = content.clone();
    let app = Router::new().route(
        PATH,
        post(move |Json(body): Json<Value>| async move {
            let reply = if body["messages"].as_array().unwrap().len() == 1 {
                json!({"content": content, "stop_reason": "tool_use"})
            } else {
                assert_eq!(body["messages"][1], json!({"role": "assistant", "content": expected}));
                json!({"content": [{"type": "text", "text": "noon"}], "stop_reason": "end_turn"})
            };
            Json(reply)
        }),
    );
    let server = serve(app).await;
    let first = ask(model(&server), false).await.unwrap().body.collect().await.unwrap();
    assert_eq!(first.finish, FinishReason::ToolCalls);
    let call = first.message.tool_calls().next().unwrap();
    let output = tower_agent_core::ToolOutput::text("12:00");
    let result = tower_agent_core::ToolResultPart::new(call.id.clone(), call.name.clone(), &output);
    let messages =
        vec![Message::user("Hello"), first.message.clone(), Message::tool_result(result)];
    let second = model(&server).oneshot(ModelRequest::new("gpt-4o", messages)).await.unwrap();
    let reply = second.body.collect().await.unwrap();
    assert!(matches!(reply.message.parts(), [Part::Text(_)]));
}
