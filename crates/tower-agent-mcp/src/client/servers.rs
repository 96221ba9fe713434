use std::{
    collections::HashSet,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{self, Poll},
};

use futures_util::future::select_all;
use tower_agent_core::{Error, ErrorKind, Str, ToolCall, ToolOutput, Tools};
use tower_service::Service;

use super::{McpClient, ResponseFuture, names::Names};

/// The tools of several servers as one service.
///
/// A tool keeps its name unless another server has one of the same name, or the name is [reserved](Self::reserve): then each
/// of them is called by its server's name and its own, such as `files__read`. Names that model providers refuse, which take up to
/// 64 letters, digits, `_` and `-`, are cut and written with `_` in the place of other characters, and end with eight digits
/// made of the server's and the tool's whole names: the same in every run, and no two alike. Which names there are is decided
/// anew whenever a list changes; a name that became ambiguous is answered with a failure that says what to call instead.
///
/// ```no_run
/// use tower_agent::ToolSet;
/// use tower_agent_mcp::client::{Child, Http, McpClient, Servers};
///
/// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
/// let files = McpClient::builder("files", Child::new("mcp-server-files")).connect().await?;
/// let wiki = McpClient::builder("wiki", Http::new("https://wiki.example.com/mcp")).connect().await?;
/// let servers = Servers::new([files, wiki])?;
/// let tools = ToolSet::from_service(servers.tools(), servers)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Servers {
    clients: Arc<[McpClient]>,
    reserved: Arc<HashSet<Str>>,
    /// What was made of the lists that were looked at last.
    made: Arc<Mutex<Option<(Vec<Tools>, Arc<Names>)>>>,
}

impl Servers {
    /// The tools of these servers.
    ///
    /// # Errors
    /// When two clients have the same name.
    pub fn new(clients: impl IntoIterator<Item = McpClient>) -> Result<Self, Error> {
        let clients: Arc<[McpClient]> = clients.into_iter().collect();
        let mut names = HashSet::new();
        if let Some(twice) = clients.iter().find(|client| !names.insert(client.name())) {
            let what = format!("two servers are named `{}`", twice.name());
            return Err(super::fault::error(ErrorKind::Other, what));
        }
        Ok(Self { clients, reserved: Arc::default(), made: Arc::default() })
    }

    /// Keeps names free that tools elsewhere have.
    #[must_use]
    pub fn reserve(mut self, names: impl IntoIterator<Item = impl Into<Str>>) -> Self {
        Arc::make_mut(&mut self.reserved).extend(names.into_iter().map(Into::into));
        self.made = Arc::default();
        self
    }

    /// The clients, in the order in which they were given.
    #[must_use]
    pub fn clients(&self) -> &[McpClient] {
        &self.clients
    }

    /// The tools as they are now, by the names that they are called by here.
    #[must_use]
    pub fn tools(&self) -> Tools {
        self.names().tools.clone()
    }

    /// Waits until the tools are others than these, and returns them.
    pub async fn changed(&self, seen: &Tools) -> Tools {
        let mut changes: Vec<_> = self.clients.iter().map(McpClient::changes).collect();
        loop {
            let now = self.tools();
            if now != *seen {
                return now;
            }
            if changes.is_empty() {
                std::future::pending::<()>().await;
            }
            // The clients hold the other ends, so each wait ends with a change.
            drop(select_all(changes.iter_mut().map(|change| Box::pin(change.changed()))).await);
        }
    }

    fn names(&self) -> Arc<Names> {
        let lists: Vec<_> = self.clients.iter().map(McpClient::tools).collect();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((seen, names)) = &*made
            && seen.iter().zip(&lists).all(|(seen, list)| seen.ptr_eq(list))
        {
            return Arc::clone(names);
        }
        let names = Arc::new(Names::new(&self.clients, &lists, &self.reserved));
        *made = Some((lists, Arc::clone(&names)));
        names
    }
}

impl Service<ToolCall> for Servers {
    type Response = ToolOutput;
    type Error = Error;
    type Future = ServersFuture;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut call: ToolCall) -> ServersFuture {
        let names = self.names();
        let route = names.routes.get(&call.name);
        let Some((client, own)) = route.and_then(|(at, own)| Some((self.clients.get(*at)?, own)))
        else {
            return ServersFuture(State::Answered(Some(Box::new(names.unknown(&call)))));
        };
        call.name = own.clone();
        ServersFuture(State::Running(client.clone().call(call)))
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").field("clients", &self.clients).finish_non_exhaustive()
    }
}

/// What the tool of one of several servers will answer.
pub struct ServersFuture(State);

enum State {
    Running(ResponseFuture),
    Answered(Option<Box<ToolOutput>>),
}

impl Future for ServersFuture {
    type Output = Result<ToolOutput, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Running(future) => Pin::new(future).poll(cx),
            State::Answered(output) => {
                Poll::Ready(Ok(output.take().map(|output| *output).unwrap_or_default()))
            }
        }
    }
}

impl fmt::Debug for ServersFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServersFuture")
    }
}
