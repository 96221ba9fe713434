use std::sync::Arc;

use rmcp::{
    ServerHandler,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::local::LocalSessionManager,
    },
};

/// A server over streamable HTTP, as a service that axum mounts.
///
/// Sessions of the older protocol are kept in memory and end after five minutes without a message. The configuration
/// is rmcp's own; start from [`http_config`].
///
/// ```no_run
/// use axum::Router;
/// use tower_agent::ToolSet;
/// use tower_agent_mcp::server::{McpServer, http_config, http_service};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = McpServer::builder(ToolSet::empty()).build()?;
/// let app = Router::new().nest_service("/mcp", http_service(server, http_config()));
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// axum::serve(listener, app).await?;
/// # Ok(())
/// # }
/// ```
pub fn http_service<H: ServerHandler + Clone>(
    handler: H,
    config: StreamableHttpServerConfig,
) -> StreamableHttpService<H, LocalSessionManager> {
    let sessions = Arc::new(LocalSessionManager::default());
    StreamableHttpService::new(move || Ok(handler.clone()), sessions, config)
}

/// A configuration for a server that only this machine should reach: `Host` and, where a browser sends it, `Origin`
/// must name this machine, so that no web page can get at it by rebinding its own name. A body may have 4 MiB.
///
/// A public server names its own hosts and the origins that it trusts:
///
/// ```
/// use tower_agent_mcp::server::http_config;
///
/// let config = http_config()
///     .with_allowed_hosts(["tools.example.com"])
///     .with_allowed_origins(["https://app.example.com:443"]);
/// assert_eq!(config.allowed_hosts, ["tools.example.com"]);
/// ```
#[must_use]
pub fn http_config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
        .enforce_origin_validation()
}
