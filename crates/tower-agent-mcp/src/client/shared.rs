//! What the clones of a client and its keeper share.
#![expect(deprecated, reason = "servers of before 2026-07-28 are told a level of logging")]

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::LoggingLevel;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tower_agent_core::{Error, Str, Tools};

use super::{
    Endpoint, Refused, ServerEvent, ServerInfo, Snapshot, Status,
    exchange::{Link, Patience},
    fault,
    options::Options,
};
use crate::pins::Pins;

/// How many events may wait for a reader before the oldest are lost to it.
const EVENTS: usize = 256;

pub(crate) struct Shared {
    pub(crate) name: Str,
    pub(crate) endpoint: Endpoint,
    pub(crate) options: Options,
    pub(crate) pins: Option<Pins>,
    pub(crate) events: broadcast::Sender<ServerEvent>,
    pub(crate) stop: CancellationToken,
    state: watch::Sender<Snapshot>,
    link: Mutex<Option<Link>>,
    level: Mutex<Option<LoggingLevel>>,
}

impl Shared {
    pub(crate) fn new(name: Str, endpoint: Endpoint, options: Options, pins: Option<Pins>) -> Self {
        Self {
            name,
            endpoint,
            options,
            pins,
            events: broadcast::channel(EVENTS).0,
            stop: CancellationToken::new(),
            state: watch::Sender::default(),
            link: Mutex::default(),
            level: Mutex::default(),
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.state.borrow().clone()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<Snapshot> {
        self.state.subscribe()
    }

    /// The connection, or why there is none.
    pub(crate) fn link(&self) -> Result<Link, Error> {
        let link = self.link.lock().unwrap_or_else(PoisonError::into_inner).clone();
        link.filter(|link| !link.wire.closed.is_cancelled()).ok_or_else(|| {
            let state = self.state.borrow();
            let reason = match &state.status {
                Status::Unavailable { reason } | Status::Closed { reason } => reason.as_str(),
                Status::Connecting | Status::Connected => "the connection was just lost",
            };
            fault::away(&self.name, reason)
        })
    }

    /// From which level on the server was asked to log.
    pub(crate) fn level(&self) -> Option<LoggingLevel> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_level(&self, level: LoggingLevel) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    pub(crate) fn patience(&self, deadline: Option<std::time::Instant>) -> Patience {
        Patience { idle: self.options.idle, total: self.options.total, deadline }
    }

    pub(crate) fn publish(
        &self,
        link: &Link,
        server: &Arc<ServerInfo>,
        tools: Tools,
        refused: Vec<Refused>,
    ) {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Some(link.clone());
        self.set(|state| {
            // An equal list keeps its handle, by which readers tell that nothing changed.
            if state.tools != tools {
                state.tools = tools;
            }
            if *state.refused != *refused {
                state.refused = refused.into();
            }
            state.status = Status::Connected;
            state.server = Some(Arc::clone(server));
        });
    }

    pub(crate) fn lose(&self, reason: Str) {
        self.end(Status::Unavailable { reason });
    }

    pub(crate) fn close(&self, reason: &str) {
        self.end(Status::Closed { reason: reason.into() });
    }

    fn end(&self, status: Status) {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.set(|state| state.status = status);
    }

    fn set(&self, edit: impl FnOnce(&mut Snapshot)) {
        let changed = self.state.send_if_modified(|state| {
            let before = state.clone();
            edit(state);
            *state != before
        });
        if changed {
            // Nobody needs to listen.
            drop(self.events.send(ServerEvent::Changed(Box::new(self.snapshot()))));
        }
    }
}
