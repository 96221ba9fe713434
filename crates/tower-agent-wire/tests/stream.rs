//! Streams as providers send them, and as clients read them.
#![cfg(feature = "openai-chat")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a helper of a test fails the test"
)]

mod support;

use serde_json::{Value, json};
use tower_agent_core::{
    Collector, Effect, Error, ErrorKind, FinishReason, Message, ModelEvent, Part, PartDelta,
    PartStart, Reply, Role, Usage,
};
use tower_agent_wire::{
    LossRule,
    openai_chat::{ApiError, Decoder, Encoder, Stamp, decode_reply},
};

use support::{chunks, decode, decode_in, reply_of};

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called with `json!`")]
fn delta(delta: Value) -> Value {
    json!({"id": "c", "model": "m", "created": 1, "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"id": "c", "model": "m", "created": 1, "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// The calls of a stream, as (id, name, arguments).
fn calls(stream: &str) -> Vec<(String, String, String)> {
    let reply = reply_of(stream).unwrap();
    let calls = reply.message.tool_calls();
    calls
        .map(|call| (call.id.to_string(), call.name.to_string(), call.arguments.to_string()))
        .collect()
}

fn call(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut entry = json!({"function": {"arguments": arguments}});
    if let Some(index) = index {
        entry["index"] = index.into();
    }
    if let Some(id) = id {
        entry["id"] = id.into();
        entry["type"] = "function".into();
    }
    if let Some(name) = name {
        entry["function"]["name"] = name.into();
    }
    entry
}

/// A stream with one entry in each chunk.
fn call_stream(entries: &[Value]) -> String {
    let mut all: Vec<_> =
        entries.iter().map(|entry| delta(json!({"tool_calls": [entry]}))).collect();
    all.push(finish("tool_calls"));
    chunks(&all) + "data: [DONE]\n\n"
}

fn triple(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.into(), name.into(), arguments.into())
}

#[test]
fn a_stream_gives_its_events_in_order_and_the_finish_last() {
    let stream = chunks(&[
        delta(json!({"role": "assistant", "content": "", "refusal": null})),
        delta(json!({"reasoning_content": "Hm"})),
        delta(json!({"content": "Hel"})),
        delta(json!({"content": "lo"})),
        finish("stop"),
        json!({"id": "c", "model": "m", "created": 1, "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}}),
    ]) + "data: [DONE]\n\n";
    let events: Vec<_> = decode(&stream).into_iter().map(Result::unwrap).collect();
    assert_eq!(
        events,
        [
            ModelEvent::Start {
                id: Some("c".into()),
                model: Some("m".into()),
                extra: Some("{\"created\":1}".into())
            },
            ModelEvent::PartStart { index: 0, part: PartStart::Reasoning },
            ModelEvent::PartDelta { index: 0, delta: PartDelta::Reasoning("Hm".into()) },
            ModelEvent::PartStart { index: 1, part: PartStart::Text },
            ModelEvent::PartDelta { index: 1, delta: PartDelta::Text("Hel".into()) },
            ModelEvent::PartDelta { index: 1, delta: PartDelta::Text("lo".into()) },
            ModelEvent::Usage { usage: Usage::new(9, 2) },
            ModelEvent::PartEnd { index: 0, extra: None },
            ModelEvent::PartEnd { index: 1, extra: None },
            ModelEvent::Finish { reason: FinishReason::Stop },
        ]
    );
}

#[test]
fn a_character_cut_in_two_arrives_whole_at_every_cut() {
    let stream = chunks(&[delta(json!({"content": "你好, ok 🦀"})), finish("stop")]);
    for cut in 0..stream.len() {
        let events = decode_in([&stream.as_bytes()[..cut], &stream.as_bytes()[cut..]]);
        let mut collector = Collector::new();
        events.into_iter().for_each(|event| collector.push(event.unwrap()).unwrap());
        assert_eq!(collector.finish().unwrap().message.text(), "你好, ok 🦀");
    }
}

#[test]
fn line_ends_comments_and_spaces_are_as_servers_write_them() {
    let body = r#"{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    let (first, second) = body.split_at(11);
    let forms = [
        format!("data: {body}\r\n\r\n: ping\r\n\r\ndata: [DONE]\r\n\r\n"),
        format!("data:{body}\n\n: OPENROUTER PROCESSING\n\ndata:[DONE]\n\n"),
        format!("\u{feff}data: {body}\rdata:\r\rdata: [DONE] \r\r"),
        format!("event: message\nid: 7\nretry: 10\ndata: {first}\ndata: {second}\n\ndata: [DONE]"),
        format!("data: {body}"),
    ];
    for form in forms {
        let reply = reply_of(&form).unwrap_or_else(|error| panic!("{form}: {error}"));
        assert_eq!(reply.message.text(), "Hi", "{form}");
    }
}

#[test]
fn either_the_terminator_or_a_reason_ends_a_stream_and_neither_is_an_error() {
    let text = chunks(&[delta(json!({"content": "Hi"}))]);
    let with_reason = chunks(&[finish("length")]);

    let reply = reply_of(&format!("{text}data: [DONE]\n\n")).unwrap();
    assert_eq!(reply.finish, FinishReason::Unspecified);
    let reply = reply_of(&format!("{text}{with_reason}")).unwrap();
    assert_eq!(reply.finish, FinishReason::Length);

    let mut events = decode(&text);
    let error = events.pop().unwrap().unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Protocol, Effect::Unknown));
    assert!(events.iter().all(Result::is_ok), "what came before it is still handed out");
}

#[test]
fn a_stream_cut_at_any_byte_before_its_reason_is_an_error_and_after_it_is_whole() {
    let before = chunks(&[delta(json!({"content": "Hi"})), finish("stop")]);
    let usage =
        chunks(&[json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}})]);
    let stream = format!("{before}{usage}data: [DONE]\n\n");
    // The last chunk with the reason is complete one byte before the empty line that ends it.
    let is_whole_from = before.len() - 2;
    for cut in 0..stream.len() {
        let result = reply_of(&stream[..cut]);
        assert_eq!(result.is_ok(), cut >= is_whole_from, "cut at {cut}: {result:?}");
    }
}

