//! Streams of Anthropic's messages, as providers send them and as clients read them.
#![cfg(feature = "anthropic-messages")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a helper of a test fails the test"
)]

mod support;

use serde_json::{Value, json};
use tower_agent_core::{
    CallId, Collector, Effect, ErrorKind, FinishReason, Json, Message, ModelEvent, Part, PartDelta,
    PartStart, Reply, Role, TextPart, ToolCallPart, Usage,
};
use tower_agent_wire::{
    LossRule, Stamp,
    anthropic_messages::{ApiError, Decoder, Encoder, decode_reply, encode_reply},
};

use support::anthropic::{collect, decode, decode_in, frames, stream_of};

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 0, "output_tokens": 1, "service_tier": "standard"}}})
}

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called with `json!`")]
fn block(index: u32, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called with `json!`")]
fn delta(index: u32, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn text(index: u32, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

fn input(index: u32, text: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": text}))
}

fn end(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn reason(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 7}})
}

fn stop() -> Value {
    json!({"type": "message_stop"})
}

/// A stream of all that the provider sends in one reply, and the whole reply that says the same.
fn everything() -> (Vec<Value>, Value) {
    let events = vec![
        start(),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "Let me "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "see."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        end(0),
        block(1, json!({"type": "redacted_thinking", "data": "ZGF0YQ=="})),
        end(1),
        block(
            2,
            json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
        ),
        input(2, ""),
        input(2, "{\"query\":"),
        input(2, "\"q\"}"),
        end(2),
        block(
            3,
            json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "u"}]}),
        ),
        end(3),
        block(4, json!({"type": "text", "text": "", "citations": []})),
        text(4, "Fou"),
        delta(4, json!({"type": "citations_delta", "citation": {"type": "w", "url": "u"}})),
        text(4, "nd \n你好"),
        end(4),
        block(
            5,
            json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}}),
        ),
        input(5, ""),
        input(5, "{\"n\": 9007199254740993"),
        input(5, ", \"z\": 1.0}"),
        end(5),
        block(6, json!({"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}})),
        end(6),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null, "container": {"id": "c"}},
            "usage": {"output_tokens": 89, "server_tool_use": {"web_search_requests": 1}}, "context_management": {"applied_edits": []}}),
        stop(),
    ];
    let whole = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "u"}]},
        {"type": "text", "text": "Found \n你好", "citations": [{"type": "w", "url": "u"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 9007199254740993u64, "z": 1.0}, "caller": {"type": "direct"}},
        {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}
    ], "stop_reason": "tool_use", "stop_sequence": null, "container": {"id": "c"}, "context_management": {"applied_edits": []},
        "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 0, "output_tokens": 89,
            "service_tier": "standard", "server_tool_use": {"web_search_requests": 1}}});
    (events, whole)
}

fn encoded(reply: &Reply) -> Value {
    let encoded = encode_reply(reply, &Stamp::new("unused", "unused", 0));
    assert_eq!(encoded.losses, []);
    serde_json::from_slice(&encoded.bytes).unwrap()
}

/// The events of frames, by name.
fn events_of(body: &str) -> Vec<Value> {
    let blocks = body.split("\n\n").filter(|block| !block.is_empty());
    let event = |block: &str| {
        let (name, data) = block.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
        data
    };
    blocks.map(event).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn a_stream_gives_its_events_in_order_and_the_finish_last() {
    let body = frames(&[
        start(),
        block(0, json!({"type": "text", "text": ""})),
        json!({"type": "ping"}),
        text(0, "Hel"),
        text(0, "lo"),
        end(0),
        reason("end_turn"),
        stop(),
    ]);
    let extra = |raw: &str| Some(Json::from_text(raw));
    let usage = |output| {
        let mut usage = Usage::new(9, output);
        usage.cached_read = 5;
        ModelEvent::Usage { usage }
    };
    let events: Vec<_> = decode(&body).into_iter().map(Result::unwrap).collect();
    assert_eq!(
        events,
        [
            ModelEvent::Start {
                id: Some("msg_1".into()),
                model: Some("m".into()),
                extra: extra(
                    r#"{"anthropic":{"usage":{"cache_creation_input_tokens":0,"service_tier":"standard"}}}"#
                ),
            },
            usage(1),
            ModelEvent::PartStart { index: 0, part: PartStart::Text },
            ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("Hel".into()) },
            ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("lo".into()) },
            ModelEvent::PartEnd { index: 0, extra: None },
            usage(7),
            ModelEvent::Finish { reason: FinishReason::Stop },
        ]
    );
}

