use std::{collections::HashMap, fmt, io, sync::Arc};

use http::{HeaderName, HeaderValue};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use tower_agent_core::Secret;

use super::raw_http::RawHttp;

/// A server behind a URL, spoken to by streamable HTTP.
///
/// Redirects are not followed: they would carry the token elsewhere. `https` needs the feature `tls`, which is on by
/// default.
///
/// ```
/// use tower_agent_mcp::client::Http;
///
/// let server = Http::new("https://mcp.example.com/mcp").bearer("secret").header("x-team", "blue");
/// assert!(!format!("{server:?}").contains("secret"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct Http {
    url: Arc<str>,
    token: Option<Secret>,
    headers: Vec<(String, Secret)>,
    env_proxy: bool,
}

impl Http {
    /// A server at a URL.
    pub fn new(url: impl Into<Arc<str>>) -> Self {
        Self { url: url.into(), token: None, headers: Vec::new(), env_proxy: false }
    }

    /// Sends a bearer token with each request.
    pub fn bearer(mut self, token: impl Into<Secret>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Sends a header with each request. The protocol's own headers cannot be set.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Whether to go through the proxy that the environment names (`HTTPS_PROXY` and so on); off unless set.
    pub const fn env_proxy(mut self, through: bool) -> Self {
        self.env_proxy = through;
        self
    }

    pub(crate) fn open(&self, max: usize) -> io::Result<StreamableHttpClientTransport<RawHttp>> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(Arc::clone(&self.url));
        config.max_sse_event_size = max;
        config.max_json_response_size = max;
        config.auth_header = self.token.as_ref().map(|token| token.expose().to_owned());
        config.custom_headers = self.headers()?;
        let http = self.client(self.url.starts_with("https:"))?;
        Ok(StreamableHttpClientTransport::with_client(RawHttp::new(http), config))
    }

    fn headers(&self) -> io::Result<HashMap<HeaderName, HeaderValue>> {
        let parse = |(name, value): &(String, Secret)| {
            let unusable = |_| io::Error::other(format!("`{name}` is no usable header"));
            let parsed = HeaderName::try_from(name.as_str()).map_err(|_| unusable(()))?;
            let mut value = HeaderValue::try_from(value.expose()).map_err(|_| unusable(()))?;
            value.set_sensitive(true);
            Ok((parsed, value))
        };
        self.headers.iter().map(parse).collect()
    }

    /// Connections are not kept: one whose last answer was not read to its end delays the next request.
    fn client(&self, is_https: bool) -> io::Result<reqwest::Client> {
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(0);
        if !self.env_proxy {
            builder = builder.no_proxy();
        }
        with_tls(builder, is_https)?.build().map_err(io::Error::other)
    }
}

impl fmt::Debug for Http {
    /// Values of headers may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("url", &self.url)
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "tls")]
fn with_tls(client: reqwest::ClientBuilder, is_https: bool) -> io::Result<reqwest::ClientBuilder> {
    let config = super::tls::config(is_https).map_err(io::Error::other)?;
    Ok(client.tls_backend_preconfigured(config))
}

#[cfg(not(feature = "tls"))]
fn with_tls(client: reqwest::ClientBuilder, is_https: bool) -> io::Result<reqwest::ClientBuilder> {
    if is_https {
        return Err(io::Error::other("https needs the feature `tls` of tower-agent-mcp"));
    }
    Ok(client)
}
