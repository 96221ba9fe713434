//! The gateway over streamable HTTP.

use std::{io::Write, net::SocketAddr, time::Duration};

use axum::{
    Router,
    http::{HeaderMap, Request, StatusCode, header, uri::Authority},
    response::{IntoResponse, Response},
};
use tokio::net::TcpListener;
use tower_agent::{BoxError, MetricsLayer, Secret};
use tower_agent_axum::{ApiError, health_router, metrics_router, serve as serve_http};
use tower_agent_mcp::server::{http_config, http_service};
use tower_http::validate_request::ValidateRequestHeaderLayer;

use crate::{config, gateway::Gateway};

/// How long a shutdown waits for what was begun.
const GRACE: Duration = Duration::from_secs(5);
/// What tells whether the program lives needs no token.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// Serves until the signal comes, and then what was begun.
///
/// # Errors
/// When the address cannot be listened on.
pub(crate) async fn serve(
    addr: SocketAddr,
    guard: Guard,
    gateway: Gateway,
    metrics: MetricsLayer,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), BoxError> {
    let listener = TcpListener::bind(addr).await.map_err(|error| {
        format!("cannot listen on {addr}: {error}; --http takes another address")
    })?;
    let config = http_config()
        .with_allowed_hosts(guard.hosts.iter().map(String::as_str).chain(LOOPBACK))
        .with_allowed_origins(guard.origins.iter().map(String::as_str).chain(LOOPBACK_ORIGINS));
    #[expect(clippy::result_large_err, reason = "the layer asks for this type")]
    let judge = move |request: &mut Request<_>| guard.judge(request);
    let routes = Router::new()
        .nest_service("/mcp", http_service(gateway, config))
        .merge(metrics_router(move || metrics.registry().snapshot().to_prometheus()))
        .merge(health_router())
        .layer(ValidateRequestHeaderLayer::custom(judge));
    let addr = listener.local_addr()?;
    writeln!(std::io::stdout(), "listening on http://{addr}/mcp")?;
    Ok(serve_http(listener, routes).with_graceful_shutdown(stop, GRACE).await?)
}

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
const LOOPBACK_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Who may come in.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    token: Option<Secret>,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Guard {
    pub(crate) fn new(http: config::Http, token: Option<Secret>) -> Self {
        Self { token, hosts: http.hosts, origins: http.origins }
    }

    /// A web page can have its own name lead to this machine, but cannot send another name than its own.
    #[expect(clippy::result_large_err, reason = "the layer asks for this type")]
    fn judge<B>(&self, request: &mut Request<B>) -> Result<(), Response> {
        if !self.knows_host(request.headers()) {
            let text =
                "this server does not answer to this name; `hosts` of [http] lists further ones";
            return Err(ApiError::new(StatusCode::FORBIDDEN, "foreign_host", text).into_response());
        }
        if OPEN.contains(&request.uri().path()) || self.knows_token(request.headers()) {
            return Ok(());
        }
        let text = "this server asks for a bearer token";
        let refusal = ApiError::new(StatusCode::UNAUTHORIZED, "no_token", text);
        Err(([(header::WWW_AUTHENTICATE, "Bearer")], refusal).into_response())
    }

    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let Some(authority) = host.and_then(|host| host.parse::<Authority>().ok()) else {
            return false;
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|addr| addr.is_loopback())
            || self.hosts.iter().any(|known| {
                known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(authority.as_str())
            })
    }

    fn knows_token(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        is_same(given.as_bytes(), token.expose().as_bytes())
    }
}

/// Takes as long for a token that is nearly right as for one that is all wrong.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let differences = given.iter().zip(token).fold(0, |all, (one, other)| all | (one ^ other));
    given.len() == token.len() && differences == 0
}
