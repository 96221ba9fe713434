//! A connection from the greeting to its end, and the keeper that opens the next one.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{
        CancelledNotification, CancelledNotificationParam, ProtocolVersion, SubscriptionFilter,
    },
    service::{ClientInitializeError, RunningService},
    transport::Transport,
};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};
use tower_agent_core::{Error, Str};

use super::{
    Endpoint, Protocol, ServerInfo,
    exchange::{Abandoned, Link},
    fault,
    host::Host,
    level,
    lines::Lines,
    list::Listing,
    shared::Shared,
    stderr::Stderr,
    tap::{Tap, Wire},
};

const BURST: Duration = Duration::from_millis(50);
/// How long a connection may take to end.
const FAREWELL: Duration = Duration::from_secs(10);

pub(crate) struct Session {
    running: RunningService<RoleClient, Host>,
    stderr: Option<Stderr>,
    abandoned: mpsc::UnboundedReceiver<Abandoned>,
    link: Link,
    server: Arc<ServerInfo>,
    listing: Option<Listing>,
}

impl Session {
    /// Connects, greets the server and reads its tools.
    pub(crate) async fn open(shared: &Shared) -> Result<Self, Error> {
        let limit = shared.options.connect;
        let opening = async {
            let mut session = greet(shared).await?;
            session.set_level(shared).await;
            session.listing = Some(Listing::read(shared, &session.link, &session.server).await?);
            Ok(session)
        };
        timeout(limit, opening).await.unwrap_or_else(|_| {
            let what = format!("server `{}` was not ready", shared.name);
            Err(fault::timeout(&what, limit))
        })
    }

    /// A server that cannot be told how much to log is served all the same.
    async fn set_level(&self, shared: &Shared) {
        let Some(level) = shared.level() else { return };
        if let Err(error) = level::tell(shared, &self.link, &self.server, level).await {
            tracing::debug!(%error, "a server was not told from which level on to log");
        }
    }

    /// Serves the connection until it ends, and says why it did.
    async fn serve(&mut self, shared: &Shared) -> Str {
        let Self { abandoned, link, server, listing, .. } = self;
        tokio::select! {
            () = link.wire.closed.cancelled() => "the server ended the connection".into(),
            () = give_up(link, abandoned) => "the connection was closed".into(),
            error = keep_list(shared, link, server, listing) => error.to_string().into(),
            never = subscribe(link, server) => match never {},
        }
    }

    /// Says good-bye, as far as the server lets us, and returns what it said last.
    async fn close(mut self) -> Option<String> {
        if let Err(error) = self.running.close_with_timeout(FAREWELL).await {
            tracing::debug!(%error, server = %self.link.server, "closing a connection failed");
        }
        last_words(self.stderr).await
    }
}

async fn last_words(stderr: Option<Stderr>) -> Option<String> {
    stderr?.last_words().await
}

/// Tries the newer generation first; a server that does not take its greeting gets the older one on a new connection.
async fn greet(shared: &Shared) -> Result<Session, Error> {
    let (first, second) = match shared.options.protocol {
        Protocol::Auto => (auto(), Some(ClientLifecycleMode::Initialize)),
        Protocol::Handshake => (ClientLifecycleMode::Initialize, None),
        Protocol::Stateless => {
            let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
            (ClientLifecycleMode::Discover { preferred_versions }, None)
        }
    };
    let result = match (start(shared, first).await, second) {
        (Err(failed), Some(older)) if failed.wants_older() => start(shared, older).await,
        (result, _) => result,
    };
    result.map_err(|failed| failed.into_error(&shared.name))
}

fn auto() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

enum Start {
    Open(Error),
    Greet(Box<ClientInitializeError>, Option<String>),
}

impl Start {
    /// Whether the server may take the older greeting: it hung up, or knows the newer one and speaks older versions alone.
    fn wants_older(&self) -> bool {
        let Self::Greet(fault, _) = self else { return false };
        matches!(
            **fault,
            ClientInitializeError::ConnectionClosed(_)
                | ClientInitializeError::NoCompatibleProtocolVersion { .. }
        )
    }

    fn into_error(self, server: &str) -> Error {
        match self {
            Self::Open(error) => error,
            Self::Greet(fault, words) => fault::greeting(server, *fault, words),
        }
    }
}

async fn start(shared: &Shared, mode: ClientLifecycleMode) -> Result<Session, Start> {
    let max = shared.options.limits.message;
    let unopened = |error: std::io::Error| {
        Start::Open(fault::away(&shared.name, &error.to_string()).with_source(error))
    };
    match &shared.endpoint {
        Endpoint::Child(child) => {
            let (running, stderr) = child.spawn(&shared.name, max).map_err(unopened)?;
            over(shared, running, mode, Some(stderr)).await
        }
        Endpoint::Http(http) => over(shared, http.open(max).map_err(unopened)?, mode, None).await,
        Endpoint::Streams(streams) => {
            let (read, write) = streams.open().await.map_err(unopened)?;
            over(shared, Lines::new(read, write, max), mode, None).await
        }
    }
}

