//! Streams as providers send them, and as clients read them.

use serde_json::{Value, json};
use tower_agent_core::{
    Effect, Error, ErrorKind, FinishReason, Json, Message, ModelEvent, Part, PartDelta, PartStart,
    Reply, Role, TextPart, ToolCallPart, Usage,
};
use tower_agent_wire::{
    LossRule,
    openai_responses::{ApiError, Decoder, Encoder, decode_reply},
};

use crate::support::{
    decode, decode_in, encode, events, frames, replies, reply_of, stamp, without_beginnings,
};

fn response(status: &str, output: Value) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 7, "status": status, "model": "m",
        "error": null, "incomplete_details": null, "output": output, "usage": null})
}

fn created() -> Value {
    json!({"type": "response.created", "response": response("in_progress", json!([]))})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": response("completed", output)})
}

fn item(at: u64, when: &str, item: Value) -> Value {
    json!({"type": format!("response.output_item.{when}"), "output_index": at, "item": item})
}

/// An event about a part of an item.
fn part(kind: &str, at: u64, index: (&str, u64), field: (&str, Value)) -> Value {
    json!({"type": format!("response.{kind}"), "item_id": "x", "output_index": at, index.0: index.1, field.0: field.1})
}

fn text(kind: &str, at: u64, field: (&str, Value)) -> Value {
    part(kind, at, ("content_index", 0), field)
}

