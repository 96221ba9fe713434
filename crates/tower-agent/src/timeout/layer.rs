use std::{collections::HashMap, sync::Arc, time::Duration};

use tower_agent_core::Str;
use tower_layer::Layer;

use super::{Limits, Timeout};

/// Limits how long calls may take, streams included. See the [module](super) for examples.
#[derive(Clone, Debug)]
pub struct TimeoutLayer {
    pub(super) limits: Limits,
    pub(super) names: Option<Arc<HashMap<Str, Limits>>>,
    pub(super) deadline: bool,
}

impl TimeoutLayer {
    /// Limits the whole of each call, to the end of its stream.
    #[must_use]
    pub const fn new(total: Duration) -> Self {
        Self::limits(Limits::new().total(total))
    }

    /// Limits parts of each call. Without any limit, only the context's deadline holds.
    #[must_use]
    pub const fn limits(limits: Limits) -> Self {
        Self { limits, names: None, deadline: true }
    }

    /// Gives the calls of one tool, model or agent limits of their own in place of the general ones.
    #[must_use]
    pub fn for_name(mut self, name: impl Into<Str>, limits: Limits) -> Self {
        Arc::make_mut(self.names.get_or_insert_default()).insert(name.into(), limits);
        self
    }

    /// Whether the deadline of a request's context holds; it does by default.
    #[must_use]
    pub const fn deadline(mut self, holds: bool) -> Self {
        self.deadline = holds;
        self
    }

    pub(super) fn limits_of(&self, name: &str) -> Limits {
        let own = self.names.as_ref().and_then(|names| names.get(name));
        own.copied().unwrap_or(self.limits)
    }
}

impl<S> Layer<S> for TimeoutLayer {
    type Service = Timeout<S>;

    fn layer(&self, inner: S) -> Timeout<S> {
        Timeout::new(inner, self.clone())
    }
}
