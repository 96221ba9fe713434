//! A model behind Gemini's `generateContent`: Google's API, or any server that speaks like it.
//!
//! ```no_run
//! # async fn doc() -> Result<(), tower_agent_core::BoxError> {
//! use tower::ServiceExt;
//! use tower_agent_core::{Message, ModelRequest, Secret};
//! use tower_agent_providers::Gemini;
//!
//! let key = Secret::from(std::env::var("GEMINI_API_KEY")?);
//! let model = Gemini::builder("https://generativelanguage.googleapis.com/v1beta").api_key(key).build()?;
//!
//! let request = ModelRequest::new("gemini-2.5-flash", vec![Message::user("Hello")]);
//! let reply = model.oneshot(request).await?.body.collect().await?;
//! println!("{}", reply.message.text());
//! # Ok(())
//! # }
//! ```
//!
//! A gateway on this machine that takes tokens, for answers as long as books:
//!
//! ```
//! use tower_agent_providers::Gemini;
//!
//! let model = Gemini::builder("http://127.0.0.1:4000/v1beta")
//!     .auth_token("gateway-token")
//!     .reply_limit(256 << 20)
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
//! One `POST` under the base URL, whose query stays: to `models/{model}:generateContent`, or for a stream to
//! `models/{model}:streamGenerateContent?alt=sse`. A model's name with a folder, such as `tunedModels/mine`, is taken as it is.
//! The key is sent as a header, never in the URL. Thinking, safety settings and other things that only this dialect has stand in
//! the request's `extra`, see [`gemini`](mod@tower_agent_wire::gemini). Redirects are not followed and proxies in environment
//! variables are ignored, unless [`env_proxy`](Builder::env_proxy) allows them. What the dialect has no place for is noted as a
//! mark `gemini: dropped` in the answer's provenance.
//!
//! # Errors
//!
//! | what happened | kind | effect |
//! | --- | --- | --- |
//! | a model's name that is no path | [`InvalidArguments`](ErrorKind::InvalidArguments) | not started |
//! | no connection | [`Unavailable`](ErrorKind::Unavailable), or [`Timeout`](ErrorKind::Timeout) | not started |
//! | a status that is no success | see [`decode_error`](gemini::decode_error) | by status |
//! | an error object in a stream | by its code | unknown |
//! | the connection broke later | [`Upstream`](ErrorKind::Upstream) without a status | unknown |
//! | silence for longer than [`read_timeout`](Builder::read_timeout) | [`Timeout`](ErrorKind::Timeout) | unknown |
//! | a malformed, cut or too large answer | [`Protocol`](ErrorKind::Protocol) | unknown |
//!
//! Neither the key nor the URL is in an error. An [`ApiError`](tower_agent_wire::ApiError) with the provider's words is attached.
//!
//! # Cancellation
//!
//! Dropping the future or the stream closes the connection, which tells the server to stop.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, StatusCode, header};
use tower_agent_core::{Effect, Error, ErrorKind, ModelRequest, Reply, Secret};
use tower_agent_wire::{Encoded, gemini};

use crate::transport::{BuildError, Dialect, Inner, Settings};

const KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// A model behind Gemini's `generateContent`. See the [module](self).
#[derive(Clone)]
pub struct Gemini(Arc<Inner<GenerateContent>>);

impl Gemini {
    /// A model under a base URL with its version, such as `https://generativelanguage.googleapis.com/v1beta`.
    pub fn builder(base_url: impl Into<String>) -> Builder {
        Builder { settings: Settings::new(base_url.into()) }
    }
}

model!(Gemini);

/// Makes a [`Gemini`] model.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    settings: Settings,
}

impl Builder {
    settings!();

    /// Sends a key as `x-goog-api-key`.
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        self.settings.key(KEY, "", key.into());
        self
    }

    /// Sends a token as `Authorization: Bearer`, as Vertex AI and gateways ask for.
    pub fn auth_token(mut self, token: impl Into<Secret>) -> Self {
        self.settings.key(header::AUTHORIZATION, "Bearer ", token.into());
        self
    }

    /// Finishes the model. Nothing is sent.
    ///
    /// # Errors
    /// When the URL or a header is invalid, or https is not available.
    pub fn build(self) -> Result<Gemini, BuildError> {
        self.settings.build(GenerateContent).map(Gemini)
    }
}

struct GenerateContent;

impl Dialect for GenerateContent {
    type Decoder = gemini::Decoder;

    const NAME: &'static str = "gemini";
    const PATH: &'static [&'static str] = &[];
    const REQUEST_ID: &'static str = "x-request-id";

    fn url(&self, base: &reqwest::Url, request: &ModelRequest) -> Result<reqwest::Url, Error> {
        let invalid = || {
            let text = format!("the model's name `{}` is no path", request.model);
            Error::new(ErrorKind::InvalidArguments, text).with_effect(Effect::NotStarted)
        };
        // What a URL would resolve leads out of the folder of models.
        if request.model.split('/').any(|name| ["", ".", ".."].contains(&name)) {
            return Err(invalid());
        }
        let mut url = base.clone();
        let segments = gemini::path(&request.model, request.stream);
        url.path_segments_mut().map_err(|()| invalid())?.pop_if_empty().extend(segments);
        if request.stream {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        Ok(url)
    }

    fn encode(&self, request: ModelRequest) -> Result<Encoded, Error> {
        gemini::encode_request(&request)
    }

    fn decode_reply(bytes: &[u8]) -> Result<Reply, Error> {
        gemini::decode_reply(bytes)
    }

    fn decode_error(status: StatusCode, headers: &HeaderMap, bytes: &[u8]) -> Error {
        gemini::decode_error(status, headers, bytes)
    }
}

decode!(gemini::Decoder);
