use std::{
    future::Future,
    sync::Arc,
    task::{Context, Poll},
};

use tower_agent_core::{ToolCall, ToolOutput, ToolSpec};
use tower_layer::Layer;
use tower_service::Service;

use super::{IntoToolOutput, RawToolFn};

/// A service with what it says of itself. Any `Service<ToolCall>` with a [`ToolSpec`] is a tool.
///
/// The spec lives beside the service, so no layer can lose it.
///
/// ```
/// use tower::ServiceExt;
/// use tower_agent::{Tool, ToolCall, ToolSpec};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tower_agent::Error> {
/// let echo = Tool::raw(ToolSpec::new("echo", "Repeats its arguments"), |call: ToolCall| async move {
///     call.arguments.as_str().to_owned()
/// })
/// .map_spec(|spec| spec.title = Some("Echo".into()));
/// assert_eq!(echo.spec().display_name(), "Echo");
/// assert_eq!(echo.oneshot(ToolCall::new("echo", "[1]")).await?.joined_text(), "[1]");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Tool<S> {
    spec: Arc<ToolSpec>,
    inner: S,
}

impl<S> Tool<S> {
    /// Puts a service and its spec together.
    pub fn new(spec: impl Into<Arc<ToolSpec>>, service: S) -> Self {
        Self { spec: spec.into(), inner: service }
    }

    /// What the tool says of itself.
    pub const fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// Changes what the tool says of itself.
    #[must_use]
    pub fn map_spec(mut self, edit: impl FnOnce(&mut ToolSpec)) -> Self {
        edit(Arc::make_mut(&mut self.spec));
        self
    }

    /// Marks the tool as one that an agent must not call twice at once.
    #[must_use]
    pub fn one_at_a_time(self) -> Self {
        self.map_spec(|spec| spec.one_at_a_time = true)
    }

    /// Marks the tool as one that changes nothing.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.map_spec(|spec| spec.annotations.read_only = Some(true))
    }

    /// Wraps the service in a layer and keeps the spec.
    pub fn layer<L: Layer<S>>(self, layer: L) -> Tool<L::Service> {
        Tool { spec: self.spec, inner: layer.layer(self.inner) }
    }

    inner_accessors!();
}

impl<F> Tool<RawToolFn<F>> {
    /// Makes a tool of an async function of the whole call, with a schema of its own.
    pub fn raw<Fut>(spec: impl Into<Arc<ToolSpec>>, function: F) -> Self
    where
        F: Fn(ToolCall) -> Fut,
        Fut: Future,
        Fut::Output: IntoToolOutput,
    {
        Self::new(spec, RawToolFn::new(function))
    }
}

impl<S: Service<ToolCall, Response = ToolOutput>> Service<ToolCall> for Tool<S> {
    type Response = ToolOutput;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut call: ToolCall) -> S::Future {
        call.spec.get_or_insert_with(|| Arc::clone(&self.spec));
        self.inner.call(call)
    }
}
