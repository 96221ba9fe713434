//! Errors of providers, and errors for clients.
#![cfg(feature = "openai-chat")]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use tower_agent_core::{Effect, Error, ErrorKind};
use tower_agent_wire::openai_chat::{
    ApiError, decode_error, decode_reply, decode_request, encode_error,
};

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&str, &str)| {
        (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
    };
    pairs.iter().map(pair).collect()
}

fn decode(status: u16, pairs: &[(&str, &str)], body: &str) -> Error {
    decode_error(StatusCode::from_u16(status).unwrap(), &headers(pairs), body.as_bytes())
}

#[test]
fn a_status_says_what_went_wrong_and_whether_anything_ran() {
    let upstream = |status| ErrorKind::Upstream { status: Some(status) };
    let limited = ErrorKind::RateLimited { retry_after: None };
    let cases = [
        (400, upstream(400), Effect::NotStarted),
        (401, ErrorKind::Unauthorized, Effect::NotStarted),
        (403, ErrorKind::Unauthorized, Effect::NotStarted),
        (404, ErrorKind::NotFound, Effect::NotStarted),
        (408, ErrorKind::Timeout, Effect::Unknown),
        (409, upstream(409), Effect::Unknown),
        (422, upstream(422), Effect::NotStarted),
        (429, limited, Effect::NotStarted),
        (500, upstream(500), Effect::Unknown),
        (502, upstream(502), Effect::Unknown),
        (503, upstream(503), Effect::Unknown),
        (504, ErrorKind::Timeout, Effect::Unknown),
        (529, limited, Effect::Unknown),
    ];
    for (status, kind, effect) in cases {
        let error = decode(status, &[], "");
        assert_eq!((error.kind(), error.effect()), (kind, effect), "{status}");
    }
}

#[test]
fn a_wait_is_read_as_seconds_as_milliseconds_and_as_a_date() {
    let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    let cases: [(&[(&str, &str)], Option<Duration>); 10] = [
        (&[("retry-after", "7")], Some(Duration::from_secs(7))),
        (&[("retry-after", " 0.5 ")], Some(Duration::from_millis(500))),
        (&[("retry-after", "9"), ("retry-after-ms", "1500")], Some(Duration::from_millis(1500))),
        (&[("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT"), date], Some(Duration::from_secs(60))),
        (&[("retry-after", "Sun, 06 Nov 1994 08:40:00 GMT"), date], Some(Duration::ZERO)),
        (&[("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")], None),
        (&[("retry-after", "-3")], None),
        (&[("retry-after", "soon")], None),
        (&[("retry-after", "1e300")], None),
        (&[("retry-after", "3"), ("retry-after-ms", "-1")], Some(Duration::from_secs(3))),
    ];
    for (pairs, wait) in cases {
        assert_eq!(decode(429, pairs, "").retry_after(), wait, "{pairs:?}");
    }
}

#[test]
fn a_wait_is_kept_with_every_status_that_may_pass_and_with_no_other() {
    for status in 400..600 {
        let (bare, waiting) =
            (decode(status, &[], ""), decode(status, &[("retry-after", "2")], ""));
        let may_pass = matches!(status, 408 | 409 | 425 | 429 | 500..);
        let wait = may_pass.then_some(Duration::from_secs(2));
        assert_eq!(waiting.retry_after(), wait, "{status}");
        assert_eq!(waiting.effect(), bare.effect(), "{status}");
        assert_eq!(waiting.extensions().get::<ApiError>().unwrap().status, Some(status));
        assert!(may_pass || waiting.kind() == bare.kind(), "{status}");
    }
}

#[test]
fn a_used_up_quota_is_no_rate_limit_because_waiting_does_not_help() {
    let body = r#"{"error": {"message": "quota", "type": "insufficient_quota", "code": "insufficient_quota"}}"#;
    assert_eq!(decode(429, &[], body).kind(), ErrorKind::Upstream { status: Some(429) });
}

