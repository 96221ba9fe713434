//! The tools of MCP servers.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split},
    sync::mpsc,
};
use tower::{Layer, ServiceExt};
use tower_agent::{
    Effect, ErrorKind, Message, MetricsLayer, ModelRequest, TimeoutLayer, ToolCall, ToolOutput,
    ToolSet, Tools,
};
use tower_agent_mcp::client::{McpClient, Servers, Streams};
use tower_agent_wire::openai_chat;

use crate::{
    case::{Case, Expected},
    check,
    layers::{millis, text},
};

/// A server that says what a test lets it say.
struct Server {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Server {
    /// The next message with a method.
    async fn expect(&mut self, method: &str) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the client hung up");
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["method"], method, "{message}");
        message
    }

    async fn say(&mut self, message: Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn answer(&mut self, to: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": to["id"], "result": result})).await;
    }

    async fn greet(&mut self, tools: Value) {
        let discover = self.expect("server/discover").await;
        let error = json!({"code": -32601, "message": "Method not found"});
        self.say(json!({"jsonrpc": "2.0", "id": discover["id"], "error": error})).await;
        let initialize = self.expect("initialize").await;
        let result = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "1"},
        });
        self.answer(&initialize, result).await;
        self.expect("notifications/initialized").await;
        let list = self.expect("tools/list").await;
        self.answer(&list, json!({ "tools": tools })).await;
    }
}

async fn connect(name: &str, tools: &Value) -> (McpClient, Server) {
    let (door, mut visitors) = mpsc::unbounded_channel();
    let streams = Streams::new(move || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        door.send(theirs).unwrap();
        async move { Ok(split(ours)) }
    });
    // A schema is not what these cases are about.
    let mut tools = tools.clone();
    for tool in tools.as_array_mut().unwrap() {
        let fields = tool.as_object_mut().unwrap();
        fields.entry("inputSchema").or_insert(json!({"type": "object"}));
    }
    let serve = async {
        let (read, write) = split(visitors.recv().await.unwrap());
        let mut server = Server { lines: BufReader::new(read).lines(), write };
        server.greet(tools).await;
        server
    };
    let (client, server) = tokio::join!(McpClient::builder(name, streams).connect(), serve);
    (client.unwrap(), server)
}

/// What a model is told of the tools.
pub(crate) async fn schemas(case: &Case) {
    let (client, _server) = connect("fake", &case.input["mcp_tools"]).await;
    let mut request = ModelRequest::new("any", vec![Message::user("Hello")]);
    request.tools = client.tools();
    let sent = openai_chat::encode_request(&request).unwrap();
    assert!(sent.losses.is_empty(), "{:?}", sent.losses);
    let sent: Value = serde_json::from_slice(&sent.bytes).unwrap();
    let functions = sent["tools"].as_array().unwrap().iter().map(|tool| tool["function"].clone());
    let functions: Value = functions.collect();

    stand_at(&functions, &json!({"at": case.expected.field("at")}));
    let any = case.expected.list("any_of");
    let stands = |wanted: &Value| {
        wanted["at"]
            .as_object()
            .unwrap()
            .iter()
            .all(|(at, value)| functions.pointer(at) == Some(value))
    };
    assert!(any.iter().any(stands), "none of {any:?} in {functions}");
}

fn stand_at(all: &Value, wanted: &Value) {
    for (at, value) in wanted["at"].as_object().unwrap() {
        assert_eq!(all.pointer(at), Some(value), "{at}");
    }
}

/// What the tools of several servers are called.
pub(crate) async fn names(case: &Case) {
    let servers = case.input["mcp_servers"].as_object().unwrap();
    let (mut clients, mut ends) = (Vec::new(), Vec::new());
    for (name, tools) in servers {
        let (client, server) = connect(name, tools).await;
        clients.push(client);
        ends.push((name.as_str(), server));
    }
    let called = Servers::new(clients.clone()).unwrap();
    let names = shown(&called.tools());
    fit(&case.expected, &names);
    let count: usize = servers.values().map(|tools| tools.as_array().unwrap().len()).sum();
    assert_eq!(count - names.len(), *case.expected.field("silent_overwrites"));
    clients.reverse();
    let reordered = shown(&Servers::new(clients).unwrap().tools()) == names;
    assert_eq!(reordered, *case.expected.field("stable_under_reordering"));
    assert_eq!(case.expected.field("round_trip"), true);
    let led = lead(called, &mut ends).await;
    let wanted = servers.iter().flat_map(|(server, tools)| {
        let tools = tools.as_array().unwrap().iter();
        tools.map(move |tool| (server.clone(), text(&tool["name"]).to_owned()))
    });
    assert_eq!(led, wanted.collect());
}

