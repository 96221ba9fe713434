//! Model services over HTTP for tower-agent.
//!
//! Each is a [`tower_service::Service`] of [`ModelRequest`](tower_agent_core::ModelRequest)s that turns requests into
//! HTTP and answers into replies or streams of events, with a codec of [`tower_agent_wire`]. It does no more than that:
//! retries, limits, time-outs, caches and fallbacks are layers around it.
//!
//! | module | speaks to | flag |
//! | --- | --- | --- |
//! | [`anthropic`] | Anthropic, and servers of its messages | `anthropic` |
//! | [`gemini`] | Gemini | `gemini` |
//! | [`openai`] | any server of OpenAI's chat completions | `openai` (default) |
//! | [`openai_responses`] | OpenAI's Responses | `openai-responses` |
//!
//! What the headers of an answer say of the request (its id, what is left of the rate limits, how long it took) is attached to the
//! head of the answer, or to the error, as [`ProviderHeaders`](tower_agent_wire::ProviderHeaders); `keep_header` of a builder names
//! more. A proxy of tower-agent-axum hands them to its clients, and layers may read them.
//!
//! [`Forward`] (flag `forward`) sends whatever else HTTP requests ask of a provider, as it is.
//!
//! The flag `tls` (default) adds https: rustls with ring, and the certificates that the operating system trusts.
//! It turns on reqwest's `rustls-no-provider`, which holds for the whole build: an application that makes reqwest clients
//! of its own without TLS settings enables one of reqwest's TLS features, or installs a provider at its start
//! (`rustls::crypto::ring::default_provider().install_default()`).

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(
    feature = "anthropic",
    feature = "forward",
    feature = "gemini",
    feature = "openai",
    feature = "openai-responses"
))]
#[cfg_attr(
    not(any(
        feature = "anthropic",
        feature = "gemini",
        feature = "openai",
        feature = "openai-responses"
    )),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        unused_macros,
        reason = "only forwards, and asks no model"
    )
)]
#[macro_use]
mod transport;
#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(feature = "forward")]
mod forward;
#[cfg(feature = "gemini")]
pub mod gemini;
#[cfg(feature = "openai")]
pub mod openai;
#[cfg(feature = "openai-responses")]
pub mod openai_responses;

#[cfg(feature = "anthropic")]
pub use self::anthropic::Anthropic;
#[cfg(feature = "forward")]
pub use self::forward::{Forward, ForwardBuilder, ForwardFuture};
#[cfg(feature = "gemini")]
pub use self::gemini::Gemini;
#[cfg(feature = "openai")]
pub use self::openai::OpenAi;
#[cfg(feature = "openai-responses")]
pub use self::openai_responses::OpenAiResponses;
#[cfg(any(
    feature = "anthropic",
    feature = "forward",
    feature = "gemini",
    feature = "openai",
    feature = "openai-responses"
))]
pub use self::transport::BuildError;
#[cfg(any(
    feature = "anthropic",
    feature = "gemini",
    feature = "openai",
    feature = "openai-responses"
))]
pub use self::transport::ResponseFuture;
