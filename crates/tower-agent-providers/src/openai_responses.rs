//! A model behind OpenAI's Responses: OpenAI itself, or any server that speaks like it.
//!
//! ```no_run
//! # async fn doc() -> Result<(), tower_agent_core::BoxError> {
//! use tower::ServiceExt;
//! use tower_agent_core::{Message, ModelRequest, Secret};
//! use tower_agent_providers::OpenAiResponses;
//!
//! let key = Secret::from(std::env::var("OPENAI_API_KEY")?);
//! let model = OpenAiResponses::builder("https://api.openai.com/v1").api_key(key).build()?;
//!
//! let request = ModelRequest::new("gpt-5-mini", vec![Message::user("Hello")]);
//! let reply = model.oneshot(request).await?.body.collect().await?;
//! println!("{}", reply.message.text());
//! # Ok(())
//! # }
//! ```
//!
//! One that leaves nothing with the provider:
//!
//! ```
//! use std::time::Duration;
//! use tower_agent_providers::OpenAiResponses;
//!
//! let model = OpenAiResponses::builder("http://127.0.0.1:8000/v1")
//!     .store(false)
//!     .header("x-team", "search")
//!     .read_timeout(Duration::from_secs(60))
//!     .build()?;
//! # let _ = model;
//! # Ok::<(), tower_agent_providers::openai_responses::BuildError>(())
//! ```
//!
//! # Which of the two
//!
//! [`OpenAi`](crate::OpenAi) asks for chat completions, which nearly every server of models has. This one is for OpenAI's newer
//! models: only here do their thoughts come back, as summaries and encrypted, and are sent again with the next turn, and only here
//! are there tools that the provider runs.
//!
//! # Placement
//!
//! It is the innermost service of a model stack; retry, rate limits and time-outs stand around it. A clone shares
//! the connections.
//!
//! # What it sends
//!
//! One `POST` to `responses` under the base URL, whose query stays, with the whole conversation each time: nothing depends on
//! what the provider stores. Whether it stores is the provider's choice (OpenAI does) unless [`store`](Builder::store) says.
//! Redirects are not followed, since they would take the key and the conversation to a place that nobody named; proxies in
//! environment variables are ignored for the same reason, unless [`env_proxy`](Builder::env_proxy) allows them. What the
//! dialect has no place for is noted as a mark `openai-responses: dropped` in the answer's provenance.
//!
//! # Errors
//!
//! | what happened | kind | effect |
//! | --- | --- | --- |
//! | no connection | [`Unavailable`](ErrorKind::Unavailable), or [`Timeout`](ErrorKind::Timeout) | not started |
//! | a status that is no success | see [`decode_error`](openai_responses::decode_error) | by status |
//! | a reply that failed, or an error inside the stream | [`Upstream`](ErrorKind::Upstream) or [`RateLimited`](ErrorKind::RateLimited) | unknown |
//! | the connection broke later | [`Upstream`](ErrorKind::Upstream) without a status | unknown |
//! | silence for longer than [`read_timeout`](Builder::read_timeout) | [`Timeout`](ErrorKind::Timeout) | unknown |
//! | a malformed, cut, unfinished or too large answer | [`Protocol`](ErrorKind::Protocol) | unknown |
//!
//! Neither the key nor the URL is in an error. An [`ApiError`](openai_responses::ApiError) with the provider's words and
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
use tower_agent_wire::{Encoded, openai_responses};

use crate::transport::{Dialect, Inner, Settings};

pub use crate::transport::{BuildError, ResponseFuture};

/// A model behind OpenAI's Responses. See the [module](self).
#[derive(Clone)]
pub struct OpenAiResponses(Arc<Inner<Responses>>);

impl OpenAiResponses {
    /// A model under a base URL, such as `https://api.openai.com/v1`.
    pub fn builder(base_url: impl Into<String>) -> Builder {
        Builder { settings: Settings::new(base_url.into()), store: true }
    }
}

model!(OpenAiResponses);

/// Makes an [`OpenAiResponses`] model.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    settings: Settings,
    store: bool,
}

impl Builder {
    settings!();

    /// Sends a key as `Authorization: Bearer`.
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        self.settings.key(header::AUTHORIZATION, "Bearer ", key.into());
        self
    }

    /// Whether the provider may store replies; without this it decides.
    ///
    /// `false` also asks for encrypted reasoning, which such a provider needs back. A request that says `store` itself counts more.
    pub const fn store(mut self, allow: bool) -> Self {
        self.store = allow;
        self
    }

    /// Finishes the model. Nothing is sent.
    ///
    /// # Errors
    /// When the URL or a header is invalid, or https is not available.
    pub fn build(self) -> Result<OpenAiResponses, BuildError> {
        self.settings.build(Responses { store: self.store }).map(OpenAiResponses)
    }
}

struct Responses {
    store: bool,
}

impl Dialect for Responses {
    type Decoder = openai_responses::Decoder;

    const NAME: &'static str = "openai-responses";
    const PATH: &'static [&'static str] = &["responses"];
    const REQUEST_ID: &'static str = "x-request-id";

    fn encode(&self, mut request: ModelRequest) -> Result<Encoded, Error> {
        if !self.store {
            openai_responses::store_nothing(&mut request);
        }
        openai_responses::encode_request(&request)
    }

    fn decode_reply(bytes: &[u8]) -> Result<Reply, Error> {
        openai_responses::decode_reply(bytes)
    }

    fn decode_error(status: StatusCode, headers: &HeaderMap, bytes: &[u8]) -> Error {
        openai_responses::decode_error(status, headers, bytes)
    }
}

decode!(openai_responses::Decoder);
