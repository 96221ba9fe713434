//! Cuts outputs of tools that are too long for a model.
//!
//! [`TruncateLayer`] keeps the beginning, the end or both, and says what is missing. The limit (8,000 bytes unless set) holds for
//! all texts of an output together and includes that note, so an output never gets longer. No character is split.
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Error, ToolCall, ToolOutput, TruncateLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_agent::BoxError> {
//! let tool = ServiceBuilder::new().layer(TruncateLayer::default()).service(service_fn(|_: ToolCall| async {
//!     Ok::<_, Error>(ToolOutput::text("line\n".repeat(10_000)))
//! }));
//! let text = tool.oneshot(ToolCall::new("read_log", "{}")).await?.joined_text();
//! assert!(text.len() <= 8_000);
//! assert!(text.ends_with("[cut: the first 7951 of 50000 bytes are shown]"));
//! # Ok(())
//! # }
//! ```
//!
//! The end of a log often matters most. Both ends, counted in characters:
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Error, ToolCall, ToolOutput, TruncateLayer, truncate::Keep};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_agent::BoxError> {
//! let layer = TruncateLayer::characters(200).keep(Keep::HeadAndTail);
//! let tool = ServiceBuilder::new().layer(layer).service(service_fn(|_: ToolCall| async {
//!     Ok::<_, Error>(ToolOutput::text(format!("first {} last", "…".repeat(500))))
//! }));
//! let text = tool.oneshot(ToolCall::new("read_log", "{}")).await?.joined_text();
//! assert!(text.starts_with("first …") && text.ends_with("… last"));
//! assert!(text.contains("of 511 characters are shown]"));
//! # Ok(())
//! # }
//! ```
//!
//! # What is cut
//!
//! - Text, and the text of resources. A text of which nothing is left is taken out; pictures and sound are never touched.
//! - Text that is a JSON object, array or string is pruned instead and stays JSON: spaces go first, then the ends of
//!   lists and of long strings, each with a word in its place; small fields stay, numbers keep their digits.
//! - `structured` follows the text that it equals, or else is pruned by the same limit.
//! - Outputs of any outcome, failures included. Errors are not touched.
//!
//! Below 16 units there is no room for a note; then only the [`Mark`](crate::Mark) in the provenance tells.
//!
//! # Placement
//!
//! Outside [redaction](crate::redact): a secret that was cut in half is not recognised any more. In `ServiceBuilder`
//! the layer stands *above* the redacting one. Inside a cache, the cache keeps the short form; outside, the whole one.
//!
//! # Errors
//!
//! It raises none and looks at none.
//!
//! # Cancellation
//!
//! Nothing is held: dropping the future drops the inner one.

mod cut;
mod node;
mod prune;
mod unit;

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use self::cut::Policy;
pub use self::unit::Unit;
use crate::{ToolCall, ToolOutput};

/// Cuts outputs that are too long; see the [module](self).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TruncateLayer {
    policy: Policy,
}

/// What [`TruncateLayer`] makes of a service.
#[derive(Clone, Debug)]
pub struct Truncate<S> {
    inner: S,
    policy: Policy,
}

/// Which part of a text that is too long stays.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Hash)]
#[non_exhaustive]
pub enum Keep {
    /// The beginning.
    #[default]
    Head,
    /// The end.
    Tail,
    /// The beginning and the end, half of the room each.
    HeadAndTail,
}

impl Keep {
    /// How much of the room the beginning gets.
    const fn head_of(self, room: usize) -> usize {
        match self {
            Self::Head => room,
            Self::Tail => 0,
            Self::HeadAndTail => room.div_ceil(2),
        }
    }
}

impl TruncateLayer {
    /// The limit that holds unless another is set, in bytes.
    pub const DEFAULT_LIMIT: usize = 8_000;

    /// At most so many bytes of UTF-8, the note included.
    #[must_use]
    pub const fn bytes(limit: usize) -> Self {
        Self::new(limit, Unit::Bytes)
    }

    /// At most so many characters, the note included.
    #[must_use]
    pub const fn characters(limit: usize) -> Self {
        Self::new(limit, Unit::Characters)
    }

    /// A limit in a unit.
    #[must_use]
    pub const fn new(limit: usize, unit: Unit) -> Self {
        Self { policy: Policy { limit, unit, keep: Keep::Head } }
    }

    /// Chooses which part stays; the beginning unless set.
    #[must_use]
    pub const fn keep(mut self, keep: Keep) -> Self {
        self.policy.keep = keep;
        self
    }
}

impl Default for TruncateLayer {
    fn default() -> Self {
        Self::bytes(Self::DEFAULT_LIMIT)
    }
}

impl<S> Layer<S> for TruncateLayer {
    type Service = Truncate<S>;

    fn layer(&self, inner: S) -> Truncate<S> {
        Truncate { inner, policy: self.policy }
    }
}

impl<S> Truncate<S> {
    /// Cuts the outputs of a service to so many bytes.
    pub const fn new(inner: S, limit: usize) -> Self {
        Self { inner, policy: TruncateLayer::bytes(limit).policy }
    }

    /// The layer of a limit in bytes.
    #[must_use]
    pub const fn layer(limit: usize) -> TruncateLayer {
        TruncateLayer::bytes(limit)
    }

    inner_accessors!();
}

impl<S: Service<ToolCall, Response = ToolOutput>> Service<ToolCall> for Truncate<S> {
    type Response = ToolOutput;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        ResponseFuture { inner: self.inner.call(call), policy: self.policy }
    }
}

pin_project! {
    /// The inner output, cut.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        policy: Policy,
    }
}

impl<F: Future<Output = Result<ToolOutput, E>>, E> Future for ResponseFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut result = ready!(this.inner.poll(cx));
        if let Ok(output) = &mut result {
            this.policy.apply(output);
        }
        Poll::Ready(result)
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").field("policy", &self.policy).finish_non_exhaustive()
    }
}