#[test]
fn a_malformed_chunk_is_an_error_and_nothing_follows_it() {
    let good = chunks(&[delta(json!({"content": "Hi"})), finish("stop")]);
    let deep = format!("{{\"choices\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let bad = [
        "{\"choices\":[{\"delta\":",
        "[]",
        "true",
        "not json",
        &deep,
        r#"{"choices":7}"#,
        r#"{"choices":[7]}"#,
        r#"{"choices":[{"delta":7}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":7}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[7]}}]}"#,
    ];
    for bad in bad {
        let events =
            decode(&format!("{}data: {bad}\n\n{good}", chunks(&[delta(json!({"content": "A"}))])));
        let (last, before) = events.split_last().unwrap();
        assert_eq!(last.as_ref().unwrap_err().kind(), ErrorKind::Protocol, "{bad}");
        assert_eq!(before.len(), 3, "{bad}: {before:?}");
    }
}

#[test]
fn text_that_is_not_utf8_is_an_error_and_not_patched() {
    let mut stream = chunks(&[delta(json!({"content": "A?B"}))]).into_bytes();
    let at = stream.iter().position(|byte| *byte == b'?').unwrap();
    stream[at] = 0xff;
    let events = decode_in([&stream[..]]);
    assert_eq!(events.last().unwrap().as_ref().unwrap_err().kind(), ErrorKind::Protocol);
}

#[test]
fn a_chunk_without_end_is_an_error_before_it_fills_the_memory() {
    let mut decoder = Decoder::new().event_limit(1_000);
    decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"");
    for _ in 0..20 {
        decoder.push(&[b'a'; 100]);
    }
    let error = std::iter::from_fn(|| decoder.next_event()).last().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
}

