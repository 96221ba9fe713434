use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, header};
use reqwest::redirect::Policy;
use tower_agent_core::{BoxError, Secret};

use super::{Inner, OpenAi};

/// Makes an [`OpenAi`] model.
#[must_use]
pub struct Builder {
    base_url: String,
    headers: HeaderMap,
    key: Option<Secret>,
    fault: Option<BuildError>,
    client: Option<reqwest::Client>,
    connect_timeout: Duration,
    read_timeout: Duration,
    env_proxy: bool,
    stream_usage: bool,
    reply_limit: usize,
}

impl Builder {
    pub(super) fn new(base_url: String) -> Self {
        let json = HeaderValue::from_static("application/json");
        Self {
            base_url,
            headers: HeaderMap::from_iter([(header::CONTENT_TYPE, json)]),
            key: None,
            fault: None,
            client: None,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(600),
            env_proxy: false,
            stream_usage: true,
            reply_limit: 64 << 20,
        }
    }

    /// Sends a key as `Authorization: Bearer`.
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        let key = key.into();
        let value = format!("Bearer {}", key.expose());
        self.key = Some(key);
        self.header(header::AUTHORIZATION, value)
    }

    /// Sends a header; its value is treated as confidential.
    pub fn header(
        mut self,
        name: impl TryInto<HeaderName, Error: Into<http::Error>>,
        value: impl TryInto<HeaderValue, Error: Into<http::Error>>,
    ) -> Self {
        match (name.try_into(), value.try_into()) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                self.headers.insert(name, value);
            }
            (Err(error), _) => {
                self.fault = Some(BuildError::header("a header's name is invalid", error))
            }
            // The error of a value does not show the value.
            (_, Err(error)) => {
                self.fault = Some(BuildError::header("a header's value is invalid", error))
            }
        }
        self
    }

    /// How long a connection may take; 10 seconds without this.
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// How long the server may be silent, before its answer or inside it; 10 minutes without this.
    ///
    /// It guards against connections that died unseen. Limits of a call belong into a layer.
    pub const fn read_timeout(mut self, limit: Duration) -> Self {
        self.read_timeout = limit;
        self
    }

    /// Whether `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` count; they do not without this.
    pub const fn env_proxy(mut self, allow: bool) -> Self {
        self.env_proxy = allow;
        self
    }

    /// Whether to ask for the usage of streamed replies; on without this. Some older servers refuse the option.
    pub const fn stream_usage(mut self, ask: bool) -> Self {
        self.stream_usage = ask;
        self
    }

    /// How many bytes a reply may have, whole or streamed; 64 MiB without this.
    pub const fn reply_limit(mut self, bytes: usize) -> Self {
        self.reply_limit = bytes;
        self
    }

    /// Uses a client of your own, for proxies or certificates. Then time-outs, redirects and proxies are its affair:
    /// switch redirects off there.
    pub fn client(mut self, client: reqwest::Client) -> Self {
        self.client = Some(client);
        self
    }

    /// Finishes the model. Nothing is sent.
    ///
    /// # Errors
    /// When the URL or a header is invalid, or https is not available.
    pub fn build(mut self) -> Result<OpenAi, BuildError> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let url = self.url()?;
        let client = match self.client.take() {
            Some(client) => client,
            None => self.own_client(&url)?,
        };
        Ok(OpenAi(Arc::new(Inner {
            client,
            url,
            headers: self.headers,
            key: self.key,
            stream_usage: self.stream_usage,
            reply_limit: self.reply_limit,
        })))
    }

    fn url(&self) -> Result<reqwest::Url, BuildError> {
        let mut url = reqwest::Url::parse(&self.base_url)
            .map_err(|error| BuildError::new("the base URL is invalid", error.into()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BuildError::because("the base URL is neither http nor https"));
        }
        match url.path_segments_mut() {
            Ok(mut path) => drop(path.pop_if_empty().extend(["chat", "completions"])),
            Err(()) => return Err(BuildError::because("the base URL has no path")),
        }
        Ok(url)
    }

    fn own_client(&self, url: &reqwest::Url) -> Result<reqwest::Client, BuildError> {
        let mut client = reqwest::Client::builder()
            .redirect(Policy::none())
            .connect_timeout(self.connect_timeout)
            .read_timeout(self.read_timeout)
            .user_agent(concat!("tower-agent/", env!("CARGO_PKG_VERSION")));
        if !self.env_proxy {
            client = client.no_proxy();
        }
        let client = with_tls(client, url.scheme() == "https")?;
        client
            .build()
            .map_err(|error| BuildError::new("the HTTP client failed", error.without_url().into()))
    }
}

#[cfg(feature = "tls")]
fn with_tls(
    client: reqwest::ClientBuilder,
    is_https: bool,
) -> Result<reqwest::ClientBuilder, BuildError> {
    let config = super::tls::config(is_https)
        .map_err(|error| BuildError::new("https is not available", error))?;
    Ok(client.tls_backend_preconfigured(config))
}

#[cfg(not(feature = "tls"))]
fn with_tls(
    client: reqwest::ClientBuilder,
    is_https: bool,
) -> Result<reqwest::ClientBuilder, BuildError> {
    if is_https {
        return Err(BuildError::because("https needs the feature `tls` of tower-agent-providers"));
    }
    Ok(client)
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("headers", &self.headers)
            .field("connect_timeout", &self.connect_timeout)
            .field("read_timeout", &self.read_timeout)
            .field("env_proxy", &self.env_proxy)
            .field("stream_usage", &self.stream_usage)
            .field("reply_limit", &self.reply_limit)
            .finish_non_exhaustive()
    }
}

/// Why a model could not be made.
#[derive(Debug)]
pub struct BuildError {
    reason: &'static str,
    source: Option<BoxError>,
}

impl BuildError {
    fn because(reason: &'static str) -> Self {
        Self { reason, source: None }
    }

    fn header(reason: &'static str, error: impl Into<http::Error>) -> Self {
        Self::new(reason, Box::new(error.into()))
    }

    fn new(reason: &'static str, source: BoxError) -> Self {
        Self { reason, source: Some(source) }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason)
    }
}

impl StdError for BuildError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
