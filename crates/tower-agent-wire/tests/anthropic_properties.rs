//! What holds for any input in Anthropic's messages.
#![cfg(feature = "anthropic-messages")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a helper of a test fails the test"
)]

mod support;

use http::{HeaderMap, StatusCode};
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Value, json};
use tower_agent_core::{
    FinishReason, Json, Message, ModelEvent, Part, Reply, Role, TextPart, ToolCallPart, Usage,
};
use tower_agent_test::strategies;
use tower_agent_wire::{
    Stamp,
    anthropic_messages::{
        Encoder, decode_error, decode_reply, decode_request, encode_reply, encode_request,
    },
};

use support::anthropic::{collect, decode, decode_in, frames, stream_of};

fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\n\r\u{e9}\u{4f60}\u{1f980} {}:]{1,12}"
}

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called with `json!`")]
fn own(value: Value) -> Option<Json> {
    Some(json!({"anthropic": value}).into())
}

fn text_part() -> impl Strategy<Value = Part> {
    (text(), 0..3).prop_map(|(text, cited)| {
        let citations: Vec<_> = (0..cited).map(|at| json!({"at": at})).collect();
        let extra = if cited > 0 { own(json!({"citations": citations})) } else { None };
        Part::Text(TextPart { text: text.into(), extra })
    })
}

fn reasoning() -> impl Strategy<Value = Part> {
    (text(), any::<bool>()).prop_map(|(text, is_redacted)| {
        Part::Reasoning(if is_redacted {
            TextPart {
                text: "".into(),
                extra: own(json!({"data": text, "type": "redacted_thinking"})),
            }
        } else {
            TextPart { text: text.into(), extra: own(json!({"signature": "s"})) }
        })
    })
}

fn call() -> impl Strategy<Value = Part> {
    ("[a-zA-Z0-9_-]{1,8}", text(), text(), any::<bool>()).prop_map(
        |(id, name, argument, has_extra)| {
            let mut call = ToolCallPart::new(id, name, json!({"q": argument}).to_string());
            call.extra = if has_extra { own(json!({"caller": {"n": 1.5}})) } else { None };
            Part::ToolCall(call)
        },
    )
}

fn opaque() -> impl Strategy<Value = Part> {
    text().prop_map(|text| Part::Opaque {
        json: json!({"content": [text], "type": "web_search_tool_result"}).into(),
    })
}

fn finish() -> impl Strategy<Value = FinishReason> {
    prop_oneof![
        Just(FinishReason::Stop),
        Just(FinishReason::Length),
        Just(FinishReason::ToolCalls),
        Just(FinishReason::ContentFilter),
        Just(FinishReason::Other("pause_turn".into())),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    (0..9u64, 0..9u64, 0..9u64, 0..9u64).prop_map(|(input, output, read, write)| {
        let mut usage = Usage::new(input + read + write, output);
        (usage.cached_read, usage.cached_write) = (read, write);
        usage
    })
}

prop_compose! {
    /// A reply as the dialect can say it.
    fn reply()(
        parts in vec(prop_oneof![text_part(), reasoning(), call(), opaque()], 0..6),
        finish in finish(),
        usage in usage(),
        sequence in option::of(text()),
        has_extra in any::<bool>(),
    ) -> Reply {
        let mut reply = Reply::new(Message::new(Role::Assistant, parts));
        (reply.id, reply.model) = (Some("msg".into()), Some("m".into()));
        (reply.finish, reply.usage) = (finish, Some(usage));
        // In the order in which a whole reply and a stream alike come to them.
        let mut extra = serde_json::Map::new();
        if let (Some(sequence), FinishReason::Stop) = (sequence, &reply.finish) {
            extra.insert("stop_sequence".into(), sequence.into());
        } else if has_extra {
            extra.insert("container".into(), json!({"id": "c"}));
        }
        reply.extra = if extra.is_empty() { None } else { own(extra.into()) };
        reply
    }
}

fn stamp() -> Stamp {
    Stamp::new("unused", "unused", 0)
}

/// What the dialect says, and what it does not.
const WORDS: [&str; 16] = [
    "assistant",
    "user",
    "text",
    "thinking",
    "tool_use",
    "tool_result",
    "image",
    "base64",
    "url",
    "text_delta",
    "input_json_delta",
    "signature_delta",
    "error",
    "end_turn",
    "x",
    "",
];
const KEYS: [&str; 37] = [
    "type",
    "message",
    "messages",
    "role",
    "content",
    "content_block",
    "delta",
    "index",
    "text",
    "thinking",
    "signature",
    "partial_json",
    "id",
    "name",
    "input",
    "tool_use_id",
    "is_error",
    "source",
    "data",
    "media_type",
    "model",
    "usage",
    "input_tokens",
    "stop_reason",
    "stop_sequence",
    "system",
    "tools",
    "tool_choice",
    "error",
    "input_schema",
    "max_tokens",
    "cache_control",
    "citations",
    "citation",
    "output_config",
    "format",
    "schema",
];

fn shape() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..300).prop_map(Value::from),
        proptest::sample::select(&WORDS[..]).prop_map(Value::from),
    ];
    let key = proptest::sample::select(&KEYS[..]);
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key.clone(), inner), 0..6).prop_map(|fields| fields
                .into_iter()
                .map(|(key, value)| ((*key).to_owned(), value))
                .collect()),
        ]
    })
}

