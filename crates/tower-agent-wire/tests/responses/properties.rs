//! What holds for any input.

use proptest::{collection::vec, option, prelude::*};
use serde_json::{Map, Value, json};
use tower_agent_core::{
    Collector, FinishReason, Json, Message, ModelEvent, Part, Reply, Role, TextPart, ToolCallPart,
    Usage,
};
use tower_agent_wire::openai_responses::{
    Encoder, decode_reply, decode_request, encode_reply, encode_request,
};

use crate::support::{
    decode, decode_in, encode, events, frames, reply_of, stamp, without_beginnings,
};

fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\n\r\u{e9}\u{4f60}\u{1f980} {}:]{1,12}"
}

fn extra(fields: Value) -> Option<Json> {
    Some(json!({ "openai_responses": fields }).into())
}

/// An item of the model as the dialect can say it, with an id of its own.
fn item() -> impl Strategy<Value = Vec<Part>> {
    let message =
        (vec((text(), any::<bool>()), 0..3), any::<bool>()).prop_map(|(texts, has_phase)| {
            let mut item = json!({"id": "msg", "status": "completed"});
            if has_phase {
                item["phase"] = json!("commentary");
            }
            pieces(texts, "refusal", item).into_iter().map(Part::Text).collect()
        });
    let thought = (vec(text(), 0..3), vec(text(), 0..2)).prop_map(|(summary, content)| {
        let mut item = json!({"id": "rs", "encrypted_content": "gAAAA="});
        if summary.is_empty() {
            item["summary"] = json!([]);
        }
        let summary = summary.into_iter().map(|text| (text, false));
        let content = content.into_iter().map(|text| (text, true));
        let texts = summary.chain(content).collect();
        pieces(texts, "reasoning_text", item).into_iter().map(Part::Reasoning).collect()
    });
    let call = (text(), text(), option::of(text()), any::<bool>()).prop_map(
        |(id, name, arguments, is_custom)| {
            let mut call = ToolCallPart::new(id, name, arguments.unwrap_or_default());
            let mut fields = json!({"openai_responses": {"id": "fc", "status": "completed"}});
            if is_custom {
                fields["type"] = json!("custom");
            }
            call.extra = Some(fields.into());
            vec![Part::ToolCall(call)]
        },
    );
    let other = text().prop_map(|query| {
        let item = json!({"type": "web_search_call", "id": "ws", "action": {"query": query}});
        vec![Part::Opaque { json: item.into() }]
    });
    prop_oneof![3 => message, 2 => thought, 2 => call, 1 => other]
}

/// Texts of an item; those of another kind than usual say so, and none at all is a part without text.
fn pieces(texts: Vec<(String, bool)>, unusual: &str, mut item: Value) -> Vec<TextPart> {
    let mut parts: Vec<_> = texts
        .into_iter()
        .map(|(text, is_unusual)| {
            let fields = if is_unusual { json!({"type": unusual}) } else { json!({}) };
            (text, fields)
        })
        .collect();
    if parts.is_empty() {
        parts.push((String::new(), json!({"type": null})));
    }
    // Of several parts, the last has what a stream says with the end of the item.
    if parts.len() > 1 {
        let fields = item.as_object_mut().unwrap();
        let late: Map<_, _> = ["status", "encrypted_content"]
            .into_iter()
            .filter_map(|key| fields.remove_entry(key))
            .collect();
        if !late.is_empty() {
            parts.last_mut().unwrap().1["item_end"] = late.into();
        }
    }
    parts[0].1["item"] = item;
    let finish = |(text, fields): (String, Value)| TextPart {
        text: text.into(),
        extra: if fields == json!({}) { None } else { extra(fields) },
    };
    parts.into_iter().map(finish).collect()
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
    fn reply()(
        items in vec(item(), 0..5),
        cut in option::of(prop_oneof![Just(FinishReason::Length), Just(FinishReason::ContentFilter)]),
        usage in option::of(usage()),
    ) -> Reply {
        let mut reply = Reply::new(Message::new(Role::Assistant, items.concat()));
        reply.id = Some("resp_1".into());
        reply.model = Some("m".into());
        reply.finish = cut.clone().unwrap_or(reply.finish);
        let mut fields = json!({"error": null, "instructions": "x"});
        if cut.is_none() {
            fields["incomplete_details"] = Value::Null;
        }
        if usage.is_none() {
            fields["usage"] = Value::Null;
        }
        reply.usage = usage;
        reply.extra = Some(json!({"created": 7, "service_tier": "flex", "openai_responses": fields}).into());
        reply
    }
}

