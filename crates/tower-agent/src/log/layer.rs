use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use tower_agent_core::{Json, ToolOutput};
use tower_layer::Layer;

use super::Log;

/// Logs calls. See the [module](super) for examples.
#[derive(Clone, Default)]
pub struct LogLayer {
    pub(super) arguments: Option<Show<Json>>,
    pub(super) results: Option<Show<ToolOutput>>,
}

/// What is shown of a confidential value.
pub(super) struct Show<T>(Arc<dyn Fn(&T) -> String + Send + Sync>);

impl<T> Show<T> {
    pub(super) fn text(&self, value: &T) -> String {
        catch_unwind(AssertUnwindSafe(|| (self.0)(value)))
            .unwrap_or_else(|_| "(what should show it panicked)".to_owned())
    }
}

impl<T> Clone for Show<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl LogLayer {
    /// Logs calls without their arguments and results.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Logs what the closure makes of a tool call's arguments.
    #[must_use]
    pub fn arguments(mut self, show: impl Fn(&Json) -> String + Send + Sync + 'static) -> Self {
        self.arguments = Some(Show(Arc::new(show)));
        self
    }

    /// Logs what the closure makes of a tool's output.
    #[must_use]
    pub fn results(mut self, show: impl Fn(&ToolOutput) -> String + Send + Sync + 'static) -> Self {
        self.results = Some(Show(Arc::new(show)));
        self
    }
}

impl fmt::Debug for LogLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogLayer")
            .field("arguments", &self.arguments.is_some())
            .field("results", &self.results.is_some())
            .finish()
    }
}

impl<S> Layer<S> for LogLayer {
    type Service = Log<S>;

    fn layer(&self, inner: S) -> Log<S> {
        Log::new(inner, self.clone())
    }
}
