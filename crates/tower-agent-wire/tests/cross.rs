//! A conversation that came in one dialect goes out in another; what that cannot say is dropped by a named rule.
#![cfg(all(feature = "anthropic-messages", feature = "openai-chat"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tower_agent_core::{Collector, Error, ModelEvent, ModelRequest, Part, Reply};
use tower_agent_test::strategies;
use tower_agent_wire::{
    Encoded, Stamp,
    anthropic_messages::{self as anthropic},
    openai_chat as chat,
};

fn bodies(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

fn chats() -> Map<String, Value> {
    bodies(include_str!("data/requests.json"))
}

fn messages() -> Map<String, Value> {
    bodies(include_str!("data/anthropic_requests.json"))
}

/// What was lost, by rule and place, and the body.
fn outcome(encoded: Result<Encoded, Error>) -> (Vec<String>, Value) {
    let encoded = encoded.unwrap();
    let losses = encoded.losses.iter().map(ToString::to_string).collect();
    (losses, serde_json::from_slice(&encoded.bytes).unwrap())
}

fn to_anthropic(body: &Value) -> (Vec<String>, Value) {
    let mut request = chat::decode_request(body.to_string().as_bytes()).unwrap();
    request.sampling.max_output_tokens.get_or_insert(64);
    outcome(anthropic::encode_request(&request))
}

fn to_chat(body: &Value) -> (Vec<String>, Value) {
    let request = anthropic::decode_request(body.to_string().as_bytes()).unwrap();
    outcome(chat::encode_request(&request))
}

/// Every key of every object, and every `type`.
fn words(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                out.push(key.clone());
                if let (true, Some(kind)) = (key == "type", value.as_str()) {
                    out.push(kind.to_owned());
                }
                words(value, out);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, out)),
        _ => {}
    }
}

/// An agent's turn as a client of OpenAI's API has it.
fn turn() -> Value {
    json!({
        "model": "m", "temperature": 0.5, "max_completion_tokens": 99, "stop": ["END"],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "Compare."},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/"}}
            ]},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "find", "arguments": "{\"q\":9007199254740993}"}},
                {"id": "call_b", "type": "function", "function": {"name": "now", "arguments": "{}"}}
            ]},
            {"role": "tool", "tool_call_id": "call_a", "content": "found"},
            {"role": "tool", "tool_call_id": "call_b", "content": "noon"},
            {"role": "user", "content": "Thanks"}
        ],
        "tools": [{"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {"q": {}}}}}],
        "tool_choice": "required", "parallel_tool_calls": false
    })
}

/// The same as a client of Anthropic's has it.
fn same_turn() -> Value {
    json!({
        "model": "m", "temperature": 0.5, "max_tokens": 99, "stop_sequences": ["END"], "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Compare."},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/"}}
            ]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "call_a", "name": "find", "input": {"q": 9_007_199_254_740_993_u64}},
                {"type": "tool_use", "id": "call_b", "name": "now", "input": {}}
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_a", "content": "found"},
                {"type": "tool_result", "tool_use_id": "call_b", "content": "noon"}
            ]},
            {"role": "user", "content": "Thanks"}
        ],
        "tools": [{"name": "find", "description": "Finds.", "input_schema": {"type": "object", "properties": {"q": {}}}}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": true}
    })
}

#[test]
fn what_both_dialects_can_say_goes_either_way_without_a_loss() {
    assert_eq!(to_chat(&same_turn()), (vec![], turn()));
    let (losses, mut there) = to_anthropic(&turn());
    assert_eq!(losses, [""; 0]);
    // A list of one plain text is a text.
    assert_eq!(there["messages"][0]["content"][0].as_object_mut().unwrap().len(), 2);
    assert_eq!(there, same_turn());
}

/// Whether a loss is at a place, or at a field of it.
fn is_at(loss: &str, place: &str) -> bool {
    loss.strip_prefix(place).is_some_and(|field| field.is_empty() || field.starts_with('.'))
}

