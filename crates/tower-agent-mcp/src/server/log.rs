// Newer versions of the protocol drop log messages; clients of the older ones still ask for them.
#![expect(deprecated, reason = "the protocol that most clients speak has it")]

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use rmcp::{
    RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam},
    service::RequestContext,
};

/// From which level on the client of a session wants log messages; those of `info` and above, until it says so.
///
/// Each clone of a server serves a session of its own, so a clone starts anew. A handler around several [`McpServer`](super::McpServer)s
/// has one of its own and [marks](Self::mark) with it what it hands on.
#[derive(Debug, Default)]
pub struct LogLevel(Arc<AtomicU8>);

impl LogLevel {
    /// Keeps what the client asked for.
    pub fn set(&self, level: LoggingLevel) {
        self.0.store(rank(level), Ordering::Relaxed);
    }

    /// The level now.
    #[must_use]
    pub fn get(&self) -> LoggingLevel {
        level_of(self.0.load(Ordering::Relaxed))
    }

    /// Has the calls of a request go by it, in the place of the level of the server that runs them.
    pub fn mark(&self, context: &mut RequestContext<RoleServer>) {
        context.extensions.insert(self.share());
    }

    /// A second handle, for whoever sends messages to the same session.
    #[must_use]
    pub fn share(&self) -> SharedLogLevel {
        SharedLogLevel(Arc::clone(&self.0))
    }
}

impl Clone for LogLevel {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The [`LogLevel`] of a session, in somebody else's hands.
#[derive(Clone, Debug)]
pub struct SharedLogLevel(Arc<AtomicU8>);

impl SharedLogLevel {
    /// The level now.
    #[must_use]
    pub fn get(&self) -> LoggingLevel {
        level_of(self.0.load(Ordering::Relaxed))
    }

    /// Whether the client wants a message of a level.
    #[must_use]
    pub fn wants(&self, level: LoggingLevel) -> bool {
        rank(self.get()) <= rank(level)
    }
}

fn level_of(rank_of: u8) -> LoggingLevel {
    LEVELS.into_iter().find(|level| rank(*level) == rank_of).unwrap_or(LoggingLevel::Info)
}

/// From which level on the client of a request wants messages. One that speaks without sessions says so with each request.
pub(crate) fn floor(context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
    let level: &SharedLogLevel = context.extensions.get()?;
    if context.meta.protocol_version().is_some() {
        return context.meta.log_level();
    }
    Some(level.get())
}

/// Whether the client of a request wants a message.
pub(crate) fn wants(context: &RequestContext<RoleServer>, level: LoggingLevel) -> bool {
    floor(context).is_some_and(|floor| rank(floor) <= rank(level))
}

pub(crate) async fn send(
    context: &RequestContext<RoleServer>,
    message: LoggingMessageNotificationParam,
) {
    if let Err(error) = context.peer.notify_logging_message(message).await {
        tracing::debug!(%error, "a log message did not reach the client");
    }
}

const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

const fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 1,
        LoggingLevel::Info => 2,
        LoggingLevel::Notice => 3,
        LoggingLevel::Warning => 4,
        LoggingLevel::Error => 5,
        LoggingLevel::Critical => 6,
        LoggingLevel::Alert => 7,
        LoggingLevel::Emergency => 8,
    }
}
