use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tower::{ServiceExt, util::BoxCloneSyncService};
use tower_agent_core::{Error, ModelRequest, Operation, RunRequest, ToolCall};
use tower_service::Service;

use crate::Description;

/// A finished stack without its type, which can be cloned and shared, and which knows what it is made of.
///
/// Box a stack once, where it meets a router or a struct that must be nameable: a clone and a call cost one
/// allocation each. Errors become [`Error`], so a stack with layers of tower in it fits as well.
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{BoxError, BoxToolService, ToolCall, ToolOutput};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tower_agent::Error> {
/// let stack = ServiceBuilder::new()
///     .concurrency_limit(8)
///     .service(service_fn(|call: ToolCall| async move { Ok::<_, BoxError>(ToolOutput::text("12:00")) }));
/// let clock = BoxToolService::new(stack);
///
/// assert_eq!(clock.description().to_string(), "concurrency_limit > service_fn");
/// assert_eq!(clock.oneshot(ToolCall::new("clock", "{}")).await?.joined_text(), "12:00");
/// # Ok(())
/// # }
/// ```
pub struct Boxed<O: Operation> {
    inner: BoxCloneSyncService<O, O::Output, Error>,
    description: Description,
}

/// A boxed stack of a tool.
pub type BoxToolService = Boxed<ToolCall>;

/// A boxed stack of a model.
pub type BoxModelService = Boxed<ModelRequest>;

/// A boxed stack of an agent.
pub type BoxRunService = Boxed<RunRequest>;

impl<O: Operation> Boxed<O> {
    /// Boxes a stack and keeps its [description](crate::describe).
    pub fn new<S>(service: S) -> Self
    where
        S: Service<O, Response = O::Output> + Clone + Send + Sync + 'static,
        S::Error: Into<Error>,
        S::Future: Send + 'static,
    {
        let description = crate::describe(&service);
        Self::with_description(service, description)
    }

    /// Boxes a stack whose maker knows better what is in it, such as one around another box.
    pub fn with_description<S>(service: S, description: Description) -> Self
    where
        S: Service<O, Response = O::Output> + Clone + Send + Sync + 'static,
        S::Error: Into<Error>,
        S::Future: Send + 'static,
    {
        Self { inner: BoxCloneSyncService::new(service.map_err(Into::into)), description }
    }

    /// What the stack is made of.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }
}

impl<O: Operation> Service<O> for Boxed<O> {
    type Response = O::Output;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<O::Output, Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: O) -> Self::Future {
        self.inner.call(request)
    }
}

impl<O: Operation> Clone for Boxed<O> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), description: self.description.clone() }
    }
}

impl<O: Operation> fmt::Debug for Boxed<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Boxed").field(&self.description).finish()
    }
}
