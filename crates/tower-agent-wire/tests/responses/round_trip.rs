//! Bodies as clients and providers send them come back as the same JSON.

use serde_json::{Value, json};
use tower_agent_core::{
    CallId, Content, Media, MediaSource, Message, ModelRequest, OutputFormat, Part, Reply, Role,
    TextPart, ToolCallPart, ToolChoice, ToolOutput, ToolResultPart, ToolSpec,
};
use tower_agent_wire::openai_responses::{
    decode_reply, decode_request, encode_reply, encode_request,
};

use crate::{dialect::Codec, support::stamp};

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
    CODEC.requests_come_back(|request, mut body| {
        // Only a stream has options.
        if !request.stream {
            body.as_object_mut().unwrap().remove("stream_options");
        }
        body
    });
}

#[test]
fn replies_come_back_as_the_same_json() {
    CODEC.replies_come_back();
}

#[test]
fn a_reply_goes_back_to_its_provider_as_the_items_that_it_was() {
    for (name, body) in CODEC.replies() {
        let reply = decode_reply(body.to_string().as_bytes()).unwrap();
        let input = CODEC.encoded(&ModelRequest::new("m", vec![reply.message]));
        let output = if body["output"] == json!([]) { Value::Null } else { body["output"].clone() };
        let input = if input["input"] == json!([]) { Value::Null } else { input["input"].clone() };
        assert_eq!(input, output, "{name}");
    }
}

#[test]
fn a_request_survives_storage_between_decoding_and_encoding() {
    CODEC.requests_survive_storage();
}

#[test]
fn foreign_fields_and_schemas_keep_every_byte() {
    let body = r#"{"model":"m","input":[{"role":"user","content":"Hi","x":1.0}],"big":123456789012345678901234567890,"z":{"b":1.0,"a":[ ]},
        "tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"z":{},"a":{}}}}]}"#;
    let request = decode_request(body.as_bytes()).unwrap();
    let bytes = encode_request(&request).unwrap().bytes;
    let text = std::str::from_utf8(&bytes).unwrap();
    let kept = [
        r#""big":123456789012345678901234567890,"z":{"b":1.0,"a":[ ]}"#,
        r#""parameters":{"type":"object","properties":{"z":{},"a":{}}}"#,
        r#""x":1.0"#,
    ];
    for kept in kept {
        assert!(text.contains(kept), "{text}");
    }
}

