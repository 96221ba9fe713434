//! Errors of Anthropic's messages, from providers and for clients.
#![cfg(feature = "anthropic-messages")]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use tower_agent_core::{Effect, Error, ErrorKind};
use tower_agent_wire::anthropic_messages::{
    ApiError, decode_error, decode_reply, decode_request, encode_error, error_type,
};

fn decode(status: u16, pairs: &[(&str, &str)], body: &str) -> Error {
    let pair = |(name, value): &(&str, &str)| {
        (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
    };
    let headers: HeaderMap = pairs.iter().map(pair).collect();
    decode_error(StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes())
}

fn body(kind: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": "why"}, "request_id": "req_b"})
        .to_string()
}

#[test]
fn a_status_says_what_went_wrong_and_whether_anything_ran() {
    let upstream = |status| ErrorKind::Upstream { status: Some(status) };
    let limited = ErrorKind::RateLimited { retry_after: None };
    let cases = [
        (400, "invalid_request_error", upstream(400), Effect::NotStarted),
        (401, "authentication_error", ErrorKind::Unauthorized, Effect::NotStarted),
        (402, "billing_error", upstream(402), Effect::Unknown),
        (403, "permission_error", ErrorKind::Unauthorized, Effect::NotStarted),
        (404, "not_found_error", ErrorKind::NotFound, Effect::NotStarted),
        (413, "request_too_large", upstream(413), Effect::NotStarted),
        (429, "rate_limit_error", limited, Effect::NotStarted),
        (500, "api_error", upstream(500), Effect::Unknown),
        (504, "timeout_error", ErrorKind::Timeout, Effect::Unknown),
        (529, "overloaded_error", limited, Effect::Unknown),
    ];
    for (status, name, kind, effect) in cases {
        let error = decode(status, &[], &body(name));
        assert_eq!((error.kind(), error.effect()), (kind, effect), "{status}");
        let said = error.extensions().get::<ApiError>().unwrap();
        assert_eq!((said.kind.as_deref(), said.status), (Some(name), Some(status)));
        assert_eq!(error_type(status), name, "the provider's own table");
    }
}

#[test]
fn a_wait_and_the_id_of_the_request_are_told() {
    let error =
        decode(529, &[("retry-after", "7"), ("request-id", "req_h")], &body("overloaded_error"));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    let said = error.extensions().get::<ApiError>().unwrap();
    assert_eq!(said.request_id.as_deref(), Some("req_h"), "the header's counts");
    let error = decode(500, &[], &body("api_error"));
    assert_eq!(error.extensions().get::<ApiError>().unwrap().request_id.as_deref(), Some("req_b"));
}

#[test]
fn a_wait_is_kept_with_every_status_that_may_pass_and_with_no_other() {
    for status in 400..600 {
        let error = decode(status, &[("retry-after", "2")], "");
        let may_pass = matches!(status, 408 | 409 | 425 | 429 | 500..);
        assert_eq!(error.retry_after(), may_pass.then_some(Duration::from_secs(2)), "{status}");
    }
}

#[test]
fn a_code_is_read_and_passed_on() {
    let body = r#"{"type":"error","error":{"type":"not_found_error","message":"why","details":{"error_code":"thread_not_found"}},"request_id":"r"}"#;
    let error = decode(404, &[], body);
    assert_eq!(
        error.extensions().get::<ApiError>().unwrap().code.as_deref(),
        Some("thread_not_found")
    );
    assert_eq!(encode_error(&error).body(), body.as_bytes());
}

#[test]
fn a_body_that_is_no_error_is_an_error_all_the_same() {
    for body in ["", "<html>", "{}", "[]", r#"{"error": "text"}"#, r#"{"error": {"message": 7}}"#] {
        let error = decode(500, &[], body);
        assert_eq!(error.kind(), ErrorKind::Upstream { status: Some(500) }, "{body}");
        assert!(error.to_string().contains("500"), "{error}");
    }
}

#[test]
fn only_what_is_wrong_with_the_request_may_be_read_by_a_model() {
    assert_eq!(decode(400, &[], &body("invalid_request_error")).model_text(), "why");
    assert!(!decode(401, &[], &body("authentication_error")).model_text().contains("why"));
}

#[test]
fn an_error_with_a_status_of_success_is_still_one() {
    let error = decode_reply(body("overloaded_error").as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimited { retry_after: None });
    assert!(error.to_string().contains("why"), "{error}");
    let error = decode_reply(b"{}").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
}

#[test]
fn a_bad_request_names_its_field() {
    let cases = [
        ("{", ""),
        (r#"{"messages": []}"#, "model"),
        (r#"{"model": "m", "messages": {}}"#, "messages"),
        (r#"{"model": "m", "messages": [], "system": 7}"#, "system"),
        (r#"{"model": "m", "messages": [], "system": [{"text": "a"}]}"#, "system[0].type"),
        (r#"{"model": "m", "messages": [], "tools": [{}]}"#, "tools[0].name"),
        (
            r#"{"model": "m", "messages": [{"role": "user", "content": [{"type": "tool_use", "id": "a"}]}]}"#,
            "messages[0].content[0].name",
        ),
        (
            r#"{"model": "m", "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}"#,
            "messages[0].content[0].tool_use_id",
        ),
        (
            r#"{"model": "m", "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [7]}]}]}"#,
            "messages[0].content[0].content[0]",
        ),
    ];
    for (body, field) in cases {
        let error = decode_request(body.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{body}");
        let said = error.extensions().get::<ApiError>().unwrap();
        assert_eq!(said.param.as_deref().unwrap_or_default(), field, "{body}");
    }
}

#[test]
fn an_error_for_a_client_has_the_dialects_shape_and_no_internals() {
    let error = Error::new(
        ErrorKind::RateLimited { retry_after: Some(Duration::from_millis(1500)) },
        "db-7",
    );
    let response = encode_error(&error);
    assert_eq!(
        (
            response.status().as_u16(),
            response.headers().get("retry-after").unwrap().to_str().unwrap()
        ),
        (429, "2")
    );
    let body: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(
        body,
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": error.model_text()}, "request_id": null})
    );
}

#[test]
fn a_gateway_passes_a_providers_error_on_with_its_type() {
    let error = decode(529, &[("request-id", "req_h")], &body("overloaded_error"));
    let body: Value = serde_json::from_slice(encode_error(&error).body()).unwrap();
    assert_eq!(
        (&body["error"]["type"], &body["request_id"]),
        (&json!("overloaded_error"), &json!("req_h"))
    );
}