fn shown(tools: &Tools) -> BTreeSet<String> {
    tools.iter().map(|spec| spec.name.to_string()).collect()
}

fn fit(expected: &Expected, names: &BTreeSet<String>) {
    assert_eq!(expected.field("name_pattern"), "^[A-Za-z0-9_-]{1,64}$");
    for name in names {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        assert!((1..=64).contains(&name.len()) && name.bytes().all(fits), "{name}");
    }
}

/// Calls each tool, and says which server heard which name.
async fn lead(servers: Servers, ends: &mut [(&str, Server)]) -> BTreeSet<(String, String)> {
    let mut led = BTreeSet::new();
    for name in shown(&servers.tools()) {
        let call = servers.clone().oneshot(ToolCall::new(name, "{}"));
        let hear = ends.iter_mut().map(|(name, server)| {
            Box::pin(async move {
                let call = server.expect("tools/call").await;
                server.answer(&call, json!({"content": []})).await;
                ((*name).to_owned(), text(&call["params"]["name"]).to_owned())
            })
        });
        let (output, (heard, ..)) = tokio::join!(call, futures_util::future::select_all(hear));
        assert!(output.unwrap().outcome.is_success());
        led.insert(heard);
    }
    led
}

/// A result with the flag that says it is an error.
pub(crate) async fn error_flag(case: &Case) {
    let asked = &case.input["call"];
    let (client, mut server) = connect("fake", &json!([{"name": asked["name"]}])).await;
    let metrics = MetricsLayer::new();
    let tools = ToolSet::from_service(client.tools(), client).unwrap();
    let serve = async {
        let call = server.expect("tools/call").await;
        server.answer(&call, case.input["mcp_result"].clone()).await;
    };
    let mut call = ToolCall::new(text(&asked["name"]), asked["args"].to_string());
    call.id = text(&asked["id"]).into();
    let (output, ()) = tokio::join!(metrics.layer(tools).oneshot(call), serve);

    assert_eq!(case.expected.field("outcome"), "ok");
    let output: ToolOutput = output.unwrap();
    assert_eq!(!output.outcome.is_success(), *case.expected.field("is_error"));
    check::texts(&case.expected, &output.joined_text());
    let content = serde_json::to_value(&output.content).unwrap();
    let kinds: Vec<_> =
        content.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, case.expected.texts("content_types"));
    let wanted = case.expected.field("metrics");
    let registry = metrics.registry();
    assert_eq!(registry.calls().values().sum::<u64>(), wanted["calls"]);
    assert_eq!(registry.failures().values().sum::<u64>(), wanted["failures"]);
}

/// A server that never answers.
pub(crate) async fn silence(case: &Case) {
    let asked = &case.input["call"];
    assert_eq!(case.input["mcp_server"], "never answers");
    let (client, mut server) = connect("fake", &json!([{"name": asked["name"]}])).await;
    let limit = millis(&case.input["stack"][0]["call_ms"]);
    let tools = ToolSet::from_service(client.tools(), client.clone()).unwrap();
    let stack = TimeoutLayer::new(limit).layer(tools.clone());
    let call = ToolCall::new(text(&asked["name"]), asked["args"].to_string());

    let serve = async {
        let call = server.expect("tools/call").await;
        let cancelled = server.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        call
    };
    let (error, late) = tokio::join!(stack.oneshot(call.clone()), serve);
    let error = error.unwrap_err();
    assert_eq!(case.expected.field("error_kind"), "timeout");
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(error.effect() == Effect::Unknown, *case.expected.field("outcome_unknown"));
    assert_eq!(case.expected.list("wire").len(), 2, "all that was heard");

    // The late answer belongs to nobody, and the next call gets its own.
    assert_eq!(case.expected.field("pending_after"), 0);
    server.answer(&late, json!({"content": [{"type": "text", "text": "late"}]})).await;
    let serve = async {
        let call = server.expect("tools/call").await;
        server.answer(&call, json!({"content": [{"type": "text", "text": "mine"}]})).await;
    };
    let call = tokio::time::timeout(Duration::from_secs(1), tools.oneshot(call));
    let (output, ()) = tokio::join!(call, serve);
    assert_eq!(output.unwrap().unwrap().joined_text(), "mine");
}