#[test]
fn a_streamed_reply_is_the_whole_one() {
    let (events, whole) = everything();
    let reply = collect(decode(&frames(&events))).unwrap();
    assert_eq!(encoded(&reply), whole);
    assert_eq!(reply.message, decode_reply(whole.to_string().as_bytes()).unwrap().message);
}

#[test]
fn a_stream_passed_on_says_the_same_in_the_same_steps() {
    let (events, whole) = everything();
    let mut encoder = Encoder::new(Stamp::new("unused", "unused", 0));
    let mut body = Vec::new();
    for event in decode(&frames(&events)) {
        body.extend(encoder.encode(&event.unwrap()).unwrap_or_default());
    }
    body.extend(encoder.finish());
    assert_eq!(encoder.losses(), []);
    let body = String::from_utf8(body).unwrap();
    assert_eq!(encoded(&collect(decode(&body)).unwrap()), whole);
    let sent = events_of(&body);
    assert_eq!(sent[0]["message"]["usage"], events[0]["message"]["usage"]);
    let starts: Vec<_> =
        sent.iter().filter(|event| event["type"] == "content_block_start").collect();
    assert_eq!(starts[5]["content_block"]["caller"], json!({"type": "direct"}), "where it came");
    assert_eq!(
        starts[1]["content_block"],
        json!({"type": "redacted_thinking", "data": "ZGF0YQ=="})
    );
    let indices: Vec<_> = starts.iter().map(|event| event["index"].as_u64().unwrap()).collect();
    assert_eq!(indices, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_stream_cut_anywhere_before_its_last_event_is_an_error() {
    let (events, _) = everything();
    let body = frames(&events);
    let before = body.len() - frames(&[stop()]).len();
    // The data of the last event count even without the empty line after them.
    let last = body.trim_end().len();
    for cut in 0..body.len() {
        let events = decode_in([&body.as_bytes()[..cut]]);
        // The stream itself says so, not only whoever collects it.
        assert_eq!(events.last().unwrap().is_err(), cut < last, "{cut}");
        let outcome = collect(events);
        if cut >= last {
            assert!(outcome.is_ok(), "{cut} of {before}");
        } else {
            let error = outcome.unwrap_err();
            assert_eq!(
                (error.kind(), error.effect()),
                (ErrorKind::Protocol, Effect::Unknown),
                "{cut}"
            );
        }
    }
}

#[test]
fn a_character_cut_in_two_arrives_whole_at_every_cut() {
    let (events, whole) = everything();
    let body = frames(&events);
    for cut in 0..body.len() {
        let events = decode_in([&body.as_bytes()[..cut], &body.as_bytes()[cut..]]);
        assert_eq!(encoded(&collect(events).unwrap()), whole, "{cut}");
    }
}

#[test]
fn nothing_follows_the_end() {
    let body = frames(&[start(), stop(), block(0, json!({"type": "text", "text": "late"}))]);
    let events = decode(&body);
    assert!(matches!(
        events.last(),
        Some(Ok(ModelEvent::Finish { reason: FinishReason::Unspecified }))
    ));
}

#[test]
fn an_error_event_is_an_error_with_what_it_says() {
    let broken = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"});
    let mut events = decode(&frames(&[
        start(),
        block(0, json!({"type": "text", "text": ""})),
        text(0, "half"),
        broken,
        stop(),
    ]));
    let error = events.pop().unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::RateLimited { retry_after: None }, Effect::Unknown)
    );
    let said = error.extensions().get::<ApiError>().unwrap();
    assert_eq!(
        (said.message.as_deref(), said.request_id.as_deref()),
        (Some("Overloaded"), Some("req_1"))
    );
    assert!(events.iter().all(Result::is_ok), "what came before it is still handed out");
}