#[test]
fn an_error_inside_the_stream_is_an_error() {
    let text = chunks(&[delta(json!({"content": "The answer"}))]);
    let cases = [
        (r#"data: {"error":{"message":"boom","type":"server_error","code":null}}"#, None),
        (
            r#"data: {"id":"g","error":{"message":"boom","code":502},"choices":[{"delta":{},"finish_reason":"error"}]}"#,
            Some(502),
        ),
        ("event: error\ndata: {\"message\":\"boom\"}", None),
        (r#"data: {"error":"boom"}"#, None),
    ];
    for (frame, status) in cases {
        let error =
            decode(&format!("{text}{frame}\n\ndata: [DONE]\n\n")).pop().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Upstream { status }, "{frame}");
        assert_eq!(error.extensions().get::<ApiError>().unwrap().message.as_deref(), Some("boom"));
        assert!(!error.model_text().contains("boom"));
    }
    let error = decode(r#"data: {"error":{"message":"slow down","code":"429"}}"#)
        .pop()
        .unwrap()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimited { retry_after: None });
}

#[test]
fn pieces_of_interleaved_calls_go_by_index() {
    let stream = call_stream(&[
        call(Some(0), Some("call_a"), Some("get_weather"), ""),
        call(Some(1), Some("call_b"), Some("get_time"), ""),
        call(Some(0), None, None, "{\"city\":"),
        call(Some(1), None, None, "{\"zone\":"),
        call(Some(0), None, None, "\"Oslo\"}"),
        call(Some(1), None, None, "\"CET\"}"),
    ]);
    assert_eq!(
        calls(&stream),
        [
            triple("call_a", "get_weather", "{\"city\":\"Oslo\"}"),
            triple("call_b", "get_time", "{\"zone\":\"CET\"}")
        ]
    );
}

#[test]
fn two_calls_never_become_one() {
    let whole = [triple("a", "f", "{\"x\":1}"), triple("b", "f", "{\"x\":2}")];
    let same_index = call_stream(&[
        call(Some(0), Some("a"), Some("f"), "{\"x\":1}"),
        call(Some(0), Some("b"), Some("f"), "{\"x\":2}"),
    ]);
    assert_eq!(calls(&same_index), whole);

    let same_index_in_pieces = call_stream(&[
        call(Some(0), Some("a"), Some("f"), ""),
        call(Some(0), None, None, "{\"x\":1}"),
        call(Some(0), Some("b"), Some("f"), ""),
        call(Some(0), None, None, "{\"x\":2}"),
    ]);
    assert_eq!(calls(&same_index_in_pieces), whole);

    let no_index = call_stream(&[
        call(None, Some("a"), Some("f"), "{\"x\":1}"),
        call(None, Some("b"), Some("f"), "{\"x\":2}"),
    ]);
    assert_eq!(calls(&no_index), whole);

    let one_chunk = chunks(&[
        delta(
            json!({"tool_calls": [call(Some(0), Some("a"), Some("f"), "{\"x\":1}"), call(Some(0), Some("b"), Some("f"), "{\"x\":2}")]}),
        ),
        finish("stop"),
    ]);
    assert_eq!(calls(&one_chunk), whole);
}

#[test]
fn calls_without_ids_are_told_apart_by_what_they_say() {
    let by_name =
        call_stream(&[call(Some(0), None, Some("f"), "{}"), call(Some(0), None, Some("g"), "{}")]);
    assert_eq!(calls(&by_name), [triple("", "f", "{}"), triple("", "g", "{}")]);
    let before_arguments =
        call_stream(&[call(Some(0), None, Some("f"), ""), call(Some(0), None, Some("g"), "")]);
    assert_eq!(calls(&before_arguments), [triple("", "f", ""), triple("", "g", "")]);
    let by_completeness = call_stream(&[
        call(None, None, Some("f"), "{\"x\":1}"),
        call(None, None, Some("f"), "{\"x\":2}"),
    ]);
    assert_eq!(
        calls(&by_completeness),
        [triple("", "f", "{\"x\":1}"), triple("", "f", "{\"x\":2}")]
    );
    let by_chunk = chunks(&[
        delta(
            json!({"tool_calls": [call(None, None, Some("f"), ""), call(None, None, Some("f"), "")]}),
        ),
        finish("stop"),
    ]);
    assert_eq!(calls(&by_chunk), [triple("", "f", ""), triple("", "f", "")]);
}

#[test]
fn the_same_id_twice_is_two_calls_where_the_index_says_so() {
    let stream = call_stream(&[
        call(Some(0), Some("a"), Some("f"), "{}"),
        call(Some(1), Some("a"), Some("g"), "{}"),
    ]);
    assert_eq!(calls(&stream), [triple("a", "f", "{}"), triple("a", "g", "{}")]);
}

#[test]
fn one_call_never_becomes_two() {
    let whole = [triple("a", "f", "{\"x\":1}")];
    let forms = [
        // Id and name again in each piece.
        vec![
            call(Some(0), Some("a"), Some("f"), "{\"x\""),
            call(Some(0), Some("a"), Some("f"), ":1}"),
        ],
        // The same without an index.
        vec![call(None, Some("a"), Some("f"), "{\"x\""), call(None, Some("a"), Some("f"), ":1}")],
        // Only the first piece says anything.
        vec![
            call(None, Some("a"), Some("f"), ""),
            call(None, None, None, "{\"x\""),
            call(None, None, None, ":1}"),
        ],
        // The id comes late, after an empty one.
        vec![call(Some(0), Some(""), Some("f"), "{\"x\""), call(Some(0), Some("a"), None, ":1}")],
        // The name comes late.
        vec![call(Some(0), Some("a"), None, "{\"x\""), call(Some(0), None, Some("f"), ":1}")],
        // The index comes late.
        vec![call(None, Some("a"), Some("f"), "{\"x\""), call(Some(0), None, None, ":1}")],
        // An empty piece after the last, with everything again.
        vec![
            call(Some(0), Some("a"), Some("f"), "{\"x\":1}"),
            call(Some(0), Some("a"), Some("f"), ""),
        ],
        // The arguments are the object itself.
        vec![json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}})],
    ];
    for form in forms {
        assert_eq!(calls(&call_stream(&form)), whole, "{form:?}");
    }
}

