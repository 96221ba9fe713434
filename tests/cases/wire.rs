//! OpenAI's chat completions in pieces.

use serde_json::{Value, json};
use tower_agent::{Collector, Reply};
use tower_agent_wire::openai_chat::Decoder;

use crate::{case::Case, check};

pub(crate) async fn stream(case: &Case) {
    let (reply, is_over) = decode(&chunks(&case.input["model"]));
    check::texts(&case.expected, &reply.message.text());
    if let Some(calls) = case.expected.get("tool_calls") {
        let ours = reply.message.tool_calls().map(|call| {
            let arguments = call.arguments.value().unwrap();
            json!({"id": call.id.as_str(), "name": call.name.as_str(), "args": arguments})
        });
        assert_eq!(ours.collect::<Value>(), *calls);
    }
    if let Some(ended) = case.expected.get("ended") {
        assert_eq!(ended, "complete");
        assert!(is_over, "after its last event a stream says that it is over");
    }
}

/// The reply, and whether the decoder knew before the connection closed that it was over.
fn decode(chunks: &[Vec<u8>]) -> (Reply, bool) {
    let (mut decoder, mut collector) = (Decoder::new(), Collector::new());
    for chunk in chunks {
        decoder.push(chunk);
        while let Some(event) = decoder.next_event() {
            collector.push(event.unwrap()).unwrap();
        }
    }
    let is_over = decoder.is_over();
    decoder.finish();
    while let Some(event) = decoder.next_event() {
        collector.push(event.unwrap()).unwrap();
    }
    (collector.finish().unwrap(), is_over)
}

/// The chunks in which the body arrives.
fn chunks(model: &Value) -> Vec<Vec<u8>> {
    if let Some(chunks) = model["http_body_chunks_hex"].as_array() {
        return chunks.iter().map(|hex| bytes(hex.as_str().unwrap())).collect();
    }
    let reply = &model["replies"][0];
    let deltas = reply["tool_call_deltas"].as_array().unwrap().iter().map(|delta| {
        let mut entry = delta.clone();
        let function = json!({"name": delta["name"], "arguments": delta["arguments"]});
        entry.as_object_mut().unwrap().retain(|field, _| field == "index" || field == "id");
        entry["function"] = function;
        json!({"tool_calls": [entry]})
    });
    let choice = |delta| json!({"choices": [{"index": 0, "delta": delta}]});
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reply["finish"]}]});
    let frames =
        deltas.map(choice).chain([last]).map(|chunk| format!("data: {chunk}\n\n").into_bytes());
    frames.collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().map(|digit| digit.to_digit(16).unwrap().try_into().unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}