#[test]
fn what_the_provider_said_is_attached_whatever_its_form() {
    let bodies = [
        r#"{"error": {"message": "bad", "type": "t", "param": "model", "code": "c"}}"#,
        r#"{"message": "bad", "type": "t", "param": "model", "code": "c"}"#,
        r#"{"object": "error", "message": "bad", "type": "t", "param": "model", "code": "c"}"#,
    ];
    for body in bodies {
        let error = decode(500, &[("x-request-id", "req_1")], body);
        let said = error.extensions().get::<ApiError>().unwrap();
        assert_eq!(said.message.as_deref(), Some("bad"), "{body}");
        assert_eq!(said.kind.as_deref(), Some("t"));
        assert_eq!(said.param.as_deref(), Some("model"));
        assert_eq!(said.code.as_deref(), Some("c"));
        assert_eq!((said.request_id.as_deref(), said.status), (Some("req_1"), Some(500)));
    }
    let texts = [r#"{"error": "bad"}"#, r#"{"detail": "bad"}"#];
    for body in texts {
        let error = decode(500, &[], body);
        assert_eq!(
            error.extensions().get::<ApiError>().unwrap().message.as_deref(),
            Some("bad"),
            "{body}"
        );
    }
    let numeric = decode(500, &[], r#"{"error": {"message": "bad", "code": 50013}}"#);
    assert_eq!(numeric.extensions().get::<ApiError>().unwrap().code.as_deref(), Some("50013"));
    assert_eq!(
        decode(502, &[], "<html>Bad gateway</html>").kind(),
        ErrorKind::Upstream { status: Some(502) }
    );
}

#[test]
fn a_model_reads_the_providers_text_only_where_it_is_about_the_request() {
    let body = r#"{"error": {"message": "maximum context length is 8192 tokens", "code": "context_length_exceeded"}}"#;
    assert!(decode(400, &[], body).model_text().contains("8192"));
    for status in [401, 403, 429, 500] {
        let error = decode(status, &[], r#"{"error": {"message": "key sk-abc of org-1"}}"#);
        assert!(!error.model_text().contains("org-1"), "{status}");
        assert!(error.to_string().contains("org-1"), "operators do read it");
    }
}

#[test]
fn a_long_text_of_a_provider_is_cut_between_characters() {
    let body = json!({"error": {"message": "ä".repeat(100_000)}}).to_string();
    assert!(decode(500, &[], &body).to_string().len() < 3_000);
}

#[test]
fn an_error_with_a_status_of_success_is_still_one() {
    let error = decode_reply(br#"{"error": {"message": "no provider", "code": 502}}"#).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Upstream { status: Some(502) });
    let reply = br#"{"error": null, "choices": [{"message": {"content": "Hi"}}]}"#;
    assert_eq!(decode_reply(reply).unwrap().message.text(), "Hi");
}

#[test]
fn a_malformed_reply_is_the_providers_fault_and_names_the_place() {
    let cases = [
        ("", ""),
        ("[]", ""),
        ("{}", "choices"),
        (r#"{"choices": []}"#, "choices"),
        (r#"{"choices": [{"message": 7}]}"#, "choices[0].message"),
        (r#"{"choices": [{"message": {"content": 7}}]}"#, "choices[0].content"),
        (
            r#"{"choices": [{"message": {"content": null, "tool_calls": [{"function": {}}]}}]}"#,
            "tool_calls[0].function.name",
        ),
    ];
    for (body, place) in cases {
        let error = decode_reply(body.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{body}");
        assert!(error.to_string().contains(place), "{body}: {error}");
    }
}

#[test]
fn a_bad_request_names_the_field_for_the_client() {
    let cases = [
        ("no json", None),
        (r#"{"messages": []}"#, Some("model")),
        (r#"{"model": 7, "messages": []}"#, Some("model")),
        (r#"{"model": "m"}"#, Some("messages")),
        (r#"{"model": "m", "messages": "Hi"}"#, Some("messages")),
        (r#"{"model": "m", "messages": ["Hi"]}"#, Some("messages[0]")),
        (r#"{"model": "m", "messages": [{"content": "Hi"}]}"#, Some("messages[0].role")),
        (
            r#"{"model": "m", "messages": [{"role": "user", "content": 7}]}"#,
            Some("messages[0].content"),
        ),
        (
            r#"{"model": "m", "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}"#,
            Some("messages[0].content[0].type"),
        ),
        (
            r#"{"model": "m", "messages": [{"role": "tool", "content": "Hi"}]}"#,
            Some("messages[0].tool_call_id"),
        ),
        (r#"{"model": "m", "messages": [], "tools": {}}"#, Some("tools")),
        (
            r#"{"model": "m", "messages": [], "tools": [{"type": "function"}]}"#,
            Some("tools[0].function"),
        ),
        (
            r#"{"model": "m", "messages": [], "tools": [{"type": "function", "function": {}}]}"#,
            Some("tools[0].function.name"),
        ),
    ];
    for (body, param) in cases {
        let error = decode_request(body.as_bytes()).unwrap_err();
        let response = encode_error(&error);
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{body}");
        let answer: Value = serde_json::from_slice(response.body()).unwrap();
        let answer = &answer["error"];
        assert_eq!(answer["param"].as_str(), param, "{body}");
        assert_eq!(answer["type"], "invalid_request_error");
        assert!(answer["message"].as_str().unwrap().contains(param.unwrap_or("JSON")), "{answer}");
    }
}

#[test]
fn each_kind_has_a_status_and_a_body_that_clients_map() {
    let upstream = |status| ErrorKind::Upstream { status };
    let cases = [
        (ErrorKind::Timeout, 504, "server_error", "timeout"),
        (ErrorKind::Cancelled, 499, "server_error", "cancelled"),
        (ErrorKind::Overloaded, 503, "server_error", "overloaded"),
        (ErrorKind::Unavailable, 503, "server_error", "unavailable"),
        (
            ErrorKind::RateLimited { retry_after: None },
            429,
            "rate_limit_error",
            "rate_limit_exceeded",
        ),
        (ErrorKind::InvalidArguments, 400, "invalid_request_error", "invalid_request"),
        (ErrorKind::NotFound, 404, "invalid_request_error", "not_found"),
        (ErrorKind::Unauthorized, 401, "authentication_error", "invalid_api_key"),
        (upstream(Some(422)), 422, "invalid_request_error", "upstream"),
        (upstream(Some(500)), 502, "server_error", "upstream"),
        (upstream(None), 502, "server_error", "upstream"),
        (ErrorKind::Protocol, 502, "server_error", "protocol"),
        (ErrorKind::Panic, 500, "server_error", "panic"),
    ];
    for (kind, status, name, code) in cases {
        let response = encode_error(&Error::new(kind, "secret internals"));
        assert_eq!(response.status().as_u16(), status, "{kind:?}");
        assert_eq!(response.headers()["content-type"], "application/json");
        let body: Value = serde_json::from_slice(response.body()).unwrap();
        let error = &body["error"];
        assert_eq!(
            (error["type"].as_str(), error["code"].as_str()),
            (Some(name), Some(code)),
            "{kind:?}"
        );
        assert_eq!(error["param"], Value::Null);
        assert!(!body.to_string().contains("internals"));
    }
}

#[test]
fn a_wait_is_passed_on_rounded_up() {
    let kind = ErrorKind::RateLimited { retry_after: Some(Duration::from_millis(1200)) };
    assert_eq!(encode_error(&Error::new(kind, "slow down")).headers()["retry-after"], "2");
}

#[test]
fn an_overloaded_provider_is_passed_on_as_such() {
    for status in [500, 502, 503, 504, 529] {
        let response = encode_error(&decode(status, &[("retry-after", "2")], ""));
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{status}");
        assert_eq!(response.headers()["retry-after"], "2", "{status}");
    }
}

#[test]
fn a_gateway_passes_a_providers_error_on_with_its_code() {
    let body = r#"{"error": {"message": "too long", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}"#;
    let response = encode_error(&decode(400, &[], body));
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let passed: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(passed, serde_json::from_str::<Value>(body).unwrap());
}

#[test]
fn the_longest_wait_is_written_as_it_is() {
    let limited = ErrorKind::RateLimited { retry_after: Some(Duration::MAX) };
    let response = encode_error(&Error::new(limited, "never"));
    assert_eq!(response.headers()["retry-after"], u64::MAX.to_string());
}
