//! Keeps the servers connected and the stacks as the file and the servers have them.

use std::{
    convert::Infallible,
    future::{Future, pending},
    pin::Pin,
    time::Duration,
};

use futures_util::{
    StreamExt,
    future::{join_all, select_all},
    stream::FuturesUnordered,
};
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        watch,
    },
    task::spawn_blocking,
    time::{interval, timeout},
};
use tower_agent::{BoxError, Error, ErrorKind, Str, Tools};
use tower_agent_mcp::{
    client::{Log, McpClient, ServerEvent, Snapshot},
    pins::Pins,
    server::BuildError,
};

use crate::{
    audit::Audit,
    config::{self, Config, Connection},
    connect::connect,
    gateway::Gateway,
    masks::Masks,
    relay::message,
    stacks::Plan,
    tools::offer,
    watch::Watch,
};

/// How long clients wait for servers that are slow to start.
const START: Duration = Duration::from_secs(10);
/// How long servers may take to end.
const FAREWELL: Duration = Duration::from_secs(3);
/// How long to wait before a server that never answered is tried again; each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How often calls are looked for whose clients never came back.
const SWEEP: Duration = Duration::from_secs(10);

type Attempts = FuturesUnordered<Pin<Box<dyn Future<Output = Attempt> + Send>>>;

/// What came of an attempt to connect to a server for the first time.
struct Attempt {
    connection: Connection,
    wait: Duration,
    result: Result<McpClient, Error>,
}

/// A server that was reached.
struct Link {
    connection: Connection,
    client: McpClient,
    changes: watch::Receiver<Snapshot>,
    events: broadcast::Receiver<ServerEvent>,
    /// What masks what it logs.
    masks: Masks,
    /// Whether it was told how much to log.
    is_told: bool,
}

/// What changes at run time. It works while [`keep`](Self::keep) is polled.
pub(crate) struct Keeper {
    plan: Plan,
    watch: Watch,
    links: Vec<Link>,
    attempts: Attempts,
    gateway: Gateway,
    listed: Tools,
}

impl Keeper {
    /// Tries each server once, and puts what could be reached into stacks. The others come later.
    pub(crate) async fn start(plan: Plan, watch: Watch) -> Result<Self, Error> {
        let set = offer(&plan, &[])?.set;
        let gateway = Gateway::new(set).map_err(unbuilt)?;
        let mut keeper = Self {
            plan,
            watch,
            links: Vec::new(),
            attempts: Attempts::new(),
            gateway,
            listed: Tools::new(),
        };
        keeper.connect();
        drop(timeout(START, keeper.try_each()).await);
        keeper.rebuild().await;
        Ok(keeper)
    }

    async fn try_each(&mut self) {
        for _ in 0..self.attempts.len() {
            if let Some(attempt) = self.attempts.next().await {
                self.settle(attempt);
            }
        }
    }

    pub(crate) fn gateway(&self) -> Gateway {
        self.gateway.clone()
    }

    /// Follows the file and the servers, for ever.
    pub(crate) async fn keep(&mut self) -> Infallible {
        let mut sweeps = interval(SWEEP);
        loop {
            tokio::select! {
                _ = sweeps.tick() => {
                    self.plan.held.sweep();
                    continue;
                }
                Some(attempt) = self.attempts.next() => self.settle(attempt),
                log = changed(&mut self.links) => if let Some(log) = log {
                    self.pass_on(log).await;
                    // A server that never stops talking lets others have a word.
                    self.links.rotate_left(1);
                    continue;
                },
                () = self.watch.changed() => self.reload().await,
            }
            self.rebuild().await;
        }
    }

    /// Lets all servers end by themselves, as long as they do not take too long.
    pub(crate) async fn close(self) {
        let closing = join_all(self.links.iter().map(|link| link.client.close()));
        if timeout(FAREWELL, closing).await.is_err() {
            tracing::warn!("a server takes long to end and is killed");
        }
    }

    /// Tells clients what a server logs outside of calls.
    async fn pass_on(&self, (server, log): (Str, Log)) {
        let link = self.links.iter().find(|link| *link.client.name() == server);
        let Some(link) = link.filter(|link| link.connection.pass_on.logs) else { return };
        if let Some(message) = message(&server, &link.masks, &log) {
            self.gateway.tell(&message).await;
        }
    }

    async fn reload(&mut self) {
        let file = self.watch.path().display();
        match self.next_plan().await {
            Ok(plan) => {
                tracing::info!(%file, "reloaded");
                self.plan = plan;
                let plan = &self.plan;
                self.links.retain(|link| plan.server(&link.connection.name).is_some());
                self.attempts.clear();
                self.connect();
            }
            Err(error) => {
                tracing::error!(%file, "not reloaded, what was loaded before holds:\n{error}")
            }
        }
    }

