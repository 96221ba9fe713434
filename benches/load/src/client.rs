//! Callers.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, task::JoinSet, time::Instant};

use crate::{Result, hosts::Host};

/// One connection that is kept.
#[derive(Debug)]
pub(crate) struct Caller {
    sender: http1::SendRequest<Full<Bytes>>,
    _connection: JoinSet<()>,
    host: Host,
}

impl Caller {
    pub(crate) async fn connect(addr: SocketAddr, host: Host) -> Result<Self> {
        let stream = TcpStream::connect(addr).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(async {
            // What goes wrong with it, the caller hears of.
            let _ = connection.await;
        });
        Ok(Self { sender, _connection: tasks, host })
    }

    /// Asks, and reads the head of the answer.
    pub(crate) async fn ask(&mut self) -> Result<Response<Incoming>> {
        self.sender.ready().await?;
        let response = self.sender.send_request(request(self.host)?).await?;
        if response.status() != 200 {
            return Err(format!("{}", response.status()).into());
        }
        Ok(response)
    }

    /// A call from its first byte to its last.
    async fn call(&mut self) -> Result<Duration> {
        let begun = Instant::now();
        let body = self.ask().await?.into_body().collect().await?.to_bytes();
        let complete = self.host == Host::Axum || body.windows(15).any(|w| w == b"event: finished");
        if complete { Ok(begun.elapsed()) } else { Err("an answer is not complete".into()) }
    }
}

fn request(host: Host) -> Result<Request<Full<Bytes>>> {
    let request = Request::builder().header(header::HOST, "localhost");
    Ok(match host {
        Host::Axum => request.uri("/").body(Full::default())?,
        _ => request
            .method("POST")
            .uri("/v1/runs")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from_static(br#"{"text":"What does the file say?"}"#)))?,
    })
}

/// So many callers, each of whom asks again once it has its answer: what each call took.
pub(crate) async fn load(
    addr: SocketAddr,
    host: Host,
    callers: usize,
    time: Duration,
) -> Result<Vec<Duration>> {
    let mut tasks = JoinSet::new();
    let end = Instant::now() + time;
    for _ in 0..callers {
        let mut caller = Caller::connect(addr, host).await?;
        tasks.spawn(async move {
            let mut took = Vec::new();
            while Instant::now() < end {
                took.push(caller.call().await?);
            }
            Result::Ok(took)
        });
    }
    let mut all = Vec::new();
    while let Some(took) = tasks.join_next().await {
        all.extend(took??);
    }
    Ok(all)
}
