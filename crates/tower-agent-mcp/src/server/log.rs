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

/// From which level on a client wants log messages. Each clone of a server serves a session of its own, so a clone
/// starts anew.
#[derive(Debug, Default)]
pub(crate) struct LogLevel(Arc<AtomicU8>);

impl LogLevel {
    const UNSET: u8 = 0;

    pub(crate) fn set(&self, level: LoggingLevel) {
        self.0.store(rank(level), Ordering::Relaxed);
    }

    /// A second handle, for a request of the same session.
    pub(crate) fn share(&self) -> SharedLogLevel {
        SharedLogLevel(Arc::clone(&self.0))
    }
}

impl Clone for LogLevel {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Clone)]
pub(crate) struct SharedLogLevel(Arc<AtomicU8>);

/// Whether the client of a request wants a message. One that speaks without sessions says so with each request.
pub(crate) fn wants(context: &RequestContext<RoleServer>, level: LoggingLevel) -> bool {
    let Some(SharedLogLevel(floor)) = context.extensions.get() else { return false };
    if context.meta.protocol_version().is_some() {
        return context.meta.log_level().is_some_and(|floor| rank(floor) <= rank(level));
    }
    match floor.load(Ordering::Relaxed) {
        LogLevel::UNSET => rank(LoggingLevel::Info) <= rank(level),
        floor => floor <= rank(level),
    }
}

pub(crate) async fn send(context: &RequestContext<RoleServer>, level: LoggingLevel, text: &str) {
    let message = LoggingMessageNotificationParam::new(level, text.into());
    if let Err(error) = context.peer.notify_logging_message(message).await {
        tracing::debug!(%error, "a log message did not reach the client");
    }
}

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
