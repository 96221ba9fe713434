use std::{net::SocketAddr, time::Duration};

use axum::Router;
use http::{Request, StatusCode};
use rmcp::{
    RoleClient, ServerHandler,
    model::ClientCapabilities,
    service::{ClientLifecycleMode, ClientServiceExt, RunningService},
    transport::StreamableHttpClientTransport,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};
use tower_agent::ToolSet;
use tower_agent_mcp::server::{Caller, Identity, McpServer, Progress, http_config, http_service};

use crate::support::{
    Ended, Listener, call, listener, serve, sessions, stateless, stuck, text, tool,
};

/// A server on a port of this machine.
struct Host {
    addr: SocketAddr,
    _running: JoinSet<()>,
}

impl Host {
    async fn of(server: impl ServerHandler + Clone) -> Self {
        let app = Router::new().nest_service("/mcp", http_service(server, http_config()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let mut running = JoinSet::new();
        running.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { addr, _running: running }
    }

    async fn client(
        &self,
        generation: ClientLifecycleMode,
    ) -> RunningService<RoleClient, Listener> {
        self.listening(generation).await.0
    }

    async fn listening(
        &self,
        generation: ClientLifecycleMode,
    ) -> (
        RunningService<RoleClient, Listener>,
        tokio::sync::mpsc::UnboundedReceiver<rmcp::model::ProgressNotificationParam>,
    ) {
        // reqwest, as the other half of this crate builds it, brings no provider of its own.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let transport =
            StreamableHttpClientTransport::from_uri(format!("http://{}/mcp", self.addr));
        let (listener, progress) = listener(ClientCapabilities::default());
        (listener.serve_with_lifecycle(transport, generation).await.unwrap(), progress)
    }

    /// Sends a raw POST and returns the status.
    async fn post(&self, headers: &[(&str, &str)], body: &str) -> StatusCode {
        let mut socket = TcpStream::connect(self.addr).await.unwrap();
        socket.write_all(raw(headers, body).as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

fn raw(headers: &[(&str, &str)], body: &str) -> String {
    let mut request =
        "POST /mcp HTTP/1.1\r\nconnection: close\r\ncontent-type: application/json\r\n\
                       accept: application/json, text/event-stream\r\n"
            .to_owned();
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    request
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;

fn echo() -> ToolSet {
    tool("echo", |call| async move { call.arguments.as_str().to_owned() })
}

#[tokio::test]
async fn a_stack_is_listed_and_called_in_both_generations() {
    let host = Host::of(serve(echo())).await;
    for generation in [sessions(), stateless()] {
        let client = host.client(generation).await;

        let tools = client.list_all_tools().await.unwrap();
        let result = client.call_tool(call("echo", json!({ "a": 1 }))).await.unwrap();

        assert_eq!(tools.first().unwrap().name, "echo");
        assert_eq!(text(&result), r#"{"a":1}"#);
    }
}

#[tokio::test]
async fn sessions_do_not_see_each_other() {
    let tools = tool("session", |call| async move {
        Progress::report(&call.ctx, 1.0, None, call.arguments.as_str()).await;
        call.ctx.run().session().unwrap().to_string()
    });
    let host = Host::of(serve(tools)).await;
    let (one, mut told_one) = host.listening(sessions()).await;
    let (two, mut told_two) = host.listening(sessions()).await;

    let first = one.call_tool(call("session", json!({ "of": 1 }))).await.unwrap();
    let second = two.call_tool(call("session", json!({ "of": 2 }))).await.unwrap();
    let again = one.call_tool(call("session", json!({ "of": 1 }))).await.unwrap();

    assert_ne!(text(&first), text(&second));
    assert_eq!(text(&first), text(&again));
    assert_eq!(told_two.recv().await.unwrap().message.as_deref(), Some(r#"{"of":2}"#));
    for _ in 0..2 {
        assert_eq!(told_one.recv().await.unwrap().message.as_deref(), Some(r#"{"of":1}"#));
    }
    assert!(told_two.try_recv().is_err());
}

#[tokio::test]
async fn stateless_requests_have_no_session() {
    let tools = tool("session", |call| async move { format!("{:?}", call.ctx.run().session()) });
    let host = Host::of(serve(tools)).await;
    let client = host.client(stateless()).await;

    let result = client.call_tool(call("session", json!({}))).await;

    assert_eq!(text(&result.unwrap()), "None");
}

#[tokio::test]
async fn the_head_of_the_request_tells_who_calls() {
    let tools = tool("who", |call| async move { call.ctx.run().user().unwrap().to_string() });
    let server = McpServer::builder(tools)
        .identity(|caller: &Caller| {
            let user = caller.http().and_then(|head| head.extensions.get::<User>());
            Ok(Identity::default().with_user(user.map_or("nobody", |user| user.0)))
        })
        .build()
        .unwrap();
    // What an authentication in front leaves behind.
    let app = Router::new().nest_service("/mcp", http_service(server, http_config())).layer(
        axum::middleware::from_fn(
            |mut request: Request<axum::body::Body>, next: axum::middleware::Next| {
                request.extensions_mut().insert(User("ada"));
                next.run(request)
            },
        ),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut running = JoinSet::new();
    running.spawn(async move { axum::serve(listener, app).await.unwrap() });
    let host = Host { addr, _running: running };

    for generation in [sessions(), stateless()] {
        let result = host.client(generation).await.call_tool(call("who", json!({}))).await.unwrap();
        assert_eq!(text(&result), "ada");
    }
}

#[derive(Clone)]
struct User(&'static str);

#[tokio::test]
async fn a_web_page_elsewhere_gets_nothing() {
    let host = Host::of(serve(echo())).await;
    for (headers, status) in [
        (&[("host", "127.0.0.1:80")][..], StatusCode::OK),
        (&[("host", "localhost"), ("origin", "http://localhost:5173")], StatusCode::OK),
        (&[("host", "evil.example")], StatusCode::FORBIDDEN),
        (&[("host", "127.0.0.1"), ("origin", "http://evil.example")], StatusCode::FORBIDDEN),
        (&[("host", "127.0.0.1"), ("origin", "null")], StatusCode::FORBIDDEN),
    ] {
        assert_eq!(host.post(headers, INITIALIZE).await, status, "{headers:?}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let host = Host::of(serve(echo())).await;
    let body = format!("{}{}", INITIALIZE, " ".repeat(5 * 1024 * 1024));

    // The server may close while the body is still being sent; then there is no answer to read.
    let mut socket = TcpStream::connect(host.addr).await.unwrap();
    let _ = socket.write_all(raw(&[("host", "localhost")], &body).as_bytes()).await;
    let mut answer = [0; 12];
    if socket.read_exact(&mut answer).await.is_ok() {
        assert_eq!(&answer, b"HTTP/1.1 413");
    }
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_call() {
    let stuck = stuck();
    let host = Host::of(serve(stuck.tools)).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stuck","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let headers = [
        ("host", "localhost"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "stuck"),
    ];
    let mut socket = TcpStream::connect(host.addr).await.unwrap();
    socket.write_all(raw(&headers, body).as_bytes()).await.unwrap();
    stuck.started.notified().await;

    drop(socket);

    let ended = timeout(Duration::from_secs(60), stuck.ended).await.unwrap();
    assert_eq!(ended, Ok(Ended { was_cancelled: true }));
}