#[test]
fn what_only_openai_knows_is_dropped_by_rule_on_the_way_to_anthropic() {
    let expected: &[(&str, &[&str])] = &[
        ("plain text", &[]),
        (
            "every sampling parameter",
            &["foreign at extra", "parameter at sampling", "name at messages[1]"],
        ),
        ("older and less usual spellings", &[]),
        ("explicit nulls", &[]),
        ("pictures, sound and files", &["foreign at messages[0]", "media at messages[0]"]),
        (
            "an agent's turn",
            &[
                "arguments at messages[1]",
                "media_in_tool_result at messages[3]",
                "foreign at tools[0]",
            ],
        ),
        (
            "tool calls as odd servers write them",
            &["foreign at messages[0]", "arguments at messages[0]"],
        ),
        (
            "reasoning of both spellings",
            &[
                "unsigned_reasoning at messages[0]",
                "unsigned_reasoning at messages[1]",
                "foreign at messages[1]",
            ],
        ),
        ("refusals", &["foreign at messages[0]", "foreign at messages[1]"]),
        (
            "tools of the provider's own",
            &["foreign at extra", "foreign at tools[0]", "foreign at tools[1]"],
        ),
        ("output as an object", &["output_format at output"]),
        ("output by a schema", &["foreign at extra"]),
        ("a stream with usage", &["foreign at extra"]),
    ];
    let chats = chats();
    for (name, rules) in expected {
        let (losses, body) = to_anthropic(&chats[*name]);
        for rule in *rules {
            assert!(
                losses.iter().any(|loss| is_at(loss, rule)),
                "{name}: {rule} is not in {losses:?}"
            );
        }
        for loss in &losses {
            assert!(
                rules.iter().any(|rule| is_at(loss, rule)),
                "{name}: {loss} was not expected: {body}"
            );
        }
    }
}

#[test]
fn what_a_user_sent_and_cannot_be_passed_on_leaves_a_note() {
    let video = json!({"model": "m", "messages": [{"role": "user", "content": [
        {"type": "text", "text": "See"}, {"type": "video_url", "video_url": {"url": "https://example.com/c.mp4"}}]}]});
    let (losses, body) = to_anthropic(&video);
    assert_eq!(losses, ["foreign at messages[0]"]);
    let note = "[video_url omitted: it is not in a form that can be sent]";
    assert_eq!(body["messages"][0]["content"][1]["text"], note);

    let document = json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}});
    let asked = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [document]}]});
    let (losses, body) = to_chat(&asked);
    assert_eq!(losses, ["foreign at messages[0]"]);
    let note = "[document omitted: it is not in a form that can be sent]";
    assert_eq!(body["messages"][0]["content"], json!([{"type": "text", "text": note}]));
}

#[test]
fn a_choice_among_tools_that_were_left_out_is_left_out_too() {
    let tools = json!([{"type": "web_search_20250305", "name": "web_search"}]);
    let asked = json!({"model": "m", "max_tokens": 1, "messages": [], "tools": tools, "tool_choice": {"type": "any"}});
    let (losses, body) = to_chat(&asked);
    assert_eq!(losses, ["foreign at tools[0]"]);
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));

    let tools = json!([{"type": "custom", "custom": {"name": "shell"}}]);
    let asked = json!({"model": "m", "messages": [], "tools": tools, "tool_choice": "required"});
    let (losses, body) = to_anthropic(&asked);
    assert_eq!(losses, ["foreign at tools[0]"]);
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
}

