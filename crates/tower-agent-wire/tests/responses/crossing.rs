//! From one dialect of OpenAI to the other: what both can say crosses, and what does not is named.

use serde_json::{Value, json};
use tower_agent_core::{Collector, ModelEvent, ModelRequest};
use tower_agent_wire::{
    Loss, openai_chat,
    openai_responses::{self, Encoder},
};

use crate::support::{decode, events, frames, replies, stamp};

fn names(losses: &[Loss]) -> Vec<String> {
    losses.iter().map(ToString::to_string).collect()
}

fn chat_of(body: &Value) -> (Value, Vec<String>) {
    let request = openai_responses::decode_request(body.to_string().as_bytes()).unwrap();
    let encoded = openai_chat::encode_request(&request).unwrap();
    (serde_json::from_slice(&encoded.bytes).unwrap(), names(&encoded.losses))
}

fn responses_of(body: &Value) -> (Value, Vec<String>) {
    let request = openai_chat::decode_request(body.to_string().as_bytes()).unwrap();
    let encoded = openai_responses::encode_request(&request).unwrap();
    (serde_json::from_slice(&encoded.bytes).unwrap(), names(&encoded.losses))
}

/// A conversation with everything that both dialects have, as chat completions say it.
fn chat() -> Value {
    json!({
        "model": "gpt-5",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "Weather in Oslo and Bergen?"},
                {"type": "image_url", "image_url": {"url": "https://example.com/map.png", "detail": "low"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}
            ]},
            {"role": "assistant", "content": "I will look.", "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}},
                {"id": "call_b", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Bergen\"}"}}
            ]},
            {"role": "tool", "tool_call_id": "call_a", "content": "4 degrees"},
            {"role": "tool", "tool_call_id": "call_b", "content": "6 degrees"},
            {"role": "assistant", "content": "4 and 6 degrees."},
            {"role": "user", "content": "Thanks"}
        ],
        "tools": [
            {"type": "function", "function": {"name": "weather", "description": "Tells the weather.", "strict": true, "parameters": {"type": "object"}}},
            {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
        ],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "temperature": 0.5, "max_completion_tokens": 100, "parallel_tool_calls": false,
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": {"type": "object"}}},
        "reasoning_effort": "low", "verbosity": "high", "metadata": {"trace": "t"}, "user": "u", "store": false, "service_tier": "flex",
        "stream": true, "stream_options": {"include_usage": true}
    })
}

/// The same, as Responses say it.
fn responses() -> Value {
    json!({
        "model": "gpt-5",
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "input_text", "text": "Weather in Oslo and Bergen?"},
                {"type": "input_image", "image_url": "https://example.com/map.png", "detail": "low"},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}
            ]},
            {"role": "assistant", "content": "I will look."},
            {"type": "function_call", "call_id": "call_a", "name": "weather", "arguments": "{\"city\":\"Oslo\"}"},
            {"type": "function_call", "call_id": "call_b", "name": "weather", "arguments": "{\"city\":\"Bergen\"}"},
            {"type": "function_call_output", "call_id": "call_a", "output": "4 degrees"},
            {"type": "function_call_output", "call_id": "call_b", "output": "6 degrees"},
            {"role": "assistant", "content": "4 and 6 degrees."},
            {"role": "user", "content": "Thanks"}
        ],
        "tools": [
            {"type": "function", "name": "weather", "description": "Tells the weather.", "strict": true, "parameters": {"type": "object"}},
            {"type": "function", "name": "now", "strict": false, "parameters": {"type": "object", "properties": {}}}
        ],
        "tool_choice": {"type": "function", "name": "weather"},
        "temperature": 0.5, "max_output_tokens": 100, "parallel_tool_calls": false,
        "text": {"format": {"type": "json_schema", "name": "answer", "strict": true, "schema": {"type": "object"}}, "verbosity": "high"},
        "reasoning": {"effort": "low"}, "metadata": {"trace": "t"}, "user": "u", "store": false, "service_tier": "flex",
        "stream": true
    })
}

#[test]
fn a_chat_conversation_goes_out_as_responses_and_loses_nothing() {
    assert_eq!(responses_of(&chat()), (responses(), vec![]));
}

#[test]
fn a_conversation_of_responses_goes_out_as_chat_and_loses_nothing() {
    let mut expected = chat();
    // The usage of a stream is asked for by whoever sends it.
    expected.as_object_mut().unwrap().remove("stream_options");
    assert_eq!(chat_of(&responses()), (expected, vec![]));
}

