//! What holds for any input.
#![cfg(feature = "openai-chat")]
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
use tower_agent_wire::{
    openai_chat::{
        Decoder, Encoder, Stamp, decode_error, decode_reply, decode_request, encode_reply,
        encode_request,
    },
    sse,
};

use support::{chunks, decode, decode_in, reply_of};

fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\n\r\u{e9}\u{4f60}\u{1f980} {}:]{1,12}"
}

fn reasoning() -> impl Strategy<Value = Part> {
    (text(), any::<bool>()).prop_map(|(text, is_short)| {
        let extra = is_short.then(|| Json::from_text(r#"{"reasoning":null}"#));
        Part::Reasoning(TextPart { text: text.into(), extra })
    })
}

fn call() -> impl Strategy<Value = Part> {
    let arguments = prop_oneof![
        Just(String::new()),
        text(),
        text().prop_map(|text| json!({"q": text}).to_string())
    ];
    (text(), text(), arguments, any::<bool>()).prop_map(|(id, name, arguments, has_extra)| {
        let mut call = ToolCallPart::new(id, name, arguments);
        call.extra = has_extra.then(|| Json::from_text(r#"{"extra_content":{"n":1.0}}"#));
        Part::ToolCall(call)
    })
}

fn finish() -> impl Strategy<Value = FinishReason> {
    prop_oneof![
        Just(FinishReason::Stop),
        Just(FinishReason::Length),
        Just(FinishReason::ToolCalls),
        Just(FinishReason::ContentFilter),
        Just(FinishReason::Error),
        Just(FinishReason::Other("eos".into())),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    (0..9u64, 0..9u64, 0..9u64, 0..9u64, 0..9u64).prop_map(
        |(input, output, read, write, reasoning)| {
            let mut usage = Usage::new(input, output);
            (usage.cached_read, usage.cached_write, usage.reasoning) = (read, write, reasoning);
            usage
        },
    )
}

prop_compose! {
    /// A reply as the dialect can say it: reasoning, then one text, then calls.
    fn reply()(
        reasoning in option::of(reasoning()),
        text in option::of(text()),
        calls in vec(call(), 0..4),
        finish in finish(),
        usage in option::of(usage()),
        has_extra in any::<bool>(),
    ) -> Reply {
        let parts = reasoning.into_iter().chain(text.map(Part::text)).chain(calls).collect();
        let extra = has_extra.then(|| json!({"refusal": "No", "n": [1, {"a": 1.5}]}).into());
        let mut reply = Reply::new(Message::new(Role::Assistant, parts).with_extra(extra));
        reply.id = Some("c".into());
        reply.model = Some("m".into());
        reply.finish = finish;
        reply.usage = usage;
        reply.extra = Some(json!({"created": 7, "system_fingerprint": "fp"}).into());
        reply
    }
}

fn stamp() -> Stamp {
    Stamp::new("unused", "unused", 0)
}

fn stream_of(reply: Reply) -> Vec<u8> {
    let mut encoder = Encoder::new(stamp()).include_usage(true);
    let mut body = Vec::new();
    for event in reply.into_events() {
        body.extend(encoder.encode(&event).unwrap_or_default());
    }
    body.extend(encoder.finish());
    body
}

/// Streams always spell it `reasoning_content`.
fn without_spelling(mut reply: Reply) -> Reply {
    let extra = reply.message.extra().cloned();
    let parts = reply.message.parts().iter().cloned().map(|part| match part {
        Part::Reasoning(part) => Part::Reasoning(TextPart { extra: None, ..part }),
        part => part,
    });
    reply.message = Message::new(Role::Assistant, parts.collect()).with_extra(extra);
    reply
}

fn shape() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..300).prop_map(Value::from),
        prop_oneof![
            Just("assistant"),
            Just("function"),
            Just("text"),
            Just("tool"),
            Just("x"),
            Just("")
        ]
        .prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("choices"),
        Just("delta"),
        Just("message"),
        Just("messages"),
        Just("role"),
        Just("content"),
        Just("tool_calls"),
        Just("function"),
        Just("name"),
        Just("arguments"),
        Just("id"),
        Just("index"),
        Just("type"),
        Just("usage"),
        Just("model"),
        Just("prompt_tokens"),
        Just("prompt_tokens_details"),
        Just("error"),
        Just("tools"),
        Just("finish_reason"),
        Just("image_url"),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key.clone(), inner), 0..6).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

/// Pieces of a body, cut at the given places.
fn cut<'a>(body: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
    places.extend([0, body.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn an_encoded_reply_decodes_to_itself(reply in reply()) {
        let encoded = encode_reply(&reply, &stamp());
        prop_assert!(encoded.losses.is_empty());
        prop_assert_eq!(decode_reply(&encoded.bytes).unwrap(), reply);
    }

    #[test]
    fn a_streamed_reply_collects_to_itself_at_any_cut(reply in reply(), cuts in vec(any::<prop::sample::Index>(), 0..40)) {
        let body = stream_of(reply.clone());
        let mut collector = tower_agent_core::Collector::new();
        for event in decode_in(cut(&body, &cuts)) {
            collector.push(event.unwrap()).unwrap();
        }
        prop_assert_eq!(collector.finish().unwrap(), without_spelling(reply));
    }

    #[test]
    fn any_cut_gives_the_same_events(frames in vec(shape(), 0..8), is_done in any::<bool>(), cuts in vec(any::<prop::sample::Index>(), 0..40)) {
        let body = chunks(&frames) + if is_done { "data: [DONE]\r\n\r\n" } else { "" };
        let whole = format!("{:?}", decode(&body));
        prop_assert_eq!(format!("{:?}", decode_in(cut(body.as_bytes(), &cuts))), &*whole);
        prop_assert_eq!(format!("{:?}", decode_in(body.as_bytes().chunks(1))), &*whole);
    }

    #[test]
    fn events_of_server_sent_events_do_not_depend_on_the_cut(lines in vec("(data|event|id|:)?:? ?[a-c\u{e9}]{0,3}(\n|\r|\r\n)", 0..30), cuts in vec(any::<prop::sample::Index>(), 0..20)) {
        let body = lines.concat();
        let events = |pieces: Vec<&[u8]>| {
            let mut parser = sse::Parser::new();
            let mut events = Vec::new();
            for piece in pieces {
                parser.push(piece);
                events.extend(std::iter::from_fn(|| parser.next_event()));
            }
            parser.finish();
            events.extend(std::iter::from_fn(|| parser.next_event()));
            events
        };
        let whole = events(vec![body.as_bytes()]);
        prop_assert_eq!(events(cut(body.as_bytes(), &cuts)), &*whole);
        prop_assert_eq!(events(body.as_bytes().chunks(1).collect()), whole);
    }

    #[test]
    fn the_kind_of_line_end_means_nothing(lines in vec("(data|event|id|):? ?[a-c]{0,3}", 0..30)) {
        let events = |end: &str| {
            let mut parser = sse::Parser::new();
            parser.push((lines.join(end) + end).as_bytes());
            parser.finish();
            std::iter::from_fn(|| parser.next_event()).collect::<Vec<_>>()
        };
        prop_assert_eq!(events("\r\n"), events("\n"));
        prop_assert_eq!(events("\r"), events("\n"));
    }

    #[test]
    fn an_encoded_event_is_parsed_as_itself(name in option::of("[a-z]{1,5}"), data in "[a-z \n]{0,20}") {
        let mut parser = sse::Parser::new();
        parser.push(&sse::encode(name.as_deref(), &data));
        let event = parser.next_event().unwrap().unwrap();
        prop_assert_eq!((event.name, event.data), (name, data));
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
    fn no_json_panics_and_what_is_read_can_be_written(value in shape()) {
        let bytes = value.to_string().into_bytes();
        if let Ok(request) = decode_request(&bytes) {
            let written = encode_request(&request).unwrap();
            prop_assert!(serde_json::from_slice::<Value>(&written.bytes).is_ok());
        }
        if let Ok(reply) = decode_reply(&bytes) {
            prop_assert!(serde_json::from_slice::<Value>(&encode_reply(&reply, &stamp()).bytes).is_ok());
        }
        let mut encoder = Encoder::new(stamp());
        for event in decode(&format!("data: {value}\n\ndata: {{\"choices\":[{value}]}}\n\n")).into_iter().flatten() {
            if let Some(frame) = encoder.encode(&event) {
                let is_frame = frame.starts_with(b"data: {");
                prop_assert!(is_frame);
            }
        }
    }

    /// Whatever a server does with indices and ids, no argument text is lost or gets into another order.
    #[test]
    fn every_piece_of_arguments_arrives(pieces in vec((option::of(0..3u64), option::of("[ab]"), option::of("[fg]"), "[0-9]{0,3}"), 1..12)) {
        let frames: Vec<_> = pieces.iter().map(|(index, id, name, arguments)| json!({"choices": [{"delta": {"tool_calls": [
            {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}
        ]}}]})).collect();
        let events = decode(&(chunks(&frames) + "data: [DONE]\n\n"));
        let seen: String = events.into_iter().filter_map(|event| match event.unwrap() {
            ModelEvent::PartDelta { delta, .. } => Some(delta.text().to_string()),
            _ => None,
        }).collect();
        prop_assert_eq!(seen, pieces.iter().map(|(.., arguments)| arguments.as_str()).collect::<String>());
    }

    /// Calls in any interleaving, each with an index of its own.
    #[test]
    fn interleaved_calls_stay_apart(order in vec(0..4usize, 0..40)) {
        let mut sent = vec![String::new(); 4];
        let mut frames = Vec::new();
        for (step, at) in order.iter().enumerate() {
            let begins = sent[*at].is_empty();
            let piece = format!("{step},");
            sent[*at].push_str(&piece);
            let mut entry = json!({"index": at, "function": {"arguments": piece}});
            if begins {
                entry["id"] = format!("id{at}").into();
                entry["function"]["name"] = "f".into();
            }
            frames.push(json!({"choices": [{"delta": {"tool_calls": [entry]}}]}));
        }
        let reply = reply_of(&(chunks(&frames) + "data: [DONE]\n\n")).unwrap();
        for call in reply.message.tool_calls() {
            let at: usize = call.id.as_str()[2..].parse().unwrap();
            prop_assert_eq!(call.arguments.as_str(), &*sent[at]);
        }
        prop_assert_eq!(reply.message.tool_calls().count(), sent.iter().filter(|text| !text.is_empty()).count());
    }
}

#[test]
fn json_nested_too_deeply_is_an_error_everywhere() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(200), close.repeat(200));
    let deep_object = deep("{\"a\":", "}");
    for deep in [deep("[", "]"), deep_object] {
        let body = format!(
            r#"{{"model":"m","messages":[],"x":{deep},"choices":[{{"message":{{"content":"a"}}}}]}}"#
        );
        assert!(decode_request(body.as_bytes()).unwrap_err().to_string().contains("too deeply"));
        assert!(decode_reply(body.as_bytes()).unwrap_err().to_string().contains("too deeply"));
        let mut decoder = Decoder::new();
        decoder.push(format!("data: {body}\n\n").as_bytes());
        assert!(decoder.next_event().unwrap().unwrap_err().to_string().contains("too deeply"));
    }
    for quote in ["", "\"", "\\\"", "\\"] {
        let content = format!("{quote}{}", "[{".repeat(500));
        let body = json!({"model": "m", "messages": [{"role": "user", "content": content}]});
        let request = decode_request(body.to_string().as_bytes()).unwrap();
        assert_eq!(request.messages[0].text(), content);
    }
}
