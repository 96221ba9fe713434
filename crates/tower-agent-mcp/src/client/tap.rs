//! What passes on a connection, seen in its order. The library hands each notification to a task of its own.

use std::borrow::Cow;

use rmcp::{
    RoleClient,
    model::{
        ClientJsonRpcMessage, ProgressNotificationParam, ServerJsonRpcMessage, ServerNotification,
    },
    transport::Transport,
};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

use super::{
    events::{Log, ServerEvent},
    open::OpenCalls,
    raw::Raw,
};

/// How many reports of progress may wait for the calls to look at them.
const SIGNALS: usize = 256;

/// What calls and the keeper of a connection learn from it.
pub(crate) struct Wire {
    /// Every report of progress, of all calls.
    pub(crate) progress: broadcast::Sender<ProgressNotificationParam>,
    /// The server said that its tools changed, or a call could not reach it: the list is to be read again.
    pub(crate) changed: Notify,
    /// The server sends nothing any more.
    pub(crate) closed: CancellationToken,
    pub(crate) calls: OpenCalls,
    events: broadcast::Sender<ServerEvent>,
}

impl Wire {
    pub(crate) fn new(events: broadcast::Sender<ServerEvent>) -> Self {
        Self {
            progress: broadcast::channel(SIGNALS).0,
            changed: Notify::new(),
            closed: CancellationToken::new(),
            calls: OpenCalls::default(),
            events,
        }
    }

    fn see(&self, notification: &ServerNotification) {
        match notification {
            ServerNotification::ProgressNotification(progress) => {
                // Without a call in flight nobody listens.
                drop(self.progress.send(progress.params.clone()));
            }
            ServerNotification::LoggingMessageNotification(log) => {
                let mut log = Log::new(&log.params);
                log.is_heard = self.calls.log(&log);
                drop(self.events.send(ServerEvent::Log(log)));
            }
            ServerNotification::ToolListChangedNotification(_) => self.changed.notify_one(),
            _ => {}
        }
    }
}

/// A transport whose messages a [`Wire`] sees.
pub(crate) struct Tap<T> {
    pub(crate) inner: T,
    pub(crate) wire: std::sync::Arc<Wire>,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let ClientJsonRpcMessage::Request(request) = &item
            && let Some(key) = Raw::of(&request.request).and_then(|raw| raw.call)
        {
            self.wire.calls.sent(key, &request.id);
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = self.inner.receive().await;
        match &message {
            None => self.wire.closed.cancel(),
            Some(ServerJsonRpcMessage::Notification(message)) => {
                self.wire.see(&message.notification);
            }
            Some(_) => {}
        }
        message
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.wire.closed.cancel();
        self.inner.close().await
    }
}

/// However the connection ends, its calls must learn of it.
impl<T> Drop for Tap<T> {
    fn drop(&mut self) {
        self.wire.closed.cancel();
    }
}
