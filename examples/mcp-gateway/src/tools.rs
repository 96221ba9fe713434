//! The tools of all servers under the names that clients call them by, each in its stack.

use std::{collections::HashMap, sync::Arc};

use tower_agent::{Description, Error, Str, ToolSet, ToolSpec, Tools};
use tower_agent_mcp::client::{McpClient, Servers};

use crate::{
    masks::Masks,
    router::{Route, Router},
    stacks::{Plan, Tool},
};

/// A tool, for `--check`.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) server: Str,
    /// As its server calls it.
    pub(crate) own: Str,
    pub(crate) name: Str,
    pub(crate) description: Description,
    pub(crate) refused: Option<&'static str>,
}

/// What clients can list and call.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) set: ToolSet,
    pub(crate) entries: Vec<Entry>,
}

/// Puts the tools of these clients into stacks.
///
/// # Errors
/// When two clients have the same name.
pub(crate) fn offer(plan: &Plan, clients: &[McpClient]) -> Result<Offer, Error> {
    let servers = Servers::new(clients.iter().cloned())?.reserve(prefixed(plan, clients));
    let (mut routes, mut entries, mut listed) = (HashMap::new(), Vec::new(), Tools::new());
    let masks: HashMap<_, _> =
        clients.iter().map(|client| (client.name(), plan.masks(client))).collect();
    for spec in &servers.tools() {
        let Some((client, own)) = origin(clients, spec) else { continue };
        let (Some(server), Some(masks)) = (plan.server(client.name()), masks.get(client.name()))
        else {
            continue;
        };
        let built = plan.build(Tool { server, client, own: &own, name: &spec.name, masks });
        entries.push(Entry {
            server: client.name().clone(),
            own: own.clone(),
            name: spec.name.clone(),
            description: built.stack.description().clone(),
            refused: built.refused,
        });
        if built.refused.is_none() {
            listed.push(Arc::clone(spec));
        }
        let route = Route { spec: Some(Arc::clone(spec)), stack: built.stack };
        routes.insert(spec.name.clone(), route);
    }
    keep_out(plan, clients, &masks, &mut routes);
    let router = Router::new(routes, plan.unknown());
    let set = ToolSet::from_service(listed, router)
        .map_err(|error| Error::new(tower_agent::ErrorKind::Other, error.to_string()))?;
    Ok(Offer { set, entries })
}

/// The names of the tools of servers that always have their prefix.
fn prefixed(plan: &Plan, clients: &[McpClient]) -> Vec<Str> {
    let has_prefix =
        |client: &&McpClient| plan.server(client.name()).is_some_and(|server| server.prefix);
    let tools = clients.iter().filter(has_prefix).map(McpClient::tools);
    tools.flat_map(|tools| tools.iter().map(|spec| spec.name.clone()).collect::<Vec<_>>()).collect()
}

/// The client of a tool, and what its server calls it: the definition is the same, whatever name it has here.
fn origin<'a>(clients: &'a [McpClient], spec: &ToolSpec) -> Option<(&'a McpClient, Str)> {
    let origin = spec.origin.as_ref()?;
    let client = clients.iter().find(|client| *client.name() == origin.server)?;
    let tools = client.tools();
    let own = tools.iter().find(|own| own.origin.as_ref() == Some(origin))?;
    Some((client, own.name.clone()))
}

/// Tools that changed since they were pinned are not listed; whoever calls one all the same is told why.
fn keep_out(
    plan: &Plan,
    clients: &[McpClient],
    masks: &HashMap<&Str, Masks>,
    routes: &mut HashMap<Str, Route>,
) {
    for client in clients {
        let (Some(server), Some(masks)) = (plan.server(client.name()), masks.get(client.name()))
        else {
            continue;
        };
        for refused in client.snapshot().refused.iter().filter(|refused| refused.is_drift) {
            let own = &refused.tool;
            let names = [own.clone(), Str::from(format!("{}__{own}", client.name()))];
            for name in names {
                let built = plan.build(Tool { server, client, own, name: &name, masks });
                routes.entry(name).or_insert(Route { spec: None, stack: built.stack });
            }
        }
    }
}
