//! A model behind OpenAI's chat completions: OpenAI itself, or any server that speaks like it.
//!
//! ```no_run
//! # async fn doc() -> Result<(), tower_agent_core::BoxError> {
//! use tower::ServiceExt;
//! use tower_agent_core::{Message, ModelRequest, Secret};
//! use tower_agent_providers::OpenAi;
//!
//! let key = Secret::from(std::env::var("OPENAI_API_KEY")?);
//! let model = OpenAi::builder("https://api.openai.com/v1").api_key(key).build()?;
//!
//! let request = ModelRequest::new("gpt-4o-mini", vec![Message::user("Hello")]);
//! let reply = model.oneshot(request).await?.body.collect().await?;
//! println!("{}", reply.message.text());
//! # Ok(())
//! # }
//! ```
//!
//! A server on this machine, with a header of its own and less patience:
//!
//! ```
//! use std::time::Duration;
//! use tower_agent_providers::OpenAi;
//!
//! let model = OpenAi::builder("http://127.0.0.1:11434/v1")
//!     .header("x-team", "search")
//!     .connect_timeout(Duration::from_secs(1))
//!     .read_timeout(Duration::from_secs(60))
//!     .build()?;
//! # let _ = model;
//! # Ok::<(), tower_agent_providers::openai::BuildError>(())
//! ```
//!
//! # Placement
//!
//! It is the innermost service of a model stack; retry, rate limits and time-outs stand around it. A clone shares
//! the connections.
//!
//! # What it sends
//!
//! One `POST` to `chat/completions` under the base URL, whose query stays. A streamed request also asks for the usage, unless
//! [`stream_usage`](Builder::stream_usage) says otherwise. Redirects are not followed, since they would take the key
//! and the conversation to a place that nobody named; proxies in environment variables are ignored for the same
//! reason, unless [`env_proxy`](Builder::env_proxy) allows them. What the dialect has no place for is noted as a
//! mark `openai: dropped` in the answer's provenance.
//!
//! # Errors
//!
//! | what happened | kind | effect |
//! | --- | --- | --- |
//! | no connection | [`Unavailable`](ErrorKind::Unavailable), or [`Timeout`](ErrorKind::Timeout) | not started |
//! | a status that is no success | see [`decode_error`](openai_chat::decode_error) | by status |
//! | the connection broke later | [`Upstream`](ErrorKind::Upstream) without a status | unknown |
//! | silence for longer than [`read_timeout`](Builder::read_timeout) | [`Timeout`](ErrorKind::Timeout) | unknown |
//! | a malformed, cut or too large answer | [`Protocol`](ErrorKind::Protocol) | unknown |
//!
//! Neither the key nor the URL is in an error. An [`ApiError`](openai_chat::ApiError) with the provider's words and
//! its id of the request is attached.
//!
//! # Cancellation
//!
//! Dropping the future or the stream closes the connection, which tells most servers to stop.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::HeaderMap;
#[cfg(doc)]
use tower_agent_core::ErrorKind;
use tower_agent_core::{Error, ModelRequest, ModelResponse, Secret};
#[cfg(doc)]
use tower_agent_wire::openai_chat;
use tower_service::Service;

mod body;
mod builder;
mod call;
mod fault;
mod stream;
#[cfg(feature = "tls")]
mod tls;

pub use self::builder::{BuildError, Builder};

/// The name that errors and marks carry.
const NAME: &str = "openai";

/// A model behind OpenAI's chat completions. See the [module](self).
#[derive(Clone)]
pub struct OpenAi(Arc<Inner>);

struct Inner {
    client: reqwest::Client,
    url: reqwest::Url,
    headers: HeaderMap,
    key: Option<Secret>,
    stream_usage: bool,
    reply_limit: usize,
}

impl OpenAi {
    /// A model under a base URL, such as `https://api.openai.com/v1`.
    pub fn builder(base_url: impl Into<String>) -> Builder {
        Builder::new(base_url.into())
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // User names, passwords and queries of a URL may be confidential.
        let url = &self.0.url;
        f.debug_struct("OpenAi")
            .field("host", &url.host_str().unwrap_or_default())
            .field("path", &url.path())
            .finish_non_exhaustive()
    }
}

impl Service<ModelRequest> for OpenAi {
    type Response = ModelResponse;
    type Error = Error;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ModelRequest) -> ResponseFuture {
        ResponseFuture(Box::pin(call::run(Arc::clone(&self.0), request)))
    }
}

/// The answer of an [`OpenAi`] model.
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Result<ModelResponse, Error>> + Send>>);

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

impl Inner {
    fn post(&self, body: Bytes) -> reqwest::RequestBuilder {
        self.client.post(self.url.clone()).headers(self.headers.clone()).body(body)
    }
}