#[test]
fn the_vocabulary_sees_what_the_body_says() {
    let request = CODEC.request("an agent's turn");
    let [user, assistant, first, second] = &*request.messages else { panic!() };
    assert_eq!((user.role(), &*user.text()), (&Role::User, "Weather in Oslo and Bergen?"));
    // What the model said in a row is one message, so that other dialects find its calls together.
    assert_eq!((assistant.role(), &*assistant.text()), (&Role::Assistant, "I will look."));
    let thoughts: Vec<_> = assistant
        .parts()
        .iter()
        .filter_map(|part| match part {
            Part::Reasoning(part) => Some(part.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(thoughts, ["Two cities.", "Two calls."]);
    let calls: Vec<_> =
        assistant.tool_calls().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
    assert_eq!(
        calls,
        [
            ("call_a", r#"{"city": "Oslo", "id": 9007199254740993}"#),
            ("call_b", r#"{"city": "Berg"#)
        ]
    );
    let Part::ToolResult(result) = &first.parts()[0] else { panic!() };
    assert_eq!((result.call_id.as_str(), result.name.as_deref()), ("call_a", Some("weather")));
    let Part::ToolResult(result) = &second.parts()[0] else { panic!() };
    assert!(matches!(
        &*result.content,
        [Content::Text(_), Content::Image(_), Content::Opaque { .. }]
    ));
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["weather", "now", "empty", "none"]);
    assert_eq!(request.tool_choice, Some(ToolChoice::Tool("weather".into())));
}

#[test]
fn a_text_as_input_is_the_users_message() {
    let request = CODEC.request("a text with everything around it");
    assert_eq!(request.instructions.as_deref(), Some("Be brief."));
    assert_eq!(request.messages[0], Message::user("Hello"));
    assert_eq!(request.sampling.max_output_tokens, Some(512));
    assert!(request.stream);
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
    assert_eq!(sources[0], (MediaSource::Url("https://example.com/cat.png".into()), None));
    assert_eq!(sources[1], (MediaSource::Base64("/9j/4AAQ".into()), Some("image/jpeg")));
    assert_eq!(sources[3], (MediaSource::Id("file-1".into()), None));
    assert_eq!(sources[5], (MediaSource::Base64("JVBERi0=".into()), Some("application/pdf")));
    assert_eq!(sources[6], (MediaSource::Base64("JVBERi0=".into()), None));
    assert_eq!(sources[8], (MediaSource::Base64("UklGRg==".into()), Some("audio/wav")));
    assert_eq!(sources[9], (MediaSource::Base64("SUQz".into()), Some("audio/mpeg")));
}

#[test]
fn tools_of_the_provider_are_seen_by_name_so_that_a_policy_can_hide_them() {
    let mut request = CODEC.request("tools of the provider's own");
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["shell", "web_search", "mcp", "f"]);
    request.tools.retain(|tool| tool.name == "f");
    let tools = CODEC.encoded(&request)["tools"].clone();
    assert_eq!(tools, json!([{"type": "function", "name": "f", "parameters": {"type": "object"}}]));
}

#[test]
fn an_edit_of_the_vocabulary_shows_whatever_extra_holds() {
    let mut request = CODEC.request("less usual spellings");
    request.sampling.temperature = Some(0.5);
    request.messages.push(Message::user("And?"));
    let body = CODEC.encoded(&request);
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(
        body["input"],
        json!([{"role": "user", "content": "Hi"}, {"role": "user", "content": "And?"}])
    );

    let mut request = CODEC.request("output by a schema");
    request.output = Some(OutputFormat::JsonObject);
    assert_eq!(CODEC.encoded(&request)["text"], json!({"format": {"type": "json_object"}}));

    let mut request = CODEC.request("an agent's turn");
    let parts = request.messages.make_mut()[1].parts_mut();
    for part in parts {
        if let Part::Text(part) | Part::Reasoning(part) = part {
            part.text = "[masked]".into();
        }
    }
    let body = CODEC.encoded(&request);
    assert_eq!(body["input"][1]["summary"][1]["text"], "[masked]");
    assert_eq!(body["input"][2]["content"][0]["text"], "[masked]");
    assert_eq!(body["input"][2]["id"], "msg_1");
}

#[test]
fn a_request_made_from_the_vocabulary_alone_is_what_the_dialect_asks_for() {
    let call = ToolCallPart::new("c1", "search", r#"{"q":"tower"}"#);
    let mut output = ToolOutput::text("found");
    output.content.push(Content::Image(media(MediaSource::Base64("iVBORw0KGgo=".into()))));
    let result = ToolResultPart::new(CallId::from("c1"), "search".into(), &output);
    let mut request = ModelRequest::new(
        "gpt-5",
        vec![
            Message::user("Find tower"),
            Message::new(
                Role::Assistant,
                vec![Part::text("One "), Part::text("moment."), Part::ToolCall(call)],
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
            "model": "gpt-5",
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": "Find tower"},
                {"role": "assistant", "content": "One moment."},
                {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{\"q\":\"tower\"}"},
                {"type": "function_call_output", "call_id": "c1", "output": [
                    {"type": "input_text", "text": "found"}, {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
                ]},
                {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]}
            ],
            "tools": [{"type": "function", "name": "search", "description": "Searches.", "parameters": {"type": "object"}, "strict": false}],
            "max_output_tokens": 9,
            "temperature": 1,
            "text": {"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}, "strict": true}},
            "stream": true
        })
    );
}

fn media(source: MediaSource) -> Media {
    Media { source, mime_type: Some("image/png".into()), extra: None }
}

#[test]
fn what_a_request_cannot_carry_is_named() {
    let thought = TextPart { text: "Hm.".into(), extra: None };
    let mut request = ModelRequest::new(
        "m",
        vec![
            Message::user("Hi").with_name(Some("ann".into())),
            Message::new(
                Role::Assistant,
                vec![
                    Part::Reasoning(thought),
                    Part::text("a"),
                    Part::Image(media(MediaSource::Url("u".into()))),
                ],
            ),
            Message::assistant("b").with_extra(Some(json!({"audio": {"id": "x"}}).into())),
        ],
    );
    request.sampling.seed = Some(7);
    request.sampling.stop = Some(["END".into()].into());
    let encoded = encode_request(&request).unwrap();
    let losses: Vec<_> = encoded.losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        losses,
        [
            "name at messages[0]",
            "part_in_reply at messages[1]",
            "unsigned_reasoning at messages[1]",
            "foreign at messages[2].audio",
            "parameter at stop",
            "parameter at seed"
        ]
    );
    let body: Value = serde_json::from_slice(&encoded.bytes).unwrap();
    assert_eq!(
        body["input"],
        json!([
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "a"},
            {"role": "assistant", "content": "b"}
        ])
    );
}

#[test]
fn a_refusal_that_another_dialect_keeps_beside_the_content_is_said() {
    let refused = Message::new(Role::Assistant, Vec::new())
        .with_extra(Some(json!({"refusal": "No.", "annotations": []}).into()));
    let request = ModelRequest::new("m", vec![refused.clone()]);
    let part = json!({"type": "refusal", "refusal": "No."});
    assert_eq!(CODEC.encoded(&request)["input"][0]["content"], json!([part]));
    let encoded = encode_reply(&Reply::new(refused), &stamp());
    assert_eq!(encoded.losses, []);
    let body: Value = serde_json::from_slice(&encoded.bytes).unwrap();
    assert_eq!(body["output"][0]["content"], json!([part]));
}

#[test]
fn a_reply_made_from_the_vocabulary_alone_is_what_clients_ask_for() {
    let thought = TextPart { text: "Hm.".into(), extra: None };
    let parts = vec![
        Part::Reasoning(thought),
        Part::text("Hi"),
        Part::ToolCall(ToolCallPart::new("call_a", "f", "{}")),
        Part::ToolCall(ToolCallPart::new("", "f", "{}")),
    ];
    let encoded = encode_reply(&Reply::new(Message::new(Role::Assistant, parts)), &stamp());
    assert_eq!(encoded.losses, []);
    assert_eq!(
        serde_json::from_slice::<Value>(&encoded.bytes).unwrap(),
        json!({
            "id": "resp_0", "object": "response", "created_at": 0, "status": "completed", "error": null, "incomplete_details": null, "model": "unused",
            "output": [
                {"type": "reasoning", "id": "rs_0_0", "summary": [{"type": "summary_text", "text": "Hm."}]},
                {"type": "message", "id": "msg_0_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Hi", "annotations": []}]},
                {"type": "function_call", "id": "fc_0_2", "call_id": "call_a", "name": "f", "arguments": "{}", "status": "completed"},
                {"type": "function_call", "id": "fc_0_3", "call_id": "call_0_3", "name": "f", "arguments": "{}", "status": "completed"}
            ],
            "usage": null
        })
    );
}

#[test]
fn a_schema_that_is_no_object_is_an_error_and_not_left_out() {
    let mut request = ModelRequest::new("m", vec![Message::user("go")]);
    let spec = ToolSpec::new("broken", "").with_input_schema("{\"type\":");
    request.tools = [spec.into()].into_iter().collect();
    let error = encode_request(&request).unwrap_err();
    assert!(error.to_string().contains("broken"), "{error}");
}