async fn over<T>(
    shared: &Shared,
    inner: T,
    mode: ClientLifecycleMode,
    stderr: Option<Stderr>,
) -> Result<Session, Start>
where
    T: Transport<RoleClient> + 'static,
{
    let wire = Arc::new(Wire::new(shared.events.clone()));
    let tap = Tap { inner, wire: Arc::clone(&wire) };
    let host = Host::new(&shared.options, Arc::clone(&wire));
    let running = match host.serve_with_lifecycle(tap, mode).await {
        Ok(running) => running,
        Err(fault) => return Err(Start::Greet(Box::new(fault), last_words(stderr).await)),
    };
    let (sender, abandoned) = mpsc::unbounded_channel();
    let server = running.peer_info().map(|info| ServerInfo::from(&*info)).unwrap_or_default();
    let link =
        Link { server: shared.name.clone(), peer: running.peer().clone(), wire, abandoned: sender };
    Ok(Session { running, stderr, abandoned, link, server: Arc::new(server), listing: None })
}

/// Tells the server which requests nobody waits for.
async fn give_up(link: &Link, abandoned: &mut mpsc::UnboundedReceiver<Abandoned>) {
    while let Some((id, reason)) = abandoned.recv().await {
        let params = CancelledNotificationParam::new(Some(id), Some(reason.to_owned()));
        let note = CancelledNotification::new(params);
        if let Err(error) = link.peer.send_notification(note.into()).await {
            tracing::debug!(%error, server = %link.server, "a cancellation was not sent");
        }
    }
}

/// Asks about changed tools, and reads the list again when the server says that it changed or a call found it gone.
async fn keep_list(
    shared: &Shared,
    link: &Link,
    server: &Arc<ServerInfo>,
    listing: &mut Option<Listing>,
) -> Error {
    loop {
        let settle = async {
            match listing {
                Some(listing) => listing.settle(shared, link).await,
                None => Ok(()),
            }
        };
        let changed = link.wire.changed.notified();
        tokio::pin!(changed);
        tokio::select! {
            // What is being asked about may not be there any more.
            () = &mut changed => {}
            settled = settle => match settled {
                Ok(()) => changed.await,
                Err(error) => return error,
            },
        }
        // What changes in a burst is read once.
        sleep(BURST).await;
        match Listing::read(shared, link, server).await {
            Ok(read) => *listing = Some(read),
            Err(error) => return error,
        }
    }
}

/// In the newer generation changes are told to those who listen; without a listener this waits for ever.
async fn subscribe(link: &Link, server: &ServerInfo) -> std::convert::Infallible {
    if server.is_stateless() {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        match link.peer.listen(filter).await {
            // Changes are seen where they arrive; this only keeps the subscription.
            Ok(mut subscription) => while let Ok(Some(_)) = subscription.next().await {},
            Err(error) => tracing::debug!(%error, server = %link.server, "no word of changes"),
        }
    }
    std::future::pending().await
}

/// Keeps a server connected until the client is dropped or closed.
pub(crate) async fn keep(shared: Arc<Shared>, mut session: Session) {
    let mut attempt = 0;
    loop {
        let begun = Instant::now();
        let why = tokio::select! {
            why = session.serve(&shared) => why,
            () = shared.stop.cancelled() => {
                session.close().await;
                return shared.close("the client was closed");
            }
        };
        // Whoever waits for it learns of it before it is buried.
        shared.lose(why.clone());
        let last_words = session.close().await;
        tracing::warn!(server = %shared.name, %why, last_words, "a server went away");
        // One that ends right after its start is not started again and again in a hurry.
        if begun.elapsed() > shared.options.backoff.longest {
            attempt = 0;
        }
        session = match again(&shared, &mut attempt).await {
            Ok(session) => session,
            Err(reason) => return shared.close(reason),
        };
    }
}

async fn again(shared: &Shared, attempt: &mut u32) -> Result<Session, &'static str> {
    while let Some(wait) = shared.options.backoff.wait(*attempt) {
        *attempt = attempt.saturating_add(1);
        let open = async {
            sleep(wait).await;
            Session::open(shared).await
        };
        let opened = tokio::select! {
            opened = open => opened,
            () = shared.stop.cancelled() => return Err("the client was closed"),
        };
        match opened {
            Ok(session) => return Ok(session),
            Err(error) => {
                tracing::warn!(server = %shared.name, %error, attempt, "a server cannot be reached");
                shared.lose(error.to_string().into());
            }
        }
    }
    Err("the server could not be reached again")
}
