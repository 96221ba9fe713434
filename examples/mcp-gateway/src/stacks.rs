//! The stack of each tool, as the configuration says.

use tower::{ServiceExt, service_fn};
use tower_agent::{
    AllowListLayer, BoxToolService, CatchPanicLayer, ConcurrencyLimitLayer, DenyListLayer,
    Description, Error, ErrorKind, LogLayer, MetricsLayer, Operation, RedactLayer,
    ReportErrorsLayer, Str, ToolCall, ToolOutput,
};
use tower_agent_mcp::client::McpClient;
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    audit::Audit,
    config::{Config, Globs, Layers, Server},
    masks::Masks,
    relay::{Held, Relay},
};

/// What stacks are built by.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) config: Config,
    pub(crate) metrics: MetricsLayer,
    pub(crate) audit: Option<Audit>,
    pub(crate) held: Held,
}

/// A tool of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool<'a> {
    pub(crate) server: &'a Server,
    pub(crate) client: &'a McpClient,
    /// As its server calls it.
    pub(crate) own: &'a Str,
    /// As clients of the gateway call it.
    pub(crate) name: &'a Str,
    /// What masks anything of the server.
    pub(crate) masks: &'a Masks,
}

/// A stack and what it is for.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) stack: BoxToolService,
    /// Which key keeps the tool out; none if clients may call it.
    pub(crate) refused: Option<&'static str>,
}

impl Plan {
    pub(crate) fn server(&self, name: &str) -> Option<&Server> {
        self.config.servers.iter().find(|server| server.connection.name == name)
    }

    /// The stack around a tool, outermost layer last.
    pub(crate) fn build(&self, tool: Tool<'_>) -> Built {
        let allowed = self.allowed(tool);
        let denied = self.denied(tool);
        let settings = self.settings(tool);
        let mut stack = self.late(tool, &settings).layer(&ReportErrorsLayer::new());
        if let Some(redact) = redaction(&settings) {
            stack = stack.layer(&redact);
        }
        if let Some(truncate) = settings.truncate.flatten() {
            stack = stack.layer(&truncate);
        }
        if let Some(denied) = &denied {
            let names = denied.map(|_| tool.name);
            stack = stack.layer(&DenyListLayer::exact(names));
        }
        if let Some(allowed) = &allowed {
            let names = allowed.map_or(Some(tool.name), |_| None);
            stack = stack.layer(&AllowListLayer::exact(names));
        }
        let refused = allowed.flatten().or(denied.flatten());
        Built { stack: self.observed(stack, Some(tool), &settings).0, refused }
    }

    /// What a name is answered with that no tool has.
    pub(crate) fn unknown(&self) -> BoxToolService {
        let leaf = service_fn(|call: ToolCall| async move {
            let text = format!("There is no tool \"{}\"; nothing ran.", call.name);
            let error = Error::new(ErrorKind::NotFound, text.clone()).with_model_text(text);
            Ok::<ToolOutput, Error>(call.failed(&error))
        });
        let leaf = BoxToolService::with_description(leaf, Description::from_names(["unknown"]));
        self.observed(Onion(leaf), None, &self.config.layers).0
    }

    fn observed(&self, stack: Onion, tool: Option<Tool<'_>>, settings: &Layers) -> Onion {
        let mut stack = stack.layer(&CatchPanicLayer::new());
        if let Some(audit) = self.audit.as_ref().filter(|_| settings.audit.unwrap_or(true)) {
            let server = tool.map(|tool| tool.server.connection.name.as_str());
            stack = stack.layer(&audit.layer(server));
        }
        if settings.metrics.unwrap_or(true) {
            stack = stack.layer(&self.metrics);
        }
        if settings.log.unwrap_or(true) {
            stack = stack.layer(&LogLayer::new());
        }
        stack
    }

    /// The part that may have to wait for its turn. What stands around it does not: what is denied takes no turn, and who
    /// gives up while it waits is seen.
    fn late(&self, tool: Tool<'_>, settings: &Layers) -> Onion {
        let mut stack = leaf(tool, self.relay(tool, settings));
        if let Some(timeout) = settings.timeout.clone().flatten() {
            stack = stack.layer(&timeout);
        }
        for limit in self.limits(tool) {
            stack = stack.layer(limit);
        }
        let Onion(stack) = stack;
        let description = stack.description().clone();
        let waiting = service_fn(move |call| stack.clone().oneshot(call));
        Onion(BoxToolService::with_description(waiting, description))
    }

    fn relay(&self, tool: Tool<'_>, settings: &Layers) -> Relay {
        Relay {
            client: tool.client.clone(),
            pass_on: tool.server.connection.pass_on.clone(),
            redact: redaction(settings),
            masks: tool.masks.clone(),
            held: self.held.clone(),
        }
    }

