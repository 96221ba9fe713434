//! Shared by the tests of Anthropic's streams.

use serde_json::Value;
use tower_agent_core::Reply;
use tower_agent_wire::{
    Stamp,
    anthropic_messages::{Decoder, Encoder},
};

pub(crate) use super::dialect::collect;
use super::dialect::streams;

streams!(Decoder);

/// Events as frames.
pub(crate) fn frames(events: &[Value]) -> String {
    let frame = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(frame).collect()
}

/// A reply as a body.
pub(crate) fn stream_of(reply: Reply) -> String {
    let mut encoder = Encoder::new(Stamp::new("unused", "unused", 0));
    let mut body = Vec::new();
    for event in reply.into_events() {
        body.extend(encoder.encode(&event).unwrap_or_default());
    }
    body.extend(encoder.finish());
    String::from_utf8(body).unwrap_or_default()
}