#[test]
fn what_only_responses_can_say_is_dropped_by_name() {
    let body = json!({
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Hi"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA="},
            {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "Hello", "annotations": []}]},
            {"type": "message", "role": "user", "content": "And?"}
        ],
        "tools": [{"type": "web_search"}, {"type": "function", "name": "f", "parameters": {"type": "object"}}],
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "truncation": "auto"
    });
    let (chat, losses) = chat_of(&body);
    assert_eq!(
        losses,
        [
            "foreign at extra",
            "foreign at messages[1]",
            "foreign at messages[1]",
            "foreign at tools[0]"
        ]
    );
    assert_eq!(
        chat,
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello"},
                {"role": "user", "content": "And?"}
            ],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
            "reasoning_effort": "low"
        })
    );
}

#[test]
fn what_only_chat_can_say_is_dropped_by_name() {
    let body = json!({
        "model": "m",
        "messages": [
            {"role": "user", "name": "ann", "content": [
                {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}},
                {"type": "video_url", "video_url": {"url": "https://example.com/c.mp4"}}
            ]},
            {"role": "assistant", "content": "Hello", "reasoning_content": "Hm.", "audio": {"id": "audio_1"}, "refusal": null},
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "a"}]}
        ],
        "tools": [{"type": "web_search", "user_location": {"country": "NO"}}],
        "n": 2, "seed": 7, "stop": "END", "logit_bias": {"50256": -100}, "max_tokens": 9
    });
    let (responses, losses) = responses_of(&body);
    assert_eq!(
        losses,
        [
            "foreign at extra.logit_bias",
            "foreign at extra.n",
            "name at messages[0]",
            "foreign at messages[0].cache_control",
            "foreign at messages[0]",
            "foreign at messages[1].audio",
            "unsigned_reasoning at messages[1]",
            "foreign at tools[0]",
            "parameter at stop",
            "parameter at seed"
        ]
    );
    assert_eq!(
        responses,
        json!({
            "model": "m",
            "input": [
                {"role": "user", "content": [
                    {"type": "input_text", "text": "Hi"},
                    {"type": "input_text", "text": "[video_url omitted: it is not in a form that can be sent]"}
                ]},
                {"role": "assistant", "content": "Hello"},
                {"type": "function_call_output", "call_id": "1", "output": "a"}
            ],
            "max_output_tokens": 9
        })
    );
}

