//! What breaks in the world: each fault is counted, and after all of them the host has nothing left of it and answers.

use axum::Router;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tower::service_fn;
use tower_agent_axum::{
    Limits, Models, RunStore, chat_router, messages_router, responses_router, run_router,
};
use tower_agent_core::{Error, RunRequest, RunResponse};

use crate::{
    sockets::{Server, eventually, read_until, rest},
    support::{Counters, says},
};

const ROUTES: [&str; 4] = ["/v1/runs", "/v1/chat/completions", "/v1/messages", "/v1/responses"];

/// How many connections come and go: some, or as many as the environment says.
fn many() -> usize {
    let told = std::env::var("TOWER_AGENT_CONNECTIONS").ok();
    told.map_or(400, |text| text.parse().expect("TOWER_AGENT_CONNECTIONS is a number"))
}

/// Every router, with all that counts.
#[derive(Clone, Default)]
struct Host {
    counters: Counters,
    limits: Limits,
}

impl Host {
    fn app(&self, hang: bool) -> Router {
        let counters = self.counters.clone();
        let agent = service_fn(move |_: RunRequest| {
            let run = RunResponse::new(counters.stream(says("ho"), hang));
            async move { Ok::<_, Error>(run) }
        });
        let (models, limits) = (Models::new().agent("demo", agent.clone()), &self.limits);
        Router::new()
            .merge(run_router(agent).limits(limits.clone()).body_limit(LIMIT))
            .merge(chat_router().models(models.clone()).limits(limits.clone()).body_limit(LIMIT))
            .merge(
                messages_router().models(models.clone()).limits(limits.clone()).body_limit(LIMIT),
            )
            .merge(responses_router().models(models).limits(limits.clone()).body_limit(LIMIT))
    }

    /// Nothing runs, nothing is held, and each run that began ended once.
    async fn is_idle(&self, runs: usize) {
        eventually("all runs end", || self.counters.dropped() == runs).await;
        let counted = || format!("{:?}", self.limits).contains("calls: 0");
        eventually("all calls are given back", counted).await;
        assert_eq!((self.counters.started(), self.counters.dropped()), (runs, runs));
    }
}

const LIMIT: usize = 64 * 1024;

fn body_for(route: &str) -> &'static str {
    match route {
        "/v1/runs" => r#"{"text":"hi"}"#,
        "/v1/responses" => r#"{"model":"demo","input":"hi","stream":true}"#,
        _ => {
            r#"{"model":"demo","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"stream":true}"#
        }
    }
}