fn message(id: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "status": "completed", "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

/// The events with which OpenAI streams a message.
fn message_events(at: u64, id: &str, pieces: &[&str]) -> Vec<Value> {
    let whole = pieces.concat();
    let empty = json!({"type": "output_text", "text": "", "annotations": []});
    let open = json!({"type": "message", "id": id, "status": "in_progress", "role": "assistant", "content": []});
    let mut all = vec![item(at, "added", open), text("content_part.added", at, ("part", empty))];
    all.extend(pieces.iter().map(|piece| text("output_text.delta", at, ("delta", json!(piece)))));
    let full = json!({"type": "output_text", "text": whole, "annotations": []});
    all.extend([
        text("output_text.done", at, ("text", json!(whole))),
        text("content_part.done", at, ("part", full)),
        item(at, "done", message(id, &whole)),
    ]);
    all
}

fn stream(events: Vec<Value>) -> String {
    frames(&[vec![created()], events].concat())
}

fn extra(text: &str) -> Option<Json> {
    Some(Json::from_text(text))
}

#[test]
fn a_stream_gives_its_events_in_order_and_the_finish_last() {
    let mut all = message_events(0, "msg_1", &["Hel", "lo"]);
    let mut last = completed(json!([message("msg_1", "Hello")]));
    last["response"]["usage"] = json!({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 11});
    all.push(last);
    let events: Vec<_> = decode(&stream(all)).into_iter().map(Result::unwrap).collect();
    let index = 1 << 10;
    let mut usage = Usage::new(9, 2);
    usage.cached_read = 4;
    assert_eq!(
        events,
        [
            ModelEvent::Start {
                id: Some("resp_1".into()),
                model: Some("m".into()),
                extra: extra(
                    r#"{"created":7,"openai_responses":{"error":null,"incomplete_details":null}}"#
                )
            },
            ModelEvent::PartStart { index, part: PartStart::Text },
            ModelEvent::PartExtra {
                index,
                extra: Json::from_text(r#"{"openai_responses":{"item":{"id":"msg_1"}}}"#)
            },
            ModelEvent::PartDelta { index, delta: PartDelta::Text("Hel".into()) },
            ModelEvent::PartDelta { index, delta: PartDelta::Text("lo".into()) },
            ModelEvent::PartEnd {
                index,
                extra: extra(
                    r#"{"openai_responses":{"item":{"id":"msg_1","status":"completed"}}}"#
                )
            },
            ModelEvent::Usage { usage },
            ModelEvent::Finish { reason: FinishReason::Stop },
        ]
    );
}

#[test]
fn a_character_cut_in_two_arrives_whole_at_every_cut() {
    let mut all = message_events(0, "msg_1", &["你好, ", "ok 🦀"]);
    all.push(completed(json!([])));
    let stream = stream(all);
    let whole = format!("{:?}", decode(&stream));
    for cut in 0..stream.len() {
        let events = decode_in([&stream.as_bytes()[..cut], &stream.as_bytes()[cut..]]);
        assert_eq!(format!("{events:?}"), whole);
    }
}

#[test]
fn only_the_last_event_ends_a_stream() {
    let all = message_events(0, "msg_1", &["Hi"]);
    for end in ["", "data: [DONE]\n\n", "event: response.completed\ndata: {\"type\""] {
        let error = reply_of(&(stream(all.clone()) + end)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{end}");
        assert_eq!(error.model_text(), "The model's reply broke off before it was complete.");
    }
    let whole = stream([all, vec![completed(json!([]))]].concat());
    assert_eq!(reply_of(&(whole + "data: [DONE]\n\n")).unwrap().message.text(), "Hi");
}

#[test]
fn an_incomplete_reply_says_why() {
    let mut last = completed(json!([]));
    last["type"] = json!("response.incomplete");
    last["response"]["status"] = json!("incomplete");
    for (reason, finish) in [
        ("max_output_tokens", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("pause", FinishReason::Other("pause".into())),
    ] {
        last["response"]["incomplete_details"] = json!({"reason": reason});
        let reply = reply_of(&stream(vec![last.clone()])).unwrap();
        assert_eq!(reply.finish, finish);
    }
}

#[test]
fn a_failed_reply_is_the_providers_error() {
    let mut last = completed(json!([]));
    last["type"] = json!("response.failed");
    last["response"]["status"] = json!("failed");
    last["response"]["error"] = json!({"code": "rate_limit_exceeded", "message": "slow down"});
    let error = reply_of(&stream(vec![last])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimited { retry_after: None });
    assert_eq!(error.effect(), Effect::Unknown);

    let flat = json!({"type": "error", "code": "server_error", "message": "oops", "param": null});
    let nested = json!({"type": "error", "error": {"type": "server_error", "code": "server_error", "message": "oops"}});
    for event in [flat, nested] {
        let error = reply_of(&stream(vec![event])).unwrap_err();
        let said = error.extensions().get::<ApiError>().unwrap();
        assert_eq!(
            (said.message.as_deref(), said.code.as_deref()),
            (Some("oops"), Some("server_error"))
        );
        assert!(!error.model_text().contains("oops"));
    }
}

/// The events that would stream an item, as OpenAI sends them.
fn item_events(at: u64, whole: &Value) -> Vec<Value> {
    let mut open = whole.clone();
    let mut all = Vec::new();
    let kind = whole["type"].as_str().unwrap();
    for key in ["content", "summary"] {
        if whole[key].is_array() {
            open[key] = json!([]);
        }
    }
    open["status"] = json!("in_progress");
    for (index, entry) in (0u64..).zip(whole["summary"].as_array().into_iter().flatten()) {
        let index = ("summary_index", index);
        let text = entry["text"].clone();
        all.push(part(
            "reasoning_summary_part.added",
            at,
            index,
            ("part", json!({"type": "summary_text", "text": ""})),
        ));
        all.push(part("reasoning_summary_text.delta", at, index, ("delta", text.clone())));
        all.push(part("reasoning_summary_text.done", at, index, ("text", text)));
        all.push(part("reasoning_summary_part.done", at, index, ("part", entry.clone())));
    }
    for (index, entry) in (0u64..).zip(whole["content"].as_array().into_iter().flatten()) {
        let index = ("content_index", index);
        let (name, key) = match entry["type"].as_str().unwrap() {
            "reasoning_text" => ("reasoning_text", "text"),
            "refusal" => ("refusal", "refusal"),
            _ => ("output_text", "text"),
        };
        let mut empty = entry.clone();
        empty[key] = json!("");
        all.push(part("content_part.added", at, index, ("part", empty)));
        all.push(part(&format!("{name}.delta"), at, index, ("delta", entry[key].clone())));
        all.push(part(&format!("{name}.done"), at, index, (key, entry[key].clone())));
        all.push(part("content_part.done", at, index, ("part", entry.clone())));
    }
    for (call, key, name) in [
        ("function_call", "arguments", "function_call_arguments"),
        ("custom_tool_call", "input", "custom_tool_call_input"),
    ] {
        if kind == call {
            open[key] = json!("");
            for piece in whole[key].as_str().unwrap().split_inclusive(':') {
                all.push(part(&format!("{name}.delta"), at, ("x", 0), ("delta", json!(piece))));
            }
            all.push(part(&format!("{name}.done"), at, ("x", 0), (key, whole[key].clone())));
        }
    }
    all.insert(0, item(at, "added", open));
    all.push(item(at, "done", whole.clone()));
    all
}

/// How a whole reply would have been streamed.
fn as_stream(reply: &Value) -> Vec<Value> {
    let mut begun = reply.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    begun["incomplete_details"] = Value::Null;
    let mut all = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (at, item) in (0u64..).zip(reply["output"].as_array().unwrap()) {
        all.extend(item_events(at, item));
    }
    let kind = format!("response.{}", reply["status"].as_str().unwrap());
    all.push(json!({"type": kind, "response": reply}));
    all
}

#[test]
fn a_streamed_reply_is_the_whole_one() {
    for (name, body) in replies() {
        let whole = decode_reply(body.to_string().as_bytes()).unwrap();
        let streamed = reply_of(&frames(&as_stream(&body))).unwrap();
        assert_eq!(without_beginnings(streamed), whole, "{name}");
    }
}

/// Servers leave out whatever their own clients do not read.
#[test]
fn what_a_server_leaves_out_is_told_by_what_it_sends() {
    let spared = ["response.completed", "response.incomplete"];
    for (name, body) in replies() {
        let whole = decode_reply(body.to_string().as_bytes()).unwrap();
        let all = as_stream(&body);
        let kinds: std::collections::BTreeSet<_> =
            all.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
        for left_out in kinds.iter().filter(|kind| !spared.contains(&kind.as_str())) {
            let kept: Vec<_> =
                all.iter().filter(|event| event["type"] != **left_out).cloned().collect();
            let reply = without_beginnings(reply_of(&frames(&kept)).unwrap());
            assert_eq!(reply, whole, "{name} without {left_out}");
        }
        let only_last = &all[all.len() - 1..];
        assert_eq!(reply_of(&frames(only_last)).unwrap(), whole, "only the last event of {name}");
    }
}

#[test]
fn a_type_may_stand_in_the_name_of_the_event_alone() {
    let body: String = [created(), completed(json!([message("msg_1", "Hi")]))]
        .into_iter()
        .map(|mut event| {
            let kind = event.as_object_mut().unwrap().remove("type").unwrap();
            format!("event: {}\ndata: {event}\n\n", kind.as_str().unwrap())
        })
        .collect();
    assert_eq!(reply_of(&body).unwrap().message.text(), "Hi");
}

#[test]
fn items_that_come_interleaved_end_up_in_order() {
    let first = message_events(0, "msg_1", &["A", "B"]);
    let second = message_events(1, "msg_2", &["C", "D"]);
    let mut all: Vec<_> = first.into_iter().zip(second).flat_map(|(a, b)| [b, a]).collect();
    all.push(completed(json!([])));
    let reply = reply_of(&stream(all)).unwrap();
    let texts: Vec<_> = reply.message.parts().iter().filter_map(Part::as_text).collect();
    assert_eq!(texts, ["AB", "CD"]);
}

#[test]
fn events_without_a_name_are_kept() {
    let searching =
        json!({"type": "response.web_search_call.searching", "item_id": "ws_1", "output_index": 0});
    let ping = json!({"type": "keepalive"});
    let all = vec![searching, ping, completed(json!([]))];
    let reply = reply_of(&stream(all)).unwrap();
    let kinds: Vec<_> =
        reply.other.iter().map(|json| json.value().unwrap()["type"].clone()).collect();
    assert_eq!(kinds, ["response.web_search_call.searching", "keepalive"]);
}

#[test]
fn what_does_not_fit_is_an_error_and_names_the_place() {
    let cases = [
        (json!({"type": "response.output_item.added", "output_index": 0}), "item"),
        (
            json!({"type": "response.output_item.added", "output_index": -1, "item": {}}),
            "output_index",
        ),
        (
            json!({"type": "response.output_item.added", "output_index": 99_000_000_000_u64, "item": {"type": "function_call"}}),
            "too many parts",
        ),
        (
            json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0}),
            "delta",
        ),
        (
            json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 1 << 20, "delta": "x"}),
            "too many parts",
        ),
        (
            json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "function_call"}}),
            "call_id",
        ),
        (json!({"type": "response.completed", "response": 7}), "response"),
        (
            json!({"type": "response.completed", "response": {"status": "in_progress"}}),
            "not complete",
        ),
    ];
    for (event, place) in cases {
        let error = reply_of(&stream(vec![event])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{place}");
        assert!(error.to_string().contains(place), "{place}: {error}");
    }
    let mixed = vec![
        text("output_text.delta", 0, ("delta", json!("a"))),
        text("refusal.delta", 0, ("delta", json!("b"))),
    ];
    assert!(reply_of(&stream(mixed)).unwrap_err().to_string().contains("does not fit"));
}

