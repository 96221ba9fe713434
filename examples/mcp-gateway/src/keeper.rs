//! Keeps the servers connected and the stacks as the file and the servers have them.

use std::{
    convert::Infallible,
    future::{Future, pending},
    path::{Path, PathBuf},
    pin::Pin,
    time::Duration,
};

use futures_util::{StreamExt, future::select_all, stream::FuturesUnordered};
use tokio::sync::watch;
use tower_agent::{Error, MetricsLayer, Tools};
use tower_agent_mcp::{
    client::{McpClient, Snapshot},
    pins::Pins,
};

use crate::{
    config::{Config, Connection},
    connect::connect,
    gateway::Gateway,
    stacks::Plan,
    tools::offer,
    watch::Watch,
};

/// How long to wait before a server that never answered is tried again; each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

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
}

/// What changes at run time. It works while [`keep`](Self::keep) is polled.
pub(crate) struct Keeper {
    path: PathBuf,
    plan: Plan,
    links: Vec<Link>,
    attempts: Attempts,
    gateway: Gateway,
    listed: Tools,
}

impl Keeper {
    /// Tries each server once, and puts what could be reached into stacks.
    pub(crate) async fn start(path: &Path, config: Config) -> Result<Self, Error> {
        let plan = Plan { config, metrics: MetricsLayer::new() };
        let set = offer(&plan, &[])?.set;
        let gateway = Gateway::new(set).map_err(unbuilt)?;
        let mut keeper = Self {
            path: path.to_owned(),
            plan,
            links: Vec::new(),
            attempts: Attempts::new(),
            gateway,
            listed: Tools::new(),
        };
        keeper.connect();
        for _ in 0..keeper.attempts.len() {
            if let Some(attempt) = keeper.attempts.next().await {
                keeper.settle(attempt);
            }
        }
        keeper.rebuild().await;
        Ok(keeper)
    }

    pub(crate) fn gateway(&self) -> Gateway {
        self.gateway.clone()
    }

    /// Follows the file and the servers, for ever.
    pub(crate) async fn keep(mut self) -> Infallible {
        let mut watch = Watch::new(&self.path);
        loop {
            tokio::select! {
                Some(attempt) = self.attempts.next() => self.settle(attempt),
                () = changed(&mut self.links) => {}
                () = watch.changed() => self.reload(),
            }
            self.rebuild().await;
        }
    }

    fn reload(&mut self) {
        match Config::read(&self.path) {
            Ok(config) => {
                self.plan = Plan { config, metrics: self.plan.metrics.clone() };
                let plan = &self.plan;
                self.links.retain(|link| plan.server(&link.connection.name).is_some());
                self.attempts.clear();
                self.connect();
                tracing::info!(file = %self.path.display(), "reloaded");
            }
            Err(error) => tracing::error!(%error, "the file was not reloaded; the last one holds"),
        }
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
                let changes = client.changes();
                self.links.push(Link { connection, client, changes });
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

/// Waits until a server has other tools, or is there or gone.
async fn changed(links: &mut [Link]) {
    if links.is_empty() {
        return pending().await;
    }
    // The clients hold the other ends, so each wait ends with a change.
    drop(select_all(links.iter_mut().map(|link| Box::pin(link.changes.changed()))).await);
}

fn unbuilt(error: tower_agent_mcp::server::BuildError) -> Error {
    Error::new(tower_agent::ErrorKind::Other, error.to_string())
}