#[test]
fn content_that_comes_as_a_list_is_text_and_parts_of_its_own() {
    let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]});
    let stream = chunks(&[
        delta(json!({"content": [thinking, {"type": "text", "text": "Ye"}]})),
        delta(json!({"tool_calls": [call(Some(0), Some("a"), Some("f"), "{}")]})),
        delta(
            json!({"content": [{"type": "reference", "ids": [1]}, {"type": "text", "text": "s"}]}),
        ),
        finish("tool_calls"),
    ]);
    let reply = reply_of(&stream).unwrap();
    let [
        Part::Text(text),
        Part::Opaque { json: first },
        Part::ToolCall(_),
        Part::Opaque { json: last },
    ] = reply.message.parts()
    else {
        panic!("{:?}", reply.message)
    };
    assert_eq!(text.text, "Yes");
    assert_eq!(*first, thinking.into());
    assert_eq!(*last, json!({"type": "reference", "ids": [1]}).into());
}

#[test]
fn text_beside_a_call_and_arguments_cut_off_survive() {
    let stream = chunks(&[
        delta(json!({"tool_calls": [call(Some(0), Some("a"), Some("f"), "{\"x\":")]})),
        delta(json!({"content": "I will look."})),
        json!({"choices": [{"delta": {"content": " Wait."}, "finish_reason": "length"}]}),
    ]);
    let reply = reply_of(&stream).unwrap();
    assert_eq!(reply.message.text(), "I will look. Wait.");
    assert!(
        matches!(reply.message.parts(), [Part::Text(_), Part::ToolCall(call)] if call.arguments.as_str() == "{\"x\":")
    );
    assert_eq!(reply.finish, FinishReason::Length);
}