    /// What the file says now. Counts go on, and so does an audit file that is still the same.
    async fn next_plan(&self) -> Result<Plan, BoxError> {
        let path = self.watch.path().to_owned();
        // Rules take a while to build.
        let config = spawn_blocking(move || Config::read(&path)).await??;
        let audit = match &config.audit {
            None => None,
            Some(settings) => {
                Some(match self.plan.audit.as_ref().and_then(|audit| audit.with(settings)) {
                    Some(audit) => audit,
                    None => open(settings)?,
                })
            }
        };
        let (metrics, held) = (self.plan.metrics.clone(), self.plan.held.clone());
        Ok(Plan { config, metrics, audit, held })
    }

    /// Begins to connect to the servers for which there is no client as the file has it.
    fn connect(&mut self) {
        for server in &self.plan.config.servers {
            let connection = &server.connection;
            if !self.links.iter().any(|link| link.connection == *connection) {
                let attempt = attempt(connection.clone(), Duration::ZERO);
                self.attempts.push(Box::pin(attempt));
            }
        }
    }

    /// Takes a client in, in the place of one that was made of an earlier entry, or tries again.
    fn settle(&mut self, attempt: Attempt) {
        let Attempt { connection, wait, result } = attempt;
        match result {
            Ok(client) => {
                self.links.retain(|link| link.connection.name != connection.name);
                self.links.push(Link::new(connection, client));
            }
            Err(error) => {
                let server = &connection.name;
                tracing::warn!(%server, %error, "a server cannot be reached; it is tried again");
                let wait = (wait * 2).clamp(FIRST_WAIT, LONGEST_WAIT);
                self.attempts.push(Box::pin(self::attempt(connection, wait)));
            }
        }
    }

    /// Builds all stacks anew, and tells clients if they can see another list.
    async fn rebuild(&mut self) {
        self.hear().await;
        let built = self.replace();
        match built {
            Ok(listed) if listed == self.listed => {}
            Ok(listed) => {
                self.listed = listed;
                self.gateway.announce().await;
            }
            Err(error) => {
                tracing::error!(%error, "the tools were not replaced; the last ones hold")
            }
        }
    }

    /// Sees to it that what servers log is masked by what holds now, and that new ones know how much is wanted.
    async fn hear(&mut self) {
        for link in &mut self.links {
            link.masks = self.plan.masks(&link.client);
        }
        let passes = |link: &&Link| link.connection.pass_on.logs;
        let voices = self.links.iter().filter(passes).map(|link| link.client.clone()).collect();
        self.gateway.hear(voices);
        let new = self.links.iter_mut().filter(|link| !link.is_told && passes(&&**link));
        join_all(new.map(|link| {
            link.is_told = true;
            self.gateway.tell_level(&link.client)
        }))
        .await;
    }

    fn replace(&self) -> Result<Tools, Error> {
        let set = offer(&self.plan, &self.clients())?.set;
        let listed = set.specs().clone();
        self.gateway.replace(set).map_err(unbuilt)?;
        Ok(listed)
    }

    /// In the order of the file.
    fn clients(&self) -> Vec<McpClient> {
        let servers = self.plan.config.servers.iter();
        let link = |name: &str| self.links.iter().find(|link| link.connection.name == name);
        servers.filter_map(|server| Some(link(&server.connection.name)?.client.clone())).collect()
    }
}

async fn attempt(connection: Connection, wait: Duration) -> Attempt {
    tokio::time::sleep(wait).await;
    let result = connect(&connection, &|path| Pins::file(path)).await;
    Attempt { connection, wait, result }
}

impl Link {
    fn new(connection: Connection, client: McpClient) -> Self {
        let (changes, events) = (client.changes(), client.events());
        Self { connection, client, changes, events, masks: Masks::default(), is_told: false }
    }

    /// Waits until the server has other tools, or is there or gone, or logs something that no call heard.
    async fn next(&mut self) -> Option<(Str, Log)> {
        loop {
            tokio::select! {
                // The client holds the other ends, so each wait ends with a change.
                changed = self.changes.changed() => {
                    drop(changed);
                    return None;
                }
                event = self.events.recv() => match event {
                    Ok(ServerEvent::Log(log)) if !log.is_heard => {
                        return Some((self.client.name().clone(), log));
                    }
                    Err(RecvError::Lagged(lost)) => {
                        tracing::warn!(server = %self.client.name(), lost, "a server says too much");
                    }
                    Err(RecvError::Closed) => return pending().await,
                    Ok(_) => {}
                },
            }
        }
    }
}

/// Waits for the next server that changes or logs something.
async fn changed(links: &mut [Link]) -> Option<(Str, Log)> {
    if links.is_empty() {
        return pending().await;
    }
    select_all(links.iter_mut().map(|link| Box::pin(link.next()))).await.0
}

fn unbuilt(error: BuildError) -> Error {
    Error::new(ErrorKind::Other, error.to_string()).with_source(error)
}

/// Opens the audit file.
///
/// # Errors
/// When it cannot be opened.
pub(crate) fn open(settings: &config::Audit) -> Result<Audit, BoxError> {
    let file = settings.file.display();
    Audit::open(settings).map_err(|error| format!("the audit file {file}: {error}").into())
}
