//! Puts a tower-agent model stack in place of the HTTP client of the `async-openai` crate.
//!
//! ```
//! use async_openai::types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs};
//! use async_openai_stack::client;
//! use tower::ServiceBuilder;
//! use tower_agent::RedactLayer;
//! use tower_agent_test::ScriptedModel;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stack = ServiceBuilder::new().layer(RedactLayer::default()).service(ScriptedModel::text("Hi"));
//! let request = CreateChatCompletionRequestArgs::default()
//!     .model("demo")
//!     .messages([ChatCompletionRequestUserMessage::from("Hello").into()])
//!     .build()?;
//! let reply = client(stack).chat().create(request).await?;
//! assert_eq!(reply.choices[0].message.content.as_deref(), Some("Hi"));
//! # Ok(())
//! # }
//! ```

mod api;
mod frames;
mod service;

use async_openai::{Client, config::OpenAIConfig};
use rustls::crypto::ring;
use tower_agent::{Error, ModelRequest, ModelResponse};
use tower_service::Service;

pub use self::service::{InPlaceOfHttp, ResponseFuture};

/// A client whose every request is answered by `model`; no key, and no network but what the model itself uses.
pub fn client<M>(model: M) -> Client<OpenAIConfig>
where
    M: Service<ModelRequest, Response = ModelResponse> + Clone + Send + Sync + 'static,
    M::Error: Into<Error>,
    M::Future: Send,
{
    // The client builds a reqwest client of its own first. A provider that is installed already stays.
    let _ = ring::default_provider().install_default();
    Client::with_config(OpenAIConfig::new()).with_http_service(InPlaceOfHttp::new(model))
}
