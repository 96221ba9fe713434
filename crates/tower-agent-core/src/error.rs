use std::{
    borrow::Cow, convert::Infallible, error::Error as StdError, fmt, sync::Arc, time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{Extensions, JsonError};

/// A boxed error of any kind, as tower's own layers return it.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// The one error of every stack: what went wrong, and whether anything may have happened already.
///
/// Layers of tower in between return a [`BoxError`]; `Error::from` finds an `Error` in its source chain, and
/// the time-out, overload and closed-buffer errors of tower, so that a kind survives any mixture of layers.
///
/// # What may be relied on
///
/// [`kind`](Self::kind), [`effect`](Self::effect), [`layer`](Self::layer) and [`source`](StdError::source) are for
/// programs. [`Display`](fmt::Display) is for operators and may change. [`model_text`](Self::model_text) is all that a
/// model may read.
///
/// ```
/// use tower_agent_core::{BoxError, Effect, Error, ErrorKind};
///
/// let overloaded = BoxError::from(tower::load_shed::error::Overloaded::new());
/// let error = Error::from(overloaded);
/// assert_eq!(error.kind(), ErrorKind::Overloaded);
/// assert_eq!(error.effect(), Effect::NotStarted);
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    effect: Effect,
    message: Cow<'static, str>,
    model_text: Option<Cow<'static, str>>,
    layer: Option<Cow<'static, str>>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
    extensions: Extensions,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// It took too long.
    Timeout,
    /// The caller gave up, or the run was cancelled.
    Cancelled,
    /// This process has too much to do.
    Overloaded,
    /// The other side has too much to do.
    RateLimited {
        /// How long the other side asked to wait.
        retry_after: Option<Duration>,
    },
    /// The arguments are malformed, cut off or do not fit the tool.
    InvalidArguments,
    /// There is no such tool, model or resource.
    NotFound,
    /// The credentials are missing or were refused.
    Unauthorized,
    /// A provider or server answered with a failure.
    Upstream {
        /// The HTTP status, when it got as far as one.
        status: Option<u16>,
    },
    /// A service went away and takes no more calls.
    Unavailable,
    /// The other side broke its protocol: a malformed message or half a stream.
    Protocol,
    /// The tool itself failed.
    Tool,
    /// A hook failed; [`Error::layer`] names it.
    Hook,
    /// Something panicked; the panic was contained.
    Panic,
    /// Anything else.
    Other,
}

/// Whether the failed operation may have had an effect, which decides if it can be repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It certainly did not begin.
    NotStarted,
    /// It may have begun, and it may have finished.
    Unknown,
    /// It ran to its end.
    Completed,
}

impl ErrorKind {
    /// A short stable name, as used in metrics.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Overloaded => "overloaded",
            Self::RateLimited { .. } => "rate_limited",
            Self::InvalidArguments => "invalid_arguments",
            Self::NotFound => "not_found",
            Self::Unauthorized => "unauthorized",
            Self::Upstream { .. } => "upstream",
            Self::Unavailable => "unavailable",
            Self::Protocol => "protocol",
            Self::Tool => "tool",
            Self::Hook => "hook",
            Self::Panic => "panic",
            Self::Other => "other",
        }
    }

    /// The effect that this kind has unless somebody knows better.
    const fn usual_effect(self) -> Effect {
        match self {
            Self::Overloaded | Self::InvalidArguments | Self::NotFound | Self::Unavailable => {
                Effect::NotStarted
            }
            Self::RateLimited { .. } | Self::Unauthorized => Effect::NotStarted,
            _ => Effect::Unknown,
        }
    }

    const fn usual_model_text(self) -> &'static str {
        match self {
            Self::Timeout => "The call took too long and was stopped.",
            Self::Cancelled => "The call was cancelled.",
            Self::Overloaded => "The system is overloaded; the call did not run. Try again later.",
            Self::RateLimited { .. } => {
                "The rate limit is reached; the call did not run. Try again later."
            }
            Self::InvalidArguments => "The arguments are invalid; the call did not run.",
            Self::NotFound => "It does not exist; nothing ran.",
            Self::Unauthorized => "Access was refused; nothing ran.",
            Self::Unavailable => "The service is not available; the call did not run.",
            Self::Upstream { .. } => "The service behind it answered with an error.",
            Self::Protocol => "The service behind it broke off or sent something malformed.",
            _ => "The call failed with an internal error.",
        }
    }
}

