//! Bodies as clients and providers of Anthropic's messages send them come back as the same JSON.
#![cfg(feature = "anthropic-messages")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

mod support;

use serde_json::{Value, json};
use tower_agent_core::{
    CallId, Content, FinishReason, Media, MediaSource, Message, ModelRequest, OutputFormat, Part,
    Reply, Role, TextPart, ToolCallPart, ToolChoice, ToolOutput, ToolResultPart, ToolSpec, Usage,
};
use tower_agent_wire::{
    LossRule, Stamp,
    anthropic_messages::{
        DEFAULT_MAX_TOKENS, decode_reply, decode_request, encode_reply, encode_request,
    },
};

use support::dialect::Codec;

/// The dialect, with bodies as they are sent.
const CODEC: Codec = Codec {
    decode_request,
    encode_request,
    decode_reply,
    encode_reply,
    requests: include_str!("data/anthropic_requests.json"),
    replies: include_str!("data/anthropic_replies.json"),
};

fn with_limit(messages: Vec<Message>) -> ModelRequest {
    let mut request = ModelRequest::new("m", messages);
    request.sampling.max_output_tokens = Some(64);
    request
}

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
fn foreign_fields_schemas_and_inputs_keep_every_byte() {
    let body = r#"{"model":"m","max_tokens":1,"big":123456789012345678901234567890,"z":{"b":1.0,"a":[ ]},
        "messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"z": 1.0, "a":18446744073709551615}}]}],
        "tools":[{"name":"f","input_schema":{"type":"object","properties":{"z":{},"a":{}}}}]}"#;
    let request = decode_request(body.as_bytes()).unwrap();
    let bytes = encode_request(&request).unwrap().bytes;
    let text = std::str::from_utf8(&bytes).unwrap();
    for kept in [
        r#""big":123456789012345678901234567890,"z":{"b":1.0,"a":[ ]}"#,
        r#""input_schema":{"type":"object","properties":{"z":{},"a":{}}}"#,
        r#""input":{"z": 1.0, "a":18446744073709551615}"#,
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[test]
fn the_vocabulary_sees_what_the_request_says() {
    let request = CODEC.request("an agent's turn with thinking");
    let [user, assistant, results] = &*request.messages else { panic!() };
    assert_eq!((user.role(), &*user.text()), (&Role::User, "Weather in Oslo and Bergen?"));
    let [Part::Reasoning(thought), Part::Reasoning(redacted), Part::Text(_), ..] =
        assistant.parts()
    else {
        panic!()
    };
    assert_eq!((thought.text.as_str(), redacted.text.as_str()), ("Two cities.", ""));
    assert_eq!(thought.extra.as_ref().unwrap().as_str(), r#"{"anthropic":{"signature":"c2ln"}}"#);
    let calls: Vec<_> = assistant.tool_calls().map(|call| call.arguments.as_str()).collect();
    assert_eq!(calls, [r#"{"city":"Oslo","id":9007199254740993}"#, "{}"]);
    assert_eq!(results.role(), &Role::Tool);
    let [Part::ToolResult(first), Part::ToolResult(second)] = results.parts() else { panic!() };
    assert_eq!((first.is_error, second.is_error), (false, true));
    assert_eq!((first.name.as_deref(), &*second.text()), (Some("weather"), "no such city"));
    assert_eq!(request.tool_choice, Some(ToolChoice::Tool("weather".into())));
    assert_eq!(request.sampling.parallel_tool_calls, Some(false));
    assert_eq!(request.sampling.max_output_tokens, Some(4096));

    let request = CODEC.request("pictures and documents");
    let sources: Vec<_> = request.messages[0]
        .parts()
        .iter()
        .filter_map(|part| match part {
            Part::Image(media) | Part::File(media) => {
                Some((&media.source, media.mime_type.as_deref()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(sources[0], (&MediaSource::Base64("/9j/4AAQ".into()), Some("image/jpeg")));
    assert_eq!(sources[2], (&MediaSource::Id("file_1".into()), None));
    assert_eq!(sources[3], (&MediaSource::Base64("JVBERi0=".into()), Some("application/pdf")));
}

#[test]
fn the_vocabulary_sees_what_the_reply_says() {
    let called = CODEC.reply("thinking and a tool call");
    assert_eq!(called.finish, FinishReason::ToolCalls);
    let usage = called.usage.unwrap();
    assert_eq!((usage.input, usage.output), (1990, 300), "the cache is part of the input");
    assert_eq!((usage.cached_read, usage.cached_write), (1920, 64));
    for (name, finish) in [
        ("plain text", FinishReason::Stop),
        ("a stop sequence", FinishReason::Stop),
        ("a stop sequence that is not named", FinishReason::Stop),
        ("a limit", FinishReason::Length),
        ("a full context", FinishReason::Length),
        ("a refusal", FinishReason::ContentFilter),
        ("a pause with a server's tool", FinishReason::Other("pause_turn".into())),
        ("no reason", FinishReason::Unspecified),
        ("a reason of the future", FinishReason::Other("tired".into())),
    ] {
        assert_eq!(CODEC.reply(name).finish, finish, "{name}");
    }
}

#[test]
fn tools_of_the_provider_are_seen_by_name_so_that_a_policy_can_hide_them() {
    let mut request = CODEC.request("tools of the provider's own");
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["web_search", "mcp_toolset"]);
    request.tools.retain(|tool| tool.name == "web_search");
    let kept = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}]);
    assert_eq!(CODEC.encoded(&request)["tools"], kept);
}

#[test]
fn an_edit_of_the_vocabulary_shows_whatever_extra_holds() {
    let mut edited = CODEC.reply("a full context");
    edited.finish = FinishReason::ToolCalls;
    let body = encode_reply(&edited, &Stamp::new("", "", 0)).bytes;
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["stop_reason"], "tool_use");

    let mut edited = CODEC.request("system as blocks with cache marks");
    let Part::Text(part) = &mut edited.messages.make_mut()[0].parts_mut()[1] else { panic!() };
    part.text = "[masked]".into();
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(
        CODEC.encoded(&edited)["system"][1],
        json!({"type": "text", "text": "[masked]", "cache_control": mark})
    );
}

#[test]
fn a_request_made_from_the_vocabulary_alone_is_what_the_dialect_asks_for() {
    let result = |id: &str, output: &ToolOutput| {
        Message::tool_result(ToolResultPart::new(CallId::from(id), "search".into(), output))
    };
    let signed =
        TextPart { text: "Hm.".into(), extra: Some(r#"{"anthropic":{"signature":"s"}}"#.into()) };
    let mut request = with_limit(vec![
        Message::user("Find tower"),
        Message::new(
            Role::Assistant,
            vec![
                Part::Reasoning(signed),
                Part::text("One moment."),
                Part::text(""),
                Part::ToolCall(ToolCallPart::new("c1", "search", r#"{"q":"tower"}"#)),
                Part::ToolCall(ToolCallPart::new("c2", "search", "")),
            ],
        ),
        result("c1", &ToolOutput::text("found")),
        result("c2", &ToolOutput::failure("no query")),
        Message::user("Go on"),
    ]);
    request.instructions = Some("Be brief.".into());
    request.tools = [ToolSpec::new("search", "Searches.").into()].into_iter().collect();
    request.sampling.temperature = Some(1.0);
    request.sampling.parallel_tool_calls = Some(false);
    request.output = Some(OutputFormat::JsonSchema {
        name: "answer".into(),
        schema: json!({"type": "object"}).into(),
        strict: Some(true),
    });
    request.extra = Some(json!({"top_k": 5, "anthropic": {"metadata": {"user_id": "u"}}}).into());
    request.stream = true;
    assert_eq!(
        CODEC.encoded(&request),
        json!({
            "model": "m", "max_tokens": 64, "system": "Be brief.",
            "messages": [
                {"role": "user", "content": "Find tower"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                    {"type": "text", "text": "One moment."},
                    {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "tower"}},
                    {"type": "tool_use", "id": "c2", "name": "search", "input": {}}
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "found"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "no query", "is_error": true}
                ]},
                {"role": "user", "content": "Go on"}
            ],
            "tools": [{"name": "search", "description": "Searches.", "input_schema": {"type": "object"}}],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
            "temperature": 1,
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
            "top_k": 5, "metadata": {"user_id": "u"},
            "stream": true
        })
    );
}

#[test]
fn a_request_without_a_token_limit_gets_one_and_says_so() {
    let (losses, body) = CODEC.lossy(&ModelRequest::new("m", vec![Message::user("Hi")]));
    assert_eq!(losses, ["max_tokens at sampling"]);
    assert_eq!(body["max_tokens"], DEFAULT_MAX_TOKENS);
}

#[test]
fn what_a_request_cannot_say_is_dropped_by_rule_and_place() {
    let media = |source| Media { source, mime_type: Some("audio/wav".into()), extra: None };
    let unsigned = Part::Reasoning(TextPart { text: "Hm".into(), extra: None });
    let sound = Part::Audio(media(MediaSource::Base64("UklGRg==".into())));
    let mut output = ToolOutput::text("see below");
    output.content.push(Content::Audio(media(MediaSource::Base64("UklGRg==".into()))));
    let mut request = with_limit(vec![
        Message::new(Role::User, vec![Part::text("a"), sound]).with_name(Some("ann".into())),
        Message::new(
            Role::Assistant,
            vec![unsigned.clone(), Part::ToolCall(ToolCallPart::new("c", "f", "{\"cut"))],
        ),
        Message::tool_result(ToolResultPart::new(CallId::from("c"), "f".into(), &output)),
        Message::system("Be quick."),
        Message::new(Role::Assistant, vec![unsigned]),
    ]);
    request.sampling.seed = Some(1);
    request.sampling.temperature = Some(1.5);
    request.output = Some(OutputFormat::JsonObject);
    request.extra = Some(json!({"logit_bias": {"7": 1}}).into());
    let (losses, body) = CODEC.lossy(&request);
    assert_eq!(
        losses,
        [
            "foreign at extra.logit_bias",
            "moved at messages[3]",
            "name at messages[0]",
            "unsigned_reasoning at messages[1]",
            "unsigned_reasoning at messages[4]",
            "media at messages[0]",
            "arguments at messages[1]",
            "media_in_tool_result at messages[2]",
            "parameter at sampling",
            "parameter at sampling",
            "output_format at output",
        ]
    );
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3, "a message with nothing left is left out");
    assert_eq!(body["system"], "Be quick.");
    assert_eq!(body["temperature"], 1);
    assert_eq!(messages[0]["content"][1]["text"], "[sound omitted: it cannot be sent here]");
    assert_eq!(messages[1]["content"][0]["input"], json!({"invalid_json": "{\"cut"}));
    assert!(!body.to_string().contains("UklG"));
}

#[test]
fn an_id_that_the_provider_does_not_take_is_made_fit_and_stays_that_of_its_call() {
    let mut messages = vec![Message::user("go")];
    for id in ["functions.f:0", ""] {
        let call = Part::ToolCall(ToolCallPart::new(id, "f", "{}"));
        messages.push(Message::new(Role::Assistant, vec![call]));
        let output = ToolOutput::text("x");
        messages.push(Message::tool_result(ToolResultPart::new(
            CallId::from(id),
            "f".into(),
            &output,
        )));
    }
    let (losses, body) = CODEC.lossy(&with_limit(messages));
    assert_eq!(losses, (1..=4).map(|at| format!("call_id at messages[{at}]")).collect::<Vec<_>>());
    for (at, id) in [(1, "functions_f_0"), (3, "_")] {
        assert_eq!(body["messages"][at]["content"][0]["id"], id);
        assert_eq!(body["messages"][at + 1]["content"][0]["tool_use_id"], id);
    }
}

#[test]
fn what_a_reply_cannot_carry_is_named() {
    let image = Media {
        source: MediaSource::Url("https://example.com/a.png".into()),
        mime_type: None,
        extra: None,
    };
    let result = ToolResultPart::new(CallId::from("c"), "f".into(), &ToolOutput::text("x"));
    let parts = vec![Part::text("a"), Part::Image(image), Part::ToolResult(result)];
    let mut reply = Reply::new(Message::new(Role::Assistant, parts)).with_usage(Usage::new(1, 1));
    reply.other = vec![json!({"type": "note"}).into()];
    reply.extra = Some("[]".into());
    let encoded = encode_reply(&reply, &Stamp::new("msg", "m", 1));
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
    assert_eq!(encoded.losses[0].rule, LossRule::NotJson);
    assert_eq!(decode_reply(&encoded.bytes).unwrap().message.text(), "a");
}

#[test]
fn reasoning_that_nobody_signed_is_still_shown_to_a_client() {
    let thought = Part::Reasoning(TextPart { text: "Hm".into(), extra: None });
    let reply = Reply::new(Message::new(Role::Assistant, vec![thought]));
    let encoded = encode_reply(&reply, &Stamp::new("msg", "m", 1));
    assert_eq!(encoded.losses, []);
    let body: Value = serde_json::from_slice(&encoded.bytes).unwrap();
    assert_eq!(body["content"], json!([{"type": "thinking", "thinking": "Hm", "signature": ""}]));
}

#[test]
fn a_schema_that_is_no_object_is_an_error_and_not_left_out() {
    let mut request = with_limit(vec![Message::user("go")]);
    let spec = ToolSpec::new("broken", "").with_input_schema("{\"type\":");
    request.tools = [spec.into()].into_iter().collect();
    let error = encode_request(&request).unwrap_err();
    assert!(error.to_string().contains("broken"), "{error}");
}
