use serde::{Deserialize, Serialize};

use crate::{Json, Media, Str, TextPart};

/// One block of a tool's output, as in MCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(TextPart),
    /// A picture.
    Image(Media),
    /// Sound.
    Audio(Media),
    /// Where a resource is.
    ResourceLink(Resource),
    /// A resource itself.
    Resource(Resource),
    /// A block that has no name here, kept as it is.
    Opaque {
        /// The block's own JSON.
        json: Json,
    },
}

/// A resource, or where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// Where it is.
    pub uri: Str,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Str>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Str>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Str>,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Str>,
    /// Its bytes in Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Str>,
    /// Further fields, kept as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

impl Content {
    /// Plain text.
    pub fn text(text: impl Into<Str>) -> Self {
        Self::Text(TextPart { text: text.into(), extra: None })
    }

    /// The text of a text block or of a resource that is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(part) => Some(&part.text),
            Self::Resource(resource) => resource.text.as_deref(),
            _ => None,
        }
    }

    /// The text of a text block or of a resource that is text, for an edit.
    pub fn text_mut(&mut self) -> Option<&mut Str> {
        match self {
            Self::Text(part) => Some(&mut part.text),
            Self::Resource(resource) => resource.text.as_mut(),
            _ => None,
        }
    }
}
