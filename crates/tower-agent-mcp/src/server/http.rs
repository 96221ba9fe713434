use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use http::Request;
use http_body::Body;
use rmcp::{
    ServerHandler,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::local::LocalSessionManager,
    },
};

use super::copied::CopiedBody;

type Inner<H> = StreamableHttpService<H, LocalSessionManager>;

/// A server over streamable HTTP; see [`http_service`]. Clones are the same server.
pub struct HttpService<H>(Inner<H>);

impl<H> Clone for HttpService<H> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<H> fmt::Debug for HttpService<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpService")
    }
}

impl<H, B> tower_service::Service<Request<B>> for HttpService<H>
where
    H: ServerHandler,
    B: Body<Data: Send, Error: fmt::Display> + Send + 'static,
{
    type Response = <Inner<H> as tower_service::Service<Request<CopiedBody<B>>>>::Response;
    type Error = <Inner<H> as tower_service::Service<Request<CopiedBody<B>>>>::Error;
    type Future = <Inner<H> as tower_service::Service<Request<CopiedBody<B>>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        tower_service::Service::<Request<CopiedBody<B>>>::poll_ready(&mut self.0, cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let (body, copy) = CopiedBody::new(body);
        head.extensions.insert(copy);
        tower_service::Service::call(&mut self.0, Request::from_parts(head, body))
    }
}

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
) -> HttpService<H> {
    let sessions = Arc::new(LocalSessionManager::default());
    HttpService(StreamableHttpService::new(move || Ok(handler.clone()), sessions, config))
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