#[test]
fn an_event_without_end_is_an_error_before_it_fills_the_memory() {
    let mut decoder = Decoder::new().event_limit(1_000);
    decoder.push(delta_of(&"x".repeat(500)).as_bytes());
    decoder.push(b"data: ");
    (0..20).for_each(|_| decoder.push(&[b'x'; 100]));
    let events: Vec<_> = std::iter::from_fn(|| decoder.next_event()).collect();
    let error = events.last().unwrap().as_ref().unwrap_err();
    assert!(events.len() > 1 && error.to_string().contains("too large"), "{events:?}");

    // The usual limit lets a whole reply pass.
    let text = "x".repeat(20 << 20);
    let all = stream(vec![completed(json!([message("msg_1", &text)]))]);
    assert_eq!(reply_of(&all).unwrap().message.text().len(), text.len());
}

fn delta_of(piece: &str) -> String {
    frames(&[text("output_text.delta", 0, ("delta", json!(piece)))])
}

#[test]
fn the_decoder_is_over_with_the_last_event() {
    let mut decoder = Decoder::new();
    decoder.push(stream(vec![]).as_bytes());
    assert!(!decoder.is_complete() && !decoder.is_over());
    decoder.push(frames(&[completed(json!([]))]).as_bytes());
    assert!(decoder.is_complete() && decoder.is_over());
    decoder.push(b"data: nonsense\n\n");
    let events: Vec<_> = std::iter::from_fn(|| decoder.next_event()).collect();
    assert!(events.iter().all(Result::is_ok), "{events:?}");
}

