//! Serving a router on a socket.

mod linger;
mod stall;

use std::{
    fmt,
    future::{IntoFuture, Pending, pending},
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    serve::Listener,
};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tower::{ServiceExt, service_fn};

use self::stall::Stall;
use crate::RunStore;

/// Serves a router over HTTP/1.1, as a host of agents should.
///
/// Beside [`axum::serve()`], it
/// - sends without delay (`TCP_NODELAY`): otherwise the end of each stream waits some 40 ms for the system to believe
///   that nothing follows;
/// - can bound a shutdown: [`with_graceful_shutdown`](Serve::with_graceful_shutdown);
/// - lets a client that was refused finish what it sends (16 MiB and 5 seconds of it), so that it gets to read why;
/// - gives up on a peer that takes nothing for a minute: [`write_timeout`](Serve::write_timeout);
/// - leaves nothing behind: dropping the future drops every connection, and so cancels every run;
/// - always has the peer's address for [`ConnectInfo<SocketAddr>`](ConnectInfo).
///
/// ```no_run
/// use std::time::Duration;
/// use axum::Router;
/// use tower_agent_axum::{health_router, serve};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
/// let app = Router::new().merge(health_router());
/// let stop = async { std::future::pending().await };
/// serve(listener, app).with_graceful_shutdown(stop, Duration::from_secs(10)).await
/// # }
/// ```
pub fn serve(listener: TcpListener, app: Router) -> Serve {
    let write_timeout = Duration::from_secs(60);
    let (signal, grace) = (pending(), Duration::ZERO);
    Serve { listener, app, runs: None, write_timeout, signal, grace }
}

/// A server that runs while it is awaited; see [`serve`].
#[must_use = "a server does nothing unless it is awaited"]
pub struct Serve<F = Pending<()>> {
    listener: TcpListener,
    app: Router,
    runs: Option<RunStore>,
    write_timeout: Duration,
    signal: F,
    grace: Duration,
}

impl<F> Serve<F> {
    /// How long a peer may take not a single byte of what is ready for it, 60 seconds by default.
    ///
    /// A slow reader only slows its run down; one that stopped reading would hold the run, its permits and its budget
    /// for ever.
    pub const fn write_timeout(mut self, limit: Duration) -> Self {
        self.write_timeout = limit;
        self
    }

    /// Gives the runs of a store whose readers are away what is left of the grace period to finish, too, and then drops
    /// them. Without it, they go on as long as somebody holds the store.
    pub fn with_runs(mut self, runs: RunStore) -> Self {
        self.runs = Some(runs);
        self
    }

    /// Stops when the signal completes: takes no more connections, lets what was begun finish within the grace period,
    /// then drops what is left, which cancels its runs.
    ///
    /// A connection that is dropped in the middle of a stream ends without the mark of a complete body, so no client
    /// takes half an answer for a whole one.
    pub fn with_graceful_shutdown<G>(self, signal: G, grace: Duration) -> Serve<G>
    where
        G: Future<Output = ()> + Send + 'static,
    {
        let Self { listener, app, runs, write_timeout, .. } = self;
        Serve { listener, app, runs, write_timeout, signal, grace }
    }
}

impl<F: Future<Output = ()> + Send + 'static> IntoFuture for Serve<F> {
    /// Never an error at present: what goes wrong with one connection ends that one.
    type Output = io::Result<()>;
    type IntoFuture = ServeFuture;

    fn into_future(self) -> ServeFuture {
        ServeFuture(Box::pin(run(self)))
    }
}

impl<F> fmt::Debug for Serve<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.listener)
            .field("write_timeout", &self.write_timeout)
            .field("grace", &self.grace)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}

/// The future of [`Serve`]. Dropping it drops every connection.
#[must_use = "a server does nothing unless it is awaited"]
pub struct ServeFuture(Pin<Box<dyn Future<Output = io::Result<()>> + Send>>);

impl Future for ServeFuture {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ServeFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServeFuture(..)")
    }
}

async fn run<F: Future<Output = ()>>(server: Serve<F>) -> io::Result<()> {
    let Serve { mut listener, app, runs, write_timeout, signal, grace } = server;
    let stop = CancellationToken::new();
    let mut connections = JoinSet::new();
    let mut signal = pin!(signal);
    loop {
        tokio::select! {
            biased;
            () = &mut signal => break,
            Some(_) = connections.join_next() => {}
            (stream, peer) = accept(&mut listener) => {
                let stream = Stall::new(stream, write_timeout);
                connections.spawn(connection(stream, peer, app.clone(), stop.clone()));
            }
        }
    }
    drop(listener);
    stop.cancel();
    let rest = async {
        while connections.join_next().await.is_some() {}
        if let Some(runs) = &runs {
            runs.finish().await;
        }
    };
    if timeout(grace, rest).await.is_err() {
        let connections = connections.len();
        tracing::warn!(connections, "dropped what the shutdown did not wait for");
    }
    connections.shutdown().await;
    if let Some(runs) = runs {
        runs.drop_all().await;
    }
    Ok(())
}

/// The next connection, which sends without delay.
async fn accept(listener: &mut TcpListener) -> (TcpStream, SocketAddr) {
    let (stream, peer) = Listener::accept(listener).await;
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection stays with delayed sends");
    }
    (stream, peer)
}

async fn connection(
    stream: Stall<TcpStream>,
    peer: SocketAddr,
    app: Router,
    stop: CancellationToken,
) {
    let app = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let (request, rest) = linger::split(request);
        let response = app.clone().oneshot(request.map(Body::new));
        async move {
            let response = response.await;
            rest.take_in().await;
            response
        }
    });
    // With a timer, hyper gives up on a client that does not finish the head of its request.
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(app))
        .with_upgrades();
    let mut connection = pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%peer, error = &error as &dyn std::error::Error, "a connection broke");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_accepted_connection_sends_without_delay() {
        let mut listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (client, (stream, peer)) =
            tokio::join!(TcpStream::connect(addr), accept(&mut listener));
        assert_eq!(client.unwrap().local_addr().unwrap(), peer);
        assert!(stream.nodelay().unwrap());
    }
}
