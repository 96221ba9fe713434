use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{End, EndReason, Error, ErrorKind, Operation, Outcome, Output};

/// How a finished call counts. Every call is exactly one of these, whatever the order of layers.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Class {
    /// It ran and did what was asked.
    Ok,
    /// It failed.
    Failed,
    /// A policy refused it.
    Denied,
    /// It waits for somebody.
    Suspended,
    /// The caller gave up.
    Cancelled,
    /// It took too long.
    TimedOut,
}

impl Class {
    /// Every class, in a stable order.
    pub const ALL: [Self; 6] =
        [Self::Ok, Self::Failed, Self::Denied, Self::Suspended, Self::Cancelled, Self::TimedOut];

    /// A short stable name, as used in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Suspended => "suspended",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }

    /// Whether a retry, a breaker or an alarm should care: it failed or took too long.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<ErrorKind> for Class {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Timeout => Self::TimedOut,
            ErrorKind::Cancelled => Self::Cancelled,
            _ => Self::Failed,
        }
    }
}

impl From<&Outcome> for Class {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Ok,
            Outcome::Failed(failure) => failure.kind.into(),
            Outcome::Denied(_) => Self::Denied,
            Outcome::Suspended(_) => Self::Suspended,
        }
    }
}

impl From<&End> for Class {
    fn from(end: &End) -> Self {
        match &end.reason {
            EndReason::Complete(outcome) => outcome.into(),
            EndReason::Failed(kind) => (*kind).into(),
            EndReason::CutOff => Self::Failed,
            EndReason::Dropped => Self::Cancelled,
        }
    }
}

/// Says what counts as a failure. Every layer that cares asks it, so that they all agree.
///
/// The defaults are those of [`DefaultClassify`].
pub trait Classify<O: Operation> {
    /// How a call counts by its head.
    fn classify(&self, result: Result<&O::Output, &Error>) -> Class {
        match result {
            Ok(output) => output.outcome().into(),
            Err(error) => error.kind().into(),
        }
    }

    /// How a call counts by its end.
    fn classify_end(&self, end: &End) -> Class {
        end.into()
    }
}

/// Goes by the outcome and the error's kind alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultClassify;

impl<O: Operation> Classify<O> for DefaultClassify {}
