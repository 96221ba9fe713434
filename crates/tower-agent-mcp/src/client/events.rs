#![expect(deprecated, reason = "log messages are gone from later versions of the protocol")]

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam};
use tower_agent_core::{CallId, Json, Str, ToolCall};

use super::Snapshot;

/// What a server says beside its results; see [`McpClient::events`](super::McpClient::events).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A call makes progress.
    Progress(Progress),
    /// The server logs something.
    Log(Log),
    /// The tools or the state of the server changed; this is the new state.
    Changed(Box<Snapshot>),
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The call's id.
    pub call: CallId,
    /// The tool's name, as the server knows it.
    pub tool: Str,
    /// How much is done, in a unit of the server's choice; it grows.
    pub progress: f64,
    /// How much there is to do, if that is known.
    pub total: Option<f64>,
    /// What is being done, in words.
    pub message: Option<Str>,
    /// The notification's `_meta`.
    pub meta: Option<Json>,
}

impl Progress {
    pub(crate) fn new(call: &ToolCall, report: &ProgressNotificationParam) -> Self {
        Self {
            call: call.id.clone(),
            tool: call.name.clone(),
            progress: report.progress,
            total: report.total,
            message: report.message.as_ref().map(Str::from),
            meta: report.meta.as_ref().and_then(|meta| Json::from_serialize(meta).ok()),
        }
    }
}

/// A line of a server's log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Log {
    /// How serious it is, in the words of syslog: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert`
    /// or `emergency`.
    pub level: Str,
    /// The part of the server that says it.
    pub logger: Option<Str>,
    /// What it says.
    pub data: Json,
    /// Whether the [`OnLog`] of a call heard it.
    pub is_heard: bool,
}

impl Log {
    pub(crate) fn new(log: &LoggingMessageNotificationParam) -> Self {
        Self {
            level: word(log.level),
            logger: log.logger.as_ref().map(Str::from),
            data: Json::from_value(log.data.clone()),
            is_heard: false,
        }
    }

    /// The level in `rmcp`'s type.
    #[must_use]
    pub fn severity(&self) -> LoggingLevel {
        let word = serde_json::Value::from(self.level.as_str());
        serde_json::from_value(word).unwrap_or(LoggingLevel::Info)
    }
}

fn word(level: LoggingLevel) -> Str {
    let word = serde_json::to_value(level).unwrap_or_default();
    Str::from(word.as_str().unwrap_or("info"))
}

/// Hears what a server logs while the call in whose context it stands is open.
///
/// Servers rarely say which call a line belongs to. Of several open calls of one session, or of one run without a session, the one
/// that began last hears it. Each session that calls hears each line, so a server whose lines must stay apart needs a client for
/// each.
///
/// ```
/// use tower_agent_core::ToolCall;
/// use tower_agent_mcp::client::OnLog;
///
/// let mut call = ToolCall::new("index", "{}");
/// call.ctx.extensions.insert(OnLog::new(|log| println!("{}: {}", log.level, log.data.as_str())));
/// ```
#[derive(Clone)]
pub struct OnLog {
    function: Arc<dyn Fn(&Log) + Send + Sync>,
    level: Option<LoggingLevel>,
}

impl OnLog {
    /// Calls a function for each line, in their order. It must not block: the connection waits for it.
    pub fn new(function: impl Fn(&Log) + Send + Sync + 'static) -> Self {
        Self { function: Arc::new(function), level: None }
    }

    /// Asks a server of 2026-07-28 to log from this level on during the call. Without it, such a server logs nothing; older ones
    /// go by [`McpClient::set_log_level`](super::McpClient::set_log_level).
    #[must_use]
    pub const fn from_level(mut self, level: LoggingLevel) -> Self {
        self.level = Some(level);
        self
    }

    pub(crate) const fn level(&self) -> Option<LoggingLevel> {
        self.level
    }

    /// A panic ends nobody's connection.
    pub(crate) fn tell(&self, log: &Log) {
        if catch_unwind(AssertUnwindSafe(|| (self.function)(log))).is_err() {
            tracing::error!("the listener of a server's log panicked");
        }
    }
}

impl fmt::Debug for OnLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnLog").field("level", &self.level).finish_non_exhaustive()
    }
}

/// Hears of the progress of the calls in whose context it stands.
///
/// ```
/// use tower_agent_core::ToolCall;
/// use tower_agent_mcp::client::OnProgress;
///
/// let mut call = ToolCall::new("index", "{}");
/// call.ctx.extensions.insert(OnProgress::new(|progress| println!("{} of {:?}", progress.progress, progress.total)));
/// ```
#[derive(Clone)]
pub struct OnProgress(Arc<dyn Fn(&Progress) + Send + Sync>);

impl OnProgress {
    /// Calls a function for each report, in their order. It must not block: the call waits for it.
    pub fn new(function: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    pub(crate) fn tell(&self, progress: &Progress) {
        (self.0)(progress);
    }
}

impl fmt::Debug for OnProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnProgress")
    }
}
