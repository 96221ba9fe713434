//! A model over real sockets, against servers that behave and servers that do not.

#![cfg(feature = "openai")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

mod support;

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode, Uri, header},
    response::IntoResponse,
    routing::post,
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower::ServiceExt;
use tower_agent_core::{
    Content, Effect, Error, ErrorKind, FinishReason, Media, MediaSource, Message, ModelEvent,
    ModelRequest, PartDelta, ToolOutput, ToolResultPart, Usage,
};
use tower_agent_providers::OpenAi;
use tower_agent_wire::openai_chat::ApiError;

use support::{FINISH, ask, fault, frame, script, serve, text_frame};

const PATH: &str = "/v1/chat/completions";

fn whole() -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}})
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
            assert_eq!(headers[header::AUTHORIZATION], "Bearer sk-1");
            assert_eq!(headers["x-team"], "search");
            assert_eq!(
                body,
                json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]})
            );
            ([("x-request-id", "req_1")], Json(whole()))
        }),
    );
    let server = serve(app).await;
    let model = server.builder().api_key("sk-1").header("x-team", "search").build().unwrap();
    let response = ask(model, false).await.unwrap();
    assert_eq!(response.head.request_id.as_deref(), Some("req_1"));
    assert_eq!(response.head.model, "gpt-4o");
    assert!(!response.body.is_stream());
    let reply = response.body.collect().await.unwrap();
    assert_eq!(reply.message.text(), "Hi");
    assert_eq!(
        (reply.usage, reply.model.as_deref()),
        (Some(Usage::new(9, 2)), Some("gpt-4o-2024-08-06"))
    );
}

#[tokio::test]
async fn a_streamed_reply_arrives_piece_by_piece_and_its_usage_is_asked_for() {
    let app = Router::new().route(
        PATH,
        post(|Json(body): Json<Value>| async move {
            assert_eq!(
                (&body["stream"], &body["stream_options"]),
                (&json!(true), &json!({"include_usage": true}))
            );
            let usage =
                frame(r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#);
            let frames =
                [text_frame("H"), text_frame("i"), FINISH.into(), usage, "data: [DONE]\n\n".into()];
            ([(header::CONTENT_TYPE, "text/event-stream")], frames.concat())
        }),
    );
    let server = serve(app).await;
    let response = ask(server.model(), true).await.unwrap();
    assert!(response.body.is_stream());
    let reply = response.body.collect().await.unwrap();
    assert_eq!((&*reply.message.text(), reply.usage), ("Hi", Some(Usage::new(9, 2))));
}

#[tokio::test]
async fn the_usage_of_a_stream_is_not_asked_for_where_that_is_switched_off() {
    let app = Router::new().route(
        PATH,
        post(|Json(body): Json<Value>| async move {
            assert_eq!(body.get("stream_options"), None);
            text_frame("Hi") + FINISH
        }),
    );
    let server = serve(app).await;
    let model = server.builder().stream_usage(false).build().unwrap();
    assert_eq!(ask(model, true).await.unwrap().body.collect().await.unwrap().message.text(), "Hi");
}

#[tokio::test]
async fn an_event_is_handed_out_before_the_next_one_is_written() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk(&text_frame("first")).await;
        gate.notified().await;
        socket.write_chunk(&(text_frame("second") + FINISH)).await;
        socket.write_chunk("").await;
    })
    .await;
    let mut events = ask(server.model(), true).await.unwrap().body.into_stream();
    let mut texts = Vec::new();
    while let Some(event) = events.next().await {
        if let ModelEvent::PartDelta { delta: PartDelta::Text(text), .. } = event.unwrap() {
            texts.push(text.to_string());
            go.notify_one();
        }
    }
    assert_eq!(texts, ["first", "second"]);
}

#[tokio::test]
async fn a_server_that_does_not_stream_answers_whole() {
    let server = serve(Router::new().route(PATH, post(|| async { Json(whole()) }))).await;
    let response = ask(server.model(), true).await.unwrap();
    assert!(!response.body.is_stream());
    assert_eq!(response.body.collect().await.unwrap().message.text(), "Hi");
}

