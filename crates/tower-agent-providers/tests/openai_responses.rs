//! Responses over real sockets, against servers that behave and servers that do not.

#![cfg(all(feature = "openai", feature = "openai-responses"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

mod support;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
    routing::post,
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use tower_agent_core::{
    Effect, Error, ErrorKind, FinishReason, Message, ModelRequest, ModelResponse, Usage,
};
use tower_agent_providers::{OpenAi, OpenAiResponses};
use tower_agent_wire::{
    openai_chat,
    openai_responses::{self, ApiError},
};

use support::{Server, script, serve};

const PATH: &str = "/v1/responses";

fn builder<T>(server: &Server<T>) -> tower_agent_providers::openai_responses::Builder {
    let url = format!("http://{}/v1", server.addr);
    OpenAiResponses::builder(url).read_timeout(Duration::from_secs(20))
}

async fn ask<T>(server: &Server<T>, stream: bool) -> Result<ModelResponse, Error> {
    builder(server).build().unwrap().oneshot(request(stream)).await
}

async fn fault<T>(server: &Server<T>, stream: bool) -> Error {
    match ask(server, stream).await {
        Ok(response) => response.body.collect().await.unwrap_err(),
        Err(error) => error,
    }
}

fn request(stream: bool) -> ModelRequest {
    let mut request = ModelRequest::new("gpt-5", vec![Message::user("Hello")]);
    request.stream = stream;
    request
}

fn reply() -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "error": null, "incomplete_details": null, "model": "gpt-5-2025-08-07",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA="},
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}
        ],
        "usage": {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 11}})
}

fn event(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
}

fn delta(text: &str) -> String {
    event(
        &json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": text}),
    )
}

fn created() -> String {
    event(&json!({"type": "response.created", "response": {"id": "resp_1", "model": "gpt-5"}}))
}

fn completed() -> String {
    event(&json!({"type": "response.completed", "response": reply()}))
}

/// A server that answers the same each time, and the bodies that it was sent.
async fn recorder(
    answer: impl Fn() -> axum::response::Response + Clone + Send + Sync + 'static,
) -> (Server, Arc<Mutex<Vec<Value>>>) {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&bodies);
    let handler = move |Json(body): Json<Value>| {
        seen.lock().unwrap().push(body);
        let answer = answer();
        async move { answer }
    };
    let app = Router::new()
        .route(PATH, post(handler.clone()))
        .route("/v1/chat/completions", post(handler));
    (serve(app).await, bodies)
}

fn streamed(body: String) -> axum::response::Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

#[tokio::test]
async fn a_whole_reply_comes_back_with_its_usage_and_the_request_id() {
    let app = Router::new().route(
        PATH,
        post(|headers: HeaderMap, Json(body): Json<Value>| async move {
            assert_eq!(headers[header::AUTHORIZATION], "Bearer sk-1");
            assert_eq!(headers["x-team"], "search");
            assert_eq!(
                body,
                json!({"model": "gpt-5", "input": [{"role": "user", "content": "Hello"}]})
            );
            ([("x-request-id", "req_1")], Json(reply()))
        }),
    );
    let server = serve(app).await;
    let model = builder(&server).api_key("sk-1").header("x-team", "search").build().unwrap();
    let response = model.oneshot(request(false)).await.unwrap();
    assert_eq!(response.head.request_id.as_deref(), Some("req_1"));
    assert!(!response.body.is_stream());
    let reply = response.body.collect().await.unwrap();
    assert_eq!((&*reply.message.text(), reply.finish), ("Hi", FinishReason::Stop));
    let mut usage = Usage::new(9, 2);
    usage.reasoning = 1;
    assert_eq!(reply.usage, Some(usage));
    assert_eq!(reply.model.as_deref(), Some("gpt-5-2025-08-07"));
}

#[tokio::test]
async fn a_reply_streams_in_and_ends_with_its_last_event() {
    let body = created() + &delta("H") + &delta("i") + &completed() + "data: nonsense\n\n";
    let (server, bodies) = recorder(move || streamed(body.clone())).await;
    let response = ask(&server, true).await.unwrap();
    assert!(response.body.is_stream());
    let reply = response.body.collect().await.unwrap();
    assert_eq!((&*reply.message.text(), reply.id.as_deref()), ("Hi", Some("resp_1")));
    assert_eq!(reply.usage.unwrap().total(), 11);
    let bodies = bodies.lock().unwrap();
    assert_eq!((&bodies[0]["stream"], bodies[0].get("stream_options")), (&json!(true), None));
}

#[tokio::test]
async fn the_next_turn_takes_the_items_back_as_they_came() {
    let (server, bodies) = recorder(|| Json(reply()).into_response()).await;
    let model = builder(&server).store(false).build().unwrap();
    let mut asked = request(false);
    let first = model.clone().oneshot(asked.clone()).await.unwrap().body.collect().await.unwrap();
    asked.messages.push(first.message);
    asked.messages.push(Message::user("And?"));
    model.oneshot(asked).await.unwrap();
    let bodies = bodies.lock().unwrap();
    let output = reply()["output"].clone();
    assert_eq!(
        bodies[1]["input"],
        json!([{"role": "user", "content": "Hello"}, output[0], output[1], {"role": "user", "content": "And?"}])
    );
    // What is not stored can only be gone on from when the thoughts come along.
    assert_eq!(bodies[1]["store"], false);
    assert_eq!(bodies[1]["include"], json!(["reasoning.encrypted_content"]));
}

