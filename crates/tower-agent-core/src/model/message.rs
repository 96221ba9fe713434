use std::{ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{CallId, Content, Json, Outcome, Str, ToolOutput};

/// One message of a conversation, behind a shared handle.
///
/// The next turn's request copies handles, never text; an edit copies only the message that it touches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Message(Arc<Inner>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Str>,
    parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extra: Option<Json>,
}

/// Who speaks in a message.
#[derive(Clone, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The operator of the model.
    System,
    /// The developer of the agent, where a dialect tells the two apart.
    Developer,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// A role of a dialect that has no name here.
    Other(Str),
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(TextPart),
    /// What the model thought before it answered; its signature, if any, is in `extra`.
    Reasoning(TextPart),
    /// A picture.
    Image(Media),
    /// Sound.
    Audio(Media),
    /// Any other file.
    File(Media),
    /// A call that the model wants made.
    ToolCall(ToolCallPart),
    /// What came of a call.
    ToolResult(ToolResultPart),
    /// A part of a dialect that has no name here, kept as it is.
    Opaque {
        /// The part's own JSON.
        json: Json,
    },
}

/// Text with what a dialect adds to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TextPart {
    /// The text.
    pub text: Str,
    /// Fields of the dialect, sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// A picture, sound or file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Media {
    /// Where the bytes are.
    pub source: MediaSource,
    /// The media type, such as `image/png`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Str>,
    /// Fields of the dialect, sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// Where the bytes of a [`Media`] are.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaSource {
    /// Here, in Base64.
    Base64(Str),
    /// Behind a URL.
    Url(Str),
    /// At the provider, under an id.
    Id(Str),
}

/// A call that the model wants made, as it stands in a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCallPart {
    /// The call's id.
    pub id: CallId,
    /// The tool's name.
    pub name: Str,
    /// The arguments as the model wrote them, which need not be JSON.
    pub arguments: Json,
    /// Fields of the dialect, sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// What came of a call, as it stands in a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResultPart {
    /// The call that this answers.
    pub call_id: CallId,
    /// The tool's name, which some dialects ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Str>,
    /// What the model reads.
    pub content: Vec<Content>,
    /// The same as a value, if the tool gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Json>,
    /// Whether the call did not do what was asked.
    #[serde(default)]
    pub is_error: bool,
    /// Fields of the dialect, sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

impl Message {
    /// A message of parts.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self(Arc::new(Inner { role, name: None, parts, extra: None }))
    }

    /// A user's text.
    pub fn user(text: impl Into<Str>) -> Self {
        Self::new(Role::User, vec![Part::text(text)])
    }

    /// A model's text.
    pub fn assistant(text: impl Into<Str>) -> Self {
        Self::new(Role::Assistant, vec![Part::text(text)])
    }

    /// An operator's text.
    pub fn system(text: impl Into<Str>) -> Self {
        Self::new(Role::System, vec![Part::text(text)])
    }

    /// The result of a call.
    #[must_use]
    pub fn tool_result(result: ToolResultPart) -> Self {
        Self::new(Role::Tool, vec![Part::ToolResult(result)])
    }

    /// Who speaks.
    #[must_use]
    pub fn role(&self) -> &Role {
        &self.0.role
    }

    /// The speaker's name, if the dialect has one.
    #[must_use]
    pub fn name(&self) -> Option<&Str> {
        self.0.name.as_ref()
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0.parts
    }

    /// The parts, for an edit; copies the list (not the texts) only while somebody shares the message.
    pub fn parts_mut(&mut self) -> &mut Vec<Part> {
        &mut Arc::make_mut(&mut self.0).parts
    }

    /// Fields of the dialect.
    #[must_use]
    pub fn extra(&self) -> Option<&Json> {
        self.0.extra.as_ref()
    }

    /// Sets the speaker's name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Option<Str>>) -> Self {
        Arc::make_mut(&mut self.0).name = name.into();
        self
    }

    /// Sets the fields of the dialect.
    #[must_use]
    pub fn with_extra(mut self, extra: impl Into<Option<Json>>) -> Self {
        Arc::make_mut(&mut self.0).extra = extra.into();
        self
    }

    /// All text parts, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts().iter().filter_map(Part::as_text).collect()
    }

    /// The calls that the model wants made, in its order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCallPart> {
        self.parts().iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Whether two handles share one allocation.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Part {
    /// Plain text.
    pub fn text(text: impl Into<Str>) -> Self {
        Self::Text(TextPart { text: text.into(), extra: None })
    }

    /// The text, if it is text that is meant for the reader.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(part) => Some(&part.text),
            _ => None,
        }
    }
}

impl ToolCallPart {
    /// A call without fields of a dialect.
    pub fn new(id: impl Into<CallId>, name: impl Into<Str>, arguments: impl Into<Json>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), extra: None }
    }
}

impl ToolResultPart {
    /// The result of a call as a message for the model.
    #[must_use]
    pub fn new(call_id: CallId, name: Str, output: &ToolOutput) -> Self {
        Self {
            call_id,
            name: Some(name),
            content: output.content.clone(),
            structured: output.structured.clone(),
            is_error: !matches!(output.outcome, Outcome::Success),
            extra: None,
        }
    }

    /// All text blocks, joined by line ends.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }
}

/// The messages so far, behind a shared handle: a request for the next turn costs one pointer, however
/// long the conversation is.
///
/// ```
/// use tower_agent_core::{Conversation, Message};
///
/// let mut ours = Conversation::from(vec![Message::user("hello")]);
/// let request = ours.clone();
/// ours.push(Message::assistant("hi"));
/// assert_eq!((request.len(), ours.len()), (1, 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conversation(Arc<Vec<Message>>);

impl Conversation {
    /// No messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message; copies the list of handles only while somebody shares it.
    pub fn push(&mut self, message: Message) {
        self.make_mut().push(message);
    }

    /// The list for an edit; copies it (handles, not texts) only while somebody shares it.
    pub fn make_mut(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.0)
    }

    /// Whether two handles share one allocation.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for Conversation {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.0
    }
}

impl From<Vec<Message>> for Conversation {
    fn from(messages: Vec<Message>) -> Self {
        Self(Arc::new(messages))
    }
}

impl FromIterator<Message> for Conversation {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        Self(Arc::new(messages.into_iter().collect()))
    }
}

impl Extend<Message> for Conversation {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        self.make_mut().extend(messages);
    }
}

impl<'a> IntoIterator for &'a Conversation {
    type Item = &'a Message;
    type IntoIter = std::slice::Iter<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