#[test]
fn nothing_of_openai_is_in_what_goes_to_anthropic() {
    let foreign = [
        "image_url",
        "input_audio",
        "function",
        "tool_calls",
        "tool_call_id",
        "refusal",
        "logit_bias",
        "n",
        "seed",
        "user",
        "response_format",
        "reasoning_content",
        "reasoning",
        "max_completion_tokens",
        "stop",
        "stream_options",
        "functions",
        "function_call",
        "parallel_tool_calls",
        "presence_penalty",
        "custom",
        "audio",
        "service_tier",
    ];
    for (name, body) in chats() {
        let (_, body) = to_anthropic(&body);
        let mut found = Vec::new();
        words(&body, &mut found);
        let leaked: Vec<_> = found.iter().filter(|word| foreign.contains(&word.as_str())).collect();
        assert!(leaked.is_empty(), "{name}: {leaked:?} in {body}");
        // What comes out is a request of the dialect.
        anthropic::decode_request(body.to_string().as_bytes()).unwrap();
    }
}

#[test]
fn what_only_anthropic_knows_is_dropped_by_rule_on_the_way_to_openai() {
    let expected: &[(&str, &[&str])] = &[
        ("plain text", &[]),
        ("every parameter", &["foreign at extra"]),
        ("unusual spellings", &[]),
        (
            "system as blocks with cache marks",
            &["foreign at messages[0]", "foreign at messages[1]"],
        ),
        ("system as one plain block, and as no block", &[]),
        ("contents of every form", &[]),
        ("pictures and documents", &["foreign at messages[0]", "media_source at messages[0]"]),
        (
            "an agent's turn with thinking",
            &[
                "foreign at extra",
                "foreign at messages[1]",
                "foreign at messages[2]",
                "error_flag at messages[2]",
                "foreign at tools[0].extra",
            ],
        ),
        ("tool results of every content", &["media_in_tool_result at messages[0]"]),
        (
            "tools of the provider's own",
            &["foreign at messages[1]", "foreign at tools[0]", "foreign at tools[1]"],
        ),
        ("output by a schema", &["foreign at extra"]),
        ("a stream", &[]),
    ];
    let messages = messages();
    for (name, rules) in expected {
        let (losses, body) = to_chat(&messages[*name]);
        for rule in *rules {
            assert!(losses.iter().any(|loss| loss == rule), "{name}: {rule} is not in {losses:?}");
        }
        for loss in &losses {
            assert!(rules.contains(&loss.as_str()), "{name}: {loss} was not expected: {body}");
        }
    }
}

#[test]
fn nothing_of_anthropic_is_in_what_goes_to_openai() {
    let foreign = [
        "anthropic",
        "cache_control",
        "signature",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "tool_use_id",
        "input_schema",
        "max_tokens",
        "stop_sequences",
        "system",
        "top_k",
        "metadata",
        "source",
        "server_tool_use",
        "is_error",
        "web_search_tool_result",
        "web_search_20250305",
        "mcp_toolset",
        "citations",
        "container",
        "output_config",
        "document",
        "search_result",
        "container_upload",
        "disable_parallel_tool_use",
    ];
    for (name, body) in messages() {
        let (_, body) = to_chat(&body);
        let mut found = Vec::new();
        words(&body, &mut found);
        let leaked: Vec<_> = found.iter().filter(|word| foreign.contains(&word.as_str())).collect();
        assert!(leaked.is_empty(), "{name}: {leaked:?} in {body}");
    }
}

#[test]
fn the_table_of_rules_in_the_documentation_has_each_rule_that_a_request_can_meet() {
    let table = include_str!("../src/lib.rs");
    let mut met = std::collections::BTreeSet::new();
    let chats = chats().into_iter().map(|(_, body)| to_anthropic(&body).0);
    let messages = messages().into_iter().map(|(_, body)| to_chat(&body).0);
    for loss in chats.chain(messages).flatten() {
        let rule = loss.split_once(" at ").unwrap().0.to_owned();
        assert!(table.contains(&format!("//! | `{rule}` |")), "{rule} has no row");
        met.insert(rule);
    }
    assert!(met.len() > 8, "{met:?}");
}

fn stamp() -> Stamp {
    Stamp::new("id", "m", 1)
}

