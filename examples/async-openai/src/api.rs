//! Which of OpenAI's APIs a request is for, and its codec.

use bytes::Bytes;
use http::Method;
use tower_agent::{Error, ErrorKind, FinishReason, ModelEvent, ModelRequest, Reply};
use tower_agent_wire::{ApiError, Stamp, openai_chat, openai_responses};
use uuid::Uuid;

/// An API that has a codec.
#[derive(Clone, Copy)]
pub(crate) enum Api {
    Chat,
    Responses,
}

impl Api {
    /// By the end of the path, since what is before it is the client's `api_base`.
    pub(crate) fn of(method: &Method, path: &str) -> Option<Self> {
        if method != Method::POST {
            None
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else {
            None
        }
    }

    pub(crate) fn decode(self, body: &[u8]) -> Result<ModelRequest, Error> {
        match self {
            Self::Chat => openai_chat::decode_request(body),
            Self::Responses => openai_responses::decode_request(body),
        }
    }

    /// Refuses what refers to replies that only a provider could have stored.
    pub(crate) fn refuse_stored(self, request: &ModelRequest) -> Result<(), Error> {
        match self {
            Self::Chat => Ok(()),
            Self::Responses => openai_responses::refuse_stored(request),
        }
    }

    /// For a reply that has no id or model of its own.
    pub(crate) fn stamp(self, request: &ModelRequest) -> Stamp {
        let prefix = match self {
            Self::Chat => "chatcmpl-",
            Self::Responses => "resp_",
        };
        let id = Uuid::now_v7();
        // An id of version 7 holds the time it was made.
        let created = id.get_timestamp().map_or(0, |time| time.to_unix().0);
        Stamp::new(format!("{prefix}{}", id.simple()), request.model.clone(), created)
    }

    pub(crate) fn encode(self, mut reply: Reply, stamp: &Stamp) -> Bytes {
        reply.finish = in_words(reply.finish);
        match self {
            Self::Chat => openai_chat::encode_reply(&reply, stamp).bytes,
            Self::Responses => openai_responses::encode_reply(&reply, stamp).bytes,
        }
    }

    pub(crate) fn encoder(self, stamp: Stamp, request: &ModelRequest) -> Encoder {
        match self {
            Self::Chat => {
                let usage = openai_chat::asks_for_usage(request);
                Encoder::Chat(openai_chat::Encoder::new(stamp).include_usage(usage))
            }
            Self::Responses => Encoder::Responses(Box::new(openai_responses::Encoder::new(stamp))),
        }
    }
}

/// Writes a streamed reply.
pub(crate) enum Encoder {
    Chat(openai_chat::Encoder),
    Responses(Box<openai_responses::Encoder>),
}

impl Encoder {
    pub(crate) fn encode(&mut self, event: ModelEvent) -> Option<Bytes> {
        let event = match event {
            ModelEvent::Finish { reason } => ModelEvent::Finish { reason: in_words(reason) },
            event => event,
        };
        match self {
            Self::Chat(encoder) => encoder.encode(&event),
            Self::Responses(encoder) => encoder.encode(&event),
        }
    }

    /// What is held back for fields that may follow, once nothing more is there for now.
    pub(crate) fn flush(&mut self) -> Option<Bytes> {
        match self {
            Self::Chat(_) => None,
            Self::Responses(encoder) => encoder.flush(),
        }
    }

    pub(crate) fn fail(&mut self, error: &Error) -> Bytes {
        match self {
            Self::Chat(encoder) => encoder.fail(error),
            Self::Responses(encoder) => encoder.fail(error),
        }
    }

    pub(crate) fn finish(&mut self) -> Bytes {
        match self {
            Self::Chat(encoder) => encoder.finish(),
            Self::Responses(encoder) => encoder.finish(),
        }
    }
}

/// OpenAI has no word for an error that was answered in words, and async-openai reads no other words than OpenAI's.
fn in_words(reason: FinishReason) -> FinishReason {
    match reason {
        FinishReason::Error => FinishReason::Stop,
        reason => reason,
    }
}

/// The answer to what only OpenAI itself could do.
pub(crate) fn not_served(method: &Method, path: &str) -> Error {
    let text = format!("{method} {path} is not served by a model stack. Nothing ran.");
    let mut said = ApiError::default();
    said.code = Some("unknown_url".into());
    Error::new(ErrorKind::NotFound, format!("there is no {method} `{path}`"))
        .with_model_text(text)
        .with_extension(said)
}
