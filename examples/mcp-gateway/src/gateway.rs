//! What clients talk to: the same server for them, whatever is swapped behind it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams,
        ServerConfig, SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio::{sync::watch, time::timeout};
use tower_agent::ToolSet;
use tower_agent_mcp::server::{BuildError, McpServer};

/// How long a client that does not read is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most calls at a time; the limits of the configuration are what usually holds.
const MAX_CALLS: usize = 4096;

/// A server whose tools can be replaced. Clones are the same server.
#[derive(Clone, Debug)]
pub(crate) struct Gateway(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    server: ArcSwap<McpServer>,
    /// Clients of the older protocol, who are told of changes without having asked.
    peers: Mutex<Vec<Peer<RoleServer>>>,
    /// Counts changes, for those who asked.
    changes: watch::Sender<u64>,
}

impl Gateway {
    pub(crate) fn new(tools: ToolSet) -> Result<Self, BuildError> {
        let server = ArcSwap::from_pointee(server(tools)?);
        let (peers, changes) = (Mutex::default(), watch::Sender::default());
        Ok(Self(Arc::new(Inner { server, peers, changes })))
    }

    /// Serves other tools from now on. Calls that run go on where they are.
    pub(crate) fn replace(&self, tools: ToolSet) -> Result<(), BuildError> {
        self.0.server.store(Arc::new(server(tools)?));
        Ok(())
    }

    /// Tells all clients that the list of tools is another one.
    pub(crate) async fn announce(&self) {
        self.0.changes.send_modify(|count| *count += 1);
        let peers = self.peers();
        let telling = peers.iter().map(|peer| timeout(PATIENCE, peer.notify_tool_list_changed()));
        for told in join_all(telling).await {
            if !matches!(told, Ok(Ok(()))) {
                tracing::debug!(?told, "a client was not told of other tools");
            }
        }
    }

    fn peers(&self) -> Vec<Peer<RoleServer>> {
        let mut peers = self.0.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.clone()
    }

    fn server(&self) -> Arc<McpServer> {
        self.0.server.load_full()
    }
}

fn server(tools: ToolSet) -> Result<McpServer, BuildError> {
    McpServer::builder(tools)
        .name("mcp-gateway", env!("CARGO_PKG_VERSION"))
        .info(|info| {
            info.capabilities.tools.get_or_insert_default().list_changed = Some(true);
        })
        .max_calls(MAX_CALLS)
        .build()
}

impl ServerHandler for Gateway {
    fn get_info(&self) -> ServerConfig {
        self.server().get_info()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.server().list_tools(request, context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server().get_tool(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.server().call_tool(request, context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut peers = self.0.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.push(context.peer);
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.0.changes.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed() => if changed.is_err() { return Ok(()) },
            }
            if let Err(error) = context.sink().notify_tool_list_changed().await {
                tracing::debug!(%error, "a client was not told of other tools");
                return Ok(());
            }
        }
    }
}
