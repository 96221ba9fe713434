//! Over real sockets on loopback.

use std::{
    future::{IntoFuture, pending},
    net::SocketAddr,
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::ConnectInfo,
    routing::{get, post},
};
use http::StatusCode;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tower::service_fn;
use tower_agent_axum::{RunStore, run_router, serve};
use tower_agent_core::{CancellationToken, Error, Message, RunEvent, RunRequest, RunResponse};
use tower_http::limit::RequestBodyLimitLayer;

use crate::support::{Counters, finished, says};

/// A server that is dropped with its handle.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    task: JoinHandle<std::io::Result<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn start(app: Router) -> Self {
        Self::until(app, pending(), Duration::ZERO).await
    }

    async fn until(
        app: Router,
        signal: impl Future<Output = ()> + Send + 'static,
        grace: Duration,
    ) -> Self {
        Self::owning(RunStore::new(), app, signal, grace).await
    }

    /// One that lets runs finish whose readers are away.
    async fn owning(
        runs: RunStore,
        app: Router,
        signal: impl Future<Output = ()> + Send + 'static,
        grace: Duration,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server = serve(listener, app).with_runs(runs).with_graceful_shutdown(signal, grace);
        let server = server.into_future();
        #[expect(clippy::disallowed_methods, reason = "aborted when the test drops its handle")]
        let task = tokio::spawn(server);
        Self { addr, task }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.addr).await.unwrap()
    }

    /// Sends a run and reads until its first event.
    async fn begin(&self) -> TcpStream {
        let mut stream = self.connect().await;
        send_run(&mut stream, "text/event-stream").await;
        read_until(&mut stream, "event: ").await;
        stream
    }
}

async fn send_run(stream: &mut TcpStream, accept: &str) {
    let body = r#"{"text":"hi"}"#;
    let head = format!(
        "POST /v1/runs HTTP/1.1\r\nhost: x\r\naccept: {accept}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).await.unwrap();
}

pub(crate) async fn read_until(stream: &mut TcpStream, mark: &str) -> String {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(mark) {
        let n = stream.read_buf(&mut seen).await.unwrap();
        assert_ne!(n, 0, "ended before {mark:?}: {}", String::from_utf8_lossy(&seen));
    }
    String::from_utf8(seen).unwrap()
}

pub(crate) async fn rest(stream: &mut TcpStream) -> String {
    let mut rest = Vec::new();
    // A connection that was dropped may end with a reset; what came before counts.
    let _ = stream.read_to_end(&mut rest).await;
    String::from_utf8(rest).unwrap()
}

/// Lets the server's tasks run until it is so. A test that waits in vain is killed by its deadline.
pub(crate) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap_or_else(|_| panic!("{what}"));
}

fn agent(counters: &Counters, events: Vec<RunEvent>, hang: bool) -> Router {
    let counters = counters.clone();
    let agent = service_fn(move |_: RunRequest| {
        let run = RunResponse::new(counters.stream(events.clone(), hang));
        async move { Ok::<_, Error>(run) }
    });
    run_router(agent).into()
}

#[tokio::test]
async fn a_client_that_disconnects_in_the_middle_of_a_stream_drops_its_run_once() {
    let counters = Counters::default();
    let server = Server::start(agent(&counters, says("ho"), true)).await;
    let stream = server.begin().await;
    assert_eq!((counters.started(), counters.dropped()), (1, 0));

    drop(stream);
    eventually("the run is dropped", || counters.dropped() == 1).await;
    drop(server);
    tokio::task::yield_now().await;
    assert_eq!(counters.dropped(), 1);
}

#[tokio::test]
async fn a_client_that_disconnects_while_a_whole_answer_is_made_drops_its_run() {
    let counters = Counters::default();
    let server = Server::start(agent(&counters, says("ho"), true)).await;
    let mut stream = server.connect().await;
    send_run(&mut stream, "application/json").await;
    eventually("the run begins", || counters.polled() > 0).await;
    drop(stream);
    eventually("the run is dropped", || counters.dropped() == 1).await;
}

#[tokio::test]
async fn a_thousand_connections_opened_and_dropped_leave_nothing_running() {
    let counters = Counters::default();
    let server = Server::start(agent(&counters, says("ho"), true)).await;
    for batch in 0..20 {
        let mut open = Vec::new();
        for _ in 0..50 {
            open.push(server.begin().await);
        }
        drop(open);
        let done = (batch + 1) * 50;
        eventually("all runs are dropped", || counters.dropped() == done).await;
    }
    assert_eq!((counters.started(), counters.dropped()), (1000, 1000));
}

