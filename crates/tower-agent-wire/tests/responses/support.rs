//! Shared by the tests.

use serde_json::{Map, Value};
use tower_agent_core::{Error, ModelEvent, Reply};
use tower_agent_wire::openai_responses::{Decoder, Encoder, Stamp};

use crate::dialect::{collect, streams};

streams!(Decoder);

pub(crate) fn replies() -> Map<String, Value> {
    serde_json::from_str(include_str!("data/replies.json")).unwrap()
}

pub(crate) fn stamp() -> Stamp {
    Stamp::new("resp_0", "unused", 0)
}

/// Events as frames, each with its name and number.
pub(crate) fn frames(events: &[Value]) -> String {
    let frame = |(number, event): (usize, &Value)| {
        let mut event = event.clone();
        event["sequence_number"] = number.into();
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
    };
    events.iter().enumerate().map(frame).collect()
}

/// The reply that a body collects to.
pub(crate) fn reply_of(body: &str) -> Result<Reply, Error> {
    collect(decode(body))
}

/// A collected reply without the events that say that an item has begun, which comes at once with its end.
pub(crate) fn without_beginnings(mut reply: Reply) -> Reply {
    reply.other.retain(|event| !event.as_str().contains("response.output_item.added"));
    reply
}

/// What a client is sent.
pub(crate) fn encode(events: &[ModelEvent]) -> (String, Encoder) {
    let mut encoder = Encoder::new(stamp());
    let mut out = Vec::new();
    for event in events {
        out.extend(encoder.encode(event).unwrap_or_default());
    }
    out.extend(encoder.finish());
    (String::from_utf8(out).unwrap(), encoder)
}

/// The data of each frame, in order; its name is its type and its number counts up.
pub(crate) fn events(body: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for (number, frame) in body.split("\n\n").filter(|frame| !frame.is_empty()).enumerate() {
        let (name, data) = frame.split_once('\n').unwrap();
        let event: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), event["type"].as_str());
        assert_eq!(event["sequence_number"], number);
        all.push(event);
    }
    all
}
