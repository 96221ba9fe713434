//! A model behind Anthropic's messages: Anthropic itself, or any server that speaks like it.
//!
//! ```no_run
//! # async fn doc() -> Result<(), tower_agent_core::BoxError> {
//! use tower::ServiceExt;
//! use tower_agent_core::{Message, ModelRequest, Secret};
//! use tower_agent_providers::Anthropic;
//!
//! let key = Secret::from(std::env::var("ANTHROPIC_API_KEY")?);
//! let model = Anthropic::builder("https://api.anthropic.com/v1").api_key(key).build()?;
//!
//! let request = ModelRequest::new("claude-sonnet-4-5", vec![Message::user("Hello")]);
//! let reply = model.oneshot(request).await?.body.collect().await?;
//! println!("{}", reply.message.text());
//! # Ok(())
//! # }
//! ```
//!
//! A gateway on this machine, with features that are not in the dialect's first version, and more room for answers:
//!
//! ```
//! use tower_agent_providers::Anthropic;
//!
//! let model = Anthropic::builder("http://127.0.0.1:4000/v1")
//!     .auth_token("gateway-key")
//!     .beta("context-management-2025-06-27")
//!     .max_tokens(32_000)
//!     .build()?;
//! # let _ = model;
//! # Ok::<(), tower_agent_providers::BuildError>(())
//! ```
//!
//! # Placement
//!
//! It is the innermost service of a model stack; retry, rate limits and time-outs stand around it. A clone shares
//! the connections.
//!
//! # What it sends
//!
//! One `POST` to `messages` under the base URL, whose query stays, with `anthropic-version`. Thinking, cache marks and other
//! things that only this dialect has stand in the request's `extra`, see [`anthropic_messages`]. Redirects are not followed
//! and proxies in environment variables are ignored, unless [`env_proxy`](Builder::env_proxy) allows them. What the dialect
//! has no place for is noted as a mark `anthropic: dropped` in the answer's provenance.
//!
//! # Errors
//!
//! | what happened | kind | effect |
//! | --- | --- | --- |
//! | no connection | [`Unavailable`](ErrorKind::Unavailable), or [`Timeout`](ErrorKind::Timeout) | not started |
//! | a status that is no success | see [`decode_error`](anthropic_messages::decode_error) | by status |
//! | an `error` event in a stream, such as `overloaded_error` | by its type | unknown |
//! | the connection broke later | [`Upstream`](ErrorKind::Upstream) without a status | unknown |
//! | silence for longer than [`read_timeout`](Builder::read_timeout) | [`Timeout`](ErrorKind::Timeout) | unknown |
//! | a malformed, cut or too large answer | [`Protocol`](ErrorKind::Protocol) | unknown |
//!
//! Neither the key nor the URL is in an error. An [`ApiError`](tower_agent_wire::ApiError) with the provider's words and
//! its id of the request is attached.
//!
//! # Cancellation
//!
//! Dropping the future or the stream closes the connection, which tells the server to stop.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, StatusCode, header};
#[cfg(doc)]
use tower_agent_core::ErrorKind;
use tower_agent_core::{Error, ModelRequest, Reply, Secret};
use tower_agent_wire::{Encoded, anthropic_messages};

use crate::transport::{BuildError, Dialect, Inner, Settings};

const KEY: HeaderName = HeaderName::from_static("x-api-key");
const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const BETA: HeaderName = HeaderName::from_static("anthropic-beta");
/// The version that the codec speaks.
const DEFAULT_VERSION: &str = "2023-06-01";

/// A model behind Anthropic's messages. See the [module](self).
#[derive(Clone)]
pub struct Anthropic(Arc<Inner<Messages>>);

impl Anthropic {
    /// A model under a base URL, such as `https://api.anthropic.com/v1`.
    pub fn builder(base_url: impl Into<String>) -> Builder {
        let mut settings = Settings::new(base_url.into());
        settings.header(VERSION, DEFAULT_VERSION);
        Builder { settings, betas: Vec::new(), max_tokens: None }
    }
}

model!(Anthropic);

/// Makes an [`Anthropic`] model.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    settings: Settings,
    betas: Vec<String>,
    max_tokens: Option<u64>,
}

impl Builder {
    settings!();

    /// Sends a key as `x-api-key`.
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        self.settings.key(KEY, "", key.into());
        self
    }

    /// Sends a token as `Authorization: Bearer`, as gateways ask for.
    pub fn auth_token(mut self, token: impl Into<Secret>) -> Self {
        self.settings.key(header::AUTHORIZATION, "Bearer ", token.into());
        self
    }

    /// Asks for a feature that is not in the dialect's first version, by its name; several may be asked for.
    pub fn beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
        self
    }

    /// The dialect's version, `2023-06-01` without this.
    pub fn version(mut self, version: impl AsRef<str>) -> Self {
        self.settings.header(VERSION, version.as_ref());
        self
    }

    /// The token limit of requests that have none, since the dialect asks for one;
    /// [`DEFAULT_MAX_TOKENS`](anthropic_messages::DEFAULT_MAX_TOKENS) without this, and then the answer has a mark.
    pub const fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Finishes the model. Nothing is sent.
    ///
    /// # Errors
    /// When the URL or a header is invalid, or https is not available.
    pub fn build(mut self) -> Result<Anthropic, BuildError> {
        if !self.betas.is_empty() {
            self.settings.header(BETA, self.betas.join(","));
        }
        self.settings.build(Messages { max_tokens: self.max_tokens }).map(Anthropic)
    }
}

struct Messages {
    max_tokens: Option<u64>,
}

impl Dialect for Messages {
    type Decoder = anthropic_messages::Decoder;

    const NAME: &'static str = "anthropic";
    const PATH: &'static [&'static str] = &["messages"];
    const REQUEST_ID: &'static str = "request-id";

    fn encode(&self, mut request: ModelRequest) -> Result<Encoded, Error> {
        let limit = &mut request.sampling.max_output_tokens;
        *limit = limit.or(self.max_tokens);
        anthropic_messages::encode_request(&request)
    }

    fn decode_reply(bytes: &[u8]) -> Result<Reply, Error> {
        anthropic_messages::decode_reply(bytes)
    }

    fn decode_error(status: StatusCode, headers: &HeaderMap, bytes: &[u8]) -> Error {
        anthropic_messages::decode_error(status, headers, bytes)
    }
}

decode!(anthropic_messages::Decoder);
