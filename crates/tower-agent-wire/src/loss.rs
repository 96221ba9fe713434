use std::fmt;

use bytes::Bytes;

/// An encoded body, with what the dialect had no place for.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Encoded {
    /// The body.
    pub bytes: Bytes,
    /// What was left out or made poorer, in order. Never empty when something was.
    pub losses: Vec<Loss>,
}

/// One thing that a dialect had no place for.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// Why it could not be sent.
    pub rule: LossRule,
    /// Where it stood, such as `messages[3]`. It names no content.
    pub place: String,
}

/// Why something could not be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
#[non_exhaustive]
pub enum LossRule {
    /// Tool results carry only text; a note that names the kind was sent in its place.
    MediaInToolResult,
    /// The dialect takes such media only in another form, such as Base64 instead of a URL.
    MediaSource,
    /// Replies carry only text, reasoning and tool calls.
    PartInReply,
    /// Fields in an `extra` that this place of the dialect cannot carry.
    Extra,
    /// An `extra` or an opaque part that is not the JSON it should be.
    NotJson,
    /// A field or a part that only another dialect knows.
    Foreign,
    /// Media of a kind that the dialect does not take; a note that names the kind was sent in its place.
    Media,
    /// Reasoning that another model did; the provider takes back only what it signed itself.
    UnsignedReasoning,
    /// Arguments that are no JSON object; their text was sent inside one.
    Arguments,
    /// An id of a call with characters that the dialect does not take; others were sent in their place.
    CallId,
    /// An operator's message that stood between others; it was sent before them.
    Moved,
    /// The name of a speaker.
    Name,
    /// The flag that a call failed; the text of its result must say so.
    ErrorFlag,
    /// A sampling parameter that the dialect does not have, or not so large.
    Parameter,
    /// The form of the answer.
    OutputFormat,
    /// The dialect asks for a token limit where the request had none; a default was sent.
    MaxTokens,
    /// Why the model stopped, in a word that the dialect does not have; it says that all was said.
    FinishReason,
}

impl LossRule {
    /// A short stable name, as used in metrics and marks.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MediaInToolResult => "media_in_tool_result",
            Self::MediaSource => "media_source",
            Self::PartInReply => "part_in_reply",
            Self::Extra => "extra",
            Self::NotJson => "not_json",
            Self::Foreign => "foreign",
            Self::Media => "media",
            Self::UnsignedReasoning => "unsigned_reasoning",
            Self::Arguments => "arguments",
            Self::CallId => "call_id",
            Self::Moved => "moved",
            Self::Name => "name",
            Self::ErrorFlag => "error_flag",
            Self::Parameter => "parameter",
            Self::OutputFormat => "output_format",
            Self::MaxTokens => "max_tokens",
            Self::FinishReason => "finish_reason",
        }
    }
}

impl fmt::Display for LossRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.rule, self.place)
    }
}