#[tokio::test]
async fn a_request_that_says_itself_whether_to_store_is_obeyed() {
    let (server, bodies) = recorder(|| Json(reply()).into_response()).await;
    let model = builder(&server).store(false).build().unwrap();
    for extra in [json!({"store": true}), json!({"openai_responses": {"include": []}})] {
        let mut asked = request(false);
        asked.extra = Some(extra.into());
        model.clone().oneshot(asked).await.unwrap();
    }
    let bodies = bodies.lock().unwrap();
    assert_eq!((&bodies[0]["store"], bodies[0].get("include")), (&json!(true), None));
    assert_eq!((&bodies[1]["store"], &bodies[1]["include"]), (&json!(false), &json!([])));
}

/// What comes in as one dialect and goes out as the other keeps what both know, and says what it does not.
#[tokio::test]
async fn a_request_of_one_dialect_goes_out_in_the_other() {
    let done = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (server, bodies) = recorder(move || streamed(done.into())).await;
    let body = br#"{"model": "m", "input": "Hi", "stream": true, "metadata": {"a": "b"}, "truncation": "auto",
        "stream_options": {"include_obfuscation": false}}"#;
    let chat = OpenAi::builder(format!("http://{}/v1", server.addr)).build().unwrap();
    let response = chat.oneshot(openai_responses::decode_request(body).unwrap()).await.unwrap();
    let marks: Vec<_> =
        response.head.provenance.marks.iter().map(|mark| mark.detail.as_deref()).collect();
    assert_eq!(marks, [Some("foreign at extra")]);
    // The wish for usage is added to what is left once the other dialect's options are gone.
    assert_eq!(
        bodies.lock().unwrap()[0],
        json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true, "metadata": {"a": "b"}, "stream_options": {"include_usage": true}})
    );

    let (server, bodies) = recorder(|| Json(reply()).into_response()).await;
    let body = br#"{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "n": 2, "reasoning_effort": "low"}"#;
    let model = builder(&server).build().unwrap();
    let response = model.oneshot(openai_chat::decode_request(body).unwrap()).await.unwrap();
    let marks: Vec<_> =
        response.head.provenance.marks.iter().map(|mark| mark.detail.as_deref()).collect();
    assert_eq!(marks, [Some("foreign at extra.n")]);
    assert_eq!(
        bodies.lock().unwrap()[0],
        json!({"model": "m", "input": [{"role": "user", "content": "Hi"}], "reasoning": {"effort": "low"}})
    );
}

#[tokio::test]
async fn a_refused_request_is_told_in_the_providers_words() {
    let body = r#"{"error": {"message": "No tool output found for function call call_a.", "type": "invalid_request_error", "param": "input", "code": null}}"#;
    let app = Router::new().route(
        PATH,
        post(move || async move { (StatusCode::BAD_REQUEST, [("x-request-id", "req_1")], body) }),
    );
    let error = fault(&serve(app).await, false).await;
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Upstream { status: Some(400) }, Effect::NotStarted)
    );
    assert_eq!(error.layer().map(ToString::to_string).as_deref(), Some("openai-responses"));
    let said = error.extensions().get::<ApiError>().unwrap();
    assert_eq!((said.param.as_deref(), said.request_id.as_deref()), (Some("input"), Some("req_1")));
    assert!(error.model_text().contains("No tool output found"));
}

#[tokio::test]
async fn a_stream_without_its_last_event_is_an_error_however_it_ends() {
    for is_reset in [false, true] {
        let server = script(move |mut socket| async move {
            socket.write_stream_head().await;
            socket.write_chunk(&(created() + &delta("Hel"))).await;
            if is_reset {
                socket.reset();
            } else {
                socket.write("0\r\n\r\n").await;
            }
        })
        .await;
        let error = fault(&server, true).await;
        let kinds = [ErrorKind::Protocol, ErrorKind::Upstream { status: None }];
        assert!(kinds.contains(&error.kind()), "{error}");
        assert_eq!(error.effect(), Effect::Unknown);
        assert_eq!(
            error.extensions().get::<ApiError>().unwrap().request_id.as_deref(),
            Some("req_7")
        );
    }
}

#[tokio::test]
async fn a_failure_inside_the_stream_comes_after_what_was_said() {
    let failed = event(
        &json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "oops"}}}),
    );
    let body = created() + &delta("Hel") + &failed;
    let (server, _) = recorder(move || streamed(body.clone())).await;
    let mut events = ask(&server, true).await.unwrap().body.into_stream();
    let mut last = None;
    while let Some(event) = events.next().await {
        last = Some(event);
    }
    let error = last.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Upstream { status: None });
    assert!(error.to_string().contains("oops") && !error.model_text().contains("oops"));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk(&(created() + &delta("Hel"))).await;
        socket.closed().await;
    })
    .await;
    let mut events = ask(&server, true).await.unwrap().body.into_stream();
    assert!(events.next().await.unwrap().is_ok());
    drop(events);
    server.done().await;
}
