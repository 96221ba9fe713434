//! A server that says exactly what a test lets it say.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod real;

use std::io;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split},
    sync::mpsc,
};
use tower_agent_mcp::client::{Builder, McpClient, Streams};

/// Each connection that the client opens comes out of the receiver.
pub(crate) type Doorway = mpsc::UnboundedReceiver<Server>;

pub(crate) fn door() -> (Streams, Doorway) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let streams = Streams::new(move || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let open = sender.send(Server::new(theirs)).is_ok();
        async move {
            if open {
                Ok(split(ours))
            } else {
                Err(io::Error::from(io::ErrorKind::ConnectionRefused))
            }
        }
    });
    (streams, receiver)
}

pub(crate) struct Server {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Server {
    fn new(stream: DuplexStream) -> Self {
        let (read, write) = split(stream);
        Self { lines: BufReader::new(read).lines(), write }
    }

    /// The next message of the client, as text.
    pub(crate) async fn text(&mut self) -> String {
        self.lines.next_line().await.unwrap().expect("the client hung up")
    }

    /// The next message of the client.
    pub(crate) async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.text().await).unwrap()
    }

    /// The next message, which must have this method.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let message = self.hear().await;
        assert_eq!(message.get("method").unwrap(), method, "{message}");
        message
    }

    pub(crate) async fn say(&mut self, text: &str) {
        self.write.write_all(format!("{text}\n").as_bytes()).await.unwrap();
        self.write.flush().await.unwrap();
    }

    pub(crate) async fn answer(&mut self, to: &Value, result: Value) {
        self.answer_text(to, &result.to_string()).await;
    }

    pub(crate) async fn answer_text(&mut self, to: &Value, result: &str) {
        let id = to.get("id").unwrap();
        self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
    }

    pub(crate) async fn refuse(&mut self, to: &Value, code: i32, message: &str) {
        let id = to.get("id").unwrap();
        let error = json!({"code": code, "message": message});
        self.say(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }

    /// Reports progress of a call.
    pub(crate) async fn progress(&mut self, call: &Value, progress: f64) {
        let token = call.pointer("/params/_meta/progressToken").unwrap();
        self.notify(
            "notifications/progress",
            json!({"progressToken": token, "progress": progress}),
        )
        .await;
    }

    /// Greets as a server of 2025-11-25.
    pub(crate) async fn greet(&mut self) {
        let discover = self.expect("server/discover").await;
        self.refuse(&discover, -32601, "Method not found").await;
        let initialize = self.expect("initialize").await;
        let result = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "fake", "version": "1.2.3"},
        });
        self.answer(&initialize, result).await;
        self.expect("notifications/initialized").await;
    }

    /// Greets as a server of 2026-07-28.
    pub(crate) async fn discover(&mut self) {
        let discover = self.expect("server/discover").await;
        let result = json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "fake", "version": "2.0.0"},
            "ttlMs": 0,
            "cacheScope": "private",
        });
        self.answer(&discover, result).await;
    }

    /// Answers a question for the tools.
    pub(crate) async fn list(&mut self, tools: Value) {
        let list = self.expect("tools/list").await;
        self.answer(&list, json!({"tools": tools})).await;
    }
}

pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}"), "inputSchema": {"type": "object"}})
}

/// A client of a server of 2025-11-25 with these tools.
pub(crate) async fn connect(tools: Value) -> (McpClient, Server, Doorway) {
    connect_with(tools, |builder| builder).await
}

pub(crate) async fn connect_with(
    tools: Value,
    edit: impl FnOnce(Builder) -> Builder,
) -> (McpClient, Server, Doorway) {
    connect_as("fake", tools, edit).await
}

/// A client that has a name of its own.
pub(crate) async fn connect_as(
    name: &str,
    tools: Value,
    edit: impl FnOnce(Builder) -> Builder,
) -> (McpClient, Server, Doorway) {
    let (streams, mut doorway) = door();
    let serve = async {
        let mut server = doorway.recv().await.unwrap();
        server.greet().await;
        server.list(tools).await;
        server
    };
    let builder = edit(McpClient::builder(name, streams));
    let (client, server) = tokio::join!(builder.connect(), serve);
    (client.unwrap(), server, doorway)
}