/// A reply of Responses, whole and streamed, for a client of chat completions.
#[test]
fn a_reply_of_responses_is_one_of_chat() {
    let body = &replies()["a turn with thoughts and calls"];
    let reply = openai_responses::decode_reply(body.to_string().as_bytes()).unwrap();
    let encoded = openai_chat::encode_reply(&reply, &stamp());
    assert_eq!(names(&encoded.losses), ["foreign at reply", "foreign at reply"]);
    let chat: Value = serde_json::from_slice(&encoded.bytes).unwrap();
    assert_eq!((&chat["id"], &chat["created"]), (&json!("resp_2"), &json!(1_700_000_000)));
    let choice = &chat["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], "I will look.");
    assert_eq!(choice["message"]["reasoning_content"], "Two cities.Two calls.");
    assert_eq!(
        choice["message"]["tool_calls"],
        json!([
            {"id": "call_a", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}},
            {"id": "call_b", "type": "function", "function": {"name": "now", "arguments": ""}},
            {"id": "call_c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
        ])
    );
    assert_eq!(chat["usage"]["prompt_tokens_details"], json!({"cached_tokens": 1920}));

    let mut encoder = openai_chat::Encoder::new(stamp());
    let mut stream = Vec::new();
    let last = json!({"type": "response.completed", "response": body});
    for event in decode(&frames(&[last])) {
        stream.extend(encoder.encode(&event.unwrap()).unwrap_or_default());
    }
    stream.extend(encoder.finish());
    let mut collector = Collector::new();
    let mut decoder = openai_chat::Decoder::new();
    decoder.push(&stream);
    while let Some(event) = decoder.next_event() {
        collector.push(event.unwrap()).unwrap();
    }
    let streamed = collector.finish().unwrap();
    assert_eq!(streamed.message.text(), "I will look.");
    assert_eq!(streamed.message.tool_calls().count(), 3);
}

/// A streamed reply of chat completions for a client of Responses, and back as the input of its next request.
#[test]
fn a_chat_stream_is_one_of_responses_and_comes_back_as_the_same_turn() {
    let chunk = |delta: Value| json!({"id": "chatcmpl-1", "model": "m", "created": 1, "system_fingerprint": "fp", "choices": [{"index": 0, "delta": delta}]});
    let call = |index: u64, entry: Value| {
        let mut entry = entry;
        entry["index"] = index.into();
        chunk(json!({"tool_calls": [entry]}))
    };
    let chunks = [
        chunk(json!({"role": "assistant", "reasoning_content": "Hm."})),
        chunk(json!({"content": "I will "})),
        chunk(json!({"content": "look."})),
        call(
            0,
            json!({"id": "call_a", "type": "function", "function": {"name": "f", "arguments": ""}}),
        ),
        call(
            1,
            json!({"id": "call_b", "type": "function", "function": {"name": "g", "arguments": "{}"}}),
        ),
        call(0, json!({"function": {"arguments": "{\"a\":1}"}})),
        json!({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"id": "chatcmpl-1", "choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7}}),
    ];
    let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let mut decoder = openai_chat::Decoder::new();
    decoder.push((body + "data: [DONE]\n\n").as_bytes());
    let told: Vec<ModelEvent> =
        std::iter::from_fn(|| decoder.next_event()).map(Result::unwrap).collect();

    let mut encoder = Encoder::new(stamp());
    let mut out = Vec::new();
    for event in &told {
        out.extend(encoder.encode(event).unwrap_or_default());
    }
    out.extend(encoder.finish());
    assert_eq!(names(encoder.losses()), ["foreign at reply.system_fingerprint"]);
    let all = events(std::str::from_utf8(&out).unwrap());
    let last = &all.last().unwrap()["response"];
    assert_eq!((&last["id"], &last["created_at"]), (&json!("chatcmpl-1"), &json!(1)));
    assert_eq!(last["usage"]["total_tokens"], 7);

    // The client sends the items back, and the provider of chat completions gets its own turn again.
    let (chat, losses) = chat_of(&json!({"model": "m", "input": last["output"]}));
    assert_eq!(losses, Vec::<String>::new());
    assert_eq!(
        chat["messages"],
        json!([{"role": "assistant", "reasoning_content": "Hm.", "content": "I will look.", "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}},
            {"id": "call_b", "type": "function", "function": {"name": "g", "arguments": "{}"}}
        ]}])
    );
}

#[test]
fn a_custom_tool_crosses_with_its_calls_and_their_results() {
    let chat = json!({
        "model": "m",
        "messages": [
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "total 0"}
        ],
        "tools": [{"type": "custom", "custom": {"name": "shell", "description": "Runs a command."}}]
    });
    let responses = json!({
        "model": "m",
        "input": [
            {"type": "custom_tool_call", "call_id": "c", "name": "shell", "input": "ls"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": "total 0"}
        ],
        "tools": [{"type": "custom", "name": "shell", "description": "Runs a command."}]
    });
    assert_eq!(responses_of(&chat), (responses.clone(), vec![]));
    let mut back = chat;
    back["messages"][0].as_object_mut().unwrap().remove("content");
    assert_eq!(chat_of(&responses), (back, vec![]));
}

/// Nothing of one dialect looks like something of the other when a layer has emptied the request.
#[test]
fn an_empty_request_is_the_same_in_both() {
    let request = ModelRequest::new("m", Vec::new());
    let (chat, responses) = (
        openai_chat::encode_request(&request).unwrap(),
        openai_responses::encode_request(&request).unwrap(),
    );
    assert_eq!(chat.bytes, r#"{"model":"m","messages":[]}"#);
    assert_eq!(responses.bytes, r#"{"model":"m"}"#);
}

/// Anthropic's messages know less of what OpenAI's dialects share, and take no item for a block.
#[test]
fn a_conversation_of_responses_goes_out_as_anthropics_messages() {
    let body = json!({
        "model": "m",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}, {"type": "input_image", "image_url": "https://example.com/map.png"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "gAAAA="},
            {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "I will look.", "annotations": []}]},
            {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "weather", "arguments": "{\"city\":\"Oslo\"}", "status": "completed"},
            {"type": "message", "id": "msg_2", "status": "completed", "role": "assistant", "content": []},
            {"type": "function_call_output", "call_id": "call_a", "output": "4 degrees"}
        ],
        "tools": [{"type": "web_search"}, {"type": "function", "name": "weather", "strict": false, "parameters": {"type": "object"}}],
        "max_output_tokens": 100
    });
    let request = openai_responses::decode_request(body.to_string().as_bytes()).unwrap();
    let encoded = tower_agent_wire::anthropic_messages::encode_request(&request).unwrap();
    let sent: Value = serde_json::from_slice(&encoded.bytes).unwrap();
    assert_eq!(
        sent,
        json!({
            "model": "m", "max_tokens": 100,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Weather?"}, {"type": "image", "source": {"type": "url", "url": "https://example.com/map.png"}}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I will look."},
                    {"type": "tool_use", "id": "call_a", "name": "weather", "input": {"city": "Oslo"}}
                ]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_a", "content": "4 degrees"}]}
            ],
            "tools": [{"name": "weather", "input_schema": {"type": "object"}}]
        })
    );
    assert_eq!(
        names(&encoded.losses),
        ["unsigned_reasoning at messages[1]", "foreign at messages[1]", "foreign at tools[0]"]
    );
}