fn request(route: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!(
        "POST {route} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Reads so many events, or what there is: server and client share one thread, so a few hundred turns of the scheduler
/// without a byte are the end of it.
async fn read_events(stream: &TcpStream, events: usize) -> usize {
    let (mut seen, mut idle, mut bytes) = (String::new(), 0, [0; 1024]);
    while seen.matches("data: ").count() < events && idle < 500 {
        match stream.try_read(&mut bytes) {
            Ok(count) => seen += &String::from_utf8_lossy(&bytes[..count]),
            Err(_) => tokio::task::yield_now().await,
        }
        idle += 1;
    }
    seen.matches("data: ").count()
}

/// Not with a goodbye, but as a network breaks.
fn reset(stream: TcpStream) {
    stream.set_zero_linger().unwrap();
    drop(stream);
}

#[tokio::test]
async fn a_reset_at_any_event_of_any_route_ends_its_run_once() {
    let host = Host::default();
    let server = Server::start(host.app(true)).await;
    let mut runs = 0;
    for route in ROUTES {
        let mut most = 0;
        for events in 0..12 {
            let mut stream = server.connect().await;
            stream.write_all(&request(route, body_for(route))).await.unwrap();
            let begun = || host.counters.started() == runs + 1;
            eventually("the run begins", begun).await;
            most = most.max(read_events(&stream, events).await);
            reset(stream);
            runs += 1;
            host.is_idle(runs).await;
        }
        assert!(most >= 2, "{route} told {most} events");
    }
}

#[tokio::test]
async fn connections_that_come_and_go_at_any_point_leave_nothing_behind() {
    let host = Host::default();
    let server = Server::start(host.app(true)).await;
    let (mut runs, mut open) = (0, Vec::new());
    for number in 0..many() {
        let route = ROUTES[number % ROUTES.len()];
        let whole = request(route, body_for(route));
        let mut stream = server.connect().await;
        match number / ROUTES.len() % 5 {
            0 => {}
            1 => stream.write_all(&whole[..20]).await.unwrap(),
            2 => stream.write_all(&whole[..whole.len() - 1]).await.unwrap(),
            3 => stream.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").await.unwrap(),
            _ => {
                stream.write_all(&whole).await.unwrap();
                read_until(&mut stream, "\r\n\r\n").await;
                runs += 1;
            }
        }
        open.push(stream);
        if open.len() == 50 {
            for (number, stream) in open.drain(..).enumerate() {
                if number % 2 == 0 { reset(stream) } else { drop(stream) }
            }
            host.is_idle(runs).await;
        }
    }
    drop(open);
    host.is_idle(runs).await;
    assert!(runs >= many() / 6);
}

#[tokio::test]
async fn bodies_that_no_route_can_read_are_answered_on_all_of_them_and_run_nothing() {
    let host = Host::default();
    let server = Server::start(host.app(false)).await;
    let deep = |open: &str, close: &str| {
        let depth = LIMIT / (open.len() + close.len()) - 40;
        format!(r#"{{"text":{}1{}}}"#, open.repeat(depth), close.repeat(depth)).into_bytes()
    };
    let bodies = [
        (400, Vec::new()),
        (400, b"\xff\xfe\xfd".to_vec()),
        (400, b"{\"text\":\"\xc3\x28\"}".to_vec()),
        (400, b"{\"model\":\"demo\",\"input\":\"\xf0\x28\x8c\x28\",\"messages\":[]}".to_vec()),
        (400, b"{\"text\":\"\\ud800\"}".to_vec()),
        (400, b"[".repeat(LIMIT)),
        (400, br#"{"a":"#.repeat(LIMIT / 5)),
        (400, deep("[", "]")),
        (400, deep(r#"{"a":"#, "}")),
        (400, b"\"".to_vec()),
        (400, b"1e999999999999".to_vec()),
        (400, b"null".to_vec()),
        (400, vec![0; LIMIT]),
        (413, vec![b' '; LIMIT + 1]),
        (413, vec![b'['; 4 * LIMIT]),
    ];
    for route in ROUTES {
        for (status, body) in &bodies {
            let mut stream = server.connect().await;
            stream.write_all(&request(route, body)).await.unwrap();
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            let answer = read_until(&mut stream, "}").await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{route} {shown}: {answer}"
            );
            assert!(answer.contains("content-type: application/json"), "{route}: {answer}");
            assert!(answer.contains("\"error\":{"), "{route} {shown}: {answer}");
        }
    }
    host.is_idle(0).await;
    // After all that, it answers.
    let mut stream = server.connect().await;
    stream.write_all(&request(ROUTES[0], body_for(ROUTES[0]))).await.unwrap();
    read_until(&mut stream, "event: finished").await;
}

#[tokio::test]
async fn what_is_no_http_is_answered_with_400_or_nothing_and_the_next_one_is_served() {
    let host = Host::default();
    let server = Server::start(host.app(false)).await;
    // A generator of one's own: the same bytes each time.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..many() / 4 {
        let mut noise = Vec::new();
        for _ in 0..64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            noise.extend_from_slice(&state.to_be_bytes()[..4]);
        }
        let mut stream = server.connect().await;
        stream.write_all(&noise).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // It may be reset, as nobody reads the rest of it.
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"), "{answer:?}");
    }
    let mut stream = server.connect().await;
    stream.write_all(&request(ROUTES[0], body_for(ROUTES[0]))).await.unwrap();
    read_until(&mut stream, "event: finished").await;
}

#[tokio::test]
async fn a_reader_that_takes_a_byte_at_a_time_gets_all_of_them() {
    let host = Host::default();
    let server = Server::start(host.app(false)).await;
    for route in ROUTES {
        let mut stream = server.connect().await;
        stream.write_all(&request(route, body_for(route))).await.unwrap();
        let mut all = Vec::new();
        while !all.ends_with(b"\r\n0\r\n\r\n") {
            all.push(stream.read_u8().await.unwrap());
        }
        assert!(String::from_utf8(all).unwrap().contains("ho"));
    }
    host.is_idle(ROUTES.len()).await;
}

#[tokio::test]
async fn a_resumable_run_that_is_reset_at_every_event_arrives_whole() {
    let counters = Counters::default();
    let (kept, runs) = (counters.clone(), RunStore::new());
    let agent = service_fn(move |_: RunRequest| {
        let run = RunResponse::new(kept.stream(says("ho"), false));
        async move { Ok::<_, Error>(run) }
    });
    let server = Server::start(run_router(agent).resumable(runs.clone()).into()).await;
    let mut stream = server.connect().await;
    stream.write_all(&request(ROUTES[0], body_for(ROUTES[0]))).await.unwrap();
    let head = read_until(&mut stream, "\r\n\r\n").await;
    let (_, id) = head.split_once("x-run-id: ").unwrap();
    let (id, _) = id.split_once("\r\n").unwrap();
    reset(stream);
    for after in 0..says("ho").len() {
        let mut stream = server.connect().await;
        let again = format!(
            "GET /v1/runs/{id}/events HTTP/1.1\r\nhost: x\r\nlast-event-id: {after}\r\n\r\n"
        );
        stream.write_all(again.as_bytes()).await.unwrap();
        let got = read_until(&mut stream, "data: ").await;
        assert!(got.contains(&format!("\nid: {}\n", after + 1)), "{got}");
        reset(stream);
    }
    eventually("the run ends", || counters.dropped() == 1).await;
    assert_eq!((counters.started(), runs.len()), (1, 1));
}

#[tokio::test]
async fn requests_that_are_cut_off_at_any_byte_run_nothing() {
    let host = Host::default();
    let server = Server::start(host.app(false)).await;
    for route in ROUTES {
        let whole = request(route, body_for(route));
        for cut in 0..whole.len() {
            let mut stream = server.connect().await;
            stream.write_all(&whole[..cut]).await.unwrap();
            stream.shutdown().await.unwrap();
            let answer = rest(&mut stream).await;
            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{cut}: {answer}");
        }
    }
    host.is_idle(0).await;
}
