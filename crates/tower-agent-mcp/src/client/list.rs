//! The tools of a server, read page by page.

use std::{collections::HashSet, sync::Arc};

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, RequestMetaObject};
use tower_agent_core::{CancellationToken, Error, Json, Str, ToolOrigin, ToolSpec};

use super::{Refused, ServerInfo, exchange::Link, fault, raw::Raw, shared::Shared};
use crate::convert::from_mcp;

/// Reads the list and makes it known.
pub(crate) async fn refresh(
    shared: &Shared,
    link: &Link,
    server: &Arc<ServerInfo>,
) -> Result<(), Error> {
    let tools = read(shared, link).await?;
    let mut refused = Vec::new();
    let mut specs: Vec<Arc<ToolSpec>> = Vec::new();
    let mut names = HashSet::new();
    for json in tools {
        match accept(shared, server, &json) {
            Ok(spec) if names.insert(spec.name.clone()) => specs.push(Arc::new(spec)),
            Ok(spec) => refused.push(refuse(spec.name, "the server has two tools of this name")),
            Err(reason) => refused.push(reason),
        }
    }
    for tool in &refused {
        tracing::warn!(server = %shared.name, tool = %tool.tool, reason = %tool.reason, "a tool is kept out");
    }
    shared.publish(link, server, specs.into(), refused);
    Ok(())
}

fn accept(shared: &Shared, server: &ServerInfo, json: &Json) -> Result<ToolSpec, Refused> {
    let limit = shared.options.limits.tool;
    let size = json.as_str().len();
    let mut spec = from_mcp::tool(json).map_err(|flaw| refuse(Str::default(), flaw))?;
    if size > limit {
        let why = format!("its definition has {size} bytes, and {limit} are allowed");
        return Err(refuse(spec.name, &why));
    }
    spec.origin = Some(ToolOrigin {
        server: shared.name.clone(),
        version: server.version.clone(),
        digest: None,
    });
    Ok(spec)
}

fn refuse(tool: Str, reason: &str) -> Refused {
    Refused { tool, reason: reason.into(), is_drift: false }
}

async fn read(shared: &Shared, link: &Link) -> Result<Vec<Json>, Error> {
    let most = shared.options.limits.tools;
    let mut tools = Vec::new();
    let mut cursor: Option<Str> = None;
    let mut seen = HashSet::new();
    loop {
        let json = page(shared, link, cursor.as_deref()).await?;
        let page = from_mcp::page(&json).map_err(|flaw| fault::malformed(&shared.name, flaw))?;
        tools.extend(page.tools);
        if tools.len() > most {
            let why = format!("it has more than {most} tools");
            return Err(fault::malformed(&shared.name, &why));
        }
        match page.next {
            None => return Ok(tools),
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
    link.ask(request, RequestMetaObject::new(), patience, &never, |_| {}).await
}
