//! Bodies as clients and providers send them come back as the same JSON.

use serde_json::{Value, json};
use tower_agent_core::{
    CallId, Content, FinishReason, Media, MediaSource, Message, ModelRequest, OutputFormat, Part,
    Reply, Role, TextPart, ToolCallPart, ToolChoice, ToolOutput, ToolResultPart, ToolSpec, Usage,
};
use tower_agent_wire::{
    LossRule, Stamp,
    gemini::{decode_reply, decode_request, encode_reply, encode_request},
};

use crate::dialect::Codec;

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
fn foreign_fields_schemas_and_arguments_keep_every_byte() {
    let body = r#"{"big":123456789012345678901234567890,"z":{"b":1.0,"a":[ ]},
        "contents":[{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{"z": 1.0, "a":18446744073709551615}}}]}],
        "tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"z":{"type":"STRING"},"a":{"type":"STRING"}}}}]}]}"#;
    let request = decode_request(body.as_bytes()).unwrap();
    let schema = request.tools[0].input_schema.as_str();
    assert_eq!(
        schema,
        r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}"#
    );
    let bytes = encode_request(&request).unwrap().bytes;
    let text = std::str::from_utf8(&bytes).unwrap();
    for kept in [
        r#""big":123456789012345678901234567890,"z":{"b":1.0,"a":[ ]}"#,
        r#""parameters":{"type":"OBJECT","properties":{"z":{"type":"STRING"},"a":{"type":"STRING"}}}"#,
        r#""args":{"z": 1.0, "a":18446744073709551615}"#,
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[test]
fn names_in_snake_case_are_read_and_written_in_camel_case() {
    let snake = r#"{"system_instruction":{"parts":{"text":"Be brief."}},
        "contents":{"parts":[{"inline_data":{"mime_type":"image/png","data":"iVBORw0="}},
            {"function_call":{"name":"f","args":{"snake_case":1}},"thought_signature":"c2ln"}]},
        "tools":{"function_declarations":[{"name":"f","parameters_json_schema":{"type":"object","a_b":1}}]},
        "tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f"]}},
        "generation_config":{"max_output_tokens":5,"top_k":3,"response_mime_type":"application/json"},
        "safety_settings":[],"my_own":1}"#;
    assert_eq!(
        CODEC.encoded(&decode_request(snake.as_bytes()).unwrap()),
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0="}},
                {"functionCall": {"name": "f", "args": {"snake_case": 1}}, "thoughtSignature": "c2ln"}]}],
            "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object", "a_b": 1}}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
            "generationConfig": {"maxOutputTokens": 5, "topK": 3, "responseMimeType": "application/json"},
            "safetySettings": [], "my_own": 1
        })
    );
}

#[test]
fn the_vocabulary_sees_what_the_request_says() {
    let turn = CODEC.request("an agent's turn with thoughts");
    let [user, model, results] = &*turn.messages else { panic!() };
    assert_eq!((user.role(), &*user.text()), (&Role::User, "Weather in Oslo and Bergen?"));
    assert_eq!((model.role(), &*model.text()), (&Role::Assistant, "I look."));
    assert!(matches!(&model.parts()[0], Part::Reasoning(thought) if thought.text == "Two cities."));
    let calls: Vec<_> = model.tool_calls().map(|call| call.arguments.as_str()).collect();
    assert_eq!(calls, [r#"{"city":"Oslo","id":9007199254740993}"#, "{}"]);
    assert_eq!(results.role(), &Role::Tool);
    let [Part::ToolResult(first), Part::ToolResult(second)] = results.parts() else { panic!() };
    assert_eq!((first.is_error, second.is_error), (false, true));
    assert_eq!((first.name.as_deref(), &*second.text()), (Some("weather"), "no such city"));
    assert_eq!(turn.tool_choice, Some(ToolChoice::Tool("weather".into())));

    let sampled = CODEC.request("sampling and the form of the answer").sampling;
    assert_eq!(
        (sampled.temperature, sampled.top_p, sampled.seed),
        (Some(0.5), Some(1.0), Some(-7))
    );
    assert_eq!(sampled.max_output_tokens, Some(64));
    for (name, choice) in [
        ("no tool", Some(ToolChoice::None)),
        ("any tool", Some(ToolChoice::Required)),
        ("tools of the provider's own", Some(ToolChoice::Auto)),
        ("choices without a name here", None),
    ] {
        assert_eq!(CODEC.request(name).tool_choice, choice, "{name}");
    }
    let Some(OutputFormat::JsonSchema { schema, .. }) =
        CODEC.request("schemas as OpenAPI writes them").output
    else {
        panic!()
    };
    assert_eq!(
        *schema.value().unwrap(),
        json!({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "boolean"}]}})
    );
    let schemas: Vec<_> = CODEC
        .request("schemas as OpenAPI writes them")
        .tools
        .iter()
        .map(|tool| tool.input_schema.value().unwrap().clone())
        .collect();
    assert_eq!(schemas[0]["properties"]["z"], json!({"type": ["string", "null"], "enum": ["x"]}));
    assert_eq!(
        schemas[1]["properties"],
        json!({"type": {"type": "string"}}),
        "a property may be called `type`"
    );
    assert_eq!(schemas[2]["properties"]["n"]["minLength"], 1);
}

