//! What is wrong with requests, and errors of providers.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tower_agent_core::{Effect, Error, ErrorKind};
use tower_agent_wire::gemini::{
    ApiError, decode_error, decode_reply, decode_request, encode_error,
};

#[test]
fn a_bad_request_names_its_field() {
    for (body, field) in [
        ("nonsense", ""),
        ("[]", ""),
        ("{}", "contents"),
        (r#"{"contents": 7}"#, "contents"),
        (r#"{"contents": [7]}"#, "contents[0]"),
        (r#"{"contents": [{"parts": "Hi"}]}"#, "contents[0].parts"),
        (r#"{"contents": [{"role": 7, "parts": []}]}"#, "contents[0].role"),
        (r#"{"contents": [{"parts": [{"text": 7}]}]}"#, "contents[0].parts[0].text"),
        (
            r#"{"contents": [{"parts": [{"functionCall": {}}]}]}"#,
            "contents[0].parts[0].functionCall",
        ),
        (
            r#"{"contents": [{"parts": [{"functionResponse": {"name": "f", "response": "x"}}]}]}"#,
            "contents[0].parts[0].functionResponse.response",
        ),
        (r#"{"contents": [], "systemInstruction": 7}"#, "systemInstruction"),
        (r#"{"contents": [], "systemInstruction": {"parts": [7]}}"#, "systemInstruction.parts[0]"),
        (r#"{"contents": [], "tools": 7}"#, "tools"),
        (
            r#"{"contents": [], "tools": [{"functionDeclarations": [{}]}]}"#,
            "tools[0].functionDeclarations[0].name",
        ),
        (r#"{"contents": [], "generationConfig": 7}"#, "generationConfig"),
    ] {
        let error = decode_request(body.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{body}");
        let said = error.extensions().get::<ApiError>().unwrap();
        assert_eq!(said.param.as_deref().unwrap_or_default(), field, "{body}");
        assert!(error.model_text().contains(field), "{body}");
    }
}

#[test]
fn nesting_cannot_exhaust_the_stack() {
    let deep = format!("{{\"contents\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(decode_request(deep.as_bytes()).unwrap_err().kind(), ErrorKind::InvalidArguments);
    assert_eq!(decode_reply(deep.as_bytes()).unwrap_err().kind(), ErrorKind::Protocol);
}

#[test]
fn a_body_that_is_no_reply_is_the_providers_fault() {
    for body in [
        "",
        "[]",
        "{}",
        r#"{"candidates": 7}"#,
        r#"{"candidates": [7]}"#,
        r#"{"candidates": [{"content": 7}]}"#,
    ] {
        assert_eq!(
            decode_reply(body.as_bytes()).unwrap_err().kind(),
            ErrorKind::Protocol,
            "{body}"
        );
    }
    let error =
        r#"{"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}"#;
    let error = decode_reply(error.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimited { retry_after: None });
    assert_eq!(error.effect(), Effect::Unknown);
}

fn said(status: u16, body: &Value) -> Error {
    decode_error(
        StatusCode::from_u16(status).unwrap(),
        &HeaderMap::new(),
        body.to_string().as_bytes(),
    )
}

fn error(code: u16, status: &str, details: &Value) -> Value {
    json!({"error": {"code": code, "message": "words", "status": status, "details": details}})
}

#[test]
fn statuses_and_details_say_what_to_do() {
    let retry =
        json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}]);
    let wait = Some(Duration::from_millis(1500));
    let none = json!([]);
    let bad_key =
        json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    for (body, kind, effect) in [
        (
            error(429, "RESOURCE_EXHAUSTED", &retry),
            ErrorKind::RateLimited { retry_after: wait },
            Effect::NotStarted,
        ),
        (
            error(429, "RESOURCE_EXHAUSTED", &none),
            ErrorKind::RateLimited { retry_after: None },
            Effect::NotStarted,
        ),
        (
            error(503, "UNAVAILABLE", &retry),
            ErrorKind::RateLimited { retry_after: wait },
            Effect::Unknown,
        ),
        (
            error(500, "INTERNAL", &retry),
            ErrorKind::RateLimited { retry_after: wait },
            Effect::Unknown,
        ),
        (
            error(503, "UNAVAILABLE", &none),
            ErrorKind::Upstream { status: Some(503) },
            Effect::Unknown,
        ),
        (error(400, "INVALID_ARGUMENT", &bad_key), ErrorKind::Unauthorized, Effect::NotStarted),
        (
            error(400, "FAILED_PRECONDITION", &none),
            ErrorKind::Upstream { status: Some(400) },
            Effect::NotStarted,
        ),
        (error(403, "PERMISSION_DENIED", &none), ErrorKind::Unauthorized, Effect::NotStarted),
        (error(404, "NOT_FOUND", &none), ErrorKind::NotFound, Effect::NotStarted),
        (error(504, "DEADLINE_EXCEEDED", &none), ErrorKind::Timeout, Effect::Unknown),
        (error(500, "INTERNAL", &none), ErrorKind::Upstream { status: Some(500) }, Effect::Unknown),
    ] {
        let status = u16::try_from(body["error"]["code"].as_u64().unwrap()).unwrap();
        // Streams without `alt=sse` put even an error into a list.
        for body in [body.clone(), json!([body])] {
            let error = said(status, &body);
            assert_eq!((error.kind(), error.effect()), (kind, effect), "{body}");
            let said = error.extensions().get::<ApiError>().unwrap();
            assert_eq!(said.message.as_deref(), Some("words"));
        }
    }
}

#[test]
fn an_error_names_the_field_and_the_reason() {
    let details = json!([
        {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "contents[0].parts", "description": "d"}]},
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TOO_LONG", "domain": "googleapis.com"}
    ]);
    let error = said(400, &error(400, "INVALID_ARGUMENT", &details));
    let said = error.extensions().get::<ApiError>().unwrap();
    assert_eq!(said.param.as_deref(), Some("contents[0].parts"));
    assert_eq!(
        (said.code.as_deref(), said.kind.as_deref()),
        (Some("TOO_LONG"), Some("INVALID_ARGUMENT"))
    );
    let answer = encode_error(&error);
    assert_eq!(answer.status(), 400);
    let body: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(body["error"]["message"], "words");
    let again = said_again(answer.status(), answer.body());
    assert_eq!((again.param, again.code), (said.param.clone(), said.code.clone()));
}

fn said_again(status: StatusCode, body: &[u8]) -> ApiError {
    decode_error(status, &HeaderMap::new(), body).extensions().get::<ApiError>().unwrap().clone()
}

#[test]
fn a_host_tells_a_client_how_long_to_wait_and_nothing_of_itself() {
    let kind = ErrorKind::RateLimited { retry_after: Some(Duration::from_millis(1500)) };
    let answer = encode_error(&Error::new(kind, "bucket of db-7 is empty"));
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["retry-after"]),
        (429, &"2".parse().unwrap())
    );
    let body: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(body["error"]["status"], "RESOURCE_EXHAUSTED");
    assert_eq!(body["error"]["details"][0]["retryDelay"], "1.5s");
    assert!(!body.to_string().contains("db-7"));
}

#[test]
fn no_body_is_too_strange_for_an_error() {
    for body in [
        "",
        "<html>",
        "[]",
        "[7]",
        r#"{"error": "text"}"#,
        r#"{"error": {"details": 7, "code": "x"}}"#,
    ] {
        let error = decode_error(StatusCode::BAD_GATEWAY, &HeaderMap::new(), body.as_bytes());
        assert_eq!(error.kind(), ErrorKind::Upstream { status: Some(502) }, "{body}");
    }
}
