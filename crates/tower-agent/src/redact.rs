//! Masks secrets and personal data before a model, a user or a log sees them.
//!
//! [`RedactLayer`] puts a [`Detector`] around tools, models and agents, and a label in the place of what it finds. The default one
//! looks for [credentials](RedactLayer::secrets), that is for tokens and keys of some hundred services, key blocks, passwords beside
//! their names and the like:
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Error, RedactLayer, ToolCall, ToolOutput};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_agent::BoxError> {
//! let tool = ServiceBuilder::new().layer(RedactLayer::default()).service(service_fn(|_: ToolCall| async {
//!     Ok::<_, Error>(ToolOutput::text(r#"{"user": "mara", "password": "hunter2"}"#))
//! }));
//! let output = tool.oneshot(ToolCall::new("read_config", "{}")).await?;
//! assert_eq!(output.joined_text(), r#"{"user": "mara", "password": "[REDACTED:generic-password]"}"#);
//! assert_eq!(output.provenance.marks[0].detail.as_deref(), Some("1 generic-password"));
//! # Ok(())
//! # }
//! ```
//!
//! Made to measure, with a rule of one's own and another mask, in a reply that is streamed:
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{
//!     Error, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse, PartDelta, RedactLayer,
//!     redact::{Detector, Mask},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_agent::BoxError> {
//! let detector = Detector::builder()
//!     .without(["ip-address"])
//!     .rules_toml(r#"
//!         [[rule]]
//!         id = "badge"
//!         description = "Number of a badge"
//!         keywords = ["badge "]
//!         pattern = 'badge (?<secret>[0-9]{6})'
//!     "#)
//!     .build()?;
//! let layer = RedactLayer::new(detector).mask(Mask::text("***"));
//!
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
//! The [guide](crate::guide::redaction) tells how to choose rules, masks and surfaces, and what the vault is for.
//!
//! # What is looked at
//!
//! | surface | unless set | what it is |
//! | --- | --- | --- |
//! | [`results`](RedactLayer::results) | masked | results of tools, `structured`, `meta` and `extra` too; failures, refusals and errors of all three operations |
//! | [`model_input`](RedactLayer::model_input) | masked | instructions and messages that go to a model or an agent, on every turn |
//! | [`model_output`](RedactLayer::model_output) | masked | text and reasoning of replies, whole and streamed |
//! | [`arguments`](RedactLayer::arguments) | kept | arguments, on their way to the tool and in replies |
//!
//! In JSON, as a value or as a text, strings, numbers and keys are masked, whatever their depth, and a value also for the
//! name that it belongs to, be that its key or the `name` beside a `value`; everything else stays as it is written. Pictures,
//! sound, files and other bytes are not looked at, nor are names of tools and ids. Masking what was masked changes nothing.
//! Untouched values keep their handles.
//!
//! # Streams
//!
//! The end of a streamed text is held back exactly as long as it could still become part of a match, so pieces put
//! together are the masked whole, byte for byte. A part's end lets the rest go. When a stream breaks off, what was held is
//! replaced by `[REDACTED]`, since nobody knows what it would have become. Masked arguments of a call come in one piece at its
//! end. The text of a reply is read as text, also where it is JSON, so that it makes no difference whether it was streamed.
//!
//! # What is told
//!
//! Rules and numbers, never a value: by a mark in the provenance (`2 github-pat, 1 jwt`), by [`Findings`] in the extensions
//! of the answer or of the error, by a `tracing` event of level debug once the call has ended, and with the feature
//! `metrics-facade` by the counter `tower_agent.redact.findings` with the labels `rule` and `operation`. Findings count what was
//! masked in the request as well, the mark does not. A streamed reply has no mark, as its head is gone by then; its findings fill
//! up as it is read. A run shows some texts twice, in pieces and in a message, and both count.
//!
//! # Placement
//!
//! Inside [truncation](crate::truncate): a secret that was cut in half is not recognised. In `ServiceBuilder`, `.layer(TruncateLayer)`
//! stands *above* `.layer(RedactLayer)`. Outside [the error reporter](crate::report_errors), so that its texts are clean too,
//! and inside caches and logs. With [`Arguments::Vault`] the same layer stands around the model and around the tools, and what
//! stands inside of it around the tools sees the values.
//!
//! # Errors
//!
//! An error that shows a secret is rebuilt with the same kind, effect, layer and extensions and clean texts. Its
//! causes stay as texts, but lose their types: whoever had the value could print it. Other errors are passed on as they are.
//!
//! If a check breaks down (a function given to [`Mask::with`] panics), nothing of what it looked at goes on: a fixed text
//! stands in its place, a call whose arguments cannot be checked is refused, and a warning names the layer.
//!
//! # Cancellation
//!
//! Dropping the future or the stream drops the inner one and what was held.

mod arguments;
mod call;
mod copies;
mod findings;
mod hold;
mod policy;
mod run;
mod scrub;
mod service;
mod stream;
mod walk;

use std::sync::{Arc, OnceLock};

pub use tower_agent_detect::{
    Builder, Confidence, Detector, Finding, Mask, Masked, Rule, RuleError, Set, StreamRedactor,
    UnknownPlaceholder, Vault,
};
use tower_layer::Layer;

use self::policy::Policy;
pub use self::{
    arguments::Arguments,
    findings::Findings,
    service::{Redact, ResponseFuture},
};
use crate::Str;

/// Masks secrets and personal data; see the [module](self). Clones share their rules.
#[derive(Clone, Debug)]
pub struct RedactLayer {
    policy: Arc<Policy>,
}

impl RedactLayer {
    /// Looks for what a detector finds.
    #[must_use]
    pub fn new(detector: Detector) -> Self {
        let policy = Policy {
            detector,
            mask: Mask::label(),
            results: true,
            arguments: Arguments::Keep,
            trusted: Vec::new(),
            model_input: true,
            model_output: true,
        };
        Self { policy: Arc::new(policy) }
    }

    /// Looks for credentials, that is for what the rules of [`Set::Secrets`] find. The default.
    #[must_use]
    pub fn secrets() -> Self {
        static SECRETS: OnceLock<Detector> = OnceLock::new();
        let secrets = || Detector::builder().set(Set::Secrets).build();
        // A choice of built-in rules cannot fail; if it did, more would be looked for and not less.
        Self::new(SECRETS.get_or_init(|| secrets().unwrap_or_default()).clone())
    }

    /// Looks for personal data as well, such as e-mail addresses and numbers of cards: for what all built-in rules find.
    #[must_use]
    pub fn all() -> Self {
        Self::new(Detector::builtin())
    }

    fn set(mut self, set: impl FnOnce(&mut Policy)) -> Self {
        set(Arc::make_mut(&mut self.policy));
        self
    }

    /// Sets what stands in the place of what was found; unless set, the label of the rule, such as `[REDACTED:github-pat]`.
    ///
    /// With [`Arguments::Vault`], what a model reads has placeholders of the vault instead.
    #[must_use]
    pub fn mask(self, mask: Mask) -> Self {
        self.set(|policy| policy.mask = mask)
    }

    /// Whether to mask results of tools, failures, refusals and errors; on unless set.
    #[must_use]
    pub fn results(self, on: bool) -> Self {
        self.set(|policy| policy.results = on)
    }

    /// Whether to mask the instructions and messages that go to a model or an agent; on unless set.
    ///
    /// Reasoning with a signature stays as it is: it comes from the provider, which would refuse it otherwise.
    #[must_use]
    pub fn model_input(self, on: bool) -> Self {
        self.set(|policy| policy.model_input = on)
    }

    /// Whether to mask the text and reasoning of replies; on unless set.
    #[must_use]
    pub fn model_output(self, on: bool) -> Self {
        self.set(|policy| policy.model_output = on)
    }

    /// What becomes of confidential values in the arguments of tool calls; unless set, [they stay](Arguments::Keep).
    #[must_use]
    pub fn arguments(self, arguments: Arguments) -> Self {
        self.set(|policy| policy.arguments = arguments)
    }

    /// The tools that [`Arguments::Vault`] gives the values of placeholders to, by their exact names; none unless set.
    ///
    /// Such a tool does with a value what the model asks for. Trust one that sends it where it belongs, and not one that sends
    /// any text anywhere.
    #[must_use]
    pub fn trusted<I>(self, tools: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Str>,
    {
        let tools = tools.into_iter().map(Into::into).collect();
        self.set(|policy| policy.trusted = tools)
    }
}

impl Default for RedactLayer {
    fn default() -> Self {
        Self::secrets()
    }
}

impl<S> Layer<S> for RedactLayer {
    type Service = Redact<S>;

    fn layer(&self, inner: S) -> Redact<S> {
        Redact::with(inner, Arc::clone(&self.policy))
    }
}
