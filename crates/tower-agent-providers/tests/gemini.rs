//! Gemini over real sockets: where requests go, what they carry, and what comes back.

#![cfg(all(test, feature = "gemini"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

mod support;

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::Request,
    http::{HeaderMap, StatusCode, Uri, header},
    response::IntoResponse,
    routing::{any, post},
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower::ServiceExt;
use tower_agent_core::{
    Effect, Error, ErrorKind, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse,
    PartDelta, ToolResultPart, Usage,
};
use tower_agent_providers::{Gemini, gemini::Builder};
use tower_agent_wire::gemini::ApiError;

use support::{Server, frame, script, serve};

fn builder<T>(server: &Server<T>) -> Builder {
    let url = format!("http://{}/v1beta", server.addr);
    Gemini::builder(url).read_timeout(Duration::from_secs(20))
}

fn request(model: &str, stream: bool) -> ModelRequest {
    let mut request = ModelRequest::new(model, vec![Message::user("Hello")]);
    request.stream = stream;
    request
}

async fn ask<T>(server: &Server<T>, stream: bool) -> Result<ModelResponse, Error> {
    builder(server).build().unwrap().oneshot(request("gemini-2.5-flash", stream)).await
}

async fn fault<T>(server: &Server<T>, stream: bool) -> Error {
    match ask(server, stream).await {
        Ok(response) => response.body.collect().await.unwrap_err(),
        Err(error) => error,
    }
}

fn event(text: &str, reason: Option<&str>) -> Value {
    json!({
        "candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11},
        "modelVersion": "gemini-2.5-flash", "responseId": "r-1"
    })
}

fn events(events: &[Value]) -> String {
    events.iter().map(|event| frame(&event.to_string())).collect()
}

#[tokio::test]
async fn a_whole_reply_is_asked_for_by_path_with_the_key_in_a_header() {
    let app = Router::new().route(
        "/v1beta/models/{*rest}",
        post(|uri: Uri, headers: HeaderMap, Json(body): Json<Value>| async move {
            assert_eq!(uri.to_string(), "/v1beta/models/gemini-2.5-flash:generateContent");
            assert_eq!(headers["x-goog-api-key"], "AIza-1");
            assert_eq!(headers.get(header::AUTHORIZATION), None);
            assert_eq!(body, json!({"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}));
            ([("x-request-id", "req_1")], Json(event("Hi", Some("STOP"))))
        }),
    );
    let server = serve(app).await;
    let model = builder(&server).api_key("AIza-1").build().unwrap();
    let response = model.oneshot(request("gemini-2.5-flash", false)).await.unwrap();
    assert_eq!(response.head.request_id.as_deref(), Some("req_1"));
    assert!(!response.body.is_stream());
    let reply = response.body.collect().await.unwrap();
    assert_eq!((&*reply.message.text(), reply.finish), ("Hi", FinishReason::Stop));
    assert_eq!((reply.usage, reply.id.as_deref()), (Some(Usage::new(9, 2)), Some("r-1")));
}

#[tokio::test]
async fn a_stream_is_asked_for_by_path_and_comes_piece_by_piece() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let server = script(|mut socket| async move {
        let text = String::from_utf8_lossy(&socket.request).into_owned();
        socket.write_stream_head().await;
        socket.write_chunk(&events(&[event("first", None)])).await;
        gate.notified().await;
        socket.write_chunk(&events(&[event(" second", Some("STOP"))])).await;
        socket.write("0\r\n\r\n").await;
        text
    })
    .await;
    let response = ask(&server, true).await.unwrap();
    let mut stream = response.body.into_stream();
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        if let ModelEvent::PartDelta { delta: PartDelta::Text(text), .. } = event.unwrap() {
            texts.push(text.to_string());
            go.notify_one();
        }
    }
    assert_eq!(texts, ["first", " second"]);
    let asked = server.done().await;
    let line = asked.lines().next().unwrap();
    assert_eq!(line, "POST /v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse HTTP/1.1");
}

#[tokio::test]
async fn names_of_models_stay_in_their_folder() {
    let app = Router::new().fallback(any(|request: Request| async move {
        let path = request.uri().to_string();
        Json(event(&path, Some("STOP")))
    }));
    let server = serve(app).await;
    let model = builder(&server).build().unwrap();
    for (name, path) in [
        ("tunedModels/mine", "/v1beta/tunedModels/mine:generateContent"),
        ("a b?key=1#c", "/v1beta/models/a%20b%3Fkey=1%23c:generateContent"),
    ] {
        let reply = model.clone().oneshot(request(name, false)).await.unwrap();
        assert_eq!(reply.body.collect().await.unwrap().message.text(), path);
    }
    for name in ["", "..", "../files", "models//x", "models/./x"] {
        let error = model.clone().oneshot(request(name, false)).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.effect()),
            (ErrorKind::InvalidArguments, Effect::NotStarted)
        );
    }
}

