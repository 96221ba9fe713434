use std::time::Duration;

use tokio::time::Instant;
use tower_agent_core::{Effect, Error, ErrorKind};

/// How long a call may take, in which of its parts. What is not set is not limited.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Limits {
    pub(super) head: Option<Duration>,
    pub(super) idle: Option<Duration>,
    pub(super) total: Option<Duration>,
}

impl Limits {
    /// No limits.
    #[must_use]
    pub const fn new() -> Self {
        Self { head: None, idle: None, total: None }
    }

    /// Limits the time until there is an answer, or its stream begins.
    #[must_use]
    pub const fn head(mut self, limit: Duration) -> Self {
        self.head = Some(limit);
        self
    }

    /// Limits each wait for the next event of a stream.
    #[must_use]
    pub const fn idle(mut self, limit: Duration) -> Self {
        self.idle = Some(limit);
        self
    }

    /// Limits the time until the end of the stream.
    #[must_use]
    pub const fn total(mut self, limit: Duration) -> Self {
        self.total = Some(limit);
        self
    }
}

/// When something is over, and by which limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    pub(super) at: Instant,
    pub(super) by: By,
}

/// Which limit was reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    Head(Duration),
    Idle(Duration),
    Total(Duration),
    Deadline,
}

impl Until {
    /// A limit so large that it lies beyond all time is none.
    pub(super) fn after(start: Instant, limit: Duration, by: fn(Duration) -> By) -> Option<Self> {
        Some(Self { at: start.checked_add(limit)?, by: by(limit) })
    }

    pub(super) fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        [one, other].into_iter().flatten().min_by_key(|until| until.at)
    }

    /// The same limit with some time to spare.
    pub(super) fn later(self, grace: Duration) -> Self {
        Self { at: self.at.checked_add(grace).unwrap_or(self.at), by: self.by }
    }

    pub(super) fn error(self) -> Error {
        let message = match self.by {
            By::Head(limit) => format!("no answer within {limit:?}"),
            By::Idle(limit) => format!("no event for {limit:?}"),
            By::Total(limit) => format!("not finished within {limit:?}"),
            By::Deadline => "not finished by the deadline".to_owned(),
        };
        Error::new(ErrorKind::Timeout, message).with_layer("timeout").with_model_text(
            "The call took too long and was stopped. Part of it may have happened already: check before you repeat it, or ask for less.",
        )
    }

    /// The error of a call that was not even made.
    pub(super) fn too_late() -> Error {
        Error::new(ErrorKind::Timeout, "the deadline was over before the call began")
            .with_layer("timeout")
            .with_effect(Effect::NotStarted)
            .with_model_text("There was no time left for the call; it did not run.")
    }
}