#[test]
fn malformed_events_are_errors_and_not_skipped() {
    let bad = [
        "data: {\"type\":\n\n".to_owned(),
        "data: []\n\n".to_owned(),
        "data: {}\n\n".to_owned(),
        "event: message_start\ndata: {\"type\":\"message_start\"}\n\n".to_owned(),
        frames(&[json!({"type": "content_block_start", "index": 0})]),
        frames(&[
            json!({"type": "content_block_start", "index": -1, "content_block": {"type": "text"}}),
        ]),
        frames(&[json!({"type": "content_block_start", "index": 0, "content_block": {}})]),
        frames(&[block(0, json!({"type": "tool_use", "name": "f", "input": {}}))]),
        frames(&[text(0, "before its start")]),
        frames(&[block(0, json!({"type": "text"})), block(0, json!({"type": "text"}))]),
        frames(&[block(0, json!({"type": "text"})), end(0), text(0, "after its end")]),
        frames(&[block(0, json!({"type": "text"})), input(0, "{}")]),
        frames(&[
            block(0, json!({"type": "text"})),
            delta(0, json!({"type": "text_delta", "text": 7})),
        ]),
        frames(&[end(3)]),
        frames(&[json!({"type": "message_delta"})]),
    ];
    for body in bad {
        let events = decode(&(body.clone() + &frames(&[stop()])));
        let (last, before) = events.split_last().unwrap();
        let error = last.as_ref().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{body}");
        assert!(before.iter().all(Result::is_ok), "{body}");
    }
}

#[test]
fn the_name_of_an_event_may_stand_in_one_place() {
    let both =
        [start(), block(0, json!({"type": "text", "text": "Hi"})), reason("max_tokens"), stop()];
    let by_type: String = both.iter().map(|event| format!("data: {event}\r\n\r\n")).collect();
    let by_name: String = both
        .iter()
        .map(|event| {
            let mut data = event.clone();
            let name = data.as_object_mut().unwrap().remove("type").unwrap();
            format!("event: {}\ndata: {data}\n\n", name.as_str().unwrap())
        })
        .collect();
    for body in [by_type, by_name] {
        let reply = collect(decode(&body)).unwrap();
        assert_eq!((&*reply.message.text(), reply.finish), ("Hi", FinishReason::Length));
    }
}

#[test]
fn what_has_no_name_survives_a_stream_that_is_passed_on() {
    let news = json!({"type": "weather_report", "sky": 1.0});
    let odd = delta(0, json!({"type": "mood_delta", "mood": "calm"}));
    let body = frames(&[
        start(),
        news.clone(),
        block(0, json!({"type": "text", "text": ""})),
        odd.clone(),
        text(0, "Hi"),
        end(0),
        reason("tired"),
        stop(),
    ]);
    let events: Vec<_> = decode(&body).into_iter().map(Result::unwrap).collect();
    let mut encoder = Encoder::new(Stamp::new("", "", 0));
    let mut out = Vec::new();
    events.iter().for_each(|event| out.extend(encoder.encode(event).unwrap_or_default()));
    out.extend(encoder.finish());
    assert_eq!(encoder.losses(), []);
    let sent = events_of(std::str::from_utf8(&out).unwrap());
    assert!(sent.contains(&news) && sent.contains(&odd), "{sent:?}");
    let last = &sent[sent.len() - 2];
    assert_eq!(last["delta"]["stop_reason"], "tired");
}

#[test]
fn an_input_that_comes_with_the_start_is_the_input() {
    let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {"q": 1.0}});
    let reply =
        collect(decode(&frames(&[start(), block(0, call), end(0), reason("tool_use"), stop()])))
            .unwrap();
    assert_eq!(reply.message.tool_calls().next().unwrap().arguments.as_str(), r#"{"q":1.0}"#);
}

fn begin(index: u32, id: &str, name: &str) -> ModelEvent {
    let part = PartStart::ToolCall { id: Some(CallId::from(id)), name: Some(name.into()) };
    ModelEvent::PartStart { index, part }
}

fn arguments(index: u32, text: &str) -> ModelEvent {
    ModelEvent::PartDelta { index, delta: PartDelta::arguments(text) }
}

fn said(index: u32, text: &str) -> ModelEvent {
    ModelEvent::PartDelta { index, delta: PartDelta::Text(text.into()) }
}

fn finish() -> ModelEvent {
    ModelEvent::Finish { reason: FinishReason::ToolCalls }
}

/// The body of a stream, and what was lost.
fn encode(events: &[ModelEvent]) -> (String, Vec<String>) {
    let mut encoder = Encoder::new(Stamp::new("msg", "m", 0));
    let mut body = Vec::new();
    events.iter().for_each(|event| body.extend(encoder.encode(event).unwrap_or_default()));
    body.extend(encoder.finish());
    let losses = encoder.losses().iter().map(ToString::to_string).collect();
    (String::from_utf8(body).unwrap(), losses)
}

