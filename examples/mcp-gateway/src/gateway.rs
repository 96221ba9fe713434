//! What clients talk to: the same server for them, whatever is swapped behind it.
#![expect(deprecated, reason = "log messages are gone from later versions of the protocol")]

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, ListToolsResult, LoggingLevel,
        LoggingMessageNotificationParam, PaginatedRequestParams, ServerConfig,
        SetLevelRequestParams, SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio::{sync::watch, time::timeout};
use tower_agent::ToolSet;
use tower_agent_mcp::{
    client::McpClient,
    server::{BuildError, LogLevel, McpServer},
};

use crate::listeners::Listeners;

/// How long a client that does not read is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most calls at a time; the limits of the configuration are what usually holds.
const MAX_CALLS: usize = 4096;

/// A server whose tools can be replaced. Clones are the same server, each for another session.
#[derive(Clone, Debug)]
pub(crate) struct Gateway {
    inner: Arc<Inner>,
    /// What the client of this session wants to hear of.
    level: LogLevel,
}

#[derive(Debug)]
struct Inner {
    server: ArcSwap<McpServer>,
    /// Clients of the older protocol, who are told of changes without having asked.
    listeners: Listeners,
    /// Counts changes, for those who asked.
    changes: watch::Sender<u64>,
    /// The servers whose logs are passed on, and whether a client ever said what it wants of them.
    voices: Mutex<(Vec<McpClient>, bool)>,
}

impl Gateway {
    pub(crate) fn new(tools: ToolSet) -> Result<Self, BuildError> {
        let server = ArcSwap::from_pointee(server(tools)?);
        let inner = Inner {
            server,
            listeners: Listeners::default(),
            changes: watch::Sender::default(),
            voices: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner), level: LogLevel::default() })
    }

    /// The servers that are told how much to log.
    pub(crate) fn hear(&self, voices: Vec<McpClient>) {
        self.inner.voices.lock().unwrap_or_else(PoisonError::into_inner).0 = voices;
    }

    /// Tells a server how much to log, if a client ever said what it wants.
    pub(crate) async fn tell_level(&self, voice: &McpClient) {
        let is_wanted = self.inner.voices.lock().unwrap_or_else(PoisonError::into_inner).1;
        if let Some(level) = self.inner.listeners.level().filter(|_| is_wanted) {
            tell_level(voice, level).await;
        }
    }

    /// Passes on what a server logs outside of calls.
    pub(crate) async fn tell(&self, message: &LoggingMessageNotificationParam) {
        self.inner.listeners.tell(message).await;
    }

    /// Serves other tools from now on. Calls that run go on where they are.
    pub(crate) fn replace(&self, tools: ToolSet) -> Result<(), BuildError> {
        self.inner.server.store(Arc::new(server(tools)?));
        Ok(())
    }

    /// Tells all clients that the list of tools is another one.
    pub(crate) async fn announce(&self) {
        self.inner.changes.send_modify(|count| *count += 1);
        let listeners = self.inner.listeners.all();
        let telling = listeners
            .iter()
            .map(|listener| timeout(PATIENCE, listener.peer.notify_tool_list_changed()));
        for told in join_all(telling).await {
            if !matches!(told, Ok(Ok(()))) {
                tracing::debug!(?told, "a client was not told of other tools");
            }
        }
    }

    fn server(&self) -> Arc<McpServer> {
        self.inner.server.load_full()
    }
}

async fn tell_level(voice: &McpClient, level: LoggingLevel) {
    let server = voice.name();
    match timeout(PATIENCE, voice.set_log_level(level)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%server, %error, "a server does not log as wished"),
        Err(_) => tracing::warn!(%server, "a server was not told in time how much to log"),
    }
}

fn server(tools: ToolSet) -> Result<McpServer, BuildError> {
    McpServer::builder(tools)
        .name("mcp-gateway", env!("CARGO_PKG_VERSION"))
        .info(|info| {
            info.capabilities.tools.get_or_insert_default().list_changed = Some(true);
        })
        .logging()
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
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.level.mark(&mut context);
        self.server().call_tool(request, context).await
    }

    /// Servers log as much as the most curious client wants to hear.
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.level.set(request.level);
        let voices = {
            let mut voices = self.inner.voices.lock().unwrap_or_else(PoisonError::into_inner);
            voices.1 = true;
            voices.0.clone()
        };
        let others = self.inner.listeners.level();
        let level = others.filter(|other| (*other as u8) < request.level as u8);
        let level = level.unwrap_or(request.level);
        join_all(voices.iter().map(|voice| tell_level(voice, level))).await;
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.inner.listeners.add(context.peer, self.level.share());
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.inner.changes.subscribe();
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
