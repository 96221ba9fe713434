//! What the tests of all dialects do.

use serde_json::{Map, Value};
use tower_agent_core::{Error, ModelRequest, Reply};
use tower_agent_wire::{Encoded, Stamp};

/// The codec of a dialect, with bodies as its clients and providers send them.
pub(crate) struct Codec {
    pub(crate) decode_request: fn(&[u8]) -> Result<ModelRequest, Error>,
    pub(crate) encode_request: fn(&ModelRequest) -> Result<Encoded, Error>,
    pub(crate) decode_reply: fn(&[u8]) -> Result<Reply, Error>,
    pub(crate) encode_reply: fn(&Reply, &Stamp) -> Encoded,
    pub(crate) requests: &'static str,
    pub(crate) replies: &'static str,
}

impl Codec {
    pub(crate) fn requests(&self) -> Map<String, Value> {
        serde_json::from_str(self.requests).unwrap()
    }

    pub(crate) fn replies(&self) -> Map<String, Value> {
        serde_json::from_str(self.replies).unwrap()
    }

    pub(crate) fn request(&self, name: &str) -> ModelRequest {
        self.read(&self.requests()[name])
    }

    pub(crate) fn reply(&self, name: &str) -> Reply {
        (self.decode_reply)(self.replies()[name].to_string().as_bytes()).unwrap()
    }

    fn read(&self, body: &Value) -> ModelRequest {
        (self.decode_request)(body.to_string().as_bytes()).unwrap()
    }

    /// What was lost, by rule and place, and the body.
    pub(crate) fn lossy(&self, request: &ModelRequest) -> (Vec<String>, Value) {
        let encoded = (self.encode_request)(request).unwrap();
        let losses = encoded.losses.iter().map(ToString::to_string).collect();
        (losses, serde_json::from_slice(&encoded.bytes).unwrap())
    }

    /// The body of a request that loses nothing.
    #[track_caller]
    pub(crate) fn encoded(&self, request: &ModelRequest) -> Value {
        let (losses, body) = self.lossy(request);
        assert_eq!(losses, [""; 0]);
        body
    }

    /// Each request, decoded and encoded again, is the JSON that is expected of its body.
    pub(crate) fn requests_come_back(&self, expected: impl Fn(&ModelRequest, Value) -> Value) {
        for (name, body) in self.requests() {
            let request = self.read(&body);
            assert_eq!(self.encoded(&request), expected(&request, body), "{name}");
        }
    }

    pub(crate) fn replies_come_back(&self) {
        for (name, body) in self.replies() {
            let encoded =
                (self.encode_reply)(&self.reply(&name), &Stamp::new("unused", "unused", 0));
            assert_eq!(encoded.losses, [], "{name}");
            assert_eq!(serde_json::from_slice::<Value>(&encoded.bytes).unwrap(), body, "{name}");
        }
    }

    pub(crate) fn requests_survive_storage(&self) {
        for (name, body) in self.requests() {
            let stored = serde_json::to_string(&self.read(&body)).unwrap();
            let restored: ModelRequest = serde_json::from_str(&stored).unwrap();
            assert_eq!(self.encoded(&restored), body, "{name}");
        }
    }
}

/// What streams of a dialect are read to, by its decoder.
macro_rules! streams {
    ($decoder:ty) => {
        /// The events of a body that comes in pieces.
        pub(crate) fn decode_in<'a>(
            pieces: impl IntoIterator<Item = &'a [u8]>,
        ) -> Vec<Result<tower_agent_core::ModelEvent, tower_agent_core::Error>> {
            let mut decoder = <$decoder>::new();
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
        pub(crate) fn decode(
            body: &str,
        ) -> Vec<Result<tower_agent_core::ModelEvent, tower_agent_core::Error>> {
            decode_in([body.as_bytes()])
        }
    };
}
pub(crate) use streams;

/// The reply that events collect to.
pub(crate) fn collect(
    events: impl IntoIterator<Item = Result<tower_agent_core::ModelEvent, Error>>,
) -> Result<Reply, Error> {
    let mut collector = tower_agent_core::Collector::new();
    for event in events {
        collector.push(event?)?;
    }
    collector.finish()
}
