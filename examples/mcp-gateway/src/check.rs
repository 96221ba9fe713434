//! What the configuration makes of the servers as they are now.

mod unused;

use std::{
    io::{self, Write},
    path::Path,
    sync::Arc,
    time::Duration,
};

use futures_util::future::join_all;
use tower_agent::{BoxError, Names, Warning};
use tower_agent_mcp::{
    client::{McpClient, Refused},
    pins::{Decision, FileStore, PinStore, PinnedTools, Pins},
};

use self::unused::Known;
use crate::{
    connect::connect,
    stacks::Plan,
    tools::{Entry, offer},
};

/// How long to wait until an accepted change is pinned.
const PATIENCE: Duration = Duration::from_secs(30);

/// Prints the stack of each tool, and whether all is well.
pub(crate) async fn check(plan: &Plan, out: &mut impl Write) -> Result<bool, BoxError> {
    let pins = |path: &Path| Pins::new(ReadOnly(FileStore::new(path)));
    let servers = &plan.config.servers;
    let connected = join_all(servers.iter().map(|server| connect(&server.connection, &pins))).await;
    let clients: Vec<_> = connected.iter().flatten().cloned().collect();
    let entries = offer(plan, &clients)?.entries;
    let mut is_well = true;
    if let Some(folder) = missing_folder(plan) {
        writeln!(out, "audit: there is no folder {}\n", folder.display())?;
        is_well = false;
    }
    for (server, client) in servers.iter().zip(&connected) {
        is_well &= match client {
            Ok(client) => print_server(client, &entries, out)?,
            Err(error) => {
                writeln!(out, "{}: cannot be reached: {error}\n", server.connection.name)?;
                false
            }
        };
    }
    if connected.iter().all(Result::is_ok) {
        for note in unused::notes(&plan.config, &known(&clients, &entries)) {
            writeln!(out, "note: {note}")?;
        }
    }
    for warning in warnings(&entries) {
        writeln!(out, "warning: {warning}")?;
        is_well = false;
    }
    writeln!(out, "{}", if is_well { "all is well" } else { "not all is well" })?;
    Ok(is_well)
}

/// The tools of all servers, those that are kept out too.
fn known(clients: &[McpClient], entries: &[Entry]) -> Vec<Known> {
    let mut known: Vec<_> =
        entries.iter().map(|entry| (entry.server.clone(), entry.own.clone())).collect();
    for client in clients {
        let refused = client.snapshot().refused;
        known.extend(refused.iter().map(|refused| (client.name().clone(), refused.tool.clone())));
    }
    known
}

/// The folder of the audit file, if it is not there.
fn missing_folder(plan: &Plan) -> Option<&Path> {
    let folder = plan.config.audit.as_ref()?.file.parent()?;
    (!folder.as_os_str().is_empty() && !folder.is_dir()).then_some(folder)
}

fn print_server(client: &McpClient, entries: &[Entry], out: &mut impl Write) -> io::Result<bool> {
    let snapshot = client.snapshot();
    let server = snapshot.server.as_deref().cloned().unwrap_or_default();
    let version = server.version.unwrap_or_default();
    writeln!(out, "{}: {} {version}, MCP {}", client.name(), server.name, server.protocol)?;
    let own = || entries.iter().filter(|entry| entry.server == *client.name());
    let width = own().map(|entry| entry.name.chars().count()).max().unwrap_or_default();
    for entry in own() {
        let out_of = entry.refused.map(|key| format!("kept out by {key}: ")).unwrap_or_default();
        writeln!(out, "  {:width$}  {out_of}{}", entry.name, entry.description)?;
    }
    for Refused { tool, reason, .. } in snapshot.refused.iter() {
        writeln!(out, "  {tool}  kept out: {}", reason.replace('\n', "\n    "))?;
    }
    writeln!(out)?;
    Ok(snapshot.refused.is_empty())
}

/// The known bad orders of all stacks, each once.
fn warnings(entries: &[Entry]) -> Vec<Warning> {
    let mut all: Vec<Warning> = Vec::new();
    for warning in entries.iter().flat_map(|entry| tower_agent::check(&entry.description)) {
        if !all.contains(&warning) {
            all.push(warning);
        }
    }
    all
}

/// Pins the changed definitions of the tools of these names as they are now, and prints what it accepted.
pub(crate) async fn accept(
    plan: &Plan,
    names: Names,
    out: &mut impl Write,
) -> Result<(), BoxError> {
    let names = Arc::new(names);
    let mut accepted = 0;
    for server in plan.config.servers.iter().filter(|server| server.connection.pins.is_some()) {
        let asked = Arc::clone(&names);
        let pins = move |path: &Path| {
            let asked = Arc::clone(&asked);
            Pins::file(path).on_change(move |change| {
                let is_asked = is_meant(&asked, &change.server, &change.tool);
                std::future::ready(if is_asked { Decision::Accept } else { Decision::Refuse })
            })
        };
        let client = connect(&server.connection, &pins).await?;
        let before = changed(&client, &names);
        tokio::time::timeout(PATIENCE, settled(&client, &names)).await?;
        for refused in before {
            writeln!(out, "{}: {} is pinned as it is now", client.name(), refused.tool)?;
            accepted += 1;
        }
    }
    if accepted == 0 {
        writeln!(out, "no tool of these names changed")?;
    }
    Ok(())
}

fn changed(client: &McpClient, names: &Names) -> Vec<Refused> {
    let refused = client.snapshot().refused;
    let is_asked =
        |refused: &&Refused| refused.is_drift && is_meant(names, client.name(), &refused.tool);
    refused.iter().filter(is_asked).cloned().collect()
}

async fn settled(client: &McpClient, names: &Names) {
    let mut changes = client.changes();
    while !changed(client, names).is_empty() && changes.changed().await.is_ok() {}
}

fn is_meant(names: &Names, server: &str, tool: &str) -> bool {
    names.contains(tool) || names.contains(&format!("{server}__{tool}"))
}

/// A look at what is pinned pins nothing.
struct ReadOnly(FileStore);

impl PinStore for ReadOnly {
    fn load(&self, server: &str) -> Result<PinnedTools, BoxError> {
        self.0.load(server)
    }

    fn put(&self, _: &str, _: &PinnedTools) -> Result<(), BoxError> {
        Ok(())
    }
}