#[test]
fn calls_without_ids_get_some_that_their_responses_share() {
    let request = CODEC.request("calls without ids");
    let calls: Vec<_> = request.messages[1].tool_calls().map(|call| call.id.clone()).collect();
    let answered = |message: &Message| -> Vec<CallId> {
        let parts = message.parts().iter();
        parts
            .filter_map(|part| match part {
                Part::ToolResult(result) => Some(result.call_id.clone()),
                _ => None,
            })
            .collect()
    };
    assert_eq!(
        answered(&request.messages[2]),
        [calls[0].clone(), calls[2].clone(), calls[1].clone()]
    );
    let late = answered(&request.messages[3]);
    assert!(!calls.contains(&late[0]));
    let again = CODEC.request("calls without ids");
    assert_eq!(again.messages, request.messages, "the same body has the same ids");
    let Part::ToolResult(value) = &request.messages[2].parts()[1] else { panic!() };
    assert_eq!(value.structured.as_ref().unwrap().as_str(), value.text());
    assert_eq!(value.text(), r#"{"temperature":1.0,"unit":"C"}"#);
}

#[test]
fn the_vocabulary_sees_what_the_reply_says() {
    let called = CODEC.reply("thoughts and a call");
    assert_eq!(called.finish, FinishReason::ToolCalls);
    let usage = called.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.total()), (120, 74, 194));
    assert_eq!((usage.cached_read, usage.reasoning), (64, 44));
    let ids: Vec<_> = called.message.tool_calls().map(|call| call.id.to_string()).collect();
    assert_eq!(ids, ["call-r2-0", "own"]);
    for (name, finish) in [
        ("plain text", FinishReason::Stop),
        ("a limit reached while thinking", FinishReason::Length),
        ("an answer that was filtered", FinishReason::ContentFilter),
        ("an answer that repeats what it read", FinishReason::ContentFilter),
        ("a prompt that was blocked", FinishReason::ContentFilter),
        ("a call that cannot be read", FinishReason::Other("MALFORMED_FUNCTION_CALL".into())),
        ("no reason", FinishReason::Unspecified),
        ("a reason that is unspecified", FinishReason::Unspecified),
    ] {
        assert_eq!(CODEC.reply(name).finish, finish, "{name}");
    }
}

#[test]
fn tools_of_the_provider_are_seen_by_name_so_that_a_policy_can_hide_them() {
    let mut request = CODEC.request("tools of the provider's own");
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["googleSearch", "f", "codeExecution", "googleMaps"]);
    request.tools.retain(|tool| tool.name == "googleMaps");
    assert_eq!(CODEC.encoded(&request)["tools"], json!([{"googleMaps": {"enableWidget": true}}]));
}

#[test]
fn functions_in_several_objects_are_sent_in_one() {
    let body = json!({"contents": [{"parts": [{"text": "Go"}]}], "tools": [
        {"functionDeclarations": [{"name": "f"}], "urlContext": {}}, {"functionDeclarations": [{"name": "g"}]}]});
    let request = decode_request(body.to_string().as_bytes()).unwrap();
    let tools =
        json!([{"functionDeclarations": [{"name": "f"}, {"name": "g"}]}, {"urlContext": {}}]);
    assert_eq!(CODEC.encoded(&request)["tools"], tools);
}

