use std::{future::IntoFuture, sync::Arc};

use rmcp::{
    ClientHandler, RoleClient, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
        ProgressNotificationParam, ProtocolVersion,
    },
    service::{
        ClientLifecycleMode, ClientServiceExt, NotificationContext, RunningService, ServiceError,
    },
};
use serde_json::Value;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::JoinSet,
};
use tower_agent::{Error, IntoToolOutput, Tool, ToolCall, ToolOutput, ToolSet, ToolSpec};
use tower_agent_mcp::server::{McpServer, serve as serve_connection};

/// A client that notes what progress it is told of.
pub(crate) struct Listener {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) progress: mpsc::UnboundedSender<ProgressNotificationParam>,
    pub(crate) logs: mpsc::UnboundedSender<String>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(self.capabilities.clone(), Implementation::new("listener", "1"))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.progress.send(params);
    }

    #[expect(deprecated, reason = "older clients ask for log messages")]
    async fn on_logging_message(
        &self,
        params: rmcp::model::LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.logs.send(params.data.as_str().unwrap().to_owned());
    }
}

/// A server and a client that shook hands over a pipe.
pub(crate) struct Pair {
    pub(crate) client: RunningService<RoleClient, Listener>,
    pub(crate) progress: mpsc::UnboundedReceiver<ProgressNotificationParam>,
    pub(crate) logs: mpsc::UnboundedReceiver<String>,
    _server: JoinSet<Result<(), Error>>,
}

impl Pair {
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> CallToolResult {
        self.try_call(name, arguments).await.unwrap()
    }

    pub(crate) async fn try_call(
        &self,
        name: &str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        self.client.call_tool(call(name, arguments)).await
    }

    pub(crate) async fn tools(&self) -> Vec<String> {
        let tools = self.client.list_all_tools().await.unwrap();
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }
}

/// The generations of the protocol.
pub(crate) fn sessions() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

pub(crate) fn stateless() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

pub(crate) async fn connect(server: impl ServerHandler) -> Pair {
    connect_as(server, sessions(), ClientCapabilities::default()).await
}

pub(crate) async fn connect_as(
    server: impl ServerHandler,
    generation: ClientLifecycleMode,
    capabilities: ClientCapabilities,
) -> Pair {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let mut running = JoinSet::new();
    running.spawn(serve_connection(server, ours).into_future());
    let (sender, logs) = mpsc::unbounded_channel();
    let (listener, progress) = listener(capabilities);
    let listener = Listener { logs: sender, ..listener };
    let client = listener.serve_with_lifecycle(theirs, generation).await.unwrap();
    Pair { client, progress, logs, _server: running }
}

pub(crate) fn listener(
    capabilities: ClientCapabilities,
) -> (Listener, mpsc::UnboundedReceiver<ProgressNotificationParam>) {
    let (sender, progress) = mpsc::unbounded_channel();
    (Listener { capabilities, progress: sender, logs: mpsc::unbounded_channel().0 }, progress)
}

/// A tool of a closure over the call.
pub(crate) fn tool<F, Fut>(name: &str, function: F) -> ToolSet
where
    F: Fn(ToolCall) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output: IntoToolOutput> + Send + 'static,
{
    let tool = Tool::raw(ToolSpec::new(name, "A tool of a test"), function);
    ToolSet::builder().tool(tool).build().unwrap()
}

/// A tool that answers the same each time.
pub(crate) fn fixed(name: &str, output: ToolOutput) -> ToolSet {
    tool(name, move |_| {
        let output = output.clone();
        async move { output }
    })
}

pub(crate) fn serve(tools: ToolSet) -> McpServer {
    McpServer::builder(tools).build().unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "a call reads best with its arguments in place")]
pub(crate) fn call(name: &str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().unwrap().clone();
    CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)
}

pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content.first().unwrap().as_text().unwrap().text
}

/// A tool that never answers, and what becomes of it.
pub(crate) struct Stuck {
    pub(crate) tools: ToolSet,
    pub(crate) started: Arc<Notify>,
    pub(crate) ended: oneshot::Receiver<Ended>,
}

/// How a call looked when it was dropped.
#[derive(Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) was_cancelled: bool,
}

pub(crate) fn stuck() -> Stuck {
    struct OnDrop(ToolCall, Option<oneshot::Sender<Ended>>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            let was_cancelled = self.0.ctx.cancellation().is_cancelled();
            let _ = self.1.take().unwrap().send(Ended { was_cancelled });
        }
    }

    let (sender, ended) = oneshot::channel();
    let (started, sender) =
        (Arc::new(Notify::new()), Arc::new(std::sync::Mutex::new(Some(sender))));
    let starts = Arc::clone(&started);
    let tools = tool("stuck", move |call| {
        let guard = OnDrop(call, sender.lock().unwrap().take());
        starts.notify_one();
        async move {
            let _guard = guard;
            std::future::pending::<&str>().await
        }
    });
    Stuck { tools, started, ended }
}
