//! Streams: from any pieces of bytes to events, and from events to frames.

use serde_json::{Value, json};
use tower_agent_core::{
    Error, ErrorKind, FinishReason, Message, ModelEvent, Part, PartDelta, PartStart, Reply, Role,
    TextPart, ToolCallPart, Usage,
};
use tower_agent_wire::{
    Stamp,
    gemini::{Decoder, Encoder, decode_reply, encode_reply},
};

use crate::dialect::{collect, streams};

streams!(Decoder);

fn frames(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect()
}

fn chunk(parts: &Value, more: &Value) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    candidate.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"candidates": [candidate], "modelVersion": "m", "responseId": "r"})
}

fn text(text: &str) -> Value {
    chunk(&json!([{"text": text}]), &json!({}))
}

fn stop() -> Value {
    chunk(&json!([{"text": ""}]), &json!({"finishReason": "STOP"}))
}

fn reply_of(events: &[Value]) -> Reply {
    collect(decode(&frames(events))).unwrap()
}

fn stamp() -> Stamp {
    Stamp::new("r", "m", 0)
}

fn encode(encoder: &mut Encoder, events: &[ModelEvent]) -> String {
    let mut out = Vec::new();
    for event in events {
        out.extend(encoder.encode(event).unwrap_or_default());
    }
    out.extend(encoder.finish());
    String::from_utf8(out).unwrap()
}

/// The events of a body, whose form is checked.
#[track_caller]
fn datas(body: &str) -> Vec<Value> {
    let frames = body.strip_suffix("\n\n").unwrap().split("\n\n");
    frames
        .map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap())
        .collect()
}

fn thinking_agent() -> Vec<Value> {
    let used = |event: Value, usage: Value| {
        let mut event = event;
        event["usageMetadata"] = usage;
        event
    };
    vec![
        used(
            chunk(&json!([{"text": "Two ", "thought": true}]), &json!({})),
            json!({"promptTokenCount": 10, "totalTokenCount": 15, "thoughtsTokenCount": 5, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}]}),
        ),
        chunk(&json!([{"text": "cities.", "thought": true}, {"text": "I "}]), &json!({})),
        text("look."),
        chunk(
            &json!([
                {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "weather", "args": {"city": "Bergen"}}}
            ]),
            &json!({"safetyRatings": [{"category": "A", "probability": "LOW"}]}),
        ),
        used(
            chunk(
                &json!([{"text": "", "thoughtSignature": "bGFzdA=="}]),
                &json!({"finishReason": "STOP", "groundingMetadata": {"webSearchQueries": ["q"]}}),
            ),
            json!({"promptTokenCount": 10, "candidatesTokenCount": 8, "totalTokenCount": 23, "thoughtsTokenCount": 5, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}]}),
        ),
    ]
}

#[test]
fn a_stream_makes_the_reply_that_the_same_parts_make_whole() {
    let streamed = reply_of(&thinking_agent());
    let whole = json!({
        "candidates": [{"content": {"parts": [
            {"text": "Two cities.", "thought": true},
            {"text": "I look."},
            {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "weather", "args": {"city": "Bergen"}}},
            {"text": "", "thoughtSignature": "bGFzdA=="}
        ], "role": "model"}, "finishReason": "STOP", "index": 0,
            "safetyRatings": [{"category": "A", "probability": "LOW"}], "groundingMetadata": {"webSearchQueries": ["q"]}}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 8, "totalTokenCount": 23, "thoughtsTokenCount": 5, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}]},
        "modelVersion": "m", "responseId": "r"
    });
    let encoded = encode_reply(&streamed, &Stamp::new("", "", 0));
    assert_eq!(encoded.losses, []);
    assert_eq!(serde_json::from_slice::<Value>(&encoded.bytes).unwrap(), whole);
    let whole = decode_reply(whole.to_string().as_bytes()).unwrap();
    assert_eq!(streamed.message, whole.message, "also the ids that were made");
    assert_eq!((streamed.finish, streamed.usage), (whole.finish, whole.usage));
}

#[test]
fn pieces_may_be_cut_anywhere() {
    let body = frames(&thinking_agent());
    let expected = collect(decode(&body)).unwrap();
    for at in 0..body.len() {
        let (one, other) = body.as_bytes().split_at(at);
        assert_eq!(collect(decode_in([one, other])).unwrap(), expected, "cut at {at}");
    }
    let bytes: Vec<_> = body.as_bytes().chunks(1).collect();
    assert_eq!(collect(decode_in(bytes)).unwrap(), expected);
}

#[test]
fn each_piece_is_an_event_at_once() {
    let mut decoder = Decoder::new();
    decoder.push(frames(&[text("Hel")]).as_bytes());
    let events: Vec<_> = std::iter::from_fn(|| decoder.next_event()).map(Result::unwrap).collect();
    assert_eq!(
        events,
        [
            ModelEvent::Start { id: Some("r".into()), model: Some("m".into()), extra: None },
            ModelEvent::PartStart { index: 0, part: PartStart::Text },
            ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("Hel".into()) },
        ]
    );
    assert!(!decoder.is_complete());
    decoder.push(frames(&[stop()]).as_bytes());
    assert!(decoder.is_complete() && !decoder.is_over());
}