/// Events of about the right shape.
fn event() -> impl Strategy<Value = Value> {
    let index = 0..3u32;
    let kind = proptest::sample::select(vec![
        "text",
        "thinking",
        "tool_use",
        "server_tool_use",
        "redacted_thinking",
    ]);
    let piece = prop_oneof![
        text().prop_map(|text| json!({"type": "text_delta", "text": text})),
        text().prop_map(|text| json!({"type": "thinking_delta", "thinking": text})),
        text().prop_map(|text| json!({"type": "input_json_delta", "partial_json": text})),
        text().prop_map(|text| json!({"type": "signature_delta", "signature": text})),
        Just(json!({"type": "citations_delta", "citation": {}})),
        Just(json!({"type": "other_delta"})),
    ];
    prop_oneof![
        Just(
            json!({"type": "message_start", "message": {"id": "a", "model": "m", "usage": {"input_tokens": 1}}})
        ),
        (index.clone(), kind)
            .prop_map(|(index, kind)| json!({"type": "content_block_start", "index": index,
            "content_block": {"type": kind, "id": "i", "name": "n", "input": {}}})),
        (index.clone(), piece).prop_map(
            |(index, delta)| json!({"type": "content_block_delta", "index": index, "delta": delta})
        ),
        index.prop_map(|index| json!({"type": "content_block_stop", "index": index})),
        Just(
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}})
        ),
        Just(json!({"type": "ping"})),
        shape(),
    ]
}

/// Pieces of a body, cut at the given places.
fn cut<'a>(body: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
    places.extend([0, body.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect()
}

/// The blocks of a body, in which nothing is out of place.
fn check_frames(body: &str) {
    let mut open = None;
    for block in body.split("\n\n").filter(|block| !block.is_empty()) {
        let (name, data) = block.split_once('\n').unwrap();
        let event: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), event["type"].as_str());
        match event["type"].as_str().unwrap() {
            "content_block_start" => assert_eq!(open.replace(event["index"].clone()), None),
            "content_block_delta" if event["delta"]["type"] != "other_delta" => {
                assert_eq!(open.as_ref(), Some(&event["index"]), "{body}");
            }
            "content_block_stop" => assert_eq!(open.take().as_ref(), Some(&event["index"])),
            "message_stop" => assert_eq!(open, None),
            _ => {}
        }
    }
}

/// The texts that a reply says, whatever blocks they are in.
fn texts(reply: &Reply) -> (String, String, Vec<String>) {
    let reasoning = reply.message.parts().iter().filter_map(|part| match part {
        Part::Reasoning(part) => Some(part.text.as_str()),
        _ => None,
    });
    let calls = reply.message.tool_calls().map(|call| format!("{}({})", call.name, call.arguments));
    (reply.message.text(), reasoning.collect(), calls.collect())
}

