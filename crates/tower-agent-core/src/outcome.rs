use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Effect, Error, ErrorKind, Json, Str};

/// What became of a call, as its reader should understand it.
///
/// What is told beside a success stands in a box, for every layer moves an outcome and few look into it.
///
/// A response with any outcome is `Ok`: these are the failures that a model reads. What the program must
/// see is an [`Error`].
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It ran and did what was asked.
    #[default]
    Success,
    /// It failed; the failure says how, and whether it ran.
    Failed(Box<Failure>),
    /// A policy refused it; it did not run.
    Denied(Box<Denial>),
    /// It waits for a decision or for input.
    Suspended(Box<Suspension>),
}

/// A failure that was reported as a readable response.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Whether anything may have happened.
    pub effect: Effect,
    /// The layer that raised it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<Cow<'static, str>>,
}

/// A refusal: who refused, why, and what the model may read about it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Denial {
    /// The layer or hook that refused. Empty until whoever enforces the denial fills in its name.
    pub layer: Cow<'static, str>,
    /// A stable code for programs, such as `not_allowed`.
    pub code: Cow<'static, str>,
    /// The text for the model: what happened and what to do next.
    pub message: Str,
}

/// A call that waits; it can be stored and answered later.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Suspension {
    /// The layer or hook that suspended the call.
    pub layer: Cow<'static, str>,
    /// What the answer must name.
    pub id: Str,
    /// What the call waits for, in words.
    pub reason: Str,
    /// What is asked, for a program: a form, a question, a diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Json>,
}

impl Outcome {
    /// Whether it ran and did what was asked.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Success)
    }

    /// Whether a policy refused it.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Denied(_))
    }

    /// Whether it failed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// Whether it waits for somebody.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        matches!(self, Self::Suspended(_))
    }

    /// A short stable name: `success`, `failed`, `denied` or `suspended`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed(_) => "failed",
            Self::Denied(_) => "denied",
            Self::Suspended(_) => "suspended",
        }
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

impl From<Denial> for Outcome {
    fn from(denial: Denial) -> Self {
        Self::Denied(Box::new(denial))
    }
}

impl From<Suspension> for Outcome {
    fn from(suspension: Suspension) -> Self {
        Self::Suspended(Box::new(suspension))
    }
}

impl Failure {
    /// A failure of a kind.
    #[must_use]
    pub const fn new(kind: ErrorKind, effect: Effect) -> Self {
        Self { kind, effect, layer: None }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self {
            kind: error.kind(),
            effect: error.effect(),
            layer: error.layer().map(|layer| layer.to_owned().into()),
        }
    }
}

impl Denial {
    /// A refusal with the code `denied`.
    pub fn new(message: impl Into<Str>) -> Self {
        Self { layer: Cow::Borrowed(""), code: Cow::Borrowed("denied"), message: message.into() }
    }

    /// Names who refused.
    #[must_use]
    pub fn by(mut self, layer: impl Into<Cow<'static, str>>) -> Self {
        self.layer = layer.into();
        self
    }

    /// Sets the stable code.
    #[must_use]
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = code.into();
        self
    }
}

impl Suspension {
    /// A wait, by whom and for what.
    pub fn new(
        layer: impl Into<Cow<'static, str>>,
        id: impl Into<Str>,
        reason: impl Into<Str>,
    ) -> Self {
        Self { layer: layer.into(), id: id.into(), reason: reason.into(), request: None }
    }

    /// Adds what is asked, for a program.
    #[must_use]
    pub fn request(mut self, request: impl Into<Json>) -> Self {
        self.request = Some(request.into());
        self
    }
}
