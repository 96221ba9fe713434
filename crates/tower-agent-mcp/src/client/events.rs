use std::{fmt, sync::Arc};

use tower_agent_core::{CallId, Json, Str};

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
