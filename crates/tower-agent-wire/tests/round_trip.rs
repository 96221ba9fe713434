//! Bodies as clients and providers send them come back as the same JSON.
#![cfg(feature = "openai-chat")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

mod support;

use serde_json::{Value, json};
use tower_agent_core::{
    CallId, Content, Media, MediaSource, Message, ModelRequest, OutputFormat, Part, Reply, Role,
    Str, TextPart, ToolCallPart, ToolChoice, ToolOutput, ToolResultPart, ToolSpec,
};
use tower_agent_wire::{
    LossRule,
    openai_chat::{Stamp, decode_reply, decode_request, encode_reply, encode_request},
};

use support::dialect::Codec;

/// The dialect, with bodies as they are sent.
const CODEC: Codec = Codec {
    decode_request,
    encode_request,
    decode_reply,
    encode_reply,
    requests: include_str!("data/requests.json"),
    replies: include_str!("data/replies.json"),
};

#[test]
fn requests_come_back_as_the_same_json() {
    CODEC.requests_come_back(|_, body| body);
}

#[test]
fn replies_come_back_as_the_same_json() {
    CODEC.replies_come_back();
}

#[test]
fn a_request_survives_storage_between_decoding_and_encoding() {
    CODEC.requests_survive_storage();
}

#[test]
fn foreign_fields_and_schemas_keep_every_byte() {
    let body = r#"{"model":"m","messages":[],"big":123456789012345678901234567890,"z":{"b":1.0,"a":[ ]},
        "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"z":{},"a":{}}}}}]}"#;
    let request = decode_request(body.as_bytes()).unwrap();
    let bytes = encode_request(&request).unwrap().bytes;
    let text = std::str::from_utf8(&bytes).unwrap();
    assert!(
        text.contains(r#""big":123456789012345678901234567890,"z":{"b":1.0,"a":[ ]}"#),
        "{text}"
    );
    assert!(
        text.contains(r#""parameters":{"type":"object","properties":{"z":{},"a":{}}}"#),
        "{text}"
    );
}

#[test]
fn the_vocabulary_sees_what_the_body_says() {
    let request = CODEC.request("an agent's turn");
    let [user, assistant, first, second] = &*request.messages else { panic!() };
    assert_eq!((user.role(), &*user.text()), (&Role::User, "Weather in Oslo and Bergen?"));
    assert_eq!(assistant.text(), "I will look.");
    let calls: Vec<_> = assistant.tool_calls().map(|call| call.arguments.as_str()).collect();
    assert_eq!(calls, [r#"{"city": "Oslo", "id": 9007199254740993}"#, r#"{"city": "Berg"#]);
    let Part::ToolResult(result) = &first.parts()[0] else { panic!() };
    assert_eq!((result.call_id.as_str(), result.name.as_deref()), ("call_a", Some("weather")));
    assert_eq!((first.name(), second.name().map(Str::as_str)), (None, Some("weather")));
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["weather", "now", "empty", "nulls"]);
    assert_eq!(request.tool_choice, Some(ToolChoice::Tool("weather".into())));
}

#[test]
fn pictures_sound_and_files_are_told_apart_from_their_transport() {
    let request = CODEC.request("pictures, sound and files");
    let sources: Vec<_> = request.messages[0]
        .parts()
        .iter()
        .filter_map(|part| match part {
            Part::Image(media) | Part::Audio(media) | Part::File(media) => {
                Some((media.source.clone(), media.mime_type.as_deref()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(sources[1], (MediaSource::Base64("/9j/4AAQ".into()), Some("image/jpeg")));
    assert_eq!(sources[3], (MediaSource::Base64("UklGRg==".into()), Some("audio/wav")));
    assert_eq!(sources[4], (MediaSource::Base64("SUQz".into()), Some("audio/mpeg")));
    assert_eq!(sources[5], (MediaSource::Id("file-1".into()), None));
    assert_eq!(sources[6], (MediaSource::Base64("JVBERi0=".into()), Some("application/pdf")));
}

#[test]
fn tools_of_the_provider_are_seen_by_name_so_that_a_policy_can_hide_them() {
    let mut request = CODEC.request("tools of the provider's own");
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["shell", "web_search", "f"]);
    request.tools.retain(|tool| tool.name == "f");
    let tools = CODEC.encoded(&request)["tools"].clone();
    assert_eq!(
        tools,
        json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])
    );
}

#[test]
fn an_edit_of_the_vocabulary_shows_whatever_extra_holds() {
    let mut request = CODEC.request("older and less usual spellings");
    request.sampling.max_output_tokens = Some(7);
    request.sampling.temperature = None;
    request.sampling.stop = None;
    let body = CODEC.encoded(&request);
    assert_eq!(body["max_tokens"], 7);
    assert_eq!((&body["temperature"], &body["stop"]), (&Value::Null, &Value::Null));

    let mut request = CODEC.request("output by a schema");
    request.output = Some(OutputFormat::JsonObject);
    assert_eq!(CODEC.encoded(&request)["response_format"], json!({"type": "json_object"}));

    let mut request = CODEC.request("content as a list, as an empty list, empty and null");
    let messages = request.messages.make_mut();
    let Part::Text(part) = &mut messages[1].parts_mut()[1] else { panic!() };
    part.text = "[masked]".into();
    messages[4].parts_mut().push(Part::text("filled in"));
    let body = CODEC.encoded(&request);
    assert_eq!(
        body["messages"][1]["content"][1],
        json!({"type": "text", "text": "[masked]", "cache_control": {"type": "ephemeral"}})
    );
    assert_eq!(body["messages"][4]["content"], "filled in");
}

#[test]
fn turning_streaming_off_takes_its_options_along() {
    let mut request = CODEC.request("a stream with usage");
    assert!(tower_agent_wire::openai_chat::asks_for_usage(&request));
    request.stream = false;
    let body = CODEC.encoded(&request);
    assert_eq!((body.get("stream"), body.get("stream_options")), (None, None));
}

#[test]
fn a_request_made_from_the_vocabulary_alone_is_what_the_dialect_asks_for() {
    let call = ToolCallPart::new("c1", "search", r#"{"q":"tower"}"#);
    let result =
        ToolResultPart::new(CallId::from("c1"), "search".into(), &ToolOutput::text("found"));
    let mut request = ModelRequest::new(
        "gpt-4o",
        vec![
            Message::user("Find tower"),
            Message::new(
                Role::Assistant,
                vec![
                    Part::Reasoning(TextPart { text: "Hm.".into(), extra: None }),
                    Part::text("One "),
                    Part::text("moment."),
                    Part::ToolCall(call),
                ],
            ),
            Message::new(
                Role::User,
                vec![Part::ToolResult(result), Part::text("a"), Part::text("b")],
            ),
        ],
    );
    request.instructions = Some("Be brief.".into());
    request.tools = [ToolSpec::new("search", "Searches.").into()].into_iter().collect();
    request.sampling.max_output_tokens = Some(9);
    request.sampling.temperature = Some(1.0);
    request.output = Some(OutputFormat::JsonSchema {
        name: "answer".into(),
        schema: json!({"type": "object"}).into(),
        strict: Some(true),
    });
    request.stream = true;
    assert_eq!(
        CODEC.encoded(&request),
        json!({
            "model": "gpt-4o",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Find tower"},
                {"role": "assistant", "reasoning_content": "Hm.", "content": "One moment.", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{\"q\":\"tower\"}"}}
                ]},
                {"role": "tool", "tool_call_id": "c1", "content": "found"},
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
            ],
            "tools": [{"type": "function", "function": {"name": "search", "description": "Searches.", "parameters": {"type": "object"}}}],
            "max_completion_tokens": 9,
            "temperature": 1,
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": true}},
            "stream": true
        })
    );
}

fn media(source: MediaSource) -> Media {
    Media { source, mime_type: Some("image/png".into()), extra: None }
}

#[test]
fn what_a_tool_result_cannot_carry_is_named_and_noted() {
    let mut output = ToolOutput::text("see below");
    output.content.push(Content::Image(media(MediaSource::Base64("iVBORw0KGgo=".into()))));
    let result = ToolResultPart::new(CallId::from("c1"), "shot".into(), &output);
    let request = ModelRequest::new("m", vec![Message::user("go"), Message::tool_result(result)]);
    let encoded = encode_request(&request).unwrap();
    let losses: Vec<_> =
        encoded.losses.iter().map(|loss| (loss.rule, loss.place.as_str())).collect();
    assert_eq!(losses, [(LossRule::MediaInToolResult, "messages[1]")]);
    let body: Value = serde_json::from_slice(&encoded.bytes).unwrap();
    assert_eq!(
        body["messages"][1]["content"],
        "see below\n[image (image/png) omitted: tool results carry only text here]"
    );
    assert!(!encoded.bytes.windows(4).any(|window| window == b"iVBO"));
}

#[test]
fn a_picture_known_only_by_id_is_named_and_noted() {
    let image = Part::Image(media(MediaSource::Id("img-1".into())));
    let request =
        ModelRequest::new("m", vec![Message::new(Role::User, vec![Part::text("a"), image])]);
    let encoded = encode_request(&request).unwrap();
    assert_eq!(encoded.losses[0].to_string(), "media_source at messages[0]");
}

#[test]
fn a_schema_that_is_no_object_is_an_error_and_not_left_out() {
    let mut request = ModelRequest::new("m", vec![Message::user("go")]);
    let spec = ToolSpec::new("broken", "").with_input_schema("{\"type\":");
    request.tools = [spec.into()].into_iter().collect();
    let error = encode_request(&request).unwrap_err();
    assert!(error.to_string().contains("broken"), "{error}");
}

#[test]
fn what_a_whole_reply_cannot_carry_is_named() {
    let image = Part::Image(media(MediaSource::Base64("iVBORw0KGgo=".into())));
    let result = ToolResultPart::new(CallId::from("c"), "f".into(), &ToolOutput::text("x"));
    let parts = vec![Part::text("a"), image, Part::ToolResult(result)];
    let mut reply = Reply::new(Message::new(Role::Assistant, parts));
    reply.other = vec![json!({"type": "ping"}).into()];
    reply.extra = Some("[]".into());
    let encoded = encode_reply(&reply, &Stamp::new("c", "m", 1));
    let losses: Vec<_> = encoded.losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        losses,
        [
            "not_json at reply",
            "part_in_reply at reply",
            "part_in_reply at reply",
            "extra at reply.other"
        ]
    );
    assert_eq!(decode_reply(&encoded.bytes).unwrap().message.text(), "a");
}
