//! Starts the program and talks to it.

use std::{
    process::{ExitStatus, Stdio},
    time::Duration,
};

use reqwest::{Client, Response};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The program, which ends with its test.
pub(crate) struct Server {
    child: Child,
    addr: String,
    client: Client,
}

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_axum-agent"));
    command.args(args).env("RUST_LOG", "off").env_remove("OPENAI_API_KEY").kill_on_drop(true);
    command
}

impl Server {
    /// Starts it on a free port and waits until it says that it listens.
    pub(crate) async fn start(args: &[&str]) -> Self {
        let args = [&["--addr", "127.0.0.1:0"], args].concat();
        let mut child = program(&args).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        let addr = line.strip_prefix("listening on http://").unwrap().to_owned();
        // With https compiled in, reqwest wants a crypto provider for plain HTTP, too.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { child, addr, client }
    }

    pub(crate) fn addr(&self) -> &str {
        &self.addr
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.client.get(format!("http://{}{path}", self.addr)).send().await.unwrap()
    }

    /// Asks under a name of the server's that is not its own.
    pub(crate) async fn get_as(&self, host: &str, path: &str) -> Response {
        let request = self.client.get(format!("http://{}{path}", self.addr));
        request.header("host", host).send().await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: String) -> Response {
        let request = self.client.post(format!("http://{}{path}", self.addr));
        request.header("content-type", "application/json").body(body).send().await.unwrap()
    }

    /// Starts a run and reads its events to the end.
    pub(crate) async fn run(&self, body: Value) -> Vec<Value> {
        let answer = self.post("/v1/runs", body.to_string()).await;
        assert_eq!(answer.status(), 200);
        let text = answer.text().await.unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    #[cfg(unix)]
    pub(crate) async fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().await.unwrap();
        assert!(sent.success());
    }

    pub(crate) async fn ended(&mut self) -> ExitStatus {
        timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap()
    }
}

/// Runs it where it cannot start; its code and what it says.
pub(crate) async fn failure(args: &[&str]) -> (Option<i32>, String) {
    let output = timeout(PATIENCE, program(args).output()).await.unwrap().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}