#[tokio::test]
async fn a_base_url_may_end_in_a_slash_and_keeps_its_query() {
    let echo = |uri: Uri| async move {
        assert_eq!(uri.query(), Some("api-version=1"));
        Json(whole())
    };
    let server = serve(Router::new().route("/openai/d/chat/completions", post(echo))).await;
    for path in ["openai/d?api-version=1", "openai/d/?api-version=1"] {
        let model = OpenAi::builder(format!("http://{}/{path}", server.addr)).build().unwrap();
        assert!(ask(model, false).await.is_ok(), "{path}");
    }
}

#[tokio::test]
async fn a_refusal_says_what_and_that_nothing_ran() {
    let said = r#"{"error": {"message": "Incorrect API key", "type": "invalid_request_error", "code": "invalid_api_key"}}"#;
    let server = serve(answer(401, &[("x-request-id", "req_2")], said)).await;
    let error = fault(server.model(), false).await;
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Unauthorized, Effect::NotStarted));
    assert_eq!(error.layer(), Some("openai"));
    let said = error.extensions().get::<ApiError>().unwrap();
    assert_eq!(
        (said.code.as_deref(), said.request_id.as_deref()),
        (Some("invalid_api_key"), Some("req_2"))
    );
}

#[tokio::test]
async fn a_rate_limit_says_how_long_to_wait() {
    let server = serve(answer(429, &[("retry-after", "3")], "")).await;
    for stream in [false, true] {
        let error = fault(server.model(), stream).await;
        assert_eq!(error.retry_after(), Some(Duration::from_secs(3)));
        assert_eq!(error.effect(), Effect::NotStarted);
    }
    let dates = &[
        ("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"),
        ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ];
    let server = serve(answer(429, dates, "")).await;
    assert_eq!(fault(server.model(), false).await.retry_after(), Some(Duration::from_secs(3)));
}

#[tokio::test]
async fn a_failure_of_the_server_keeps_its_status_and_an_unknown_effect() {
    let server = serve(answer(500, &[], "<html>oops</html>")).await;
    let error = fault(server.model(), false).await;
    assert_eq!(error.kind(), ErrorKind::Upstream { status: Some(500) });
    assert_eq!(error.effect(), Effect::Unknown);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = || async { Json(whole()) };
    let app = answer(307, &[("location", "/elsewhere")], "").route("/elsewhere", post(elsewhere));
    let server = serve(app).await;
    let error = fault(server.model(), false).await;
    assert_eq!(error.kind(), ErrorKind::Upstream { status: Some(307) });
}

#[tokio::test]
async fn an_error_body_without_end_is_not_read_to_its_end() {
    let body = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(1 << 16)));
    let body = axum::body::Body::from_stream(body);
    let body = std::sync::Mutex::new(Some(body));
    let body = Arc::new(body);
    let app = Router::new().route(
        PATH,
        post(move || {
            let body = body.lock().unwrap().take().unwrap();
            async move { (StatusCode::BAD_GATEWAY, body).into_response() }
        }),
    );
    let server = serve(app).await;
    assert_eq!(
        fault(server.model(), false).await.kind(),
        ErrorKind::Upstream { status: Some(502) }
    );
}

#[tokio::test]
async fn a_reply_beyond_the_limit_is_an_error_whole_or_streamed() {
    let server = serve(
        Router::new().route(PATH, post(|| async { text_frame(&"x".repeat(5_000)) + FINISH })),
    )
    .await;
    for stream in [false, true] {
        let model = server.builder().reply_limit(1_000).build().unwrap();
        let error = fault(model, stream).await;
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        assert!(error.to_string().contains("1000 bytes"), "{error}");
    }
}

#[tokio::test]
async fn nobody_listening_is_an_error_that_started_nothing() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let model =
        OpenAi::builder(format!("http://user:hunter2@{addr}/v1?key=hunter2")).build().unwrap();
    let error = fault(model, false).await;
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Unavailable, Effect::NotStarted));
    let printed = format!("{error} {error:?} {:?}", std::error::Error::source(&error));
    assert!(printed.contains("refused") && !printed.contains("hunter2"), "{printed}");
}

#[tokio::test]
async fn a_reset_before_the_answer_may_have_had_an_effect() {
    let server = script(|socket| async move { socket.reset() }).await;
    let error = fault(server.model(), false).await;
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Upstream { status: None }, Effect::Unknown)
    );
}

