//! What holds for any input.

use http::{HeaderMap, StatusCode};
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Map, Value, json};
use tower_agent_core::{
    Collector, Error, FinishReason, Json, Message, ModelEvent, Part, Reply, Role, TextPart,
    ToolCallPart, Usage,
};
use tower_agent_wire::{
    Stamp,
    gemini::{Encoder, decode_error, decode_reply, decode_request, encode_reply, encode_request},
};

use crate::stream::decode_in;

fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\n\r\u{e9}\u{4f60}\u{1f980} {}:]{1,12}"
}

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called with `json!`")]
fn own(value: Value) -> Option<Json> {
    Some(json!({"gemini": value}).into())
}

fn signature() -> impl Strategy<Value = Option<Json>> {
    option::of(text()).prop_map(|text| text.and_then(|text| own(json!({"thoughtSignature": text}))))
}

fn part() -> impl Strategy<Value = Part> {
    let plain = (text(), signature())
        .prop_map(|(text, extra)| Part::Text(TextPart { text: text.into(), extra }));
    let thought = text().prop_map(|text| {
        Part::Reasoning(TextPart { text: text.into(), extra: own(json!({"thought": true})) })
    });
    let call = ("[a-zA-Z0-9_-]{1,8}", text(), text(), signature()).prop_map(
        |(id, name, argument, extra)| {
            let mut call = ToolCallPart::new(id, name, json!({"q": argument}).to_string());
            call.extra = extra;
            Part::ToolCall(call)
        },
    );
    let opaque = text()
        .prop_map(|text| Part::Opaque { json: json!({"executableCode": {"code": text}}).into() });
    prop_oneof![plain, thought, call, opaque]
}

/// Texts that stand side by side are one text of a stream.
fn apart(parts: Vec<Part>) -> Vec<Part> {
    let mut apart: Vec<Part> = Vec::new();
    for part in parts {
        let joins = match (apart.last(), &part) {
            (Some(Part::Text(before)), Part::Text(part)) => {
                before.extra.is_none() && part.extra.is_none()
            }
            (Some(Part::Reasoning(_)), Part::Reasoning(_)) => true,
            _ => false,
        };
        if !joins {
            apart.push(part);
        }
    }
    apart
}

prop_compose! {
    /// A reply as the dialect can say it.
    fn reply()(
        parts in vec(part(), 0..6),
        reason in prop_oneof![
            Just(FinishReason::Stop), Just(FinishReason::Length), Just(FinishReason::ContentFilter),
            Just(FinishReason::Other("MALFORMED_FUNCTION_CALL".into())),
        ],
        counts in (0..9u64, 0..9u64, 0..9u64, 0..9u64),
        ratings in option::of(text()),
    ) -> Reply {
        let parts = apart(parts);
        let mut reply = Reply::new(Message::new(Role::Assistant, parts));
        (reply.id, reply.model) = (Some("r".into()), Some("m".into()));
        if reason != FinishReason::Stop {
            reply.finish = reason;
        }
        let (input, cached, output, thoughts) = counts;
        let mut usage = Usage::new(input + cached, output + thoughts);
        (usage.cached_read, usage.reasoning) = (cached, thoughts);
        reply.usage = Some(usage);
        reply.extra = ratings.and_then(|text| own(json!({"candidates": [{"safetyRatings": [text]}]})));
        reply
    }
}

fn stamp() -> Stamp {
    Stamp::new("unused", "unused", 0)
}

fn stream_of(reply: &Reply, is_array: bool) -> Vec<u8> {
    let mut encoder = Encoder::new(stamp()).array(is_array);
    let mut out = Vec::new();
    for event in reply.clone().into_events() {
        out.extend(encoder.encode(&event).unwrap_or_default());
    }
    out.extend(encoder.finish());
    assert_eq!(encoder.losses(), []);
    out
}

fn collect(events: impl IntoIterator<Item = Result<ModelEvent, Error>>) -> Result<Reply, Error> {
    let mut collector = Collector::new();
    for event in events {
        collector.push(event?)?;
    }
    collector.finish()
}

