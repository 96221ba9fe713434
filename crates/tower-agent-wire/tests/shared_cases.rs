//! Faults from public reports that belong to this codec. Without `TOWER_AGENT_SHARED` there is nothing to run.

#![cfg(feature = "openai-chat")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

mod support;

use serde_json::{Value, json};
use tower_agent_core::{Collector, Reply};

use support::{chunks, decode_in};

/// The cases of this layer, or `None` where nobody set the variable.
fn cases() -> Option<Vec<Value>> {
    let folder = std::env::var_os("TOWER_AGENT_SHARED")?;
    let file = std::path::Path::new(&folder).join("cases/public-cases.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ours = cases.into_iter().filter(|case| case["layer"] == "openai_adapter");
    Some(ours.collect())
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// The pieces in which the case's body arrives.
fn pieces(input: &Value) -> Vec<Vec<u8>> {
    let model = &input["model"];
    if let Some(list) = model["http_body_chunks_hex"].as_array() {
        return list.iter().map(|hex| bytes(hex.as_str().unwrap())).collect();
    }
    let reply = &model["replies"][0];
    let deltas = reply["tool_call_deltas"].as_array().unwrap();
    let chunk = |delta: &Value| {
        let mut entry = delta.clone();
        let entry = entry.as_object_mut().unwrap();
        let (name, arguments) = (entry.remove("name"), entry.remove("arguments"));
        entry.insert("function".into(), json!({"name": name, "arguments": arguments}));
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]})
    };
    let mut all: Vec<_> = deltas.iter().map(chunk).collect();
    all.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reply["finish"]}]}));
    vec![chunks(&all).into_bytes()]
}

fn check(reply: &Reply, expected: &Value) {
    if let Some(text) = expected["text"].as_str() {
        assert_eq!(reply.message.text(), text);
    }
    for text in expected["not_contains"].as_array().into_iter().flatten() {
        assert!(!reply.message.text().contains(text.as_str().unwrap()));
    }
    if let Some(calls) = expected["tool_calls"].as_array() {
        let ours = reply.message.tool_calls().map(|call| {
            json!({"id": call.id.as_str(), "name": &call.name, "args": call.arguments.value().unwrap()})
        });
        assert_eq!(ours.collect::<Vec<_>>(), *calls);
    }
}

#[test]
fn reported_faults_of_the_dialect_do_not_happen() {
    let Some(cases) = cases() else { return };
    assert!(!cases.is_empty());
    for case in cases {
        let pieces = pieces(&case["input"]);
        let mut collector = Collector::new();
        for event in decode_in(pieces.iter().map(Vec::as_slice)) {
            collector.push(event.unwrap()).unwrap();
        }
        check(&collector.finish().unwrap(), &case["expected"]);
    }
}
