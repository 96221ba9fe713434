//! From a `[[server]]` to a client.

use tower::service_fn;
use tower_agent::Error;
use tower_agent_mcp::{
    client::{self, Child, Http, McpClient},
    pins::Pins,
};

use crate::{
    config::{Connection, Endpoint},
    relay,
};

/// What pins changed tools are compared with, made of the path of their file.
pub(crate) type PinsOf<'a> = &'a (dyn Fn(&std::path::Path) -> Pins + Send + Sync);

/// Connects to a server once.
///
/// # Errors
/// When it cannot be reached.
pub(crate) async fn connect(connection: &Connection, pins: PinsOf<'_>) -> Result<McpClient, Error> {
    let mut client = McpClient::builder(connection.name.as_str(), endpoint(&connection.endpoint))
        .client_info("mcp-gateway", env!("CARGO_PKG_VERSION"));
    if let Some(limit) = connection.connect {
        client = client.connect_timeout(limit);
    }
    if let Some(limit) = connection.idle {
        client = client.timeout(limit);
    }
    if let Some(limit) = connection.total {
        client = client.total_timeout(limit);
    }
    if let Some(path) = &connection.pins {
        client = client.pins(pins(path));
    }
    let asks = &connection.pass_on.asks;
    if !asks.is_empty() {
        client = client.answer(asks.iter().copied(), service_fn(relay::ask));
    }
    client.connect().await
}

fn endpoint(endpoint: &Endpoint) -> client::Endpoint {
    match endpoint {
        Endpoint::Command { command, args, env, inherit_env, cwd } => {
            let mut child = Child::new(command).args(args.iter().map(|arg| &arg.0));
            for name in inherit_env {
                child = child.inherit_env(name);
            }
            for (name, value) in env {
                child = child.env(name, &value.0);
            }
            if let Some(cwd) = cwd {
                child = child.current_dir(cwd);
            }
            child.into()
        }
        Endpoint::Url { url, headers, bearer } => {
            let mut http = Http::new(url.as_str());
            if let Some(token) = bearer {
                http = http.bearer(token.0.as_str());
            }
            for (name, value) in headers {
                http = http.header(name, value.0.as_str());
            }
            http.into()
        }
    }
}
