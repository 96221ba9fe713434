//! Providers on this machine: one that is an axum app, one that writes what a test says, byte for byte.
#![allow(dead_code, reason = "each test target uses a part of it")]

use std::net::SocketAddr;

use axum::Router;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tower::{Service, ServiceExt};
use tower_agent_core::{Error, Message, ModelRequest, ModelResponse};
#[cfg(feature = "openai")]
use tower_agent_providers::{OpenAi, openai::Builder};

/// A server, stopped when it is dropped.
pub(crate) struct Server<T = ()> {
    pub(crate) addr: SocketAddr,
    pub(crate) tasks: JoinSet<T>,
}

#[cfg(feature = "openai")]
impl<T: 'static> Server<T> {
    pub(crate) fn builder(&self) -> Builder {
        OpenAi::builder(format!("http://{}/v1", self.addr))
            .read_timeout(std::time::Duration::from_secs(20))
    }

    pub(crate) fn model(&self) -> OpenAi {
        self.builder().build().unwrap()
    }
}

impl<T: 'static> Server<T> {
    /// What the server's only task gives back.
    pub(crate) async fn done(mut self) -> T {
        self.tasks.join_next().await.unwrap().unwrap()
    }
}

pub(crate) async fn serve(app: Router) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
    Server { addr, tasks }
}

/// Takes one connection, reads the request and leaves the rest to the script.
pub(crate) async fn script<T, F>(play: impl FnOnce(Socket) -> F + Send + 'static) -> Server<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = Socket { stream, request: Vec::new() };
        socket.read_request().await;
        play(socket).await
    });
    Server { addr, tasks }
}

pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
    pub(crate) request: Vec<u8>,
}

impl Socket {
    async fn read_request(&mut self) {
        while !self.is_whole() {
            let mut piece = [0; 4096];
            let read = self.stream.read(&mut piece).await.unwrap();
            assert_ne!(read, 0, "the request broke off");
            self.request.extend_from_slice(&piece[..read]);
        }
    }

    /// Reads another request from the same connection.
    pub(crate) async fn read_next_request(&mut self) {
        self.request.clear();
        self.read_request().await;
    }

    fn is_whole(&self) -> bool {
        let text = String::from_utf8_lossy(&self.request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
        let head = head.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        body.len() >= length.unwrap().parse().unwrap()
    }

    pub(crate) async fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Heads an answer in chunks of a stream.
    pub(crate) async fn write_stream_head(&mut self) {
        self.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nx-request-id: req_7\r\n\r\n").await;
    }

    pub(crate) async fn write_chunk(&mut self, text: &str) {
        self.write(&format!("{:x}\r\n{text}\r\n", text.len())).await;
    }

    /// Waits until the client closes the connection.
    pub(crate) async fn closed(&mut self) {
        let mut rest = Vec::new();
        let _ = self.stream.read_to_end(&mut rest).await;
    }

    /// Closes the connection as a crash would.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }
}

pub(crate) fn request(stream: bool) -> ModelRequest {
    let mut request = ModelRequest::new("gpt-4o", vec![Message::user("Hello")]);
    request.stream = stream;
    request
}

/// Any model, as the tests of all dialects ask it.
pub(crate) trait Model:
    Service<ModelRequest, Response = ModelResponse, Error = Error, Future: Send>
{
}

impl<M> Model for M where
    M: Service<ModelRequest, Response = ModelResponse, Error = Error, Future: Send>
{
}

pub(crate) async fn ask(model: impl Model, stream: bool) -> Result<ModelResponse, Error> {
    model.oneshot(request(stream)).await
}

/// What went wrong, wherever it came to light.
pub(crate) async fn fault(model: impl Model, stream: bool) -> Error {
    match ask(model, stream).await {
        Ok(response) => response.body.collect().await.unwrap_err(),
        Err(error) => error,
    }
}

pub(crate) fn frame(json: &str) -> String {
    format!("data: {json}\n\n")
}

pub(crate) fn text_frame(text: &str) -> String {
    frame(
        &serde_json::json!({"id": "c", "choices": [{"index": 0, "delta": {"content": text}}]})
            .to_string(),
    )
}

pub(crate) const FINISH: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