/// A value whose extras are compared as JSON, since the order of their fields means nothing.
fn normal(value: &impl serde::Serialize) -> Value {
    plain(serde_json::to_value(value).unwrap())
}

fn plain(value: Value) -> Value {
    match value {
        Value::Object(fields) => match fields.get("$json") {
            // Arguments need not be JSON.
            Some(text) => serde_json::from_str(text.as_str().unwrap()).unwrap_or(text.clone()),
            None => fields.into_iter().map(|(key, value)| (key, plain(value))).collect(),
        },
        Value::Array(items) => items.into_iter().map(plain).collect(),
        value => value,
    }
}

/// Words and keys of the dialect.
const WORDS: &str = "assistant user message function_call function_call_output custom_tool_call reasoning \
    output_text input_text summary_text refusal web_search_call completed incomplete \
    response.created response.output_item.added response.output_item.done \
    response.content_part.added response.output_text.delta response.output_text.done \
    response.refusal.delta response.reasoning_summary_text.delta \
    response.function_call_arguments.delta response.completed x";
const KEYS: &str = "type role content id call_id name arguments input output summary text refusal annotations item \
    part delta output_index content_index summary_index response status usage input_tokens \
    input_tokens_details error tools model format image_url openai_responses item_reference";

fn shape() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(WORDS.split(' ').collect::<Vec<_>>());
    let key = prop::sample::select(KEYS.split(' ').collect::<Vec<_>>());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..300).prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key.clone(), inner), 0..6).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