#[test]
fn an_edit_of_the_vocabulary_shows_whatever_extra_holds() {
    let mut edited = CODEC.reply("an answer that repeats what it read");
    edited.finish = FinishReason::Length;
    let body = encode_reply(&edited, &Stamp::new("", "", 0)).bytes;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["candidates"][0]["finishReason"], "MAX_TOKENS");

    // A layer that masks the text of a structured result masks what is sent.
    let mut edited = CODEC.request("calls without ids");
    let Part::ToolResult(result) = &mut edited.messages.make_mut()[2].parts_mut()[1] else {
        panic!()
    };
    result.content = vec![Content::text(r#"{"temperature":"[masked]"}"#)];
    let sent = &CODEC.encoded(&edited)["contents"][2]["parts"][1]["functionResponse"]["response"];
    assert_eq!(sent, &json!({"temperature": "[masked]"}));

    let mut edited = CODEC.request("schemas as OpenAPI writes them");
    let mut spec = (*edited.tools[2]).clone();
    spec.input_schema = r#"{"type":"object"}"#.into();
    edited.tools = [spec.into()].into_iter().collect();
    let sent = &CODEC.encoded(&edited)["tools"][0]["functionDeclarations"][0];
    assert_eq!(sent, &json!({"name": "c", "parametersJsonSchema": {"type": "object"}}));
}

/// A request of an agent in the middle of its work.
fn searching() -> ModelRequest {
    let result = |id: &str, output: &ToolOutput| {
        Message::tool_result(ToolResultPart::new(CallId::from(id), "search".into(), output))
    };
    let mut request = ModelRequest::new(
        "m",
        vec![
            Message::user("Find tower"),
            Message::new(
                Role::Assistant,
                vec![
                    Part::text("One moment."),
                    Part::text(""),
                    Part::ToolCall(ToolCallPart::new("c1", "search", r#"{"q":"tower"}"#)),
                    Part::ToolCall(ToolCallPart::new("c2", "search", "")),
                ],
            ),
            result("c1", &ToolOutput::structured(json!({"found": 1}))),
            result("c2", &ToolOutput::failure("no query")),
            result("c3", &ToolOutput::structured(json!([1, 2]))),
            Message::user("Go on"),
        ],
    );
    request.instructions = Some("Be brief.".into());
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    request.tools = [ToolSpec::new("search", "Searches.").with_input_schema(schema).into()]
        .into_iter()
        .collect();
    request.tool_choice = Some(ToolChoice::Tool("search".into()));
    request.sampling.temperature = Some(1.0);
    request.sampling.max_output_tokens = Some(64);
    request.sampling.parallel_tool_calls = Some(true);
    request.output = Some(OutputFormat::JsonSchema {
        name: "answer".into(),
        schema: json!({"type": "object"}).into(),
        strict: Some(true),
    });
    request.extra =
        Some(json!({"safetySettings": [], "gemini": {"generationConfig": {"topK": 4}}}).into());
    request.stream = true;
    request
}

#[test]
fn a_request_made_from_the_vocabulary_alone_is_what_the_dialect_asks_for() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    assert_eq!(
        CODEC.encoded(&searching()),
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Find tower"}]},
                {"role": "model", "parts": [
                    {"text": "One moment."},
                    {"functionCall": {"id": "c1", "name": "search", "args": {"q": "tower"}}},
                    {"functionCall": {"id": "c2", "name": "search"}}
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "c1", "name": "search", "response": {"found": 1}}},
                    {"functionResponse": {"id": "c2", "name": "search", "response": {"error": "no query"}}},
                    {"functionResponse": {"id": "c3", "name": "search", "response": {"output": [1, 2]}}}
                ]},
                {"role": "user", "parts": [{"text": "Go on"}]}
            ],
            "tools": [{"functionDeclarations": [{"name": "search", "description": "Searches.", "parametersJsonSchema": schema}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["search"]}},
            "generationConfig": {"temperature": 1, "maxOutputTokens": 64, "topK": 4, "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}},
            "safetySettings": []
        })
    );
}

