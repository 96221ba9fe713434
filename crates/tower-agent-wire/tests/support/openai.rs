//! Shared by the tests of OpenAI's streams.

use serde_json::Value;
use tower_agent_core::{Collector, Error, ModelEvent, Reply};
use tower_agent_wire::openai_chat::Decoder;

/// Chunks as frames, without the terminator.
pub(crate) fn chunks(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
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

/// The reply that a body collects to.
pub(crate) fn reply_of(body: &str) -> Result<Reply, Error> {
    let mut collector = Collector::new();
    for event in decode(body) {
        collector.push(event?)?;
    }
    collector.finish()
}