/// What the dialect says, and what it does not.
const WORDS: [&str; 12] = [
    "user",
    "model",
    "function",
    "STOP",
    "SAFETY",
    "OBJECT",
    "string",
    "ANY",
    "application/json",
    "image/png",
    "x",
    "",
];
const KEYS: [&str; 36] = [
    "contents",
    "parts",
    "role",
    "text",
    "thought",
    "thoughtSignature",
    "functionCall",
    "function_call",
    "functionResponse",
    "name",
    "args",
    "id",
    "response",
    "output",
    "error",
    "inlineData",
    "mimeType",
    "data",
    "fileData",
    "fileUri",
    "candidates",
    "content",
    "finishReason",
    "index",
    "usageMetadata",
    "promptTokenCount",
    "totalTokenCount",
    "promptFeedback",
    "blockReason",
    "tools",
    "functionDeclarations",
    "parameters",
    "type",
    "generationConfig",
    "systemInstruction",
    "toolConfig",
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
        let fields = vec((key.clone(), inner.clone()), 0..6).prop_map(|fields| {
            fields.into_iter().map(|(key, value)| ((*key).to_owned(), value)).collect::<Map<_, _>>()
        });
        prop_oneof![vec(inner, 0..4).prop_map(Value::from), fields.prop_map(Value::from)]
    })
}

proptest! {
    #[test]
    fn a_whole_reply_comes_back(reply in reply()) {
        let encoded = encode_reply(&reply, &stamp());
        prop_assert_eq!(&encoded.losses, &[]);
        prop_assert_eq!(decode_reply(&encoded.bytes).unwrap(), reply);
    }

    #[test]
    fn a_streamed_reply_comes_back_in_any_pieces(reply in reply(), cuts in vec(1..40usize, 0..40)) {
        let body = stream_of(&reply, false);
        let (mut pieces, mut rest) = (Vec::new(), body.as_slice());
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        prop_assert_eq!(collect(decode_in(pieces)).unwrap(), reply);
    }

    #[test]
    fn both_forms_of_a_stream_say_the_same(reply in reply()) {
        let events = String::from_utf8(stream_of(&reply, false)).unwrap();
        let events: Vec<Value> = events.lines().filter_map(|line| line.strip_prefix("data: ")).map(|data| serde_json::from_str(data).unwrap()).collect();
        prop_assert_eq!(serde_json::from_slice::<Vec<Value>>(&stream_of(&reply, true)).unwrap(), events);
    }

    #[test]
    fn half_a_stream_is_never_a_reply(reply in reply(), share in 0.0..0.999f64) {
        let body = stream_of(&reply, false);
        let last = body.windows(12).rposition(|window| window == b"finishReason").unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
        let at = (last as f64 * share) as usize;
        prop_assert!(collect(decode_in([&body[..at]])).is_err());
    }

    #[test]
    fn no_body_panics_and_what_is_read_can_be_written(value in shape()) {
        let body = value.to_string();
        if let Ok(request) = decode_request(body.as_bytes()) {
            let encoded = encode_request(&request).unwrap();
            let again = decode_request(&encoded.bytes).unwrap();
            prop_assert_eq!(encode_request(&again).unwrap().bytes, encoded.bytes);
        }
        if let Ok(reply) = decode_reply(body.as_bytes()) {
            let encoded = encode_reply(&reply, &stamp());
            prop_assert!(decode_reply(&encoded.bytes).is_ok());
        }
        let _ = decode_error(StatusCode::BAD_REQUEST, &HeaderMap::new(), body.as_bytes());
    }

    #[test]
    fn no_stream_panics_and_what_is_read_can_be_written(events in vec(shape(), 0..6)) {
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let mut encoder = Encoder::new(stamp());
        let mut out = Vec::new();
        let events = decode_in([body.as_bytes()]);
        let is_whole = events.iter().all(Result::is_ok);
        for event in events.into_iter().flatten() {
            out.extend(encoder.encode(&event).unwrap_or_default());
        }
        out.extend(encoder.finish());
        let again = collect(decode_in([out.as_slice()]));
        prop_assert_eq!(again.is_ok(), is_whole, "{}", String::from_utf8_lossy(&out));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = decode_request(&bytes);
        let _ = decode_reply(&bytes);
        let _ = decode_in([bytes.as_slice()]);
    }
}
