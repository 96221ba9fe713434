//! One HTTP call of a model, whatever its dialect.

mod body;
mod builder;
mod call;
mod caller;
mod fault;
mod kept;
#[macro_use]
mod macros;
mod stream;
#[cfg(feature = "tls")]
mod tls;

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tower_agent_core::{Error, ModelEvent, ModelRequest, ModelResponse, Reply, Secret};
use tower_agent_wire::{CallerHeaders, Encoded};

pub use self::builder::BuildError;
pub(crate) use self::builder::Settings;

/// What a call needs to know of a dialect: where to ask, and the codec.
pub(crate) trait Dialect: Send + Sync + 'static {
    /// Reads a streamed reply.
    type Decoder: Decode;

    /// The name that errors and marks carry.
    const NAME: &'static str;
    /// What is asked, under the base URL.
    const PATH: &'static [&'static str];
    /// The header with the provider's id of the request.
    const REQUEST_ID: &'static str;

    /// Where a request goes, where its path says more than the base URL's.
    ///
    /// # Errors
    /// When the request has no such place.
    fn url(&self, base: &reqwest::Url, _: &ModelRequest) -> Result<reqwest::Url, Error> {
        Ok(base.clone())
    }

    fn encode(&self, request: ModelRequest) -> Result<Encoded, Error>;
    fn decode_reply(bytes: &[u8]) -> Result<Reply, Error>;
    fn decode_error(status: StatusCode, headers: &HeaderMap, bytes: &[u8]) -> Error;
}

/// A codec's decoder of streams.
pub(crate) trait Decode: Default + Send + Unpin + 'static {
    fn push(&mut self, bytes: &[u8]);
    fn finish(&mut self);
    fn next_event(&mut self) -> Option<Result<ModelEvent, Error>>;
    fn is_complete(&self) -> bool;
    fn is_over(&self) -> bool;
}

pub(crate) struct Inner<D> {
    dialect: D,
    client: reqwest::Client,
    url: reqwest::Url,
    headers: HeaderMap,
    key: Option<Secret>,
    caller_headers: bool,
    kept: kept::Kept,
    reply_limit: usize,
}

impl<D> Inner<D> {
    fn post(
        &self,
        url: reqwest::Url,
        caller: Option<&CallerHeaders>,
        body: Bytes,
    ) -> reqwest::RequestBuilder {
        let headers = caller::over(self.headers.clone(), caller);
        self.client.post(url).headers(headers).body(body)
    }

    /// User names, passwords and queries of a URL may be confidential.
    pub(crate) fn fmt(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("host", &self.url.host_str().unwrap_or_default())
            .field("path", &self.url.path())
            .finish_non_exhaustive()
    }
}

/// The answer of a model over HTTP.
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Result<ModelResponse, Error>> + Send>>);

impl ResponseFuture {
    pub(crate) fn new<D: Dialect>(inner: Arc<Inner<D>>, request: ModelRequest) -> Self {
        Self(Box::pin(call::run(inner, request)))
    }
}

impl Future for ResponseFuture {
    type Output = Result<ModelResponse, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