/// An event of about the right shape.
fn event() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_text.delta",
        "response.output_text.done",
        "response.refusal.delta",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.completed",
        "response.other",
    ]);
    (kind, 0..3u64, 0..3u64, "[a-z]{0,3}", shape()).prop_map(|(kind, at, index, text, shape)| {
        let item = if shape.is_object() { shape } else { json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": text}) };
        json!({"type": kind, "output_index": at, "content_index": index, "delta": text, "text": text, "arguments": text,
            "item": item, "part": {"type": "output_text", "text": ""}, "response": {"id": "r", "status": "completed", "output": [item]}})
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
        prop_assert_eq!(normal(&decode_reply(&encoded.bytes).unwrap()), normal(&reply));
    }

    #[test]
    fn a_streamed_reply_collects_to_itself_at_any_cut(reply in reply(), cuts in vec(any::<prop::sample::Index>(), 0..40)) {
        let (body, encoder) = encode(&reply.clone().into_events());
        prop_assert!(encoder.losses().is_empty());
        let mut collector = Collector::new();
        for event in decode_in(cut(body.as_bytes(), &cuts)) {
            collector.push(event.unwrap()).unwrap();
        }
        let collected = without_beginnings(collector.finish().unwrap());
        prop_assert_eq!(normal(&collected), normal(&reply));
    }

    /// A whole reply and the last event of its stream say the same.
    #[test]
    fn the_last_event_holds_the_whole_reply(reply in reply()) {
        let whole: Value = serde_json::from_slice(&encode_reply(&reply, &stamp()).bytes).unwrap();
        let (body, _) = encode(&reply.into_events());
        let all = events(&body);
        prop_assert_eq!(&all.last().unwrap()["response"], &whole);
    }

    /// What the model said goes back as the items that it was.
    #[test]
    fn a_reply_goes_back_as_its_own_items(reply in reply()) {
        let whole: Value = serde_json::from_slice(&encode_reply(&reply, &stamp()).bytes).unwrap();
        let request = tower_agent_core::ModelRequest::new("m", vec![reply.message]);
        let encoded = encode_request(&request).unwrap();
        prop_assert!(encoded.losses.is_empty());
        let sent: Value = serde_json::from_slice(&encoded.bytes).unwrap();
        prop_assert_eq!(&sent["input"], &whole["output"]);
        // And a host reads them as what they were.
        let read = decode_request(&encoded.bytes).unwrap();
        let sent = request.messages.iter().filter(|message| !message.parts().is_empty());
        let sent: Vec<_> = sent.map(normal).collect();
        prop_assert_eq!(normal(&read.messages), Value::from(sent));
    }

    #[test]
    fn any_cut_gives_the_same_events(all in vec(event(), 0..8), cuts in vec(any::<prop::sample::Index>(), 0..40)) {
        let body = frames(&all);
        let whole = format!("{:?}", decode(&body));
        prop_assert_eq!(format!("{:?}", decode_in(cut(body.as_bytes(), &cuts))), &*whole);
        prop_assert_eq!(format!("{:?}", decode_in(body.as_bytes().chunks(1))), &*whole);
    }

    /// Whatever a server sends, its events can be collected until its error, and be sent on.
    #[test]
    fn what_is_decoded_can_be_collected_and_encoded(all in vec(event(), 0..12)) {
        let mut collector = Collector::new();
        let mut encoder = Encoder::new(stamp());
        let mut out = Vec::new();
        for event in decode(&frames(&all)) {
            let Ok(event) = event else { break };
            out.extend(encoder.encode(&event).unwrap_or_default());
            collector.push(event).unwrap();
        }
        out.extend(encoder.finish());
        let sent = events(std::str::from_utf8(&out).unwrap());
        prop_assert!(sent.iter().all(|event| event["type"].is_string()));
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = decode_request(&bytes);
        let _ = decode_reply(&bytes);
        let _ = decode_in([&bytes[..], b"\n\ndata: ", &bytes, b"\n\n"]);
    }

    /// JSON of about the right shape gets further than bytes do.
    #[test]
    fn no_json_panics_and_what_is_read_can_be_written(value in shape(), items in vec(shape(), 0..4)) {
        let whole = json!({"model": "m", "input": items, "output": items, "status": "completed", "tools": items, "extra": value});
        for value in [value, whole] {
            let bytes = value.to_string().into_bytes();
            if let Ok(request) = decode_request(&bytes) {
                let written = encode_request(&request).unwrap();
                prop_assert!(serde_json::from_slice::<Value>(&written.bytes).is_ok());
            }
            if let Ok(reply) = decode_reply(&bytes) {
                prop_assert!(serde_json::from_slice::<Value>(&encode_reply(&reply, &stamp()).bytes).is_ok());
            }
        }
    }

    /// Events in any order, as layers may make them.
    #[test]
    fn any_events_make_well_formed_frames(all in vec(any_event(), 0..20)) {
        let (body, _) = encode(&all);
        let sent = events(&body);
        let mut items = std::collections::BTreeMap::new();
        for event in &sent {
            let at = event["output_index"].as_u64();
            match event["type"].as_str().unwrap() {
                "response.output_item.added" => {
                    prop_assert!(items.insert(at, event["item"]["id"].clone()).is_none());
                }
                "response.output_item.done" => {
                    prop_assert_eq!(items.get(&at), Some(&event["item"]["id"]));
                }
                _ if event.get("item_id").is_some() => prop_assert_eq!(items.get(&at), Some(&event["item_id"])),
                _ => {}
            }
        }
        let _ = reply_of(&body);
    }
}

fn any_event() -> impl Strategy<Value = ModelEvent> {
    use tower_agent_core::{PartDelta, PartStart};
    let start = prop_oneof![
        Just(PartStart::Text),
        Just(PartStart::Reasoning),
        (option::of(text()), option::of(text())).prop_map(|(id, name)| PartStart::ToolCall {
            id: id.map(Into::into),
            name: name.map(Into::into)
        }),
        Just(PartStart::Whole(Part::text("whole"))),
    ];
    let delta = prop_oneof![
        text().prop_map(|text| PartDelta::Text(text.into())),
        text().prop_map(|text| PartDelta::Reasoning(text.into())),
        (option::of(text()), option::of(text()), text()).prop_map(|(id, name, arguments)| {
            PartDelta::ToolCall {
                id: id.map(Into::into),
                name: name.map(Into::into),
                arguments: arguments.into(),
            }
        }),
    ];
    let fields = prop_oneof![
        Just(None),
        Just(extra(json!({"item": {"id": "given"}}))),
        Just(extra(json!({"type": "refusal"}))),
        Just(Some(Json::from_text(r#"{"type":"custom","other":1}"#))),
    ];
    let index = 0..4u32;
    prop_oneof![
        (index.clone(), start).prop_map(|(index, part)| ModelEvent::PartStart { index, part }),
        (index.clone(), delta).prop_map(|(index, delta)| ModelEvent::PartDelta { index, delta }),
        (index.clone(), fields.clone()).prop_map(|(index, extra)| match extra {
            Some(extra) => ModelEvent::PartExtra { index, extra },
            None => ModelEvent::PartEnd { index, extra: None },
        }),
        (index, fields).prop_map(|(index, extra)| ModelEvent::PartEnd { index, extra }),
        Just(ModelEvent::Finish { reason: FinishReason::Stop }),
        Just(ModelEvent::Start { id: Some("late".into()), model: None, extra: None }),
    ]
}
