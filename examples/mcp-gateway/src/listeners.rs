//! The clients that hear what servers log outside of calls: those of the older protocol, whose sessions last.
#![expect(deprecated, reason = "log messages are gone from later versions of the protocol")]

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use rmcp::{
    Peer, RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam},
};
use tokio::time::timeout;
use tower_agent_mcp::server::SharedLogLevel;

/// How long a line may take to be handed to a client. One that takes longer gets no more, so that it keeps no other waiting.
const PATIENCE: Duration = Duration::from_secs(1);

/// A client that said hello.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) peer: Peer<RoleServer>,
    level: SharedLogLevel,
    is_deaf: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
pub(crate) struct Listeners(Mutex<Vec<Listener>>);

impl Listeners {
    pub(crate) fn add(&self, peer: Peer<RoleServer>, level: SharedLogLevel) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|listener| !listener.peer.is_transport_closed());
        all.push(Listener { peer, level, is_deaf: Arc::default() });
    }

    /// Those who are still there.
    pub(crate) fn all(&self) -> Vec<Listener> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|listener| !listener.peer.is_transport_closed());
        all.clone()
    }

    /// From which level on somebody wants to hear anything.
    pub(crate) fn level(&self) -> Option<LoggingLevel> {
        self.all().iter().map(|listener| listener.level.get()).min_by_key(|level| *level as u8)
    }

    /// Tells a line to all who want to hear it.
    pub(crate) async fn tell(&self, message: &LoggingMessageNotificationParam) {
        let all = self.all();
        let wants = |listener: &&Listener| {
            listener.level.wants(message.level) && !listener.is_deaf.load(Ordering::Relaxed)
        };
        let telling = all.iter().filter(wants).map(|listener| async {
            let told = listener.peer.notify_logging_message(message.clone());
            if timeout(PATIENCE, told).await.is_err() {
                tracing::warn!("a client does not take what servers log; it gets no more of it");
                listener.is_deaf.store(true, Ordering::Relaxed);
            }
        });
        join_all(telling).await;
    }
}
