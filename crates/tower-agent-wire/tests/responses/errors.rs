//! Errors of providers, and errors for clients.

use http::StatusCode;
use serde_json::{Value, json};
use tower_agent_core::{Error, ErrorKind};
use tower_agent_wire::openai_responses::{decode_reply, decode_request, encode_error};

#[test]
fn a_bad_request_names_the_field_for_the_client() {
    let item = |item: Value| json!({"model": "m", "input": [item]}).to_string();
    let tool = |tool: Value| json!({"model": "m", "input": "Hi", "tools": [tool]}).to_string();
    let cases = [
        ("no json".into(), None),
        (r#"{"input": "Hi"}"#.into(), Some("model")),
        (r#"{"model": 7, "input": "Hi"}"#.into(), Some("model")),
        (r#"{"model": "m", "input": 7}"#.into(), Some("input")),
        (item(json!("Hi")), Some("input[0]")),
        (item(json!({"content": "Hi"})), Some("input[0].role")),
        (item(json!({"role": "user", "content": 7})), Some("input[0].content")),
        (
            item(json!({"role": "user", "content": [{"text": "Hi"}]})),
            Some("input[0].content[0].type"),
        ),
        (item(json!({"role": "assistant", "content": 7})), Some("input[0].content")),
        (item(json!({"role": "assistant", "content": ["Hi"]})), Some("input[0].content[0]")),
        (item(json!({"type": "function_call", "name": "f"})), Some("input[0].call_id")),
        (item(json!({"type": "function_call", "call_id": "c"})), Some("input[0].name")),
        (item(json!({"type": "function_call_output", "output": "x"})), Some("input[0].call_id")),
        (
            item(json!({"type": "function_call_output", "call_id": "c", "output": 7})),
            Some("input[0].output"),
        ),
        (r#"{"model": "m", "input": "Hi", "tools": {}}"#.into(), Some("tools")),
        (tool(json!("f")), Some("tools[0]")),
        (tool(json!({"name": "f"})), Some("tools[0].type")),
        (tool(json!({"type": "function"})), Some("tools[0].name")),
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
fn a_malformed_reply_is_the_providers_fault_and_names_the_place() {
    let cases = [
        ("", ""),
        ("[]", ""),
        ("{}", "output"),
        (r#"{"output": 7}"#, "output"),
        (r#"{"output": ["x"]}"#, "output[0]"),
        (r#"{"output": [{"type": "function_call", "name": "f"}]}"#, "output[0].call_id"),
        (
            r#"{"output": [{"type": "message", "role": "assistant", "content": [7]}]}"#,
            "output[0].content[0]",
        ),
    ];
    for (body, place) in cases {
        let error = decode_reply(body.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{body}");
        assert!(error.to_string().contains(place), "{body}: {error}");
    }
}

#[test]
fn a_reply_that_is_not_complete_is_none() {
    let reply = |status: &str, error: Value| -> Error {
        let body = json!({"status": status, "error": error, "output": []}).to_string();
        decode_reply(body.as_bytes()).unwrap_err()
    };
    for status in ["queued", "in_progress", "cancelled"] {
        assert_eq!(reply(status, Value::Null).kind(), ErrorKind::Protocol, "{status}");
    }
    let failed = reply("failed", json!({"code": "server_error", "message": "GPU 7 is on fire"}));
    assert_eq!(failed.kind(), ErrorKind::Upstream { status: None });
    assert!(failed.to_string().contains("GPU 7") && !failed.model_text().contains("GPU 7"));
    let limited = reply("failed", json!({"code": "rate_limit_exceeded", "message": "slow down"}));
    assert_eq!(limited.kind(), ErrorKind::RateLimited { retry_after: None });
    assert_eq!(reply("failed", Value::Null).kind(), ErrorKind::Upstream { status: None });
}
