use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tower_agent_core::{CancellationToken, Context};

use super::Caller;

/// Reports how far a call is. Nothing is sent unless the client asked for it, nor after the call.
///
/// ```
/// use tower_agent::{Tool, ToolCall, ToolSpec};
/// use tower_agent_mcp::server::Progress;
///
/// let copy = Tool::raw(ToolSpec::new("copy", "Copies three files"), |call: ToolCall| async move {
///     for done in 1..=3 {
///         Progress::report(&call.ctx, f64::from(done), Some(3.0), "copied a file").await;
///     }
///     "copied 3 files"
/// });
/// # let _ = copy;
/// ```
pub struct Progress {
    client: Option<(Peer<RoleServer>, ProgressToken)>,
    call: CancellationToken,
    /// The bits of the last value: the protocol wants each to be larger than the one before.
    last: AtomicU64,
}

impl Progress {
    /// Reports how far the call of a context is: how much is done, of how much if that is known, and in words.
    ///
    /// It returns when the message was handed to the connection. A value that is not larger than the one before, or
    /// that is no finite number, is not sent; nor is anything outside an MCP server.
    pub async fn report(
        ctx: &Context,
        done: f64,
        total: Option<f64>,
        message: impl Into<Option<&str>>,
    ) {
        if let Some(caller) = Caller::of(ctx) {
            caller.progress().send(done, total, message.into()).await;
        }
    }

    /// Whether the client wants to hear of it.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.client.is_some() && !self.call.is_cancelled()
    }

    /// Sends a report, as [`report`](Self::report) does.
    pub async fn send(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let Some((peer, token)) = &self.client else { return };
        if self.call.is_cancelled() || !self.advances_to(done) {
            return;
        }
        let mut param = ProgressNotificationParam::new(token.clone(), done);
        param.total = total.filter(|total| total.is_finite());
        param.message = message.map(ToOwned::to_owned);
        if let Err(error) = peer.notify_progress(param).await {
            tracing::debug!(%error, "a report of progress did not reach the client");
        }
    }

    fn advances_to(&self, done: f64) -> bool {
        let advances = |last: u64| (f64::from_bits(last) < done).then_some(done.to_bits());
        done.is_finite()
            && self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, advances).is_ok()
    }

    pub(crate) fn of_request(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self {
            client: token.map(|token| (context.peer.clone(), token)),
            call: context.ct.clone(),
            last: AtomicU64::new(f64::NEG_INFINITY.to_bits()),
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("wanted", &self.is_wanted()).finish_non_exhaustive()
    }
}