#[tokio::test]
async fn a_reader_that_stops_reading_stops_the_run_and_gets_everything_once_it_reads_again() {
    let text = "x".repeat(64 * 1024);
    let total = 600;
    let mut events = vec![RunEvent::Message { turn: 1, message: Message::assistant(text) }; total];
    events.push(finished());
    let counters = Counters::default();
    let server = Server::start(agent(&counters, events, false)).await;
    let mut stream = server.begin().await;

    let made = settle(&counters).await;
    // What fits into the buffers of hyper and of both ends of the socket, a few MiB of 37.
    assert!(made < total / 2, "{made} of {total} events were made ahead");

    let all = rest_of_response(&mut stream).await;
    assert_eq!(all.matches("event: message").count() + 1, total);
    assert!(all.contains("event: finished"));
    assert_eq!(counters.made(), total + 1);
}

/// Waits until the run is no longer asked for events. Server and client share one thread, and loopback takes what it
/// takes at once, so a few thousand turns of the scheduler without progress are the end of it.
async fn settle(counters: &Counters) -> usize {
    let (mut made, mut idle) = (counters.made(), 0);
    while idle < 5_000 {
        tokio::task::yield_now().await;
        idle = if counters.made() == made { idle + 1 } else { 0 };
        made = counters.made();
    }
    made
}

async fn rest_of_response(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    while !all.ends_with(b"\r\n0\r\n\r\n") {
        assert_ne!(stream.read_buf(&mut all).await.unwrap(), 0, "the body is cut off");
    }
    String::from_utf8(all).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_nothing_for_a_minute_loses_its_run() {
    let text = "x".repeat(64 * 1024);
    let events = vec![RunEvent::Message { turn: 1, message: Message::assistant(text) }; 600];
    let counters = Counters::default();
    let server = Server::start(agent(&counters, events, false)).await;
    let begun = tokio::time::Instant::now();
    let stream = server.begin().await;

    while counters.dropped() == 0 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(begun.elapsed() < Duration::from_secs(70), "the run is held");
    }
    assert!(begun.elapsed() >= Duration::from_secs(60));
    assert!(counters.made() < 600);
    drop(stream);
}

#[tokio::test]
async fn the_peers_address_is_there_for_handlers() {
    let app = Router::new()
        .route("/", get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string()));
    let server = Server::start(app).await;
    let mut stream = server.connect().await;
    let own = stream.local_addr().unwrap().to_string();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.ends_with(&own));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_never_finishes_its_request_is_closed() {
    let server = Server::start(Router::new()).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: ").await.unwrap();
    let begun = tokio::time::Instant::now();
    rest(&mut stream).await;
    assert!(begun.elapsed() >= Duration::from_secs(30));
}

