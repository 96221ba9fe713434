//! From which level on a server is to log.
#![expect(deprecated, reason = "servers of before 2026-07-28 are told once")]

use rmcp::model::{ClientRequest, CustomRequest, LoggingLevel};
use serde_json::json;
use tower_agent_core::{CancellationToken, Error};

use super::{
    ServerInfo,
    exchange::{Link, Terms},
    raw::Raw,
    shared::Shared,
};

/// Tells a server, if it can be told.
pub(crate) async fn tell(
    shared: &Shared,
    link: &Link,
    server: &ServerInfo,
    level: LoggingLevel,
) -> Result<(), Error> {
    if server.is_stateless() || !logs(server) {
        return Ok(());
    }
    let mut request = CustomRequest::new("logging/setLevel", Some(json!({ "level": level })));
    request.extensions.insert(Raw::default());
    let (patience, never) = (shared.patience(None), CancellationToken::new());
    let request = ClientRequest::CustomRequest(request);
    link.ask(request, Terms::new(patience, &never), |_| {}).await.map(drop)
}

fn logs(server: &ServerInfo) -> bool {
    server.json.value().is_ok_and(|info| info.pointer("/capabilities/logging").is_some())
}