/// What a reply says that every dialect can: texts, reasoning and calls.
fn said(reply: &Reply) -> (String, String, Vec<String>) {
    let reasoning = reply.message.parts().iter().filter_map(|part| match part {
        Part::Reasoning(part) => Some(part.text.as_str()),
        _ => None,
    });
    let calls = reply
        .message
        .tool_calls()
        .map(|call| format!("{} {}({})", call.id, call.name, call.arguments));
    (reply.message.text(), reasoning.collect(), calls.collect())
}

fn collect(events: impl IntoIterator<Item = Result<ModelEvent, Error>>) -> Reply {
    let mut collector = Collector::new();
    events.into_iter().for_each(|event| collector.push(event.unwrap()).unwrap());
    collector.finish().unwrap()
}

#[test]
fn replies_say_the_same_in_the_other_dialect_whole_and_streamed() {
    let sent = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "a", "name": "find", "input": {"q": 1.0}},
        {"type": "tool_use", "id": "b", "name": "now", "input": {}}
    ], "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 6}});
    let reply = anthropic::decode_reply(sent.to_string().as_bytes()).unwrap();

    let (losses, whole) = outcome(Ok(chat::encode_reply(&reply, &stamp())));
    assert_eq!(losses, ["foreign at reply"], "the signature");
    let choice = &whole["choices"][0];
    assert_eq!(
        (&choice["message"]["reasoning_content"], &choice["message"]["content"]),
        (&json!("Hm."), &json!("I look."))
    );
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(whole["usage"]["prompt_tokens"], 9);
    assert_eq!(whole["usage"]["prompt_tokens_details"]["cached_tokens"], 5);

    // On to a client of OpenAI's and back to one of Anthropic's, in pieces.
    let mut encoder = chat::Encoder::new(stamp()).include_usage(true);
    let mut body = Vec::new();
    for event in reply.clone().into_events() {
        body.extend(encoder.encode(&event).unwrap_or_default());
    }
    body.extend(encoder.finish());
    let mut decoder = chat::Decoder::new();
    decoder.push(&body);
    let passed: Vec<_> = std::iter::from_fn(|| decoder.next_event()).map(Result::unwrap).collect();
    let mut encoder = anthropic::Encoder::new(stamp());
    let mut back = Vec::new();
    for event in &passed {
        back.extend(encoder.encode(event).unwrap_or_default());
    }
    back.extend(encoder.finish());
    let mut decoder = anthropic::Decoder::new();
    decoder.push(&back);
    let again = collect(std::iter::from_fn(|| decoder.next_event()));
    assert_eq!(said(&again), said(&reply));
    assert_eq!((again.finish, again.usage), (reply.finish, reply.usage));
}

/// Fields that a user or a codec keeps for Anthropic alone.
fn with_foreign_fields(mut request: ModelRequest) -> ModelRequest {
    request.extra = Some(json!({"anthropic": {"top_k": 5}, "user": "u"}).into());
    for message in request.messages.make_mut() {
        for part in message.parts_mut() {
            if let Part::Text(part) | Part::Reasoning(part) = part {
                part.extra =
                    Some(json!({"anthropic": {"cache_control": {"type": "ephemeral"}}}).into());
            }
        }
    }
    request
}

proptest! {
    #[test]
    fn fields_of_one_dialect_never_get_into_the_other(request in strategies::model_request()) {
        let request = with_foreign_fields(request);
        if let Ok(encoded) = chat::encode_request(&request) {
            let text = std::str::from_utf8(&encoded.bytes).unwrap();
            prop_assert!(!text.contains("ephemeral") && !text.contains("top_k"), "{}", text);
            prop_assert!(encoded.losses.iter().any(|loss| loss.to_string() == "foreign at extra"));
        }
        if let Ok(encoded) = anthropic::encode_request(&request) {
            let body: Value = serde_json::from_slice(&encoded.bytes).unwrap();
            prop_assert_eq!(&body["top_k"], &json!(5));
            prop_assert!(body.get("user").is_none());
        }
    }
}
