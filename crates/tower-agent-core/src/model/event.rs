use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{CallId, Json, Part, Str, Usage};

/// One step of a reply that comes in pieces.
///
/// The parts of a reply are told apart by `index` alone; their order in the message is that of the indices.
/// Every reply ends with [`Finish`](Self::Finish); only usage and unknown events may follow it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelEvent {
    /// The reply begins.
    Start {
        /// The provider's id of the reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<Str>,
        /// The model that answers, as the provider names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Str>,
        /// Fields of the dialect about the reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Option<Json>,
    },
    /// A part begins.
    PartStart {
        /// Which part.
        index: u32,
        /// What it is.
        part: PartStart,
    },
    /// A part goes on. A delta of a part that did not begin begins it.
    PartDelta {
        /// Which part.
        index: u32,
        /// What is added.
        delta: PartDelta,
    },
    /// Fields of the dialect about a part that are known before its end; they come right after the part's start.
    ///
    /// [`PartEnd`](Self::PartEnd) says them again, so whoever needs them once need not look at this. It is for dialects
    /// that write such fields where a part begins.
    PartExtra {
        /// Which part.
        index: u32,
        /// The fields, an object; a later one replaces it.
        extra: Json,
    },
    /// A part is complete.
    PartEnd {
        /// Which part.
        index: u32,
        /// All fields of the dialect about the part, such as a signature; without any, those of the last `PartExtra`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Option<Json>,
    },
    /// Fields of the dialect about the message.
    MessageExtra {
        /// The fields, an object.
        extra: Json,
    },
    /// What the reply has used so far in all; a later one replaces it.
    Usage {
        /// The usage so far.
        usage: Usage,
    },
    /// The reply is complete.
    Finish {
        /// Why the model stopped.
        reason: FinishReason,
    },
    /// An event of the dialect that has no name here, kept as it is.
    Other {
        /// The event's own JSON.
        json: Json,
    },
}

/// What kind of part begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartStart {
    /// Text.
    Text,
    /// Reasoning.
    Reasoning,
    /// A tool call, with what is known of it.
    ToolCall {
        /// The call's id; some providers send it late.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<CallId>,
        /// The tool's name; some providers send it late.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<Str>,
    },
    /// A part that comes at once, such as a picture.
    Whole(Part),
}

/// What is added to a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartDelta {
    /// More text.
    Text(Str),
    /// More reasoning.
    Reasoning(Str),
    /// More of a tool call: the next piece of its arguments, or an id or name that came late.
    ToolCall {
        /// The id; the first one that is not empty counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<CallId>,
        /// The name; the first one that is not empty counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<Str>,
        /// The next piece of the arguments' text.
        #[serde(default)]
        arguments: Str,
    },
}

impl PartDelta {
    /// A piece of arguments.
    pub fn arguments(text: impl Into<Str>) -> Self {
        Self::ToolCall { id: None, name: None, arguments: text.into() }
    }

    /// The text that this adds: to the answer, the reasoning or the arguments.
    #[must_use]
    pub fn text(&self) -> &Str {
        match self {
            Self::Text(text) | Self::Reasoning(text) | Self::ToolCall { arguments: text, .. } => {
                text
            }
        }
    }

    /// The text that this adds, for an edit.
    pub fn text_mut(&mut self) -> &mut Str {
        match self {
            Self::Text(text) | Self::Reasoning(text) | Self::ToolCall { arguments: text, .. } => {
                text
            }
        }
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, Default, Eq, PartialEq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// It had said all.
    #[default]
    Stop,
    /// It reached the token limit.
    Length,
    /// It asks for tools.
    ToolCalls,
    /// A filter or policy stopped it.
    ContentFilter,
    /// It failed.
    Error,
    /// The stream ended properly without saying why.
    Unspecified,
    /// A reason of a dialect that has no name here.
    Other(Str),
}

impl FinishReason {
    /// The reason as one word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::Error => "error",
            Self::Unspecified => "unspecified",
            Self::Other(reason) => reason,
        }
    }
}

impl From<&str> for FinishReason {
    fn from(reason: &str) -> Self {
        let known = [
            Self::Stop,
            Self::Length,
            Self::ToolCalls,
            Self::ContentFilter,
            Self::Error,
            Self::Unspecified,
        ];
        let found = known.into_iter().find(|known| known.as_str() == reason);
        found.unwrap_or_else(|| Self::Other(reason.into()))
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FinishReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FinishReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Str::deserialize(deserializer).map(|reason| Self::from(reason.as_str()))
    }
}
