use std::{ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Json, Str};

/// What a tool says of itself. It lives beside the service, so no layer can lose it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name that a model calls it by.
    pub name: Str,
    /// What it does, for the model.
    pub description: Str,
    /// JSON Schema of its arguments.
    pub input_schema: Json,
    /// JSON Schema of its structured output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Json>,
    /// A name for people; see [`display_name`](Self::display_name).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Str>,
    /// Whether hosts should keep it out of sight of users.
    pub internal: bool,
    /// Whether an agent must not run two calls of it at once.
    pub one_at_a_time: bool,
    /// Hints about what it does to the world.
    pub annotations: Annotations,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<ToolOrigin>,
    /// Words that policies may go by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Str>,
    /// Fields of the dialect, sent on unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// What a tool does to the world, as in MCP. They are hints: a policy may tighten by them, and loosen only
/// where the operator trusts the server.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Calling it twice is the same as once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It talks to the outside world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

/// Where a tool comes from.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolOrigin {
    /// The server's name.
    pub server: Str,
    /// The server's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Str>,
    /// A digest of the spec as first seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Str>,
}

impl ToolSpec {
    /// A tool that takes any object.
    pub fn new(name: impl Into<Str>, description: impl Into<Str>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema: Json::from_text(r#"{"type":"object"}"#),
            ..Self::default()
        }
    }

    /// Sets the JSON Schema of the arguments.
    #[must_use]
    pub fn with_input_schema(mut self, schema: impl Into<Json>) -> Self {
        self.input_schema = schema.into();
        self
    }

    /// The name for people: the title, or else the name.
    #[must_use]
    pub fn display_name(&self) -> &Str {
        self.title.as_ref().unwrap_or(&self.name)
    }
}

/// The tools that a model may ask for, in a stable order, behind a shared handle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tools(Arc<Vec<Arc<ToolSpec>>>);

impl Tools {
    /// No tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The spec of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        self.iter().find(|spec| spec.name == *name)
    }

    /// Keeps the tools that fit; copies the list of handles only if one does not.
    pub fn retain(&mut self, keep: impl Fn(&ToolSpec) -> bool) {
        if !self.iter().all(|spec| keep(spec)) {
            Arc::make_mut(&mut self.0).retain(|spec| keep(spec));
        }
    }

    /// Adds a tool.
    pub fn push(&mut self, spec: impl Into<Arc<ToolSpec>>) {
        Arc::make_mut(&mut self.0).push(spec.into());
    }

    /// Whether two handles share one allocation.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for Tools {
    type Target = [Arc<ToolSpec>];

    fn deref(&self) -> &[Arc<ToolSpec>] {
        &self.0
    }
}

impl From<Vec<Arc<ToolSpec>>> for Tools {
    fn from(specs: Vec<Arc<ToolSpec>>) -> Self {
        Self(Arc::new(specs))
    }
}

impl FromIterator<Arc<ToolSpec>> for Tools {
    fn from_iter<I: IntoIterator<Item = Arc<ToolSpec>>>(specs: I) -> Self {
        Self(Arc::new(specs.into_iter().collect()))
    }
}

impl<'a> IntoIterator for &'a Tools {
    type Item = &'a Arc<ToolSpec>;
    type IntoIter = std::slice::Iter<'a, Arc<ToolSpec>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
