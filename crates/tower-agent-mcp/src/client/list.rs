//! The tools of a server, read page by page.

use std::{collections::HashSet, sync::Arc};

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams};
use tower_agent_core::{
    BoxError, CancellationToken, Effect, Error, ErrorKind, Json, Str, ToolOrigin, ToolSpec,
};

use super::{
    Refused, ServerInfo,
    exchange::{Link, Terms},
    fault,
    raw::Raw,
    shared::Shared,
};
use crate::{
    convert::from_mcp,
    pins::{self, Change, Decision, Pin, PinnedTools, Pins},
};

/// The tools of a server as they were read, with what is to become of each.
pub(crate) struct Listing {
    server: Arc<ServerInfo>,
    entries: Vec<Entry>,
    refused: Vec<Refused>,
}

struct Entry {
    spec: Arc<ToolSpec>,
    pin: Pin,
    /// It is not what is pinned, and nobody accepted it yet.
    change: Option<Change>,
}

impl Listing {
    /// Reads the list, pins what is new, and makes the rest known.
    pub(crate) async fn read(
        shared: &Shared,
        link: &Link,
        server: &Arc<ServerInfo>,
    ) -> Result<Self, Error> {
        let mut listing = Self::sort(shared, server, read(shared, link).await?);
        if let Some(pins) = &shared.pins {
            listing.compare(shared, pins).await?;
        }
        listing.publish(shared, link);
        Ok(listing)
    }

    fn sort(shared: &Shared, server: &Arc<ServerInfo>, tools: Vec<Json>) -> Self {
        let (mut entries, mut refused) = (Vec::new(), Vec::new());
        let mut names = HashSet::new();
        for json in tools {
            match accept(shared, server, &json) {
                Ok(entry) if names.insert(entry.spec.name.clone()) => entries.push(entry),
                Ok(entry) => {
                    let name = entry.spec.name.clone();
                    refused.push(refuse(name, "the server has two tools of this name"));
                }
                Err(reason) => refused.push(reason),
            }
        }
        for tool in &refused {
            tracing::warn!(server = %shared.name, tool = %tool.tool, reason = %tool.reason, "a tool is kept out");
        }
        Self { server: Arc::clone(server), entries, refused }
    }

    async fn compare(&mut self, shared: &Shared, pins: &Pins) -> Result<(), Error> {
        let known = pins.load(&shared.name).await.map_err(|error| unpinned(shared, error))?;
        let mut new = PinnedTools::new();
        for entry in &mut self.entries {
            let name = &entry.spec.name;
            match known.get(name) {
                None => drop(new.insert(name.clone(), entry.pin.clone())),
                Some(pin) if pin.digest == entry.pin.digest => {}
                Some(pin) => {
                    entry.change = Some(Change {
                        server: shared.name.clone(),
                        tool: name.clone(),
                        before: pin.definition.clone(),
                        after: entry.pin.definition.clone(),
                    });
                }
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        pins.put(&shared.name, new).await.map_err(|error| unpinned(shared, error))
    }

    /// Asks about the changed tools, one after the other, and makes known what was accepted.
    pub(crate) async fn settle(&mut self, shared: &Shared, link: &Link) -> Result<(), Error> {
        let Some(pins) = shared.pins.as_ref().filter(|pins| pins.asks()) else { return Ok(()) };
        for at in 0..self.entries.len() {
            let Some(entry) = self.entries.get_mut(at) else { break };
            let Some(change) = entry.change.clone() else { continue };
            if pins.decide(change).await != Decision::Accept {
                continue;
            }
            let new = [(entry.spec.name.clone(), entry.pin.clone())].into();
            pins.put(&shared.name, new).await.map_err(|error| unpinned(shared, error))?;
            entry.change = None;
            self.publish(shared, link);
        }
        Ok(())
    }

    fn publish(&self, shared: &Shared, link: &Link) {
        let (mut specs, mut refused) = (Vec::new(), self.refused.clone());
        for Entry { spec, change, .. } in &self.entries {
            match change {
                None => specs.push(Arc::clone(spec)),
                Some(change) => refused.push(Refused {
                    tool: spec.name.clone(),
                    reason: format!("its definition changed:\n{change}").into(),
                    is_drift: true,
                }),
            }
        }
        shared.publish(link, &self.server, specs.into(), refused);
    }
}

fn accept(shared: &Shared, server: &ServerInfo, json: &Json) -> Result<Entry, Refused> {
    let limit = shared.options.limits.tool;
    let size = json.as_str().len();
    let mut spec = from_mcp::tool(json).map_err(|flaw| refuse(Str::default(), flaw))?;
    if size > limit {
        let why = format!("its definition has {size} bytes, and {limit} are allowed");
        return Err(refuse(spec.name, &why));
    }
    let pin = Pin::new(pins::definition(json));
    spec.origin = Some(ToolOrigin {
        server: shared.name.clone(),
        version: server.version.clone(),
        digest: Some(Str::from(&pin.digest)),
    });
    Ok(Entry { spec: Arc::new(spec), pin, change: None })
}

fn refuse(tool: Str, reason: &str) -> Refused {
    Refused { tool, reason: reason.into(), is_drift: false }
}

fn unpinned(shared: &Shared, error: BoxError) -> Error {
    let what = format!("the pins of server `{}` are not available: {error}", shared.name);
    fault::error(ErrorKind::Other, what).with_effect(Effect::NotStarted).with_source(error)
}

async fn read(shared: &Shared, link: &Link) -> Result<Vec<Json>, Error> {
    let most = shared.options.limits.tools;
    let mut tools = Vec::new();
    let mut cursor: Option<Str> = None;
    let mut seen = HashSet::new();
    loop {
        let json = match page(shared, link, cursor.as_deref()).await {
            // A server need not have tools at all.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(tools),
            json => json?,
        };
        let page = from_mcp::page(&json).map_err(|flaw| fault::malformed(&shared.name, flaw))?;
        tools.extend(page.tools);
        if tools.len() > most {
            let why = format!("it has more than {most} tools");
            return Err(fault::malformed(&shared.name, &why));
        }
        match page.next {
            None => return Ok(tools),
            Some(next) if next.is_empty() => return Ok(tools),
            Some(next) if seen.insert(next.clone()) => cursor = Some(next),
            Some(_) => return Err(fault::malformed(&shared.name, "its list of tools has no end")),
        }
    }
}

async fn page(shared: &Shared, link: &Link, cursor: Option<&str>) -> Result<Json, Error> {
    let params =
        cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned())));
    let mut request = ListToolsRequest { params, ..ListToolsRequest::default() };
    request.extensions.insert(Raw::default());
    let patience = shared.patience(None);
    let request = ClientRequest::ListToolsRequest(request);
    let never = CancellationToken::new();
    link.ask(request, Terms::new(patience, &never), |_| {}).await
}