#[tokio::test]
async fn an_agents_second_turn_sends_no_ids_that_were_made_here() {
    let app = Router::new().route(
        "/v1beta/models/{*rest}",
        post(|Json(body): Json<Value>| async move {
            let contents = body["contents"].as_array().unwrap();
            if contents.len() == 1 {
                let call = json!({"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"});
                return Json(json!({"candidates": [{"content": {"parts": [call], "role": "model"}, "finishReason": "STOP"}], "responseId": "r-1"}));
            }
            assert_eq!(contents[1]["parts"][0]["thoughtSignature"], "c2ln");
            assert_eq!(contents[1]["parts"][0]["functionCall"], json!({"name": "weather", "args": {"city": "Oslo"}}));
            assert_eq!(
                contents[2],
                json!({"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"output": "snow"}}}]})
            );
            Json(event("Snow.", Some("STOP")))
        }),
    );
    let server = serve(app).await;
    let model = builder(&server).build().unwrap();
    let first =
        model.clone().oneshot(request("m", false)).await.unwrap().body.collect().await.unwrap();
    assert_eq!(first.finish, FinishReason::ToolCalls);
    let call = first.message.tool_calls().next().unwrap().clone();
    assert_eq!(call.id.as_str(), "call-r-1-0");
    let mut second = request("m", false);
    second.messages.push(first.message);
    let output = tower_agent_core::ToolOutput::text("snow");
    second.messages.push(Message::tool_result(ToolResultPart::new(call.id, call.name, &output)));
    let reply = model.oneshot(second).await.unwrap().body.collect().await.unwrap();
    assert_eq!(reply.message.text(), "Snow.");
}

#[tokio::test]
async fn refusals_are_told_apart_and_say_how_long_to_wait() {
    let limited = json!({"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    ]}});
    let key = json!({"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
    ]}});
    let wait = Some(Duration::from_millis(34_500));
    for (status, body, kind) in [
        (429, limited, ErrorKind::RateLimited { retry_after: wait }),
        (400, key, ErrorKind::Unauthorized),
        (
            404,
            json!({"error": {"code": 404, "message": "no such model", "status": "NOT_FOUND"}}),
            ErrorKind::NotFound,
        ),
        (
            503,
            json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}),
            ErrorKind::Upstream { status: Some(503) },
        ),
    ] {
        let text = body["error"]["message"].as_str().unwrap().to_owned();
        let status = StatusCode::from_u16(status).unwrap();
        let app = Router::new()
            .fallback(any(move || async move { (status, Json(body)).into_response() }));
        let server = serve(app).await;
        for stream in [false, true] {
            let error = fault(&server, stream).await;
            assert_eq!(error.kind(), kind);
            assert_eq!(error.layer(), Some("gemini"));
            let said = error.extensions().get::<ApiError>().unwrap();
            assert_eq!(said.message.as_deref(), Some(text.as_str()));
        }
    }
}

#[tokio::test]
async fn neither_a_cut_stream_nor_an_error_inside_passes_for_a_reply() {
    for (body, kind) in [
        (events(&[event("Hel", None)]), ErrorKind::Protocol),
        (
            events(&[
                event("Hel", None),
                json!({"error": {"code": 500, "message": "internal", "status": "INTERNAL"}}),
            ]),
            ErrorKind::Upstream { status: Some(500) },
        ),
    ] {
        let app = Router::new().fallback(any(move || async move {
            ([(header::CONTENT_TYPE, "text/event-stream")], body)
        }));
        let server = serve(app).await;
        assert_eq!(fault(&server, true).await.kind(), kind);
    }
}

#[test]
fn the_key_is_not_printed() {
    let builder = Gemini::builder("http://127.0.0.1:1/v1beta").api_key("AIza-1");
    assert!(!format!("{builder:?}").contains("AIza"));
    assert!(!format!("{:?}", builder.build().unwrap()).contains("AIza"));
}