#[test]
fn a_stream_without_any_reason_was_cut() {
    for body in [String::new(), frames(&[text("Hel")]), frames(&[text("a")]) + "data: {\"cand"] {
        let error = collect(decode(&body)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{body}");
        assert!(error.to_string().contains("broke off"), "{error}");
    }
    // Half an event after the reason costs nothing.
    let body = frames(&[text("a"), stop()]) + "data: {\"usageM";
    assert_eq!(collect(decode(&body)).unwrap().message.text(), "a");
}

#[test]
fn a_reason_in_each_event_ends_nothing_early() {
    let each = |piece: &str| chunk(&json!([{"text": piece}]), &json!({"finishReason": "STOP"}));
    let reply = reply_of(&[each("a"), each("b"), each("c")]);
    assert_eq!((&*reply.message.text(), reply.finish), ("abc", FinishReason::Stop));
}

#[test]
fn a_prompt_that_was_blocked_ends_the_stream_properly() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4}, "modelVersion": "m", "responseId": "r"});
    let reply = reply_of(std::slice::from_ref(&blocked));
    assert_eq!(reply.finish, FinishReason::ContentFilter);
    assert!(reply.message.parts().is_empty());
    let encoded = encode_reply(&reply, &stamp());
    assert_eq!(serde_json::from_slice::<Value>(&encoded.bytes).unwrap(), blocked);
    let body = encode(&mut Encoder::new(stamp()), &reply.into_events());
    assert_eq!(datas(&body), [blocked]);
}

#[test]
fn errors_and_nonsense_end_the_stream_with_what_came_before() {
    let error =
        r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
    for (bad, kind) in [
        (error, ErrorKind::Upstream { status: Some(503) }),
        ("{\"candidates\":7}", ErrorKind::Protocol),
        ("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":7}]}}]}", ErrorKind::Protocol),
        ("{\"candidates\"", ErrorKind::Protocol),
        ("[]", ErrorKind::Protocol),
    ] {
        let body = format!("{}data: {bad}\n\n{}", frames(&[text("a")]), frames(&[stop()]));
        let mut events = decode(&body);
        assert_eq!(events.pop().unwrap().unwrap_err().kind(), kind, "{bad}");
        assert_eq!(events.len(), 3, "{bad}");
    }
}