#[tokio::test]
async fn a_panic_in_one_connection_leaves_the_others_alone() {
    let counters = Counters::default();
    let panics = get(async || -> &'static str { panic!("a bug of the app") });
    let app = Router::new().route("/panic", panics).merge(agent(&counters, says("ho"), false));
    let server = Server::start(app).await;
    let mut unlucky = server.connect().await;
    unlucky.write_all(b"GET /panic HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    assert_eq!(rest(&mut unlucky).await, "");
    let mut lucky = server.begin().await;
    read_until(&mut lucky, "event: finished").await;
}

#[tokio::test]
async fn dropping_the_server_drops_every_run() {
    let counters = Counters::default();
    let server = Server::start(agent(&counters, says("ho"), true)).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(server.begin().await);
    }
    drop(server);
    eventually("all runs are dropped", || counters.dropped() == 3).await;
}

/// An agent that finishes when the gate opens.
fn gated(counters: &Counters, gate: &CancellationToken) -> Router {
    run_router(gated_agent(counters, gate)).into()
}

fn gated_agent(
    counters: &Counters,
    gate: &CancellationToken,
) -> impl tower::Service<
    RunRequest,
    Response = RunResponse,
    Error = Error,
    Future = impl Future<Output = Result<RunResponse, Error>> + Send,
> + Clone
+ Send
+ Sync
+ 'static {
    let (counters, gate) = (counters.clone(), gate.clone());
    service_fn(move |_: RunRequest| {
        let (counted, gate) = (counters.stream(Vec::new(), false), gate.clone());
        let events = futures_util::stream::unfold((0, counted), move |(step, counted)| {
            let gate = gate.clone();
            async move {
                match step {
                    0 => Some((Ok(RunEvent::TurnStarted { turn: 1 }), (1, counted))),
                    1 => {
                        gate.cancelled().await;
                        Some((Ok(finished()), (2, counted)))
                    }
                    _ => None,
                }
            }
        });
        async move { Ok::<_, Error>(RunResponse::new(events)) }
    })
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_lets_a_run_finish_whose_reader_is_away_and_drops_it_in_time() {
    for finishes in [true, false] {
        let (counters, gate, stop) =
            (Counters::default(), CancellationToken::new(), CancellationToken::new());
        let runs = RunStore::new();
        let app = run_router(gated_agent(&counters, &gate)).resumable(runs.clone()).into();
        let (signal, grace) = (stop.clone().cancelled_owned(), Duration::from_secs(10));
        let mut server = Server::owning(runs.clone(), app, signal, grace).await;
        drop(server.begin().await);

        let stopped = tokio::time::Instant::now();
        stop.cancel();
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert!(!server.task.is_finished());
        if finishes {
            gate.cancel();
        }
        (&mut server.task).await.unwrap().unwrap();
        assert_eq!(stopped.elapsed().as_secs(), if finishes { 4 } else { 10 });
        assert_eq!(counters.dropped(), 1, "nothing runs once the server is over");
        assert!(runs.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_lets_a_run_finish_and_takes_no_new_connections() {
    let (counters, gate, stop) =
        (Counters::default(), CancellationToken::new(), CancellationToken::new());
    let signal = stop.clone().cancelled_owned();
    let mut server = Server::until(gated(&counters, &gate), signal, Duration::from_secs(60)).await;
    let mut stream = server.begin().await;
    let mut idle = server.connect().await;
    idle.write_all(b"GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    read_until(&mut idle, "\r\n\r\n").await;

    let stopped = tokio::time::Instant::now();
    stop.cancel();
    assert_eq!(rest(&mut idle).await, "");
    assert!(stopped.elapsed() < Duration::from_secs(1), "an idle connection is closed at once");
    assert!(TcpStream::connect(server.addr).await.is_err(), "nobody listens any more");
    assert!(!server.task.is_finished());

    gate.cancel();
    let opened = tokio::time::Instant::now();
    let end = rest(&mut stream).await;
    assert!(opened.elapsed() < Duration::from_secs(1), "the connection is not kept alive");
    assert!(end.contains("event: finished") && end.ends_with("0\r\n\r\n"), "{end}");
    (&mut server.task).await.unwrap().unwrap();
    assert_eq!(counters.dropped(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_outlasts_the_grace_period_is_dropped_and_its_stream_ends_incomplete() {
    let (counters, gate, stop) =
        (Counters::default(), CancellationToken::new(), CancellationToken::new());
    let grace = Duration::from_secs(10);
    let signal = stop.clone().cancelled_owned();
    let mut server = Server::until(gated(&counters, &gate), signal, grace).await;
    let mut stream = server.begin().await;

    let stopped = tokio::time::Instant::now();
    stop.cancel();
    (&mut server.task).await.unwrap().unwrap();
    assert_eq!(stopped.elapsed(), grace);
    assert_eq!(counters.dropped(), 1, "nothing runs once the server is over");
    let end = rest(&mut stream).await;
    assert!(!end.contains("0\r\n\r\n") && !end.contains("finished"), "{end}");
}

/// A request in each way to send a body, too large for the buffers of both sides, so that somebody must read it.
fn too_much(path: &str) -> [String; 2] {
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n");
    let body = "x".repeat(12 << 20);
    let size = body.len();
    [
        format!("{head}content-length: {size}\r\n\r\n{body}"),
        format!("{head}transfer-encoding: chunked\r\n\r\n{size:x}\r\n{body}\r\n0\r\n\r\n"),
    ]
}

#[tokio::test]
async fn whoever_refuses_a_request_its_client_can_send_it_all_and_then_reads_why() {
    let limited = Router::new()
        .route("/limited", post(async |_: Bytes| ()))
        .route_layer(RequestBodyLimitLayer::new(1024));
    let routes = Router::new()
        .route("/unread", post(StatusCode::FORBIDDEN))
        .route("/get", get(()))
        .merge(agent(&Counters::default(), vec![], false))
        .merge(limited);
    let server = Server::start(routes).await;
    let cases = [
        ("/v1/runs", "body_too_large"),
        ("/limited", "HTTP/1.1 413"),
        ("/unread", "HTTP/1.1 403"),
        ("/get", "HTTP/1.1 405"),
        ("/nowhere", "HTTP/1.1 404"),
    ];
    for (path, answer) in cases {
        for request in too_much(path) {
            let mut stream = server.connect().await;
            stream.write_all(request.as_bytes()).await.unwrap();
            read_until(&mut stream, answer).await;
        }
    }
}

#[tokio::test]
async fn who_asks_before_it_sends_is_refused_without_sending() {
    let server = Server::start(agent(&Counters::default(), vec![], false)).await;
    let mut stream = server.connect().await;
    let head =
        "POST /v1/runs HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 415"), "{answer}");
}