/// A request full of things that only others can say.
fn foreign() -> ModelRequest {
    let media = |source| Media { source, mime_type: Some("audio/wav".into()), extra: None };
    let thought = Part::Reasoning(TextPart { text: "Hm".into(), extra: None });
    let mut output = ToolOutput::text("see below");
    output.content.push(Content::Audio(media(MediaSource::Id("file-1".into()))));
    output.content.push(Content::Audio(media(MediaSource::Base64("UklGRg==".into()))));
    let mut request = ModelRequest::new(
        "m",
        vec![
            Message::new(
                Role::User,
                vec![Part::text("a"), Part::Audio(media(MediaSource::Id("file-1".into())))],
            )
            .with_name(Some("ann".into())),
            Message::new(
                Role::Assistant,
                vec![thought.clone(), Part::ToolCall(ToolCallPart::new("c", "f", "{\"cut"))],
            ),
            Message::tool_result(ToolResultPart::new(CallId::from("c"), "f".into(), &output)),
            Message::system("Be quick."),
            Message::new(Role::Assistant, vec![thought]),
            Message::new(
                Role::User,
                vec![
                    Part::Opaque { json: r#"{"type":"input_text"}"#.into() },
                    Part::Opaque { json: "[".into() },
                ],
            ),
        ],
    );
    request.sampling.parallel_tool_calls = Some(false);
    let mut hosted = ToolSpec::new("web_search", "");
    hosted.extra = Some(json!({"anthropic": {"type": "web_search_20250305"}}).into());
    request.tools = [hosted.into()].into_iter().collect();
    request.extra = Some(json!({"logit_bias": {"7": 1}, "anthropic": {"top_k": 4}}).into());
    request
}

#[test]
fn what_a_request_cannot_say_is_dropped_by_rule_and_place() {
    let (losses, body) = CODEC.lossy(&foreign());
    assert_eq!(
        losses,
        [
            "foreign at extra.anthropic",
            "foreign at extra.logit_bias",
            "moved at messages[3]",
            "name at messages[0]",
            "unsigned_reasoning at messages[1]",
            "unsigned_reasoning at messages[4]",
            "foreign at messages[5]",
            "not_json at messages[5]",
            "media_source at messages[0]",
            "arguments at messages[1]",
            "media_in_tool_result at messages[2]",
            "foreign at tools[0]",
            "parameter at sampling",
        ]
    );
    let contents = body["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 3, "a message with nothing left is left out");
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "Be quick."}]}));
    assert_eq!(
        contents[0]["parts"][1]["text"],
        "[audio omitted: it is not in a form that can be sent]"
    );
    assert_eq!(contents[1]["parts"][0]["functionCall"]["args"], json!({"invalid_json": "{\"cut"}));
    let response = &contents[2]["parts"][0]["functionResponse"];
    assert_eq!(
        response["parts"],
        json!([{"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}}])
    );
    assert_eq!(body.get("tools"), None);
}

#[test]
fn what_a_reply_cannot_carry_is_named() {
    let result = ToolResultPart::new(CallId::from("c"), "f".into(), &ToolOutput::text("x"));
    let image =
        Media { source: MediaSource::Base64("iVBORw0=".into()), mime_type: None, extra: None };
    let parts = vec![Part::text("a"), Part::Image(image), Part::ToolResult(result)];
    let mut reply = Reply::new(Message::new(Role::Assistant, parts)).with_usage(Usage::new(1, 1));
    reply.other = vec![json!({"note": 1}).into()];
    reply.extra = Some("[]".into());
    reply.finish = FinishReason::Other("pause_turn".into());
    let encoded = encode_reply(&reply, &Stamp::new("r", "m", 1));
    let losses: Vec<_> = encoded.losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        losses,
        [
            "not_json at reply",
            "finish_reason at reply",
            "part_in_reply at reply",
            "extra at reply.other"
        ]
    );
    assert_eq!(encoded.losses[0].rule, LossRule::NotJson);
    let body: Value = serde_json::from_slice(&encoded.bytes).unwrap();
    assert_eq!(
        body["candidates"][0]["content"]["parts"][1],
        json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0="}})
    );
    assert_eq!(body["candidates"][0]["finishReason"], "OTHER");
}

#[test]
fn what_another_model_thought_is_still_shown_to_a_client() {
    let thought = Part::Reasoning(TextPart { text: "Hm".into(), extra: None });
    let reply = Reply::new(Message::new(Role::Assistant, vec![thought]));
    let encoded = encode_reply(&reply, &Stamp::new("r", "m", 1));
    assert_eq!(encoded.losses, []);
    let body: Value = serde_json::from_slice(&encoded.bytes).unwrap();
    assert_eq!(body["candidates"][0]["content"]["parts"], json!([{"text": "Hm", "thought": true}]));
}

#[test]
fn a_schema_that_is_no_object_is_an_error_and_not_left_out() {
    let mut request = ModelRequest::new("m", vec![Message::user("go")]);
    let spec = ToolSpec::new("broken", "").with_input_schema("{\"type\":");
    request.tools = [spec.into()].into_iter().collect();
    let error = encode_request(&request).unwrap_err();
    assert!(error.to_string().contains("broken"), "{error}");
}
