//! What the tools of several servers are called.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use tower_agent_core::{
    Error, ErrorKind, Json, Operation, Str, ToolCall, ToolOutput, ToolSpec, Tools,
};

use super::McpClient;

/// Between the name of a server and that of its tool.
const JOINT: &str = "__";
/// What providers of models take, in bytes.
const LONGEST: usize = 64;
/// Digits that tell names apart of which something was left out.
const TAG: usize = 8;

/// Who is called by which name.
pub(super) struct Names {
    pub(super) tools: Tools,
    pub(super) routes: HashMap<Str, (usize, Str)>,
}

impl Names {
    pub(super) fn new(clients: &[McpClient], lists: &[Tools], reserved: &HashSet<Str>) -> Self {
        let servers = clients.iter().map(McpClient::name).zip(lists);
        let own = || {
            servers.clone().flat_map(|(server, list)| list.iter().map(move |spec| (server, spec)))
        };
        let mut clashes = reserved.clone();
        let mut seen = HashSet::new();
        clashes.extend(
            own().filter(|(_, spec)| !seen.insert(&spec.name)).map(|(_, spec)| spec.name.clone()),
        );
        // A name with a prefix may be the plain one of another tool, which then gets a prefix too.
        loop {
            let before = clashes.len();
            let prefixed = own().filter(|(_, spec)| clashes.contains(&spec.name));
            let more: Vec<_> = prefixed
                .map(|(server, spec)| prefix(server, &spec.name))
                .filter(|name| seen.contains(name))
                .collect();
            clashes.extend(more);
            if clashes.len() == before {
                break;
            }
        }
        Self::under(clients, lists, &clashes)
    }

    fn under(clients: &[McpClient], lists: &[Tools], clashes: &HashSet<Str>) -> Self {
        let (mut tools, mut routes) = (Tools::new(), HashMap::new());
        for (at, (client, list)) in clients.iter().zip(lists).enumerate() {
            for spec in list {
                let own = spec.name.clone();
                let name = if clashes.contains(&own) {
                    prefix(client.name(), &own)
                } else {
                    fit(&own, client.name(), &own)
                };
                if routes.contains_key(&name) {
                    let server = client.name();
                    tracing::warn!(%server, tool = %own, %name, "a tool is kept out: another one has its name");
                    continue;
                }
                routes.insert(name.clone(), (at, own));
                if name == spec.name {
                    tools.push(Arc::clone(spec));
                } else {
                    let mut spec = ToolSpec::clone(spec);
                    spec.name = name;
                    tools.push(spec);
                }
            }
        }
        Self { tools, routes }
    }

    /// The answer to a name that nobody has, or that several would have.
    pub(super) fn unknown(&self, call: &ToolCall) -> ToolOutput {
        let name = &call.name;
        let meant = self.routes.iter().filter(|(_, (_, own))| own == name);
        let mut meant: Vec<_> = meant.map(|(name, _)| name.as_str()).collect();
        meant.sort_unstable();
        let text = if meant.is_empty() {
            format!("There is no tool \"{name}\"; nothing ran.")
        } else {
            let meant = meant.join(", ");
            format!("The name \"{name}\" is not clear; nothing ran. Call one of these: {meant}.")
        };
        call.failed(&Error::new(ErrorKind::NotFound, text.clone()).with_model_text(text))
    }
}

fn prefix(server: &str, tool: &str) -> Str {
    let name = format!("{server}{JOINT}{tool}");
    // Else two pairs of a server and a tool might make one name.
    let is_clear = !server.contains(JOINT) && !server.ends_with('_');
    if is_clear { fit(&name, server, tool) } else { tagged(&name, server, tool) }
}

/// A name as providers of models take it.
fn fit(name: &str, server: &str, tool: &str) -> Str {
    let fits = (1..=LONGEST).contains(&name.len()) && name.chars().all(is_taken);
    if fits { name.into() } else { tagged(name, server, tool) }
}

/// A name that is told apart by a digest of where it came from, and not by what else there is: it stays the same when other
/// tools come or go.
fn tagged(name: &str, server: &str, tool: &str) -> Str {
    let plain = name.chars().map(|char| if is_taken(char) { char } else { '_' });
    let origin = Json::from_value(serde_json::json!([server, tool]));
    let tag =
        origin.digest().iter().take(TAG / 2).map(|byte| format!("{byte:02x}")).collect::<String>();
    plain.take(LONGEST - TAG - 1).chain(['_']).chain(tag.chars()).collect::<String>().into()
}

const fn is_taken(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}
