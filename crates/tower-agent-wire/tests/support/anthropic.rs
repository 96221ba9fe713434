//! Shared by the tests of Anthropic's streams.

use serde_json::Value;
use tower_agent_core::{Collector, Error, ModelEvent, Reply};
use tower_agent_wire::{
    Stamp,
    anthropic_messages::{Decoder, Encoder},
};

/// Events as frames.
pub(crate) fn frames(events: &[Value]) -> String {
    let frame = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(frame).collect()
}

/// The events of a body that comes in pieces.
pub(crate) fn decode_in<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Result<ModelEvent, Error>> {
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        events.extend(std::iter::from_fn(|| decoder.next_event()));
    }
    decoder.finish();
    events.extend(std::iter::from_fn(|| decoder.next_event()));
    events
}

/// The events of a body that comes at once.
pub(crate) fn decode(body: &str) -> Vec<Result<ModelEvent, Error>> {
    decode_in([body.as_bytes()])
}

/// The reply that events collect to.
pub(crate) fn collect(events: Vec<Result<ModelEvent, Error>>) -> Result<Reply, Error> {
    let mut collector = Collector::new();
    for event in events {
        collector.push(event?)?;
    }
    collector.finish()
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