#[test]
fn ids_that_come_late_or_change_are_taken_once() {
    let stream = chunks(&[
        json!({"id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}),
        json!({"id": "", "choices": [{"delta": {"content": "a"}}]}),
        json!({"id": "one", "model": "m", "choices": [{"delta": {"content": "b"}}]}),
        json!({"id": "two", "model": "m2", "choices": [{"delta": {"content": "c"}, "finish_reason": "stop"}]}),
    ]);
    let reply = reply_of(&stream).unwrap();
    assert_eq!((reply.id.as_deref(), reply.model.as_deref()), (Some("one"), Some("m")));
    assert_eq!(reply.message.text(), "abc");
    assert_eq!(reply.extra.unwrap().as_str(), r#"{"prompt_filter_results":[{"prompt_index":0}]}"#);
}

#[test]
fn usage_in_every_chunk_is_a_running_total() {
    let chunk = |text: &str, output: u64| {
        json!({"id": "c", "choices": [{"delta": {"content": text}, "finish_reason": if output > 1 { json!("stop") } else { json!(null) }}],
            "usage": {"prompt_tokens": 5, "completion_tokens": output, "total_tokens": 5 + output, "prompt_tokens_details": {"cached_tokens": 3}}})
    };
    let stream = chunks(&[chunk("a", 1), chunk("b", 2)]);
    let usages: Vec<_> = decode(&stream)
        .into_iter()
        .filter_map(|event| match event.unwrap() {
            ModelEvent::Usage { usage } => Some((usage.input, usage.cached_read, usage.output)),
            _ => None,
        })
        .collect();
    assert_eq!(usages, [(5, 3, 1), (5, 3, 2)]);
}

#[test]
fn fields_without_a_name_are_kept_beside_the_events() {
    let stream = chunks(&[
        json!({"id": "c", "obfuscation": "abc", "system_fingerprint": "fp", "choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": [1]}}]}),
        json!({"id": "c", "obfuscation": "d", "system_fingerprint": "fp", "service_tier": "flex", "choices": [{"index": 1, "delta": {"content": "other"}}]}),
        json!({"type": "ping"}),
        json!({"id": "c", "choices": [{"index": 0, "delta": {"refusal": "I can"}}]}),
        json!({"id": "c", "choices": [{"index": 0, "delta": {"refusal": "not.", "reasoning_details": [{"index": 0, "text": "a"}]}}]}),
        json!({"id": "c", "choices": [{"index": 0, "delta": {"reasoning_details": [{"index": 0, "text": "b"}]}, "finish_reason": "stop"}]}),
    ]);
    let reply = reply_of(&stream).unwrap();
    assert_eq!(
        reply.extra.unwrap(),
        json!({"system_fingerprint": "fp", "service_tier": "flex"}).into()
    );
    assert_eq!(
        reply.message.extra().unwrap().clone(),
        json!({"refusal": "I cannot.", "reasoning_details": [{"index": 0, "text": "ab"}]}).into()
    );
    let other: Vec<_> = reply.other.iter().map(|json| json.value().unwrap().clone()).collect();
    assert_eq!(
        other,
        [
            json!({"choices": [{"logprobs": {"content": [1]}}]}),
            json!({"choices": [{"index": 1, "delta": {"content": "other"}}]}),
            json!({"type": "ping"}),
        ]
    );
}

#[test]
fn a_streamed_reply_is_the_whole_one() {
    let stream = chunks(&[
        delta(json!({"role": "assistant", "reasoning": "Hm."})),
        delta(json!({"content": "Looking."})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}, "extra_content": {"google": {"thought_signature": "s"}}}]}),
        ),
        delta(json!({"tool_calls": [call(Some(0), None, None, "{}")]})),
        finish("tool_calls"),
        json!({"id": "c", "choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7, "cost": 0.5}}),
    ]);
    let whole = json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Looking.", "reasoning": "Hm.",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"google": {"thought_signature": "s"}}}]}}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7, "cost": 0.5}
    });
    assert_eq!(reply_of(&stream).unwrap(), decode_reply(whole.to_string().as_bytes()).unwrap());
}

fn encode(events: &[ModelEvent], include_usage: bool) -> (String, Encoder) {
    let mut encoder = Encoder::new(Stamp::new("c", "m", 1)).include_usage(include_usage);
    let mut out = Vec::new();
    for event in events {
        out.extend(encoder.encode(event).unwrap_or_default());
    }
    out.extend(encoder.finish());
    (String::from_utf8(out).unwrap(), encoder)
}

