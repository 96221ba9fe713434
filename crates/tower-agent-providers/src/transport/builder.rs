use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, header};
use reqwest::redirect::Policy;
use tower_agent_core::{BoxError, Secret};

use super::{Dialect, Inner, kept::Kept};

/// What the builders of all models have in common.
#[must_use]
pub(crate) struct Settings {
    base_url: String,
    pub(crate) headers: HeaderMap,
    key: Option<Secret>,
    fault: Option<BuildError>,
    client: Option<reqwest::Client>,
    pub(crate) connect_timeout: Duration,
    pub(crate) read_timeout: Duration,
    pub(crate) env_proxy: bool,
    pub(crate) caller_headers: bool,
    kept: Kept,
    pub(crate) reply_limit: usize,
}

impl Settings {
    pub(crate) fn new(base_url: String) -> Self {
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
            caller_headers: false,
            kept: Kept::default(),
            reply_limit: 64 << 20,
        }
    }

    /// Sends a key in a header, and keeps it out of everything that is told of an answer.
    pub(crate) fn key(&mut self, name: HeaderName, scheme: &str, key: Secret) {
        let value = format!("{scheme}{}", key.expose());
        self.key = Some(key);
        self.header(name, value);
    }

    pub(crate) fn header(
        &mut self,
        name: impl TryInto<HeaderName, Error: Into<http::Error>>,
        value: impl TryInto<HeaderValue, Error: Into<http::Error>>,
    ) {
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
    }

    pub(crate) fn keep_header(&mut self, name: &str) {
        if let Err(fault) = self.kept.add(name) {
            self.fault = Some(fault);
        }
    }

    pub(crate) fn client(&mut self, client: reqwest::Client) {
        self.client = Some(client);
    }

    pub(crate) fn build<D: Dialect>(mut self, dialect: D) -> Result<Arc<Inner<D>>, BuildError> {
        let (client, url) = self.connect(D::PATH)?;
        Ok(Arc::new(Inner {
            dialect,
            client,
            url,
            headers: self.headers,
            key: self.key,
            caller_headers: self.caller_headers,
            kept: self.kept,
            reply_limit: self.reply_limit,
        }))
    }

    /// The client, and the URL that it asks.
    pub(crate) fn connect(
        &mut self,
        segments: &[&str],
    ) -> Result<(reqwest::Client, reqwest::Url), BuildError> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let url = self.url(segments)?;
        let client = match self.client.take() {
            Some(client) => client,
            None => self.own_client(&url)?,
        };
        Ok((client, url))
    }

    fn url(&self, segments: &[&str]) -> Result<reqwest::Url, BuildError> {
        let mut url = reqwest::Url::parse(&self.base_url)
            .map_err(|error| BuildError::new("the base URL is invalid", error.into()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BuildError::because("the base URL is neither http nor https"));
        }
        match url.path_segments_mut() {
            Ok(mut path) => drop(path.pop_if_empty().extend(segments)),
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

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("headers", &self.headers)
            .field("connect_timeout", &self.connect_timeout)
            .field("read_timeout", &self.read_timeout)
            .field("env_proxy", &self.env_proxy)
            .field("caller_headers", &self.caller_headers)
            .field("kept", &self.kept)
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
    pub(super) fn because(reason: &'static str) -> Self {
        Self { reason, source: None }
    }

    pub(super) fn header(reason: &'static str, error: impl Into<http::Error>) -> Self {
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
