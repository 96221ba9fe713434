use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::{
    Content, Denial, Effect, End, EndReason, ErrorKind, EventStream, Extensions, Failure, Json,
    Outcome, Output, Provenance, Str,
};

/// What came of a tool call.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model reads, as blocks. Layers edit blocks in place; untouched blocks survive byte for byte.
    pub content: Vec<Content>,
    /// The same as a value, if the tool gave one; `null` is one too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Json>,
    /// What became of the call.
    pub outcome: Outcome,
    /// Data for the host that the model does not read, as MCP's `_meta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<Json>,
    /// Fields of the dialect that have no name here, sent on unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
    /// Where the output comes from.
    pub provenance: Provenance,
    /// What layers attach for those above them.
    #[serde(skip)]
    pub extensions: Extensions,
}

impl ToolOutput {
    /// Text.
    pub fn text(text: impl Into<Str>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// A value; the model reads its JSON text.
    pub fn structured(value: impl Into<Json>) -> Self {
        let value = value.into();
        Self {
            content: vec![Content::text(value.as_str())],
            structured: Some(value),
            ..Self::default()
        }
    }

    /// A failure that the tool itself reports: it ran, and the text says what went wrong.
    pub fn failure(text: impl Into<Str>) -> Self {
        Self::text(text).with_outcome(Failure::new(ErrorKind::Tool, Effect::Completed))
    }

    /// A refusal by the tool itself.
    #[must_use]
    pub fn denied(denial: Denial) -> Self {
        Self::text(denial.message.clone()).with_outcome(denial)
    }

    /// Sets what became of the call.
    #[must_use]
    pub fn with_outcome(mut self, outcome: impl Into<Outcome>) -> Self {
        self.outcome = outcome.into();
        self
    }

    /// All text blocks, joined by line ends.
    #[must_use]
    pub fn joined_text(&self) -> String {
        let texts: Vec<_> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }
}

/// Extensions do not count: what layers attach is not part of the output.
impl PartialEq for ToolOutput {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
            && self.structured == other.structured
            && self.outcome == other.outcome
            && self.meta == other.meta
            && self.extra == other.extra
            && self.provenance == other.provenance
    }
}

impl Output for ToolOutput {
    /// A tool's output is always whole.
    type Event = Infallible;

    fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn provenance_mut(&mut self) -> &mut Provenance {
        &mut self.provenance
    }

    fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    fn try_clone(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn on_end<F: FnOnce(End) + Send + 'static>(self, duty: F) -> Self {
        duty(End::new(EndReason::Complete(self.outcome.clone())));
        self
    }

    fn map_stream<F>(self, _: F) -> Self
    where
        F: FnOnce(EventStream<Infallible>) -> EventStream<Infallible>,
    {
        self
    }
}