fn frames(body: &str) -> Vec<Value> {
    let data = body.split("\n\n").filter_map(|frame| frame.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[test]
fn a_client_gets_the_role_first_then_deltas_the_reason_the_usage_and_the_terminator() {
    let reply = Reply::new(Message::new(
        Role::Assistant,
        vec![Part::text("Hi"), Part::ToolCall(tower_agent_core::ToolCallPart::new("a", "f", "{}"))],
    ))
    .with_usage(Usage::new(4, 3));
    let (body, encoder) = encode(&reply.into_events(), true);
    assert!(body.ends_with("\n\ndata: [DONE]\n\n"));
    assert_eq!(encoder.losses(), []);
    let chunk = |choices: Value| json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices});
    let mut usage = chunk(json!([]));
    usage["usage"] = json!({"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7});
    assert_eq!(
        frames(&body),
        [
            delta(json!({"role": "assistant"})),
            delta(json!({"content": "Hi"})),
            delta(
                json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]})
            ),
            delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]})),
            finish("tool_calls"),
            usage,
        ]
    );
}

#[test]
fn usage_is_sent_only_when_asked_for() {
    let events = Reply::new(Message::assistant("Hi")).with_usage(Usage::new(4, 3)).into_events();
    assert!(!encode(&events, false).0.contains("usage"));
}

#[test]
fn half_a_reply_ends_in_an_error_frame_and_not_in_the_terminator() {
    let mut events = Reply::new(Message::assistant("Hi")).into_events();
    events.retain(|event| !matches!(event, ModelEvent::Finish { .. }));
    let (body, _) = encode(&events, false);
    assert!(!body.contains("[DONE]"));
    assert_eq!(frames(&body).last().unwrap()["error"]["type"], "server_error");
    assert!(reply_of(&body).is_err());
}

#[test]
fn a_failed_stream_says_so_once() {
    let mut encoder = Encoder::new(Stamp::new("c", "m", 1));
    let error = Error::new(ErrorKind::Timeout, "upstream host 10.0.0.7 timed out");
    let frame = encoder.fail(&error);
    let frame = std::str::from_utf8(&frame).unwrap();
    assert!(frame.starts_with("data: {\"error\":{\"message\":\"The call took too long"), "{frame}");
    assert!(!frame.contains("10.0.0.7"));
    assert!(encoder.fail(&error).is_empty() && encoder.finish().is_empty());
    assert_eq!(encoder.encode(&ModelEvent::Finish { reason: FinishReason::Stop }), None);
}

#[test]
fn what_a_client_cannot_be_sent_is_named() {
    let image = Part::Opaque { json: json!({"type": "image"}).into() };
    let reply = Reply::new(Message::new(Role::Assistant, vec![Part::text("a"), image]));
    let (body, encoder) = encode(&reply.into_events(), false);
    let losses: Vec<_> =
        encoder.losses().iter().map(|loss| (loss.rule, loss.place.as_str())).collect();
    assert_eq!(losses, [(LossRule::PartInReply, "part 1")]);
    assert_eq!(reply_of(&body).unwrap().message.text(), "a");
}

#[test]
fn raw_fields_with_line_ends_stay_in_their_frame() {
    let mut reply = Reply::new(Message::assistant("Hi"));
    reply.extra = Some("{\"service_tier\":\n{\r\n\"a\": 1}}".into());
    let (body, _) = encode(&reply.into_events(), false);
    assert_eq!(frames(&body)[0]["service_tier"], json!({"a": 1}));
}

#[test]
fn what_a_stream_says_survives_being_sent_on() {
    let stream = chunks(&[
        json!({"id": "c", "model": "m", "created": 1, "system_fingerprint": "fp", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "a"}, "logprobs": {"content": [1]}}]}),
        delta(json!({"reasoning_content": "Hm"})),
        delta(json!({"tool_calls": [call(Some(0), Some("a"), Some("f"), "{\"x\":")]})),
        delta(json!({"tool_calls": [call(Some(1), Some("b"), Some("g"), "{}")]})),
        delta(json!({"tool_calls": [call(Some(0), None, None, "1}")]})),
        delta(json!({"refusal": "No"})),
        json!({"id": "c", "choices": [{"index": 1, "delta": {"content": "second"}}]}),
        finish("tool_calls"),
        json!({"id": "c", "choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7, "cost": 0.5}}),
    ]);
    let events: Vec<_> = decode(&stream).into_iter().map(Result::unwrap).collect();
    let (body, encoder) = encode(&events, true);
    assert_eq!(encoder.losses(), []);
    assert_eq!(reply_of(&body).unwrap(), reply_of(&stream).unwrap());
}