#[tokio::test]
async fn half_a_whole_reply_is_an_error() {
    let server = script(|mut socket| async move {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\":").await;
    })
    .await;
    let error = fault(server.model(), false).await;
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Upstream { status: None }, Effect::Unknown)
    );
}

/// The texts that were handed out, and how the stream ended.
async fn texts_of(model: OpenAi) -> (Vec<String>, Option<Error>) {
    let mut events = ask(model, true).await.unwrap().body.into_stream();
    let mut texts = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(ModelEvent::PartDelta { delta, .. }) => texts.push(delta.text().to_string()),
            Ok(_) => {}
            Err(error) => {
                assert!(events.next().await.is_none(), "nothing follows an error");
                return (texts, Some(error));
            }
        }
    }
    (texts, None)
}

#[tokio::test]
async fn a_stream_that_ends_properly_but_too_early_is_an_error_after_its_text() {
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk(&text_frame("Hel")).await;
        socket.write_chunk("").await;
    })
    .await;
    let (texts, error) = texts_of(server.model()).await;
    assert_eq!((texts, error.unwrap().kind()), (vec!["Hel".into()], ErrorKind::Protocol));
}

#[tokio::test]
async fn a_stream_whose_connection_breaks_is_an_error_after_its_text() {
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk(&text_frame("Hel")).await;
        socket.write("ff\r\ndata: {\"cho").await;
    })
    .await;
    let (texts, error) = texts_of(server.model()).await;
    let error = error.unwrap();
    assert_eq!((texts, error.kind()), (vec!["Hel".into()], ErrorKind::Upstream { status: None }));
    assert_eq!(error.effect(), Effect::Unknown);
    assert_eq!(error.extensions().get::<ApiError>().unwrap().request_id.as_deref(), Some("req_7"));
}

#[tokio::test]
async fn a_connection_that_breaks_after_the_reason_costs_nothing() {
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk(&(text_frame("Hi") + FINISH)).await;
    })
    .await;
    let reply = ask(server.model(), true).await.unwrap().body.collect().await.unwrap();
    assert_eq!((&*reply.message.text(), reply.finish), ("Hi", FinishReason::Stop));
}

#[tokio::test]
async fn a_malformed_chunk_is_an_error_and_not_skipped() {
    let server = serve(Router::new().route(
        PATH,
        post(|| async { text_frame("a") + "data: {oops\n\n" + &text_frame("b") + FINISH }),
    ))
    .await;
    let (texts, error) = texts_of(server.model()).await;
    assert_eq!((texts, error.unwrap().kind()), (vec!["a".into()], ErrorKind::Protocol));
}

#[tokio::test]
async fn an_error_inside_the_stream_carries_the_request_id() {
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket
            .write_chunk(&frame(r#"{"error":{"message":"overloaded","type":"server_error"}}"#))
            .await;
        socket.closed().await;
    })
    .await;
    let (_, error) = texts_of(server.model()).await;
    let error = error.unwrap();
    let said = error.extensions().get::<ApiError>().unwrap();
    assert_eq!(
        (said.message.as_deref(), said.request_id.as_deref()),
        (Some("overloaded"), Some("req_7"))
    );
}

#[tokio::test]
async fn a_silent_server_runs_into_the_read_timeout_before_and_inside_the_answer() {
    let patience = Duration::from_millis(50);
    let server = script(|mut socket| async move { socket.closed().await }).await;
    let error = fault(server.builder().read_timeout(patience).build().unwrap(), false).await;
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Timeout, Effect::Unknown));

    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk(&text_frame("Hel")).await;
        socket.closed().await;
    })
    .await;
    let (texts, error) = texts_of(server.builder().read_timeout(patience).build().unwrap()).await;
    assert_eq!((texts, error.unwrap().kind()), (vec!["Hel".into()], ErrorKind::Timeout));
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let arrived = Arc::new(Notify::new());
    let here = Arc::clone(&arrived);
    let server = script(|mut socket| async move {
        here.notify_one();
        socket.closed().await;
    })
    .await;
    let call = ask(server.model(), false);
    tokio::select! {
        _ = call => panic!("the server does not answer"),
        () = arrived.notified() => {}
    }
    server.done().await;
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk(&text_frame("Hel")).await;
        socket.closed().await;
    })
    .await;
    let model = server.model();
    let mut events = ask(model.clone(), true).await.unwrap().body.into_stream();
    assert!(events.next().await.unwrap().is_ok());
    drop(events);
    // The model lives on, so it is the stream that held the connection.
    server.done().await;
    drop(model);
}

