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

use std::sync::Arc;

use http::{HeaderMap, StatusCode, header};
#[cfg(doc)]
use tower_agent_core::ErrorKind;
use tower_agent_core::{Error, ModelRequest, Reply, Secret};
use tower_agent_wire::{Encoded, openai_chat};

use crate::transport::{Dialect, Inner, Settings};

pub use crate::transport::{BuildError, ResponseFuture};

/// A model behind OpenAI's chat completions. See the [module](self).
#[derive(Clone)]
pub struct OpenAi(Arc<Inner<Chat>>);

impl OpenAi {
    /// A model under a base URL, such as `https://api.openai.com/v1`.
    pub fn builder(base_url: impl Into<String>) -> Builder {
        Builder { settings: Settings::new(base_url.into()), stream_usage: true }
    }
}

model!(OpenAi);

/// Makes an [`OpenAi`] model.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    settings: Settings,
    stream_usage: bool,
}

impl Builder {
    settings!();

    /// Sends a key as `Authorization: Bearer`.
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        self.settings.key(header::AUTHORIZATION, "Bearer ", key.into());
        self
    }

    /// Whether to ask for the usage of streamed replies; on without this. Some older servers refuse the option.
    pub const fn stream_usage(mut self, ask: bool) -> Self {
        self.stream_usage = ask;
        self
    }

    /// Finishes the model. Nothing is sent.
    ///
    /// # Errors
    /// When the URL or a header is invalid, or https is not available.
    pub fn build(self) -> Result<OpenAi, BuildError> {
        self.settings.build(Chat { stream_usage: self.stream_usage }).map(OpenAi)
    }
}

struct Chat {
    stream_usage: bool,
}

impl Dialect for Chat {
    type Decoder = openai_chat::Decoder;

    const NAME: &'static str = "openai";
    const PATH: &'static [&'static str] = &["chat", "completions"];
    const REQUEST_ID: &'static str = "x-request-id";

    fn encode(&self, mut request: ModelRequest) -> Result<Encoded, Error> {
        if self.stream_usage {
            openai_chat::ask_for_usage(&mut request);
        }
        openai_chat::encode_request(&request)
    }

    fn decode_reply(bytes: &[u8]) -> Result<Reply, Error> {
        openai_chat::decode_reply(bytes)
    }

    fn decode_error(status: StatusCode, headers: &HeaderMap, bytes: &[u8]) -> Error {
        openai_chat::decode_error(status, headers, bytes)
    }
}

decode!(openai_chat::Decoder);
