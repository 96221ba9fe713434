use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};

use tokio::{
    sync::{broadcast, watch},
    task::JoinSet,
};
use tower_agent_core::{Error, Json, Str, ToolCall, ToolOutput, Tools};
use tower_service::Service;

use super::{
    Builder, Endpoint, ServerEvent, Snapshot, Status, call, level,
    session::{self, Session},
    shared::Shared,
};

/// A connection to an MCP server, and the service that its tools are called by.
///
/// Clones share the connection. It ends, and a child process with it, when the last of them is dropped and no call
/// is open.
#[derive(Clone)]
pub struct McpClient {
    shared: Arc<Shared>,
    _keeper: Arc<JoinSet<()>>,
}

impl McpClient {
    /// Starts a client of a server. The name is what this program calls the server: in origins, in prefixes and in its
    /// logs.
    pub fn builder(name: impl Into<Str>, endpoint: impl Into<Endpoint>) -> Builder {
        Builder::new(name.into(), endpoint.into())
    }

    /// Owns a clone, which keeps the connection as long as the call is open.
    async fn run(self, call: ToolCall) -> Result<ToolOutput, Error> {
        call::run(&self.shared, call).await
    }

    pub(crate) async fn open(shared: Shared) -> Result<Self, Error> {
        let session = Session::open(&shared).await?;
        let shared = Arc::new(shared);
        let mut keeper = JoinSet::new();
        keeper.spawn(session::keep(Arc::clone(&shared), session));
        Ok(Self { shared, _keeper: Arc::new(keeper) })
    }

    /// What this program calls the server.
    #[must_use]
    pub fn name(&self) -> &Str {
        &self.shared.name
    }

    /// The server's tools, as they were last seen. They stay while the server is away; calls are then answered with an
    /// error.
    #[must_use]
    pub fn tools(&self) -> Tools {
        self.shared.snapshot().tools
    }

    /// The server as it is now: its tools, those kept out, and whether it can be called.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.shared.snapshot()
    }

    /// Tells of each change of the [`snapshot`](Self::snapshot), and always holds the latest.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Snapshot> {
        self.shared.changes()
    }

    /// What the server says beside its results, from now on. A reader that is more than 256 events behind loses the oldest
    /// and is told how many.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<ServerEvent> {
        self.shared.events.subscribe()
    }

    /// Asks for the list of tools to be read again. The client does that by itself when the server says that the list
    /// changed, which not every server does.
    ///
    /// # Errors
    /// When there is no connection.
    pub fn refresh(&self) -> Result<(), Error> {
        self.shared.link()?.wire.changed.notify_one();
        Ok(())
    }

    /// Sends a request of any method, such as `tasks/get`, and returns the result as the server sent it. Time-outs are those of a
    /// call.
    ///
    /// # Errors
    /// When the parameters are no JSON object; when there is no connection, the server answers with an error, or not in time.
    pub async fn request(
        &self,
        method: impl Into<String>,
        params: impl Into<Json>,
    ) -> Result<Json, Error> {
        call::ask(&self.shared, method.into(), &params.into()).await
    }

    /// Asks the server to log from a level on, now and whenever it is connected again. A server of 2026-07-28 is told with each
    /// call: see [`OnLog::from_level`](super::OnLog::from_level).
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time. It is told again with the next connection.
    #[expect(deprecated, reason = "servers of before 2026-07-28 are told once")]
    pub async fn set_log_level(&self, level: rmcp::model::LoggingLevel) -> Result<(), Error> {
        self.shared.set_level(level);
        match (self.shared.link(), self.shared.snapshot().server) {
            (Ok(link), Some(server)) => level::tell(&self.shared, &link, &server, level).await,
            _ => Ok(()),
        }
    }

    /// Ends the connection and waits until the server is told. Calls that are open are answered with an error, later
    /// ones too.
    pub async fn close(&self) {
        self.shared.stop.cancel();
        let mut changes = self.shared.changes();
        // The state cannot go away before this does.
        let closed = changes.wait_for(|state| matches!(state.status, Status::Closed { .. })).await;
        drop(closed);
    }
}

impl Service<ToolCall> for McpClient {
    type Response = ToolOutput;
    type Error = Error;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> ResponseFuture {
        ResponseFuture(Box::pin(self.clone().run(call)))
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("name", &self.shared.name)
            .field("endpoint", &self.shared.endpoint)
            .field("status", &self.shared.snapshot().status)
            .finish_non_exhaustive()
    }
}

/// What a server's tool will answer. Dropped before, it tells the server that the call is cancelled.
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Result<ToolOutput, Error>> + Send>>);

impl Future for ResponseFuture {
    type Output = Result<ToolOutput, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}
