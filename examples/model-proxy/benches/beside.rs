//! What the proxy costs beside one that only copies bytes, in the same run: `cargo bench -p model-proxy`.
//!
//! Times of one machine in one minute mean little; ratios between ways through the same minute mean more.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program of the tests")]

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use axum::{Router, body::Body, response::IntoResponse, routing::post};
use futures_util::stream;
use tokio::{net::TcpListener, task::JoinSet, time::Instant};
use tower::ServiceBuilder;
use tower_agent::{AllowListLayer, LogLayer, MetricsLayer, RedactLayer};
use tower_agent_axum::{Models, proxy_router};
use tower_agent_providers::{Forward, OpenAi};

const EVENTS: usize = 2_000;
const ROUNDS: usize = 40;
const REQUEST: &str =
    r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Tell me a story."}]}"#;

/// A reply of many small events, each in a frame of its own.
async fn story() -> impl IntoResponse {
    let piece = |at: usize| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" word{at}\"}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let end = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let frames = (0..EVENTS).map(piece).chain([end.to_owned()]);
    let frames = stream::iter(frames.map(Ok::<_, Infallible>));
    ([("content-type", "text/event-stream")], Body::from_stream(frames))
}

async fn serve(tasks: &mut JoinSet<()>, app: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
    addr
}

/// Until the first bytes, and until the last ones.
async fn ask(client: &reqwest::Client, addr: SocketAddr) -> (Duration, Duration) {
    let begun = Instant::now();
    let request = client.post(format!("http://{addr}/v1/chat/completions"));
    let request = request.header("content-type", "application/json").body(REQUEST);
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.chunk().await.unwrap().unwrap();
    let first = begun.elapsed();
    let mut tail = Vec::new();
    while let Some(bytes) = answer.chunk().await.unwrap() {
        tail.extend_from_slice(&bytes);
        tail.drain(..tail.len().saturating_sub(16));
    }
    assert!(tail.ends_with(b"[DONE]\n\n"));
    (first, begun.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap()
}

#[tokio::main]
async fn main() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut tasks = JoinSet::new();
    let upstream =
        serve(&mut tasks, Router::new().route("/v1/chat/completions", post(story))).await;
    let plain = Forward::to(format!("http://{upstream}")).build().unwrap();
    let provider = OpenAi::builder(format!("http://{upstream}/v1")).build().unwrap();
    let observed = ServiceBuilder::new()
        .layer(LogLayer::new())
        .layer(MetricsLayer::new())
        .layer(AllowListLayer::new(["*"]).unwrap());
    let bare = proxy_router().chat(Models::new().any_model(provider.clone()));
    let layers =
        proxy_router().chat(Models::new().any_model(observed.clone().service(provider.clone())));
    let redacted = observed.layer(RedactLayer::default()).service(provider);
    let redacted = proxy_router().chat(Models::new().any_model(redacted));
    let ways = [
        ("no proxy", upstream),
        ("plain reverse proxy", serve(&mut tasks, Router::new().fallback_service(plain)).await),
        ("proxy_router, no layer", serve(&mut tasks, bare.into()).await),
        ("+ log, metrics, allow-list", serve(&mut tasks, layers.into()).await),
        ("+ redaction", serve(&mut tasks, redacted.into()).await),
    ];
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut times = vec![(Vec::new(), Vec::new()); ways.len()];
    // Ways take turns, so that what else the machine does meets them all.
    for round in 0..=ROUNDS {
        for ((_, addr), (first, whole)) in ways.iter().zip(&mut times) {
            let (to_first, to_last) = ask(&client, *addr).await;
            if round > 0 {
                first.push(to_first);
                whole.push(to_last);
            }
        }
    }
    let medians: Vec<_> =
        times.into_iter().map(|(first, whole)| (median(first), median(whole))).collect();
    let (base_first, base_whole) = *medians.get(1).unwrap();
    println!("| way | first byte | ratio | per event | ratio |\n| --- | --- | --- | --- | --- |");
    for ((name, _), (first, whole)) in ways.iter().zip(medians) {
        let per_event = whole.as_secs_f64() * 1e6 / EVENTS as f64;
        println!(
            "| {name} | {:.2} ms | {:.2} | {per_event:.1} µs | {:.2} |",
            first.as_secs_f64() * 1e3,
            first.as_secs_f64() / base_first.as_secs_f64(),
            whole.as_secs_f64() / base_whole.as_secs_f64(),
        );
    }
}
