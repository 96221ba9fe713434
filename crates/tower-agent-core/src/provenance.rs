use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};

use crate::Str;

/// Where a response comes from and what layers did to it on its way.
///
/// An untouched provenance allocates nothing.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Provenance {
    /// How the response came about.
    pub origin: Origin,
    /// The layer that made the response in place of the service, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Cow<'static, str>>,
    /// How often the service was tried; 0 and 1 both mean once, if it ran at all.
    pub attempts: u32,
    /// What layers did, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// How a response came about.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The service ran.
    #[default]
    Executed,
    /// It was kept from an earlier call.
    Cached,
    /// A layer made it up in the service's place.
    Emulated,
    /// It was recorded earlier.
    Replayed,
    /// A policy refused the call.
    Denied,
}

/// One thing that one layer did to a response.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mark {
    /// The layer's name, such as `redact`.
    pub layer: Cow<'static, str>,
    /// What it did, such as `masked`.
    pub action: Cow<'static, str>,
    /// More about it, without confidential values: a kind and a count, two sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Str>,
    /// How long it took, where somebody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<Duration>,
}

impl Provenance {
    /// A response that a layer made in place of the service.
    pub fn made(origin: Origin, by: impl Into<Cow<'static, str>>) -> Self {
        Self { origin, by: Some(by.into()), ..Self::default() }
    }

    /// Notes what a layer did.
    pub fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
    }
}

impl Mark {
    /// A note without details.
    pub fn new(layer: impl Into<Cow<'static, str>>, action: impl Into<Cow<'static, str>>) -> Self {
        Self { layer: layer.into(), action: action.into(), detail: None, took: None }
    }

    /// Adds details. No confidential value belongs here.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<Str>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds how long it took.
    #[must_use]
    pub fn took(mut self, took: Duration) -> Self {
        self.took = Some(took);
        self
    }
}
