//! What OpenAI's clients get to read when something is wrong.

use axum::{Router, body::Body, http::Request};
use futures_util::stream;
use http::{HeaderMap, StatusCode};
use serde_json::json;
use tower_agent_axum::chat_router;
use tower_agent_core::{
    Error, ErrorKind, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse, PartDelta,
    Reply,
};
use tower_agent_wire::openai_chat;

use crate::support::{Answer, Asked, ask, chat, post, text_of, with_header};

fn hello(_: &ModelRequest) -> Result<ModelResponse, Error> {
    Ok(ModelResponse::full(Reply::new(Message::assistant("Hello you"))))
}

fn app(asked: &Asked) -> Router {
    chat_router().model("demo", asked.model(hello)).into()
}

/// What is wrong, the body, the code and the field at fault.
const BAD: [(&str, &[u8], &str, Option<&str>); 13] = [
    ("nothing", b"", "invalid_json", None),
    ("half an object", br#"{"model":"#, "invalid_json", None),
    ("no UTF-8", b"{\"model\":\"\xff\"}", "invalid_json", None),
    ("a list", b"[]", "invalid_arguments", None),
    ("no model", br#"{"messages":[]}"#, "invalid_arguments", Some("model")),
    ("a number as model", br#"{"model":7}"#, "invalid_arguments", Some("model")),
    ("no messages", br#"{"model":"demo"}"#, "invalid_arguments", Some("messages")),
    (
        "null for messages",
        br#"{"model":"demo","messages":null}"#,
        "invalid_arguments",
        Some("messages"),
    ),
    (
        "a text for messages",
        br#"{"model":"demo","messages":"hi"}"#,
        "invalid_arguments",
        Some("messages"),
    ),
    ("empty messages", br#"{"model":"demo","messages":[]}"#, "invalid_value", Some("messages")),
    (
        "a message without a role",
        br#"{"model":"demo","messages":[{"content":"hi"}]}"#,
        "invalid_arguments",
        Some("messages[0].role"),
    ),
    (
        "a text for stream",
        br#"{"model":"demo","stream":"yes","messages":[{"role":"user","content":"hi"}]}"#,
        "invalid_value",
        Some("stream"),
    ),
    (
        "deep arguments",
        br#"{"model":"demo","messages":[{"role":"user","content":[[[[[[[[]]]]]]]]}]}"#,
        "invalid_arguments",
        Some("messages[0].content[0]"),
    ),
];

#[tokio::test]
async fn bad_input_is_answered_in_openais_shape_and_asks_nobody() {
    let asked = Asked::default();
    let app = app(&asked);
    for (name, body, code, param) in BAD {
        let answer = ask(&app, post("/v1/chat/completions", body)).await;
        assert_eq!(answer.status, 400, "{name}: {}", answer.body);
        let error = answer.error();
        assert_eq!(error["type"], "invalid_request_error", "{name}");
        assert_eq!(
            (error["code"].as_str(), error["param"].as_str()),
            (Some(code), param),
            "{name}"
        );
    }
    assert_eq!(asked.count(), 0);
}

#[tokio::test]
async fn json_as_deep_as_a_body_allows_is_refused() {
    let asked = Asked::default();
    let (open, close) = ("[".repeat(900_000), "]".repeat(900_000));
    let more = format!(
        r#"{{"model":"demo","messages":[{{"role":"user","content":"hi"}}],"x":{open}{close}}}"#
    );
    let answer = ask(&app(&asked), post("/v1/chat/completions", more)).await;
    assert_eq!((answer.status.as_u16(), &answer.error()["code"]), (400, &json!("invalid_json")));
    assert_eq!(asked.count(), 0);
}

#[tokio::test]
async fn a_model_that_there_is_not_is_404_and_named() {
    let asked = Asked::default();
    let answer = ask(&app(&asked), chat("gpt-9", json!({}))).await;
    assert_eq!(answer.status, 404);
    let error = answer.error();
    assert_eq!((&error["code"], &error["param"]), (&json!("model_not_found"), &json!("model")));
    assert!(error["message"].as_str().unwrap().contains("gpt-9"));
    assert_eq!(asked.count(), 0);
}

#[tokio::test]
async fn wrong_type_size_method_and_path_are_told_apart() {
    let asked = Asked::default();
    let app: Router = chat_router().model("demo", asked.model(hello)).body_limit(256).into();
    let form = with_header(chat("demo", json!({})), "content-type", "text/plain");
    let large = chat("demo", json!({"user": "x".repeat(500)}));
    let wrong_method = Request::get("/v1/chat/completions").body(Body::empty()).unwrap();
    let wrong_path = post("/v1/chat/completion", "{}");
    let wrong_path_method = Request::delete("/v1/threads/7").body(Body::empty()).unwrap();
    let post_models = post("/v1/models", "{}");
    for (request, status, code, allow) in [
        (form, 415, "unsupported_media_type", ""),
        (large, 413, "body_too_large", ""),
        (wrong_method, 405, "method_not_allowed", "POST"),
        (post_models, 405, "method_not_allowed", "GET,HEAD"),
        (wrong_path, 404, "unknown_url", ""),
        (wrong_path_method, 404, "unknown_url", ""),
    ] {
        let answer = ask(&app, request).await;
        assert_eq!(answer.status.as_u16(), status, "{code}");
        assert_eq!(answer.error()["code"], code);
        assert_eq!(answer.header("allow"), allow, "{code}");
    }
    assert_eq!(asked.count(), 0);
}

#[tokio::test]
async fn an_error_before_the_reply_has_its_status_in_both_forms() {
    let fail = |_: &ModelRequest| {
        let retry_after = Some(std::time::Duration::from_secs(7));
        Err(Error::new(ErrorKind::RateLimited { retry_after }, "key sk-1 is exhausted"))
    };
    let app: Router = chat_router().model("demo", Asked::default().model(fail)).into();
    for stream in [true, false] {
        let answer = ask(&app, chat("demo", json!({"stream": stream}))).await;
        assert_eq!(answer.status, 429);
        assert_eq!(answer.header("retry-after"), "7");
        assert_eq!(answer.error()["code"], "rate_limit_exceeded");
        assert!(!answer.body.contains("sk-1"));
        assert!(!answer.header("x-run-id").is_empty());
    }
}

#[tokio::test]
async fn a_failed_model_call_may_be_repeated_by_the_client() {
    let fail = |_: &ModelRequest| Err(Error::new(ErrorKind::Timeout, "late"));
    let app: Router = chat_router().model("demo", Asked::default().model(fail)).into();
    let answer = ask(&app, chat("demo", json!({}))).await;
    assert_eq!((answer.status.as_u16(), answer.header("x-should-retry")), (504, ""));
}

#[tokio::test]
async fn what_a_provider_says_about_the_request_reaches_the_client() {
    let fail = |_: &ModelRequest| {
        let body = br#"{"error": {"message": "This model takes 8192 tokens.", "type": "invalid_request_error",
            "param": "messages", "code": "context_length_exceeded"}}"#;
        Err(openai_chat::decode_error(StatusCode::BAD_REQUEST, &HeaderMap::new(), body))
    };
    let app: Router = chat_router().model("demo", Asked::default().model(fail)).into();
    let answer = ask(&app, chat("demo", json!({}))).await;
    assert_eq!(answer.status, 400);
    let error = answer.error();
    assert_eq!(error["code"], "context_length_exceeded");
    assert_eq!(error["param"], "messages");
    assert_eq!(error["message"], "This model takes 8192 tokens.");
}

#[tokio::test]
async fn what_a_provider_says_about_the_hosts_account_does_not() {
    for (status, expected) in [(401, 502), (403, 502), (500, 502)] {
        let fail = move |_: &ModelRequest| {
            let body = br#"{"error": {"message": "Incorrect API key sk-1", "param": "org-7", "code": "invalid_api_key"}}"#;
            let status = StatusCode::from_u16(status).unwrap();
            Err(openai_chat::decode_error(status, &HeaderMap::new(), body))
        };
        let app: Router = chat_router().model("demo", Asked::default().model(fail)).into();
        let answer = ask(&app, chat("demo", json!({}))).await;
        assert_eq!(answer.status.as_u16(), expected, "{status}");
        for secret in ["sk-1", "org-7", "invalid_api_key"] {
            assert!(!answer.body.contains(secret), "{secret} in {}", answer.body);
        }
    }
}

fn piece(text: &str) -> ModelEvent {
    ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) }
}

fn streaming(events: Vec<Result<ModelEvent, Error>>) -> Router {
    let answer = move |_: &ModelRequest| Ok(ModelResponse::stream(stream::iter(events.clone())));
    chat_router().model("demo", Asked::default().model(answer)).into()
}

async fn both(app: &Router) -> (Answer, Answer) {
    let whole = ask(app, chat("demo", json!({}))).await;
    (whole, ask(app, chat("demo", json!({"stream": true}))).await)
}

#[tokio::test]
async fn an_error_in_a_begun_stream_ends_it_without_done() {
    let error = Error::new(ErrorKind::Upstream { status: Some(503) }, "db-7 is down");
    let app = streaming(vec![Ok(piece("half")), Err(error), Ok(piece("never"))]);
    let (whole, streamed) = both(&app).await;
    assert_eq!(whole.status, 502);
    let (before, error) = streamed.broken_chunks();
    assert_eq!(text_of(&before), "half");
    assert_eq!(error["code"], "upstream_failed");
    assert!(!streamed.body.contains("db-7"));
}

#[tokio::test]
async fn half_a_reply_is_never_taken_for_a_whole_one() {
    let (whole, streamed) = both(&streaming(vec![Ok(piece("half"))])).await;
    assert_eq!((whole.status.as_u16(), &whole.error()["code"]), (502, &json!("upstream_broken")));
    let (before, error) = streamed.broken_chunks();
    assert_eq!((text_of(&before).as_str(), &error["code"]), ("half", &json!("upstream_broken")));
}

#[tokio::test]
async fn an_error_after_the_finish_is_still_an_error() {
    let error = Error::new(ErrorKind::Timeout, "late");
    let finish = ModelEvent::Finish { reason: FinishReason::Stop };
    let app = streaming(vec![Ok(piece("all")), Ok(finish), Err(error)]);
    let (whole, streamed) = both(&app).await;
    assert_eq!(whole.status, 504);
    assert_eq!(streamed.broken_chunks().1["code"], "timeout");
}