impl Error {
    /// An error with a text for operators.
    ///
    /// The [`effect`](Self::effect) starts as the usual one of its kind: refusals did not start, the rest is unknown.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Inner {
            kind,
            effect: kind.usual_effect(),
            message: message.into(),
            model_text: None,
            layer: None,
            source: None,
            extensions: Extensions::new(),
        }))
    }

    fn edit(mut self, edit: impl FnOnce(&mut Inner)) -> Self {
        edit(Arc::make_mut(&mut self.0));
        self
    }

    /// Says whether anything may have happened.
    #[must_use]
    pub fn with_effect(self, effect: Effect) -> Self {
        self.edit(|inner| inner.effect = effect)
    }

    /// Sets the kind and keeps everything else.
    #[must_use]
    pub fn with_kind(self, kind: ErrorKind) -> Self {
        self.edit(|inner| inner.kind = kind)
    }

    /// Sets the text for operators and keeps everything else.
    #[must_use]
    pub fn with_message(self, message: impl Into<Cow<'static, str>>) -> Self {
        self.edit(|inner| inner.message = message.into())
    }

    /// Sets what a model may read. No internals belong here.
    #[must_use]
    pub fn with_model_text(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.edit(|inner| inner.model_text = Some(text.into()))
    }

    /// Names the layer or hook that raised it.
    #[must_use]
    pub fn with_layer(self, layer: impl Into<Cow<'static, str>>) -> Self {
        self.edit(|inner| inner.layer = Some(layer.into()))
    }

    /// Keeps the cause, which stays reachable by [`find`](Self::find).
    #[must_use]
    pub fn with_source(self, source: impl Into<BoxError>) -> Self {
        self.edit(|inner| inner.source = Some(Arc::from(source.into())))
    }

    /// Attaches a value for outer layers.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.edit(|inner| {
            inner.extensions.insert(value);
        })
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether anything may have happened.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.0.effect
    }

    /// The layer or hook that raised it, if one did.
    #[must_use]
    pub fn layer(&self) -> Option<&str> {
        self.0.layer.as_deref()
    }

    /// What a model may read about it.
    #[must_use]
    pub fn model_text(&self) -> &str {
        self.0.model_text.as_deref().unwrap_or_else(|| self.0.kind.usual_model_text())
    }

    /// How long the other side asked to wait before the next try.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.0.kind {
            ErrorKind::RateLimited { retry_after } => retry_after,
            _ => None,
        }
    }

    /// What inner layers attached.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// The first error of a type in the source chain.
    #[must_use]
    pub fn find<T: StdError + 'static>(&self) -> Option<&T> {
        chain(self).find_map(|error| error.downcast_ref())
    }

    /// Whether it took too long.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.0.kind == ErrorKind::Timeout
    }

    /// Whether the caller gave up.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.kind == ErrorKind::Cancelled
    }
}

fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

#[cfg(feature = "tower")]
fn kind_of_foreign(error: &(dyn StdError + 'static)) -> Option<ErrorKind> {
    if error.is::<tower::timeout::error::Elapsed>() {
        Some(ErrorKind::Timeout)
    } else if error.is::<tower::load_shed::error::Overloaded>() {
        Some(ErrorKind::Overloaded)
    } else if error.is::<tower::buffer::error::Closed>() {
        Some(ErrorKind::Unavailable)
    } else {
        None
    }
}

#[cfg(not(feature = "tower"))]
fn kind_of_foreign(_: &(dyn StdError + 'static)) -> Option<ErrorKind> {
    None
}

impl From<BoxError> for Error {
    fn from(error: BoxError) -> Self {
        let error = match error.downcast::<Self>() {
            Ok(error) => return *error,
            Err(error) => error,
        };
        let found = chain(&*error).find_map(|link| match link.downcast_ref::<Self>() {
            Some(ours) => Some(ours.clone()),
            None => kind_of_foreign(link).map(|kind| Self::new(kind, link.to_string())),
        });
        let found = found.unwrap_or_else(|| Self::new(ErrorKind::Other, error.to_string()));
        // A wrapper around one of ours may say more, so the whole chain stays the source.
        found.edit(|inner| {
            inner.message = error.to_string().into();
            inner.source = Some(Arc::from(error));
        })
    }
}

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<JsonError> for Error {
    fn from(error: JsonError) -> Self {
        let text = format!(
            "The arguments are not valid JSON ({error}); the tool did not run. Send the call again with valid JSON."
        );
        Self::new(ErrorKind::InvalidArguments, format!("arguments are not valid JSON: {error}"))
            .with_model_text(text)
            .with_source(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.layer {
            Some(layer) => write!(f, "{layer}: {}", self.0.message),
            None => f.write_str(&self.0.message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("effect", &self.0.effect)
            .field("message", &self.0.message)
            .field("layer", &self.0.layer)
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