    /// What masks anything of a server: what holds for all of it, and what a `[[tool]]` says of one of its tools.
    pub(crate) fn masks(&self, client: &McpClient) -> Masks {
        let Some(server) = self.server(client.name()) else { return Masks::default() };
        let tools = client.tools();
        let means_one = |names: &Globs| {
            tools.iter().any(|spec| is_meant(names, &server.connection.name, &spec.name))
        };
        let narrow = self
            .config
            .tools
            .iter()
            .filter(|table| means_one(&table.names))
            .filter_map(|table| table.layers.redact.clone().flatten());
        redaction(&server.layers.or(&self.config.layers)).into_iter().chain(narrow).collect()
    }

    /// The limits that hold for a tool, the widest first: whoever waits for a narrow one holds no permit of a wide one.
    fn limits<'a>(&'a self, tool: Tool<'a>) -> impl Iterator<Item = &'a ConcurrencyLimitLayer> {
        let narrow = self.tables(tool).filter_map(|layers| layers.concurrency.as_ref());
        [&self.config.layers, &tool.server.layers]
            .into_iter()
            .filter_map(|layers| layers.concurrency.as_ref())
            .chain(narrow)
    }

    fn settings(&self, tool: Tool<'_>) -> Layers {
        let wide = tool.server.layers.or(&self.config.layers);
        self.tables(tool).fold(wide, |wider, layers| layers.or(&wider))
    }

    /// What the `[[tool]]` tables that mean a tool say, in the order of the file: a later one prevails.
    fn tables<'a>(&'a self, tool: Tool<'a>) -> impl Iterator<Item = &'a Layers> {
        let meant = move |names: &Globs| tool.is_meant_by(names);
        self.config.tools.iter().filter(move |table| meant(&table.names)).map(|table| &table.layers)
    }

    /// Nothing if there is no such list; otherwise the key of the list that a tool is missing from, if it is.
    fn allowed(&self, tool: Tool<'_>) -> Option<Option<&'static str>> {
        let lists = on_lists(self.config.allow.as_ref(), tool.server.allow.as_ref(), tool);
        judge(lists, false, ["allow of [all]", "allow of [[server]]"])
    }

    /// Nothing if there is no such list; otherwise the key of the list that a tool is on, if it is.
    fn denied(&self, tool: Tool<'_>) -> Option<Option<&'static str>> {
        let lists = on_lists(self.config.deny.as_ref(), tool.server.deny.as_ref(), tool);
        judge(lists, true, ["deny of [all]", "deny of [[server]]"])
    }
}

/// Whether a tool is on the list for all and on that of its server, where there is one.
fn on_lists(all: Option<&Globs>, own: Option<&Globs>, tool: Tool<'_>) -> [Option<bool>; 2] {
    let all = all.map(|names| tool.is_meant_by(names));
    [all, own.map(|names| names.contains(tool.own))]
}

fn judge(
    lists: [Option<bool>; 2],
    refuses: bool,
    keys: [&'static str; 2],
) -> Option<Option<&'static str>> {
    lists.iter().flatten().next()?;
    let mut judged = lists.into_iter().zip(keys);
    Some(judged.find(|(is_on, _)| *is_on == Some(refuses)).map(|(_, key)| key))
}

impl Tool<'_> {
    fn is_meant_by(self, names: &Globs) -> bool {
        is_meant(names, &self.server.connection.name, self.own)
    }
}

/// Whether names mean a tool: by its own name, or by its server's and its own, whichever clients see now. So no list
/// changes its meaning when another server gets a tool of the same name.
fn is_meant(names: &Globs, server: &str, own: &str) -> bool {
    names.contains(own) || names.contains(&format!("{server}__{own}"))
}

/// Unless the file says otherwise, secrets are masked.
fn redaction(settings: &Layers) -> Option<RedactLayer> {
    settings.redact.clone().unwrap_or_else(|| Some(RedactLayer::secrets()))
}

fn leaf(tool: Tool<'_>, relay: Relay) -> Onion {
    let own = tool.own.clone();
    let called = service_fn(move |mut call: ToolCall| {
        call.name = own.clone();
        relay.clone().call(call)
    });
    let name = format!("mcp({})", tool.server.connection.name);
    Onion(BoxToolService::with_description(called, Description::from_names([name])))
}

/// A stack that grows outwards and knows what it is made of.
struct Onion(BoxToolService);

impl Onion {
    fn layer<L>(self, layer: &L) -> Self
    where
        L: Layer<BoxToolService>,
        L::Service: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
        <L::Service as Service<ToolCall>>::Error: Into<Error>,
        <L::Service as Service<ToolCall>>::Future: Send + 'static,
    {
        let description = Description::of::<L::Service>().around(self.0.description());
        Self(BoxToolService::with_description(layer.layer(self.0), description))
    }
}