#[tokio::test]
async fn the_end_of_a_stream_does_not_wait_for_a_server_that_keeps_the_connection() {
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk(&(text_frame("Hi") + FINISH + "data: [DONE]\n\n")).await;
        socket.closed().await;
    })
    .await;
    let reply = ask(server.model(), true).await.unwrap().body.collect().await.unwrap();
    assert_eq!(reply.message.text(), "Hi");
    server.done().await;
}

#[tokio::test]
async fn a_connection_is_used_again_after_a_stream() {
    let server = script(|mut socket| async move {
        for turn in 0..2 {
            socket.write_stream_head().await;
            let body = text_frame("Hi") + FINISH + "data: [DONE]\n\n";
            socket.write(&format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())).await;
            if turn == 0 {
                socket.read_next_request().await;
            }
        }
    })
    .await;
    let model = server.model();
    for _ in 0..2 {
        let reply = ask(model.clone(), true).await.unwrap().body.collect().await.unwrap();
        assert_eq!(reply.message.text(), "Hi");
    }
}

#[tokio::test]
async fn what_the_dialect_cannot_carry_is_marked_on_the_answer() {
    let server = serve(Router::new().route(PATH, post(|| async { Json(whole()) }))).await;
    let mut output = ToolOutput::text("seen");
    let source = MediaSource::Base64("iVBORw0KGgo=".into());
    output.content.push(Content::Image(Media { source, mime_type: None, extra: None }));
    let result = ToolResultPart::new("c1".into(), "look".into(), &output);
    let request = ModelRequest::new("m", vec![Message::tool_result(result)]);
    let response = server.model().oneshot(request).await.unwrap();
    let [mark] = &*response.head.provenance.marks else { panic!("one mark") };
    assert_eq!((&*mark.layer, &*mark.action), ("openai", "dropped"));
    assert_eq!(mark.detail.as_deref(), Some("media_in_tool_result at messages[0]"));
}

#[tokio::test]
async fn a_server_that_repeats_the_key_does_not_bring_it_into_the_error() {
    let repeat = |headers: HeaderMap| async move {
        let key = headers[header::AUTHORIZATION].to_str().unwrap().to_owned();
        (StatusCode::BAD_REQUEST, Json(json!({"error": {"message": key}})))
    };
    let server = serve(Router::new().route(PATH, post(repeat))).await;
    let error = fault(server.builder().api_key("sk-hunter2").build().unwrap(), false).await;
    let printed = format!(
        "{error} {error:?} {} {:?}",
        error.model_text(),
        error.extensions().get::<ApiError>()
    );
    assert!(printed.contains("Bearer [secret]") && !printed.contains("hunter2"), "{printed}");
}

#[test]
fn the_key_is_in_no_debug_text_and_no_error() {
    let builder = OpenAi::builder("https://user:hunter2@example.com/v1?key=hunter2")
        .api_key("sk-hunter2")
        .header("x-key", "hunter2");
    assert!(!format!("{builder:?}").contains("hunter2"));
    let model = OpenAi::builder("http://user:hunter2@example.com/v1?key=hunter2")
        .api_key("sk-hunter2")
        .build()
        .unwrap();
    let printed = format!("{model:?}");
    assert!(printed.contains("example.com") && !printed.contains("hunter2"), "{printed}");
    let error = OpenAi::builder("http://example.com").api_key("hunter2\n").build().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

#[test]
fn a_wrong_url_or_header_is_found_when_the_model_is_made() {
    for url in ["", "example.com/v1", "ftp://example.com/v1", "data:text/plain,x"] {
        assert!(OpenAi::builder(url).build().is_err(), "{url}");
    }
    assert!(OpenAi::builder("http://example.com").header("no good", "x").build().is_err());
}

#[cfg(feature = "tls")]
#[test]
fn https_needs_no_setup() {
    assert!(OpenAi::builder("https://api.openai.com/v1").api_key("sk-1").build().is_ok());
}

#[test]
fn the_model_can_be_shared_and_sent() {
    fn check<T: Clone + Send + Sync + 'static>() {}
    check::<OpenAi>();
}