#[test]
fn parts_of_a_provider_that_ends_them_late_become_blocks_one_after_the_other() {
    let (body, losses) = encode(&[
        ModelEvent::PartDelta { index: 0, delta: PartDelta::Reasoning("Hm".into()) },
        said(1, "I look."),
        begin(2, "a", "read"),
        arguments(2, "{\"x\":"),
        begin(3, "b", "write"),
        arguments(3, "{}"),
        arguments(2, "1}"),
        ModelEvent::PartEnd { index: 0, extra: None },
        ModelEvent::PartEnd { index: 1, extra: None },
        ModelEvent::PartEnd { index: 2, extra: None },
        ModelEvent::PartEnd { index: 3, extra: None },
        finish(),
    ]);
    assert!(losses.is_empty(), "{losses:?}");
    let events = events_of(&body);
    let mut open = None;
    for event in &events {
        match event["type"].as_str().unwrap() {
            "content_block_start" => assert_eq!(open.replace(event["index"].clone()), None),
            "content_block_delta" => assert_eq!(open.as_ref(), Some(&event["index"])),
            "content_block_stop" => assert_eq!(open.take().as_ref(), Some(&event["index"])),
            _ => assert_eq!(open, None),
        }
    }
    let reply = collect(decode(&body)).unwrap();
    assert_eq!(reply.message.text(), "I look.");
    let calls: Vec<_> = reply
        .message
        .tool_calls()
        .map(|call| (call.name.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(calls, [("read", "{\"x\":1}"), ("write", "{}")]);
}

#[test]
fn a_text_that_goes_on_after_another_part_goes_on_in_a_block_of_its_own() {
    let (body, losses) = encode(&[
        said(0, "one "),
        ModelEvent::PartDelta { index: 1, delta: PartDelta::Reasoning("Hm".into()) },
        said(0, "two"),
        finish(),
    ]);
    assert!(losses.is_empty(), "{losses:?}");
    let reply = collect(decode(&body)).unwrap();
    let texts: Vec<_> =
        reply.message.parts().iter().map(|part| part.as_text().unwrap_or("-")).collect();
    assert_eq!(texts, ["one ", "-", "two"]);
}

#[test]
fn a_call_that_is_named_late_begins_when_it_is_named() {
    let late = PartDelta::ToolCall {
        id: Some("a".into()),
        name: Some("f".into()),
        arguments: "2]}".into(),
    };
    let events = [
        ModelEvent::PartStart { index: 0, part: PartStart::ToolCall { id: None, name: None } },
        arguments(0, "{\"x\": [1, "),
        ModelEvent::PartDelta { index: 0, delta: late },
        finish(),
    ];
    let (body, losses) = encode(&events);
    assert!(losses.is_empty(), "{losses:?}");
    let reply = collect(decode(&body)).unwrap();
    let call = reply.message.tool_calls().next().unwrap();
    assert_eq!(
        (call.id.as_str(), call.name.as_str(), call.arguments.as_str()),
        ("a", "f", "{\"x\": [1, 2]}")
    );
}

#[test]
fn what_waits_for_more_comes_out_when_nothing_more_is_there() {
    let mut encoder = Encoder::new(Stamp::new("msg", "m", 0));
    assert_eq!(encoder.encode(&ModelEvent::Start { id: None, model: None, extra: None }), None);
    let begun = encoder.flush().unwrap();
    assert!(begun.starts_with(b"event: message_start"));
    assert_eq!(encoder.flush(), None);
    assert_eq!(encoder.encode(&begin(0, "a", "f")), None, "its fields may follow");
    let shown = encoder.flush().unwrap();
    assert!(std::str::from_utf8(&shown).unwrap().contains("tool_use"));
    assert_eq!(encoder.flush(), None);
}

#[test]
fn half_a_reply_ends_in_an_error_event_and_not_in_a_stop() {
    let (body, _) = encode(&[said(0, "half")]);
    let events = events_of(&body);
    assert_eq!(names(&events).last(), Some(&"error"));
    assert_eq!(
        collect(decode(&body)).unwrap_err().kind(),
        ErrorKind::Upstream { status: Some(500) }
    );
}

#[test]
fn a_failed_stream_says_so_once() {
    let mut encoder = Encoder::new(Stamp::new("msg", "m", 0));
    let _ = encoder.encode(&said(0, "half"));
    let error = tower_agent_core::Error::new(ErrorKind::Overloaded, "queue of 512 is full on db-7");
    let body = encoder.fail(&error);
    let events = events_of(std::str::from_utf8(&body).unwrap());
    assert_eq!(events[0]["error"]["type"], "overloaded_error");
    assert!(!String::from_utf8_lossy(&body).contains("db-7"));
    assert!(encoder.finish().is_empty() && encoder.fail(&error).is_empty());
    assert_eq!(encoder.encode(&said(0, "late")), None);
}

#[test]
fn what_a_stream_cannot_carry_is_named() {
    let foreign = Part::Opaque { json: Json::from_text(r#"{"type":"image_url"}"#) };
    let result = tower_agent_core::ToolResultPart::new(
        CallId::from("c"),
        "f".into(),
        &tower_agent_core::ToolOutput::text("x"),
    );
    let (body, losses) = encode(&[
        ModelEvent::Start {
            id: None,
            model: None,
            extra: Some(json!({"system_fingerprint": "fp", "created": 1}).into()),
        },
        said(0, "a"),
        ModelEvent::PartEnd { index: 0, extra: Some(json!({"anthropic": {"mood": 1}}).into()) },
        ModelEvent::PartStart { index: 1, part: PartStart::Whole(foreign) },
        ModelEvent::PartStart { index: 2, part: PartStart::Whole(Part::ToolResult(result)) },
        ModelEvent::MessageExtra { extra: json!({"refusal": "No"}).into() },
        ModelEvent::Other { json: json!({"choices": []}).into() },
        ModelEvent::Other { json: json!({"type": "response.output_text.done"}).into() },
        ModelEvent::Other { json: Json::from_text("nonsense") },
        finish(),
    ]);
    assert_eq!(
        losses,
        [
            "foreign at reply.created",
            "foreign at reply.system_fingerprint",
            "extra at part 0",
            "foreign at part 1",
            "part_in_reply at part 2",
            "foreign at message.refusal",
            "foreign at event",
            "foreign at event",
            "not_json at event",
        ]
    );
    assert_eq!(collect(decode(&body)).unwrap().message.text(), "a");
    assert_eq!(LossRule::Foreign.as_str(), "foreign");
}

#[test]
fn a_reply_made_of_the_vocabulary_streams_as_itself() {
    let signed =
        TextPart { text: "Hm".into(), extra: Some(r#"{"anthropic":{"signature":"s"}}"#.into()) };
    let parts = vec![
        Part::Reasoning(signed),
        Part::text("a"),
        Part::ToolCall(ToolCallPart::new("c", "f", "{}")),
        Part::Opaque {
            json: Json::from_text(
                r#"{"type":"server_tool_use","id":"s","name":"n","input":{"q":1}}"#,
            ),
        },
    ];
    let mut reply = Reply::new(Message::new(Role::Assistant, parts)).with_usage(Usage::new(3, 4));
    reply.id = Some("msg".into());
    reply.model = Some("m".into());
    let mut collector = Collector::new();
    for event in decode(&stream_of(reply.clone())) {
        collector.push(event.unwrap()).unwrap();
    }
    assert_eq!(collector.finish().unwrap(), reply);
}

#[test]
fn a_done_of_a_gateway_means_nothing() {
    let whole = stream_of(Reply::new(Message::assistant("Hi")));
    let (begun, stop) = whole.split_once("event: message_stop").unwrap();
    let done = "data: [DONE]\n\n";
    let reply = collect(decode(&format!("{begun}{done}event: message_stop{stop}{done}")));
    assert_eq!(reply.unwrap().message.text(), "Hi");
    let cut = collect(decode(&format!("{begun}{done}"))).unwrap_err();
    assert!(cut.to_string().contains("broke off"), "{cut}");
}

#[test]
fn an_event_without_end_is_an_error_before_it_fills_the_memory() {
    let mut decoder = Decoder::new().event_limit(100);
    decoder.push(b"data: ");
    for _ in 0..100 {
        decoder.push(b"xxxxxxxxxx");
    }
    let error = decoder.next_event().unwrap().unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
    assert!(decoder.next_event().is_none() && decoder.is_over());
}