#[test]
fn a_client_gets_the_events_that_its_library_waits_for() {
    let reply = Reply::new(Message::new(
        Role::Assistant,
        vec![Part::text("Hi"), Part::ToolCall(ToolCallPart::new("call_a", "f", "{}"))],
    ))
    .with_usage(Usage::new(4, 3));
    let (body, encoder) = encode(&reply.into_events());
    assert_eq!(encoder.losses(), []);
    let all = events(&body);
    let kinds: Vec<_> = all.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let open = &all[0]["response"];
    assert_eq!(
        (&open["status"], &open["output"], &open["usage"]),
        (&json!("in_progress"), &json!([]), &Value::Null)
    );
    assert_eq!(
        all[2],
        json!({"type": "response.output_item.added", "sequence_number": 2, "output_index": 0,
            "item": {"id": "msg_0_0", "type": "message", "role": "assistant", "status": "in_progress", "content": []}})
    );
    assert_eq!(
        all[4],
        json!({"type": "response.output_text.delta", "sequence_number": 4, "item_id": "msg_0_0", "output_index": 0, "content_index": 0,
            "delta": "Hi", "logprobs": []})
    );
    assert_eq!(
        all[8]["item"],
        json!({"id": "fc_0_1", "type": "function_call", "call_id": "call_a", "name": "f", "arguments": "", "status": "in_progress"})
    );
    let last = &all[12]["response"];
    assert_eq!(last["output"], json!([all[7]["item"], all[11]["item"]]));
    assert_eq!(last["usage"]["total_tokens"], 7);
}

