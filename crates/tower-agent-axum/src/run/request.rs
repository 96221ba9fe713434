//! What `POST /v1/runs` takes.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor, value::SeqAccessDeserializer},
};
use tower_agent_core::{Conversation, Message, RunRequest, Str};

use crate::{ApiError, body};

#[derive(Deserialize)]
#[serde(expecting = "a run: an object with `text` or `input`")]
struct Posted {
    #[serde(default)]
    text: Option<Str>,
    #[serde(default)]
    input: Option<Input>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(flatten)]
    rest: RunRequest,
}

/// A text, which stands for one message of the user, or messages.
struct Input(Conversation);

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InputVisitor).map(Self)
    }
}

struct InputVisitor;

impl<'de> Visitor<'de> for InputVisitor {
    type Value = Conversation;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of messages")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Conversation, E> {
        Ok(said(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, messages: A) -> Result<Conversation, A::Error> {
        Conversation::deserialize(SeqAccessDeserializer::new(messages))
    }
}

fn said(text: impl Into<Str>) -> Conversation {
    Conversation::from(vec![Message::user(text)])
}

/// Reads a run; `stream` is what it means to leave that out.
pub(super) fn parse(body: &[u8], stream: bool, overrides: bool) -> Result<RunRequest, ApiError> {
    let posted: Posted = body::parse(body)?;
    let mut run = posted.rest;
    run.stream = posted.stream.unwrap_or(stream);
    run.input = match (posted.text, posted.input) {
        (Some(_), Some(_)) => {
            let text = "send `text` or `input`, not both";
            return Err(ApiError::bad_request("ambiguous_input", text).with_param("text"));
        }
        (Some(text), None) => said(text),
        (None, Some(input)) => input.0,
        (None, None) => Conversation::new(),
    };
    if run.input.is_empty() && run.conversation.is_empty() {
        let text = "there is nothing to answer: send `text`, or messages as `input`";
        return Err(ApiError::bad_request("missing_input", text).with_param("input"));
    }
    if overrides { Ok(run) } else { keeps_to_itself(run) }
}

/// Refuses what is the host's to choose, rather than dropping it in silence.
fn keeps_to_itself(run: RunRequest) -> Result<RunRequest, ApiError> {
    let set = [
        ("instructions", run.instructions.is_some()),
        ("model", run.model.is_some()),
        ("sampling", run.sampling.is_some()),
        ("extra", run.extra.is_some()),
    ];
    match set.into_iter().find(|(_, set)| *set) {
        None => Ok(run),
        Some((field, _)) => {
            let text = format!("`{field}` cannot be chosen by callers of this agent");
            Err(ApiError::bad_request("override_not_allowed", text).with_param(field))
        }
    }
}