proptest! {
    #[test]
    fn an_encoded_reply_decodes_to_itself(reply in reply()) {
        let encoded = encode_reply(&reply, &stamp());
        prop_assert!(encoded.losses.is_empty(), "{:?}", encoded.losses);
        prop_assert_eq!(decode_reply(&encoded.bytes).unwrap(), reply);
    }

    #[test]
    fn a_streamed_reply_collects_to_itself_at_any_cut(reply in reply(), cuts in vec(any::<prop::sample::Index>(), 0..40)) {
        let body = stream_of(reply.clone());
        check_frames(&body);
        prop_assert_eq!(collect(decode_in(cut(body.as_bytes(), &cuts))).unwrap(), reply);
    }

    /// Whatever order the parts come in, blocks follow one another and every text arrives.
    #[test]
    fn parts_that_take_turns_become_blocks_in_a_row(
        (reply, events) in reply().prop_flat_map(|reply| {
            let events = strategies::rechunked(reply.clone().into_events());
            (Just(reply), events)
        }),
    ) {
        let mut encoder = Encoder::new(stamp());
        let mut body = Vec::new();
        events.iter().for_each(|event| body.extend(encoder.encode(event).unwrap_or_default()));
        body.extend(encoder.finish());
        let body = String::from_utf8(body).unwrap();
        check_frames(&body);
        let streamed = collect(decode(&body)).unwrap();
        let sorted = |text: &str| { let mut chars: Vec<_> = text.chars().collect(); chars.sort_unstable(); chars };
        let ((said, thought, mut calls), (said_before, thought_before, mut calls_before)) = (texts(&streamed), texts(&reply));
        calls.sort();
        calls_before.sort();
        prop_assert_eq!(sorted(&said), sorted(&said_before));
        prop_assert_eq!(sorted(&thought), sorted(&thought_before));
        prop_assert_eq!(calls, calls_before);
    }

    #[test]
    fn any_cut_gives_the_same_events(events in vec(event(), 0..12), is_done in any::<bool>(), cuts in vec(any::<prop::sample::Index>(), 0..40)) {
        let mut body = frames(&events);
        if is_done {
            body += &frames(&[json!({"type": "message_stop"})]);
        }
        let whole = format!("{:?}", decode(&body));
        prop_assert_eq!(format!("{:?}", decode_in(cut(body.as_bytes(), &cuts))), &*whole);
        prop_assert_eq!(format!("{:?}", decode_in(body.as_bytes().chunks(1))), &*whole);
    }

    /// What a decoder gives, an encoder writes and a collector takes.
    #[test]
    fn any_stream_can_be_passed_on(events in vec(event(), 0..12)) {
        let body = frames(&events) + &frames(&[json!({"type": "message_stop"})]);
        let events = decode(&body);
        let mut encoder = Encoder::new(stamp());
        let mut out = Vec::new();
        for event in events.iter().flatten() {
            out.extend(encoder.encode(event).unwrap_or_default());
        }
        out.extend(encoder.finish());
        let whole = events.iter().all(Result::is_ok);
        if let Ok(reply) = collect(events) {
            let again = collect(decode(std::str::from_utf8(&out).unwrap())).unwrap();
            prop_assert!(whole);
            prop_assert_eq!(texts(&again), texts(&reply));
        }
    }

    #[test]
    fn any_events_of_the_vocabulary_can_be_written(events in vec(strategies::model_event(), 0..16)) {
        let mut encoder = Encoder::new(stamp());
        let mut out = Vec::new();
        for event in &events {
            out.extend(encoder.encode(event).unwrap_or_default());
            if let ModelEvent::Usage { .. } = event {
                out.extend(encoder.flush().unwrap_or_default());
            }
        }
        out.extend(encoder.finish());
        for block in std::str::from_utf8(&out).unwrap().split("\n\n").filter(|block| !block.is_empty()) {
            let (_, data) = block.split_once("\ndata: ").unwrap();
            prop_assert!(serde_json::from_str::<Value>(data).is_ok(), "{}", data);
        }
    }

    #[test]
    fn any_request_of_the_vocabulary_is_json_or_an_error(request in strategies::model_request()) {
        if let Ok(encoded) = encode_request(&request) {
            let body: Value = serde_json::from_slice(&encoded.bytes).unwrap();
            prop_assert!(body["max_tokens"].is_number());
            prop_assert!(decode_request(&encoded.bytes).is_ok(), "{}", body);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = decode_request(&bytes);
        let _ = decode_reply(&bytes);
        let _ = decode_error(StatusCode::BAD_REQUEST, &HeaderMap::new(), &bytes);
        let _ = decode_in([&bytes[..], b"\n\ndata: ", &bytes, b"\n\n"]);
    }

    /// JSON of about the right shape gets further than bytes do.
    #[test]
    fn no_json_panics_and_what_is_read_can_be_written(value in shape(), block in shape()) {
        let body = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [block]}, value]});
        for bytes in [value.to_string(), body.to_string()] {
            if let Ok(request) = decode_request(bytes.as_bytes()) {
                let written = encode_request(&request).unwrap();
                prop_assert!(serde_json::from_slice::<Value>(&written.bytes).is_ok());
            }
        }
        let reply = json!({"content": [block, value]});
        if let Ok(reply) = decode_reply(reply.to_string().as_bytes()) {
            prop_assert!(serde_json::from_slice::<Value>(&encode_reply(&reply, &stamp()).bytes).is_ok());
        }
    }
}

#[test]
fn json_nested_too_deeply_is_an_error_everywhere() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let body = format!(r#"{{"type":"x","model":"m","messages":[],"content":[],"x":{deep}}}"#);
    assert!(decode_request(body.as_bytes()).unwrap_err().to_string().contains("too deeply"));
    assert!(decode_reply(body.as_bytes()).unwrap_err().to_string().contains("too deeply"));
    let error = decode(&format!("data: {body}\n\n")).pop().unwrap().unwrap_err();
    assert!(error.to_string().contains("too deeply"), "{error}");
}
