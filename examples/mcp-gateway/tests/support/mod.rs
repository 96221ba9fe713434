//! Starts the program with a configuration and talks to it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

#[expect(deprecated, reason = "older servers ask for it")]
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ListRootsResult,
    LoggingMessageNotificationParam, Root, SamplingMessage,
};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
        ElicitRequestParams, ElicitResult, ElicitationAction, Implementation,
        ProgressNotificationParam, ProtocolVersion,
    },
    service::{NotificationContext, RequestContext, RunningService},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::{Child, ChildStderr, Command},
    sync::Notify,
    time::timeout,
};

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What `GATEWAY_TOKEN` holds.
pub(crate) const TOKEN: &str = "a token for tests";

/// What the user of a [`Listener`] writes into a form: a secret, which is no real one.
pub(crate) const ANSWER: &str = "ghp_f6E5d4C3b2A1f6E5d4C3b2A1f6E5d4C3b2A1";

/// The generations of the protocol.
pub(crate) fn sessions() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

pub(crate) fn stateless() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

/// A folder with a configuration in it.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new(config: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("gateway.toml", config);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Replaces a file in one step, as editors do. `DEMO` in it is the path of the demo server.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let text = text.replace("DEMO", env!("CARGO_BIN_EXE_demo-server"));
        std::fs::write(self.path("new"), text).unwrap();
        std::fs::rename(self.path("new"), self.path(name)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-gateway"));
        command.arg("--config").arg(self.path("gateway.toml")).args(args);
        command.env_remove("RUST_LOG").env("GATEWAY_TOKEN", TOKEN).kill_on_drop(true);
        command
    }

    /// Runs it to its end: its code, what it prints, and what it says on standard error.
    pub(crate) async fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let mut command = self.command(args);
        let output = command.stdin(Stdio::null()).output();
        let output = timeout(PATIENCE, output).await.unwrap().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

/// A client that notices when the list of tools changes, how far calls are, and what servers log and ask.
#[derive(Clone, Default)]
pub(crate) struct Listener {
    pub(crate) changed: Arc<Notify>,
    pub(crate) progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    pub(crate) capabilities: ClientCapabilities,
    /// What servers log, as level, logger and data.
    pub(crate) logs: Arc<Mutex<Vec<(String, String, Value)>>>,
    /// What servers ask.
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
    /// Whether it answers.
    pub(crate) is_silent: bool,
    /// Hears of questions that are taken back.
    pub(crate) taken_back: Arc<Notify>,
}

impl Listener {
    /// One that takes these questions.
    pub(crate) fn who_takes(capabilities: Value) -> Self {
        Self { capabilities: serde_json::from_value(capabilities).unwrap(), ..Self::default() }
    }

    pub(crate) fn logged(&self) -> Vec<(String, String, Value)> {
        self.logs.lock().unwrap().clone()
    }

    /// Waits until so many lines were logged.
    pub(crate) async fn hears(&self, lines: usize) -> Vec<(String, String, Value)> {
        let all = async {
            while self.logged().len() < lines {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        assert!(timeout(PATIENCE, all).await.is_ok(), "{:?}", self.logged());
        self.logged()
    }

    async fn note(&self, question: Value, context: &RequestContext<RoleClient>) {
        self.asked.lock().unwrap().push(question);
        if self.is_silent {
            context.ct.cancelled().await;
            self.taken_back.notify_one();
        }
    }
}

#[expect(deprecated, reason = "older servers ask for it")]
impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(self.capabilities.clone(), Implementation::new("listener", "1"))
    }

    async fn on_logging_message(
        &self,
        log: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let level = serde_json::to_value(log.level).unwrap().as_str().unwrap().to_owned();
        self.logs.lock().unwrap().push((level, log.logger.unwrap_or_default(), log.data));
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.note(serde_json::to_value(request).unwrap(), &context).await;
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"yours": ANSWER})))
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.note(serde_json::to_value(request).unwrap(), &context).await;
        let message = SamplingMessage::assistant_text("a token");
        Ok(CreateMessageResult::new(message, "model".to_owned()))
    }

    async fn list_roots(
        &self,
        context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.note(json!("roots"), &context).await;
        Ok(ListRootsResult::new(vec![Root::new("file:///here")]))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(report);
    }
}

/// The program over its standard streams, which ends with its test.
pub(crate) struct Gateway {
    pub(crate) client: RunningService<RoleClient, Listener>,
    pub(crate) child: Child,
    pub(crate) changed: Arc<Notify>,
    pub(crate) progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    pub(crate) stderr: BufReader<ChildStderr>,
}

impl Gateway {
    pub(crate) async fn start(folder: &Folder) -> Self {
        Self::start_for(folder, Listener::default(), sessions()).await
    }

    pub(crate) async fn start_for(
        folder: &Folder,
        listener: Listener,
        generation: ClientLifecycleMode,
    ) -> Self {
        let mut command = folder.command(&[]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let Listener { changed, progress, .. } = listener.clone();
        let serving = listener.serve_with_lifecycle(streams, generation);
        let client = timeout(PATIENCE, serving).await.unwrap().unwrap();
        Self { client, child, changed, progress, stderr }
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let tools = timeout(PATIENCE, self.client.list_all_tools()).await.unwrap().unwrap();
        tools.into_iter().map(|tool| tool.name.to_string()).collect()
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> CallToolResult {
        timeout(PATIENCE, self.client.call_tool(call(name, arguments))).await.unwrap().unwrap()
    }

    /// Waits until a line on standard error has a text in it.
    pub(crate) async fn says(&mut self, text: &str) -> String {
        let mut said = String::new();
        let read = async {
            while !said.contains(text) {
                assert!(self.stderr.read_line(&mut said).await.unwrap() > 0, "{said}");
            }
        };
        assert!(timeout(PATIENCE, read).await.is_ok(), "{said}");
        said
    }

    /// Closes its input and waits for its end: its code and the rest of what it says.
    pub(crate) async fn end(mut self) -> (Option<i32>, String) {
        self.client.cancel().await.unwrap();
        let mut rest = String::new();
        let end = async {
            self.stderr.read_to_string(&mut rest).await.unwrap();
            self.child.wait().await.unwrap()
        };
        let status = timeout(PATIENCE, end).await.unwrap();
        (status.code(), rest)
    }
}

pub(crate) fn call(name: &str, mut arguments: Value) -> CallToolRequestParams {
    let mut call = CallToolRequestParams::new(name.to_owned());
    call.arguments = arguments.as_object_mut().map(std::mem::take);
    call
}

/// The text of a result.
pub(crate) fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    texts.map(|block| block.text.clone()).collect()
}

/// Waits until a file is there.
pub(crate) async fn appears(path: &Path) {
    let look = async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(timeout(PATIENCE, look).await.is_ok(), "{}", path.display());
}