#[test]
fn what_a_stream_says_survives_being_sent_on() {
    for (name, body) in replies() {
        let sent = frames(&as_stream(&body));
        let told: Vec<_> = decode(&sent).into_iter().map(Result::unwrap).collect();
        let (passed, encoder) = encode(&told);
        assert_eq!(encoder.losses(), [], "{name}");
        let passed = events(&passed);
        let last = &passed.last().unwrap()["response"];
        assert_eq!(*last, body, "{name}");
        // Ids are the provider's from the first event on, for it wants them back.
        let ids = |all: &[Value]| -> Vec<Value> {
            let added = all.iter().filter(|event| event["type"] == "response.output_item.added");
            added.map(|event| event["item"]["id"].clone()).collect()
        };
        assert_eq!(ids(&passed), ids(&as_stream(&body)), "{name}");
    }
}

#[test]
fn parts_that_grow_side_by_side_as_other_dialects_send_them_are_items_side_by_side() {
    let call = |id: Option<&str>, name: Option<&str>| PartStart::ToolCall {
        id: id.map(Into::into),
        name: name.map(Into::into),
    };
    let told = [
        ModelEvent::Start { id: Some("chatcmpl-1".into()), model: None, extra: None },
        ModelEvent::PartStart { index: 0, part: PartStart::Reasoning },
        ModelEvent::PartDelta { index: 0, delta: PartDelta::Reasoning("Hm".into()) },
        ModelEvent::PartDelta { index: 1, delta: PartDelta::Text("A".into()) },
        ModelEvent::PartStart { index: 2, part: call(None, Some("f")) },
        ModelEvent::PartDelta { index: 2, delta: PartDelta::arguments("{\"a\"") },
        ModelEvent::PartStart { index: 3, part: call(None, Some("g")) },
        ModelEvent::PartDelta { index: 1, delta: PartDelta::Text("B".into()) },
        ModelEvent::PartDelta {
            index: 2,
            delta: PartDelta::ToolCall {
                id: Some("late".into()),
                name: None,
                arguments: ":1}".into(),
            },
        },
        ModelEvent::PartEnd { index: 0, extra: None },
        ModelEvent::PartEnd { index: 1, extra: None },
        ModelEvent::Finish { reason: FinishReason::ToolCalls },
    ];
    let (body, encoder) = encode(&told);
    assert_eq!(encoder.losses(), []);
    let all = events(&body);
    let output = &all.last().unwrap()["response"]["output"];
    assert_eq!(output[0]["summary"][0]["text"], "Hm");
    assert_eq!(output[1]["content"][0]["text"], "AB");
    assert_eq!(
        (&output[2]["call_id"], &output[2]["arguments"]),
        (&json!("late"), &json!("{\"a\":1}"))
    );
    // No id ever came: two calls without one would be taken for the same.
    assert_eq!(
        (&output[3]["call_id"], &output[3]["arguments"]),
        (&json!("call_chatcmpl-1_3"), &json!(""))
    );
    for event in
        all.iter().filter(|event| event["type"] == "response.function_call_arguments.delta")
    {
        let place = all.iter().position(|added| {
            added["type"] == "response.output_item.added" && added["item"]["id"] == event["item_id"]
        });
        assert!(
            place.unwrap() < usize::try_from(event["sequence_number"].as_u64().unwrap()).unwrap()
        );
    }
}

#[test]
fn the_start_of_a_part_waits_for_its_fields_but_not_for_long() {
    let mut encoder = Encoder::new(stamp());
    let start = ModelEvent::PartStart { index: 0, part: PartStart::Text };
    let begun = encoder.encode(&start).unwrap();
    assert!(!std::str::from_utf8(&begun).unwrap().contains("output_item"));
    let flushed = encoder.flush().unwrap();
    assert!(std::str::from_utf8(&flushed).unwrap().contains("output_item.added"));
    assert_eq!(encoder.flush(), None);
}

