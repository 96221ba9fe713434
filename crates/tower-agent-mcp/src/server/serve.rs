use std::{
    fmt,
    future::{Future, IntoFuture, pending},
    pin::Pin,
    time::Duration,
};

use rmcp::{
    RoleServer, ServerHandler,
    model::{ClientRequest, GetExtensions, JsonRpcMessage},
    service::{
        QuitReason, RunningService, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage,
        serve_server_with_ct,
    },
    transport::{IntoTransport, Transport, async_rw::AsyncRwTransport, stdio_pipes},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::sleep,
};
use tower_agent_core::{CancellationToken, Error, ErrorKind, Str};
use uuid::Uuid;

use super::raw;

/// Serves one connection over the process's standard input and output, with the defaults of [`serve`].
///
/// Nothing else of the process may write to the standard output; logs belong to the standard error. A line of more
/// than 16 MiB is dropped.
///
/// # Errors
/// As for [`serve`].
pub async fn serve_stdio<H: ServerHandler>(handler: H) -> Result<(), Error> {
    let (read, write) = stdio_pipes();
    serve_lines(handler, read, write).await
}

/// Serves one connection over any pair of byte streams that carries a message a line, as [`serve`] does, and hands the arguments of
/// calls on as the client wrote them: key order, digits and all. Only where a key stands twice they are what [`serve`] makes of them.
pub fn serve_lines<H, R, W>(
    handler: H,
    read: R,
    write: W,
) -> Serve<H, impl Transport<RoleServer> + 'static>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let calls = raw::Calls::default();
    let transport = AsyncRwTransport::new_server(raw::Lines::new(read, calls.clone()), write);
    Serve { calls, ..serve(handler, transport) }
}

/// Serves one connection: a pair of a reader and a writer, or any transport of rmcp.
///
/// It ends when the client closes its side. Calls that run then have a [grace](Serve::grace) to finish, after which
/// they are dropped. Dropping it drops the calls at once.
///
/// ```
/// use rmcp::ServiceExt;
/// use tower_agent::{Tool, ToolSet, ToolSpec};
/// use tower_agent_mcp::server::{McpServer, serve};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let now = Tool::raw(ToolSpec::new("now", "Tells the time"), |_| async { "noon" });
/// let server = McpServer::builder(ToolSet::builder().tool(now).build()?).build()?;
///
/// let (ours, theirs) = tokio::io::duplex(4096);
/// let client = async {
///     let client = ().serve(theirs).await?;
///     let tools = client.list_all_tools().await?;
///     client.cancel().await?;
///     Ok::<_, Box<dyn std::error::Error>>(tools)
/// };
/// let (served, tools) = tokio::join!(serve(server, ours), client);
/// served?;
/// assert_eq!(tools?[0].name, "now");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Protocol`](ErrorKind::Protocol) when the client opens with something else than MCP, and
/// [`Unavailable`](ErrorKind::Unavailable) when the connection breaks before that.
pub fn serve<H, T, E, A>(handler: H, transport: T) -> Serve<H, impl Transport<RoleServer> + 'static>
where
    H: ServerHandler,
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    Serve {
        handler,
        transport: transport.into_transport(),
        calls: raw::Calls::default(),
        grace: Duration::from_secs(1),
        shutdown: Box::pin(pending()),
    }
}

/// A connection that is served when it is awaited. See [`serve`].
#[must_use = "nothing is served unless it is awaited"]
pub struct Serve<H, T> {
    handler: H,
    transport: T,
    calls: raw::Calls,
    grace: Duration,
    shutdown: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<H, T> Serve<H, T> {
    /// How long calls may go on after the client closed its side: 1 second by default, 5 seconds at most.
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Ends the connection when a signal comes; calls that run are dropped at once.
    pub fn with_shutdown(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.shutdown = Box::pin(signal);
        self
    }
}

impl<H, T> IntoFuture for Serve<H, T>
where
    H: ServerHandler,
    T: Transport<RoleServer> + 'static,
{
    type Output = Result<(), Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(run(self))
    }
}

async fn run<H, T>(serve: Serve<H, T>) -> Result<(), Error>
where
    H: ServerHandler,
    T: Transport<RoleServer> + 'static,
{
    let (stop, closed) = (CancellationToken::new(), CancellationToken::new());
    let connection = Connection {
        inner: serve.transport,
        calls: serve.calls,
        id: ConnectionId(Uuid::now_v7().to_string().into()),
        closed: closed.clone(),
    };
    let mut shutdown = serve.shutdown;
    let started = tokio::select! {
        started = serve_server_with_ct(serve.handler, connection, stop.clone()) => started,
        () = &mut shutdown => return Ok(()),
    };
    let running = match started {
        Ok(running) => running,
        Err(_) if closed.is_cancelled() => return Ok(()),
        Err(error) => return Err(not_started(error)),
    };
    let end = async {
        tokio::select! {
            () = &mut shutdown => {}
            () = async { closed.cancelled().await; sleep(serve.grace).await } => {}
        }
        stop.cancel();
        pending().await
    };
    tokio::select! {
        quit = finished(running) => quit,
        never = end => never,
    }
}

async fn finished<H: ServerHandler>(running: RunningService<RoleServer, H>) -> Result<(), Error> {
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => {
            Err(Error::new(ErrorKind::Other, "the connection's task broke down").with_source(error))
        }
        Ok(_) => Ok(()),
    }
}

fn not_started(error: ServerInitializeError) -> Error {
    let kind = match error {
        ServerInitializeError::ConnectionClosed(_)
        | ServerInitializeError::TransportError { .. }
        | ServerInitializeError::Cancelled => ErrorKind::Unavailable,
        _ => ErrorKind::Protocol,
    };
    Error::new(kind, "the connection did not open").with_source(error)
}

impl<H, T> fmt::Debug for Serve<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve").field("grace", &self.grace).finish_non_exhaustive()
    }
}

/// Which connection a request came over.
#[derive(Clone)]
pub(crate) struct ConnectionId(pub(crate) Str);

/// A transport that marks what it receives and notes its end.
struct Connection<T> {
    inner: T,
    /// The arguments that were seen on their way in.
    calls: raw::Calls,
    id: ConnectionId,
    closed: CancellationToken,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Connection<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut message = self.inner.receive().await;
        match &mut message {
            Some(JsonRpcMessage::Request(request)) => {
                request.request.extensions_mut().insert(self.id.clone());
                if let ClientRequest::CallToolRequest(call) = &mut request.request
                    && let Some(arguments) = self.calls.take(&request.id)
                {
                    call.extensions.insert(arguments);
                }
            }
            Some(_) => {}
            None => self.closed.cancel(),
        }
        message
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}
