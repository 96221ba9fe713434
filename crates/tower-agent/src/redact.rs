//! Masks secrets before a model, a user or a log sees them.
//!
//! [`RedactLayer`] looks for [`Pattern`]s in what passes and puts a fixed text in their place. The [common](RedactLayer::common)
//! list knows keys, tokens, key blocks, passwords beside their names and the like. In the results of tools:
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Error, RedactLayer, ToolCall, ToolOutput};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_agent::BoxError> {
//! let tool = ServiceBuilder::new().layer(RedactLayer::common()).service(service_fn(|_: ToolCall| async {
//!     Ok::<_, Error>(ToolOutput::text(r#"{"user": "mara", "password": "hunter2"}"#))
//! }));
//! let output = tool.oneshot(ToolCall::new("read_config", "{}")).await?;
//! assert_eq!(output.joined_text(), r#"{"user": "mara", "password": "[REDACTED]"}"#);
//! assert_eq!(output.provenance.marks[0].detail.as_deref(), Some("1 password"));
//! # Ok(())
//! # }
//! ```
//!
//! With patterns of one's own, and in what a model says, whole or streamed:
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{
//!     Error, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse, PartDelta, RedactLayer, redact::Pattern,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_agent::BoxError> {
//! let layer = RedactLayer::common()
//!     .pattern(Pattern::new("badge", r"badge (?<secret>[0-9]{6})(?-u:\b)")?)
//!     .replacement("***")
//!     .model_output(true);
//! let model = ServiceBuilder::new().layer(layer).service(service_fn(|_: ModelRequest| async {
//!     let pieces = ["Your bad", "ge 123", "456 is valid."];
//!     let text = pieces.map(|piece| ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(piece.into()) });
//!     let end = ModelEvent::Finish { reason: FinishReason::Stop };
//!     Ok::<_, Error>(ModelResponse::stream(futures_util::stream::iter(text.into_iter().chain([end]).map(Ok))))
//! }));
//! let request = ModelRequest::new("demo", vec![Message::user("hello")]);
//! let reply = model.oneshot(request).await?.body.collect().await?;
//! assert_eq!(reply.message.text(), "Your badge *** is valid.");
//! # Ok(())
//! # }
//! ```
//!
//! # What is looked at
//!
//! | surface | unless set | what it is |
//! | --- | --- | --- |
//! | [`results`](RedactLayer::results) | yes | results of tools, `structured` and `meta` too; failures, refusals and errors of all three operations |
//! | [`arguments`](RedactLayer::arguments) | no | arguments, on their way to the tool and in replies |
//! | [`model_input`](RedactLayer::model_input) | no | instructions and messages that go to a model or an agent |
//! | [`model_output`](RedactLayer::model_output) | no | text and reasoning of replies, whole and streamed |
//!
//! In JSON, as a value or as a text, the string values are masked, whatever their depth; keys, numbers, order and
//! spaces stay. Pictures, sound, files and other bytes are not looked at. What overlaps or touches is masked as
//! one, the replacement is taken literally, and masking what was masked changes nothing. Untouched values keep their handles.
//!
//! # Streams
//!
//! The end of a streamed text is held back exactly as long as it could still become part of a match, so pieces put
//! together are the masked whole. A part's end lets the rest go. At most 64 KiB are held: past that, the rest of the part is
//! masked. When a stream breaks off, what was held is replaced, since nobody knows what it would have become. The
//! arguments of a call come in one piece at its end. The text of a reply is read as text, also where it is JSON, so that
//! it makes no difference whether it was streamed. A streamed reply has no mark, as its head is gone by then.
//!
//! # Placement
//!
//! Inside [truncation](crate::truncate): a secret that was cut in half is not recognised. In `ServiceBuilder`, `.layer(TruncateLayer)`
//! stands *above* `.layer(RedactLayer)`. Outside [the error reporter](crate::report_errors), so that its texts are clean too,
//! and inside caches and logs.
//!
//! # Errors
//!
//! An error that shows a secret is rebuilt with the same kind, effect, layer and extensions and clean texts. Its
//! causes stay as texts, but lose their types: whoever had the value could print it. Other errors are passed on as they are.
//!
//! If a check breaks down (a function given to [`Pattern::accept`] panics), nothing of what it looked at goes on: a fixed text
//! stands in its place, a call whose arguments cannot be checked is refused, and a warning names the layer.
//!
//! # Cancellation
//!
//! Dropping the future or the stream drops the inner one and what was held.

mod canonical;
mod common;
mod engine;
mod hold;
mod json;
mod pattern;
mod policy;
mod prefix;
mod service;
mod stream;
mod walk;

use std::sync::Arc;

use tower_layer::Layer;

use self::{engine::Engine, policy::Policy};
pub use self::{
    pattern::{Pattern, PatternError},
    service::{Redact, ResponseFuture},
};
use crate::Str;

/// Masks secrets; see the [module](self). Clones share their patterns.
#[derive(Clone, Debug)]
pub struct RedactLayer {
    policy: Arc<Policy>,
}

impl RedactLayer {
    /// What stands in the place of a secret unless another text is set.
    pub const REPLACEMENT: &str = "[REDACTED]";

    /// Looks for patterns of one's own only.
    pub fn new(patterns: impl IntoIterator<Item = Pattern>) -> Self {
        Self::with(Engine::new(patterns, Self::REPLACEMENT.into()))
    }

    /// Looks for the [common](Pattern::common) secrets.
    #[must_use]
    pub fn common() -> Self {
        Self::with(Engine::common())
    }

    fn with(engine: Engine) -> Self {
        let policy = Policy {
            engine,
            results: true,
            arguments: false,
            model_input: false,
            model_output: false,
        };
        Self { policy: Arc::new(policy) }
    }

    fn set(mut self, set: impl FnOnce(&mut Policy)) -> Self {
        set(Arc::make_mut(&mut self.policy));
        self
    }

    /// Looks for one more pattern.
    #[must_use]
    pub fn pattern(self, pattern: Pattern) -> Self {
        self.set(|policy| policy.engine.push(pattern))
    }

    /// Sets what stands in the place of a secret, taken literally. An empty text is the usual one.
    #[must_use]
    pub fn replacement(self, replacement: impl Into<Str>) -> Self {
        let replacement = replacement.into();
        let empty = replacement.is_empty();
        let replacement = if empty { Self::REPLACEMENT.into() } else { replacement };
        self.set(|policy| policy.engine.set_replacement(replacement))
    }

    /// Whether to look at results of tools, failures, refusals and errors; on unless set.
    #[must_use]
    pub fn results(self, on: bool) -> Self {
        self.set(|policy| policy.results = on)
    }

    /// Whether to look at the arguments of tool calls, on their way to the tool and in replies; off unless set.
    #[must_use]
    pub fn arguments(self, on: bool) -> Self {
        self.set(|policy| policy.arguments = on)
    }

    /// Whether to look at the instructions and messages that go to a model or an agent; off unless set.
    ///
    /// Reasoning with a signature stays as it is: it comes from the provider, which would refuse it otherwise.
    #[must_use]
    pub fn model_input(self, on: bool) -> Self {
        self.set(|policy| policy.model_input = on)
    }

    /// Whether to look at the text and reasoning of replies; off unless set.
    #[must_use]
    pub fn model_output(self, on: bool) -> Self {
        self.set(|policy| policy.model_output = on)
    }
}

impl Default for RedactLayer {
    fn default() -> Self {
        Self::common()
    }
}

impl<S> Layer<S> for RedactLayer {
    type Service = Redact<S>;

    fn layer(&self, inner: S) -> Redact<S> {
        Redact::with(inner, Arc::clone(&self.policy))
    }
}
