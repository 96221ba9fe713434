//! A thousand streams at once.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{Result, client::Caller, hosts::Host, process::Server};

pub(crate) const STREAMS: u32 = 1000;
/// How often the memory is looked at, a second apart.
pub(crate) const LOOKS: usize = 10;

/// What the server had in use, in bytes, and when its events came.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) host: Host,
    /// Before there were streams.
    pub(crate) fresh: u64,
    /// While all are open, second by second.
    pub(crate) open: Vec<u64>,
    /// Two seconds after all were closed.
    pub(crate) closed: u64,
    /// How long after each other the events of a stream came, sorted.
    pub(crate) gaps: Vec<Duration>,
}

type Gaps = Arc<Mutex<Vec<Duration>>>;

/// Each stream gets an event every tenth of a second.
pub(crate) async fn measure(host: Host) -> Result<Memory> {
    let server = Server::start(host)?;
    let (fresh, gaps) = (server.memory()?, Gaps::default());
    let mut streams = crowd(&server, host, &gaps).await?;
    // While they open, nothing is as it will be.
    sleep(Duration::from_secs(5)).await;
    lock(&gaps).clear();
    let mut open = Vec::new();
    for _ in 0..LOOKS {
        sleep(Duration::from_secs(1)).await;
        open.push(server.memory()?);
    }
    if let Some(ended) = streams.try_join_next() {
        return Err(format!("a stream ended: {ended:?}").into());
    }
    streams.shutdown().await;
    sleep(Duration::from_secs(2)).await;
    let mut gaps = std::mem::take(&mut *lock(&gaps));
    gaps.sort_unstable();
    eprintln!("{:17} {} streams, {} events", host.name(), STREAMS, gaps.len());
    Ok(Memory { host, fresh, open, closed: server.memory()?, gaps })
}

async fn crowd(server: &Server, host: Host, gaps: &Gaps) -> Result<JoinSet<Result<()>>> {
    let mut streams = JoinSet::new();
    for _ in 0..STREAMS {
        let mut caller = Caller::connect(server.addr, host).await?;
        let body = caller.ask().await?.into_body();
        streams.spawn(read(caller, body, gaps.clone()));
    }
    Ok(streams)
}

async fn read(_caller: Caller, mut body: Incoming, gaps: Gaps) -> Result<()> {
    let mut last = None;
    while let Some(frame) = body.frame().await {
        frame?;
        let now = Instant::now();
        if let Some(last) = last.replace(now) {
            lock(&gaps).push(now - last);
        }
    }
    Ok(())
}

fn lock(gaps: &Gaps) -> std::sync::MutexGuard<'_, Vec<Duration>> {
    gaps.lock().unwrap_or_else(PoisonError::into_inner)
}