#[test]
fn what_has_no_name_survives() {
    let events = [
        json!({"serverNotice": {"text": "soon down"}}),
        text("a"),
        json!({"candidates": [{"index": 1, "content": {"parts": [{"text": "other"}]}}], "responseId": "r"}),
        chunk(
            &json!([{"hologram": {"depth": 3}}]),
            &json!({"logprobsResult": {"a": 1}, "novelty": true}),
        ),
        chunk(&json!([]), &json!({"logprobsResult": {"a": 2}, "finishReason": "STOP"})),
    ];
    let reply = reply_of(&events);
    let other: Vec<_> = reply.other.iter().map(|json| json.as_str().to_owned()).collect();
    assert_eq!(
        other,
        [
            r#"{"serverNotice":{"text":"soon down"}}"#.to_owned(),
            format!("{{\"candidates\":[{}]}}", events[2]["candidates"][0]),
            r#"{"candidates":[{"logprobsResult":{"a":2}}]}"#.to_owned(),
        ]
    );
    let extra = reply.extra.as_ref().unwrap().as_str();
    assert_eq!(extra, r#"{"gemini":{"candidates":[{"logprobsResult":{"a":1},"novelty":true}]}}"#);
    assert!(
        matches!(&reply.message.parts()[1], Part::Opaque { json } if json.as_str() == r#"{"hologram":{"depth":3}}"#)
    );
}

#[test]
fn a_stream_that_is_written_again_makes_the_same_reply() {
    let expected = reply_of(&thinking_agent());
    let events: Vec<_> =
        decode(&frames(&thinking_agent())).into_iter().map(Result::unwrap).collect();
    let mut encoder = Encoder::new(Stamp::new("unused", "unused", 0));
    let body = encode(&mut encoder, &events);
    assert_eq!(encoder.losses(), []);
    assert_eq!(collect(decode(&body)).unwrap(), expected);
    let events = expected.clone().into_events();
    let body = encode(&mut Encoder::new(Stamp::new("unused", "unused", 0)), &events);
    assert_eq!(collect(decode(&body)).unwrap(), expected);
}

#[test]
fn events_that_nobody_changed_are_written_as_they_came() {
    let mut decoder = Decoder::new();
    let mut encoder = Encoder::new(stamp());
    let mut body = Vec::new();
    for event in thinking_agent() {
        decoder.push(frames(&[event]).as_bytes());
        while let Some(event) = decoder.next_event() {
            body.extend(encoder.encode(&event.unwrap()).unwrap_or_default());
        }
        // Nothing more is there for now.
        body.extend(encoder.flush().unwrap_or_default());
    }
    decoder.finish();
    while let Some(event) = decoder.next_event() {
        body.extend(encoder.encode(&event.unwrap()).unwrap_or_default());
    }
    body.extend(encoder.finish());
    let written = datas(std::str::from_utf8(&body).unwrap());
    let parts: Vec<_> =
        written.iter().map(|event| &event["candidates"][0]["content"]["parts"]).collect();
    assert_eq!(
        parts,
        [
            &json!([{"text": "Two ", "thought": true}]),
            &json!([{"text": "cities.", "thought": true}]),
            &json!([{"text": "I "}]),
            &json!([{"text": "look."}]),
            &json!([{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"}]),
            &json!([{"functionCall": {"name": "weather", "args": {"city": "Bergen"}}}]),
            &json!([{"text": "", "thoughtSignature": "bGFzdA=="}]),
            &Value::Null,
        ]
    );
    let last = written.last().unwrap();
    assert_eq!(last["candidates"], json!([{"finishReason": "STOP", "index": 0}]));
    assert_eq!(last["usageMetadata"], thinking_agent()[4]["usageMetadata"]);
}

#[test]
fn a_stream_is_one_array_for_those_who_do_not_ask_for_events() {
    let reply = reply_of(&[text("a"), text("b"), stop()]);
    let body = encode(&mut Encoder::new(stamp()).array(true), &reply.into_events());
    let list: Vec<Value> = serde_json::from_str(&body).unwrap();
    assert_eq!(list.len(), 1);
    let piece =
        |text: &str| ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) };
    let mut encoder = Encoder::new(stamp()).array(true);
    let mut body = encoder.encode(&piece("a")).unwrap_or_default().to_vec();
    body.extend(encoder.encode(&piece("b")).unwrap());
    body.extend(encoder.fail(&Error::new(ErrorKind::Overloaded, "full")));
    let list: Vec<Value> = serde_json::from_slice(&body).unwrap();
    assert_eq!(list[0]["candidates"][0]["content"]["parts"], json!([{"text": "a"}]));
    assert_eq!(list.last().unwrap()["error"]["status"], "UNAVAILABLE");
    assert!(encoder.finish().is_empty() && encoder.encode(&piece("c")).is_none());
}

#[test]
fn calls_of_other_dialects_are_written_once_they_are_whole() {
    let mut encoder = Encoder::new(stamp());
    let call = PartStart::ToolCall { id: Some("call_1".into()), name: None };
    let late =
        PartDelta::ToolCall { id: None, name: Some("search".into()), arguments: "{\"q\":".into() };
    assert!(encoder.encode(&ModelEvent::PartStart { index: 2, part: call }).is_none());
    assert!(encoder.encode(&ModelEvent::PartDelta { index: 2, delta: late }).is_none());
    let rest = PartDelta::arguments("\"tower\"}");
    assert!(encoder.encode(&ModelEvent::PartDelta { index: 2, delta: rest }).is_none());
    let finish = ModelEvent::Finish { reason: FinishReason::ToolCalls };
    let usage = ModelEvent::Usage { usage: Usage::new(3, 4) };
    let body = encode(&mut encoder, &[finish, usage]);
    assert_eq!(
        datas(&body),
        [json!({
            "candidates": [{"content": {"parts": [{"functionCall": {"id": "call_1", "name": "search", "args": {"q": "tower"}}}], "role": "model"}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7},
            "modelVersion": "m", "responseId": "r"
        })]
    );
    assert_eq!(encoder.losses(), []);
}

#[test]
fn what_a_stream_cannot_carry_is_named() {
    let foreign = |raw: &str| Some(raw.into());
    let thought =
        TextPart { text: "Hm".into(), extra: foreign(r#"{"anthropic":{"signature":"s"}}"#) };
    let parts = vec![
        Part::Reasoning(thought),
        Part::text("a"),
        Part::ToolCall(ToolCallPart::new("c", "f", "{\"cut")),
        Part::Opaque { json: r#"{"type":"refusal"}"#.into() },
    ];
    let mut reply = Reply::new(Message::new(Role::Assistant, parts));
    reply.finish = FinishReason::Other("pause_turn".into());
    reply.other = vec![r#"{"type":"ping"}"#.into(), r#"{"choices":[]}"#.into()];
    let mut encoder = Encoder::new(stamp());
    let body = encode(&mut encoder, &reply.into_events());
    let losses: Vec<_> = encoder.losses().iter().map(ToString::to_string).collect();
    assert_eq!(
        losses,
        [
            "foreign at part 0.anthropic",
            "arguments at part 2",
            "foreign at part 3",
            "foreign at event",
            "foreign at event",
            "finish_reason at reply"
        ]
    );
    let written = collect(decode(&body)).unwrap();
    assert_eq!(written.finish, FinishReason::Other("OTHER".into()));
    assert_eq!(written.message.text(), "a");
}

#[test]
fn a_reply_that_broke_off_is_an_error_for_the_client() {
    let mut encoder = Encoder::new(stamp());
    let piece = ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("a".into()) };
    let body = encode(&mut encoder, &[piece]);
    let written = datas(&body);
    assert!(body.contains("data: {\"error\":"), "clients look for it at the start: {body}");
    assert_eq!(written.last().unwrap()["error"]["code"], 502);
}