#[test]
fn half_a_reply_ends_in_an_error_event_and_not_in_the_last_one() {
    let mut told = Reply::new(Message::assistant("Hi")).into_events();
    told.retain(|event| !matches!(event, ModelEvent::Finish { .. }));
    let (body, _) = encode(&told);
    let all = events(&body);
    let last = all.last().unwrap();
    assert_eq!(last["type"], "error");
    // Older clients look into `error`, newer ones beside it.
    assert_eq!(last["error"]["message"], last["message"]);
    assert_eq!(last["code"], "protocol");
    assert!(reply_of(&body).is_err());
}

#[test]
fn a_failed_stream_says_so_once() {
    let mut encoder = Encoder::new(stamp());
    let error = Error::new(ErrorKind::Timeout, "upstream host 10.0.0.7 timed out");
    let frame = encoder.fail(&error);
    let all = events(std::str::from_utf8(&frame).unwrap());
    assert_eq!((&all[0]["type"], &all[0]["code"]), (&json!("error"), &json!("timeout")));
    assert!(!all[0].to_string().contains("10.0.0.7"));
    assert!(encoder.fail(&error).is_empty() && encoder.finish().is_empty());
    assert_eq!(encoder.encode(&ModelEvent::Finish { reason: FinishReason::Stop }), None);
}

#[test]
fn what_a_client_cannot_be_sent_is_named() {
    let image = Part::Image(tower_agent_core::Media {
        source: tower_agent_core::MediaSource::Id("x".into()),
        mime_type: None,
        extra: None,
    });
    let parts = vec![Part::text("a"), image, Part::Opaque { json: "[".into() }];
    let mut reply =
        Reply::new(Message::new(Role::Assistant, parts).with_extra(extra("{\"audio\":1}")));
    reply.other = vec![json!({"choices": []}).into()];
    reply.finish = FinishReason::Other("eos".into());
    let (body, encoder) = encode(&reply.into_events());
    let losses: Vec<_> =
        encoder.losses().iter().map(|loss| (loss.rule, loss.place.as_str())).collect();
    assert_eq!(
        losses,
        [
            (LossRule::PartInReply, "part 1"),
            (LossRule::NotJson, "part 2"),
            (LossRule::Foreign, "message.audio"),
            (LossRule::Foreign, "event"),
            (LossRule::FinishReason, "reply"),
        ]
    );
    assert_eq!(reply_of(&body).unwrap().message.text(), "a");
}

#[test]
fn a_refusal_streams_as_one_whichever_dialect_it_came_from() {
    let refusal = TextPart {
        text: "No.".into(),
        extra: extra("{\"openai_responses\":{\"type\":\"refusal\"}}"),
    };
    let ours = Reply::new(Message::new(Role::Assistant, vec![Part::Text(refusal)]));
    let beside =
        Message::new(Role::Assistant, Vec::new()).with_extra(extra("{\"refusal\":\"No.\"}"));
    for reply in [ours, Reply::new(beside)] {
        let (body, encoder) = encode(&reply.into_events());
        assert_eq!(encoder.losses(), []);
        let all = events(&body);
        let delta = all.iter().find(|event| event["type"] == "response.refusal.delta").unwrap();
        assert_eq!(delta["delta"], "No.");
        let content = &all.last().unwrap()["response"]["output"][0]["content"];
        assert_eq!(*content, json!([{"type": "refusal", "refusal": "No."}]));
    }
}

#[test]
fn raw_fields_with_line_ends_stay_in_their_frame() {
    let mut reply = Reply::new(Message::assistant("Hi"));
    reply.extra = Some("{\"openai_responses\": {\"metadata\":\n{\r\n\"a\": 1}}}".into());
    let (body, _) = encode(&reply.into_events());
    assert_eq!(events(&body)[0]["response"]["metadata"], json!({"a": 1}));
}
