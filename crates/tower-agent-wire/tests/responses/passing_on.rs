//! A provider's stream, read and written again: what a client of a proxy gets.

use serde_json::{Map, Value, json};
use tower_agent_core::ModelEvent;
use tower_agent_wire::openai_responses::decode_reply;

use crate::support::{decode, encode, events, frames, reply_of};

fn streams() -> Map<String, Value> {
    serde_json::from_str(include_str!("data/streams.json")).unwrap()
}

fn stream(name: &str) -> Vec<Value> {
    streams()[name].as_array().unwrap().clone()
}

fn read(sent: &[Value]) -> Vec<ModelEvent> {
    decode(&frames(sent)).into_iter().collect::<Result<_, _>>().unwrap()
}

/// What a client gets of a provider's events.
fn passed_on(sent: &[Value]) -> Vec<Value> {
    events(&encode(&read(sent)).0)
}

/// An event without what is not passed on: padding, the logarithms of a piece, and what the beginning of reasoning says of
/// its end.
fn as_passed_on(event: &Value) -> Value {
    let mut event = event.clone();
    let fields = event.as_object_mut().unwrap();
    if fields["type"].as_str().unwrap().ends_with("text.delta") && fields.contains_key("logprobs") {
        fields["logprobs"] = json!([]);
    }
    if fields["type"] != "response.code_interpreter_call_code.delta"
        && fields["type"] != "response.mcp_call_arguments.delta"
    {
        fields.remove("obfuscation");
    }
    if fields["type"] == "response.output_item.added" && fields["item"]["type"] == "reasoning" {
        for key in ["content", "encrypted_content"] {
            fields["item"].as_object_mut().unwrap().remove(key);
        }
    }
    event
}

#[test]
fn a_providers_stream_comes_back_event_for_event() {
    for (name, sent) in streams() {
        let sent = sent.as_array().unwrap();
        let came = passed_on(sent);
        assert_eq!(came.len(), sent.len(), "{name}");
        for (came, sent) in came.iter().zip(sent) {
            assert_eq!(as_passed_on(came), as_passed_on(sent), "{name}");
        }
    }
}

#[test]
fn the_beginning_of_reasoning_has_what_the_provider_encrypted_so_far() {
    let came = passed_on(&stream("thinking in summaries, then a text"));
    let [added, done] =
        ["added", "done"].map(|when| format!("response.output_item.{when}")).map(|kind| {
            came.iter().find(|event| event["type"] == kind.as_str()).unwrap()["item"].clone()
        });
    assert_eq!(
        (&added["encrypted_content"], &done["encrypted_content"]),
        (&json!("gAAA"), &json!("gAAA2"))
    );
}

#[test]
fn what_was_streamed_collects_to_what_the_last_event_says() {
    for (name, sent) in streams() {
        let sent = sent.as_array().unwrap();
        let last = sent.last().unwrap()["response"].to_string();
        let whole = decode_reply(last.as_bytes()).unwrap();
        let mut collected = reply_of(&frames(sent)).unwrap();
        // Events of items that came at once are told beside them.
        collected.other.clear();
        assert_eq!(collected, whole, "{name}");
    }
}

#[test]
fn a_part_ends_when_the_next_one_of_its_item_begins() {
    for name in ["thinking in summaries, then a text", "two parts of a message"] {
        let mut open = None;
        for event in read(&stream(name)) {
            match event {
                ModelEvent::PartStart { index, .. } => {
                    assert_eq!(open.replace(index), None, "{name}")
                }
                ModelEvent::PartEnd { index, .. } => assert_eq!(open.take(), Some(index), "{name}"),
                _ => {}
            }
        }
    }
}

#[test]
fn a_server_that_does_not_end_its_parts_has_them_ended_with_their_item() {
    for (name, sent) in streams() {
        let sent = sent.as_array().unwrap();
        let spared = |event: &&Value| !event["type"].as_str().unwrap().ends_with("_part.done");
        let fewer: Vec<_> = sent.iter().filter(spared).cloned().collect();
        let came = passed_on(&fewer);
        let last = &came.last().unwrap()["response"]["output"];
        assert_eq!(*last, sent.last().unwrap()["response"]["output"], "{name}");
    }
}

#[test]
fn an_item_that_a_layer_took_out_leaves_no_gap() {
    let sent = stream("tools of the provider's own");
    let told = read(&sent);
    let is_code = |event: &ModelEvent| match event {
        ModelEvent::Other { json } => json.as_str().contains("ci_1"),
        ModelEvent::PartStart { index, .. } | ModelEvent::PartEnd { index, .. } => *index < 2048,
        _ => false,
    };
    let left: Vec<_> = told.into_iter().filter(|event| !is_code(event)).collect();
    let came = events(&encode(&left).0);
    let output = came.last().unwrap()["response"]["output"].as_array().unwrap();
    assert_eq!(output.len(), 3);
    for event in came.iter().filter(|event| event.get("output_index").is_some()) {
        let at = usize::try_from(event["output_index"].as_u64().unwrap()).unwrap();
        let id = event.pointer("/item/id").unwrap_or(&event["item_id"]);
        assert_eq!(output[at]["id"], *id, "{event}");
    }
}

#[test]
fn an_item_that_only_began_is_not_in_the_reply() {
    let sent = stream("a search with sources");
    let left: Vec<_> = read(&sent)
        .into_iter()
        .filter(|event| !matches!(event, ModelEvent::PartStart { index, .. } if *index < 2048))
        .collect();
    let came = events(&encode(&left).0);
    let last = came.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["output"].as_array().unwrap().len(), 1);
}
