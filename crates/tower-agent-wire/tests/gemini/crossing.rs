//! From one dialect to another: what both can say crosses over, the rest is named.
#![cfg(all(feature = "openai-chat", feature = "anthropic-messages"))]

use serde_json::{Value, json};
use tower_agent_core::{Collector, Error, ModelRequest};
use tower_agent_wire::{Encoded, Stamp, anthropic_messages, gemini, openai_chat};

/// What was lost, by rule and place, and the body.
fn read(encoded: Result<Encoded, Error>) -> (Vec<String>, Value) {
    let encoded = encoded.unwrap();
    let losses = encoded.losses.iter().map(ToString::to_string).collect();
    (losses, serde_json::from_slice(&encoded.bytes).unwrap())
}

fn of_gemini(body: &Value) -> ModelRequest {
    let mut request = gemini::decode_request(body.to_string().as_bytes()).unwrap();
    request.model = "m".into();
    request.sampling.max_output_tokens.get_or_insert(64);
    request
}

/// An agent's turn as Google's client sends it to an older model.
fn plain() -> Value {
    json!({
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Weather?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"result": "snow"}}}]}
        ],
        "tools": [{"functionDeclarations": [{"name": "weather", "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}}]}],
        "generationConfig": {"maxOutputTokens": 64}
    })
}

#[test]
fn what_all_can_say_crosses_over_without_a_loss() {
    let request = of_gemini(&plain());
    let (losses, chat) = read(openai_chat::encode_request(&request));
    assert!(losses.iter().all(|loss| loss == "foreign at extra"), "{losses:?}");
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    assert_eq!(chat["tools"][0]["function"]["parameters"], schema);
    let call = &chat["messages"][2]["tool_calls"][0];
    assert_eq!(call["function"], json!({"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}));
    assert_eq!(chat["messages"][3]["tool_call_id"], call["id"]);
    assert_eq!(chat["messages"][3]["content"], "snow");

    let (losses, messages) = read(anthropic_messages::encode_request(&request));
    assert!(losses.iter().all(|loss| loss == "foreign at extra.gemini"), "{losses:?}");
    assert_eq!(messages["tools"][0]["input_schema"], schema);
    assert_eq!(
        messages["messages"][2]["content"][0]["tool_use_id"],
        messages["messages"][1]["content"][0]["id"]
    );

    // And back again, from a request that another client sent.
    let again = openai_chat::decode_request(chat.to_string().as_bytes()).unwrap();
    let (losses, body) = read(gemini::encode_request(&again));
    assert_eq!(losses, Vec::<String>::new());
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "Be brief."}]}));
    assert_eq!(
        body["contents"][2]["parts"][0]["functionResponse"]["response"],
        json!({"output": "snow"})
    );
}

#[test]
fn what_only_gemini_knows_is_named_and_not_sent_elsewhere() {
    let request = of_gemini(&json!({
        "contents": [{"role": "model", "parts": [{"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"}]}],
        "tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "f"}]}],
        "safetySettings": [{"category": "A"}]
    }));
    for encoded in
        [openai_chat::encode_request(&request), anthropic_messages::encode_request(&request)]
    {
        let (losses, body) = read(encoded);
        assert_eq!(
            losses.iter().filter(|loss| loss.starts_with("foreign")).count(),
            3,
            "{losses:?}"
        );
        assert!(losses.contains(&"foreign at tools[0]".to_owned()), "{losses:?}");
        assert_eq!(body["tools"].as_array().unwrap().len(), 1);
        for word in ["c2ln", "googleSearch", "safetySettings", "gemini"] {
            assert!(!body.to_string().contains(word), "{word} in {body}");
        }
    }
}

#[test]
fn what_only_others_know_is_named_and_not_sent_to_gemini() {
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "logit_bias": {"7": 1}, "parallel_tool_calls": false});
    let request = openai_chat::decode_request(chat.to_string().as_bytes()).unwrap();
    let (losses, body) = read(gemini::encode_request(&request));
    assert_eq!(losses, ["foreign at extra.logit_bias", "parameter at sampling"]);
    assert_eq!(body, json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}));

    let messages = json!({"model": "m", "max_tokens": 9, "top_k": 4, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": "Yes?"}]}
    ], "tools": [{"type": "web_search_20250305", "name": "web_search"}]});
    let request = anthropic_messages::decode_request(messages.to_string().as_bytes()).unwrap();
    let (losses, body) = read(gemini::encode_request(&request));
    assert_eq!(
        losses,
        [
            "foreign at extra.anthropic",
            "unsigned_reasoning at messages[1]",
            "foreign at messages[0].anthropic",
            "foreign at tools[0]"
        ]
    );
    assert_eq!(body["contents"][1]["parts"], json!([{"text": "Yes?"}]));
}

#[test]
fn a_stream_of_another_dialect_is_one_of_gemini_and_back() {
    let chunk = |delta: Value, reason: Value| {
        let chunk = json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        format!("data: {chunk}\n\n")
    };
    let call = json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{\"a\":1}"}}]});
    let body = [
        chunk(json!({"content": "Hel"}), Value::Null),
        chunk(json!({"content": "lo"}), Value::Null),
        chunk(call, Value::Null),
        chunk(json!({}), "tool_calls".into()),
    ];
    let mut decoder = openai_chat::Decoder::new();
    decoder.push(body.concat().as_bytes());
    decoder.finish();
    let mut encoder = gemini::Encoder::new(Stamp::new("r", "m", 0));
    let (mut out, mut before) = (Vec::new(), Collector::new());
    while let Some(event) = decoder.next_event() {
        let event = event.unwrap();
        out.extend(encoder.encode(&event).unwrap_or_default());
        before.push(event).unwrap();
    }
    out.extend(encoder.finish());
    assert_eq!(encoder.losses(), []);
    let mut after = Collector::new();
    for event in crate::stream::decode_in([out.as_slice()]) {
        after.push(event.unwrap()).unwrap();
    }
    let (before, after) = (before.finish().unwrap(), after.finish().unwrap());
    assert_eq!((before.message, before.finish), (after.message, after.finish));
}
