use std::{
    collections::HashMap,
    error::Error as StdError,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use tower::layer::util::{Identity, Stack};
use tower_agent_core::{Error, Str, ToolCall, ToolOutput, ToolSpec, Tools};
use tower_layer::Layer;
use tower_service::Service;

use super::{Tool, ToolRouter};
use crate::{boxed::BoxToolService, describe::Description};

/// The tools of an agent as one service: it routes by name, through the layers of the set.
///
/// ```
/// use tower::{Service, ServiceExt};
/// use tower_agent::{Tool, ToolCall, ToolSet, ToolSpec};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let now = Tool::raw(ToolSpec::new("now", "Tells the time"), |_| async { "noon" });
/// let tools = ToolSet::builder().tool(now).build()?;
///
/// let answer = tools.clone().oneshot(ToolCall::new("now", "{}")).await?;
/// assert_eq!(answer.joined_text(), "noon");
///
/// let answer = tools.oneshot(ToolCall::new("later", "{}")).await?;
/// assert_eq!(answer.joined_text(), r#"There is no tool "later"; nothing ran. The tools are: now."#);
/// # Ok(())
/// # }
/// ```
///
/// Layers go around one tool or around the set. A layer of the set is built once, so all tools share its
/// state; its calls carry the tool's spec:
///
/// ```
/// use std::time::Duration;
/// use tower::{ServiceBuilder, ServiceExt, limit::ConcurrencyLimitLayer, timeout::TimeoutLayer};
/// use tower_agent::{Tool, ToolSet, ToolSpec};
///
/// # fn main() -> Result<(), tower_agent::BuildError> {
/// let slow = Tool::raw(ToolSpec::new("slow", "Takes its time"), |_| async { "done" });
/// let fast = Tool::raw(ToolSpec::new("fast", "Is quick"), |_| async { "done" });
/// let tools = ToolSet::builder()
///     .tool(slow.layer(TimeoutLayer::new(Duration::from_secs(30))))
///     .tool(fast.layer(TimeoutLayer::new(Duration::from_secs(1))))
///     .layer(ServiceBuilder::new().layer(ConcurrencyLimitLayer::new(8)))
///     .build()?;
/// assert_eq!(tools.specs().len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ToolSet {
    specs: Tools,
    index: Arc<HashMap<Str, Arc<ToolSpec>>>,
    inner: BoxToolService,
}

impl ToolSet {
    /// Starts an empty set.
    pub fn builder() -> ToolSetBuilder {
        ToolSetBuilder { tools: Vec::new(), layers: Identity::new() }
    }

    /// A set without tools.
    #[must_use]
    pub fn empty() -> Self {
        let router = ToolRouter::new(HashMap::new(), Tools::new());
        Self { specs: Tools::new(), index: Arc::default(), inner: BoxToolService::new(router) }
    }

    /// A set over any service that answers the calls of these tools.
    ///
    /// # Errors
    /// When a name is blank or occurs twice.
    pub fn from_service<S>(specs: Tools, service: S) -> Result<Self, BuildError>
    where
        S: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
        S::Error: Into<Error>,
        S::Future: Send + 'static,
    {
        let mut index = HashMap::with_capacity(specs.len());
        for spec in &specs {
            if spec.name.trim().is_empty() {
                return Err(BuildError::BlankName);
            }
            if index.insert(spec.name.clone(), Arc::clone(spec)).is_some() {
                return Err(BuildError::DuplicateName(spec.name.clone()));
            }
        }
        Ok(Self { specs, index: Arc::new(index), inner: BoxToolService::new(service) })
    }

    /// What the tools say of themselves, in the order in which they were added.
    #[must_use]
    pub const fn specs(&self) -> &Tools {
        &self.specs
    }

    /// The layers of the set, outermost first.
    #[must_use]
    pub fn description(&self) -> &Description {
        self.inner.description()
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.specs.iter().map(|spec| &spec.name).collect();
        f.debug_struct("ToolSet")
            .field("tools", &names)
            .field("layers", self.description())
            .finish()
    }
}

impl Service<ToolCall> for ToolSet {
    type Response = ToolOutput;
    type Error = Error;
    type Future = <BoxToolService as Service<ToolCall>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut call: ToolCall) -> Self::Future {
        call.spec = self.index.get(&call.name).cloned();
        self.inner.call(call)
    }
}

/// Collects tools and layers.
#[must_use]
pub struct ToolSetBuilder<L = Identity> {
    tools: Vec<(Arc<ToolSpec>, BoxToolService)>,
    layers: L,
}

impl<L> ToolSetBuilder<L> {
    /// Adds a tool.
    pub fn tool<S>(mut self, tool: Tool<S>) -> Self
    where
        S: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
        S::Error: Into<Error>,
        S::Future: Send + 'static,
    {
        let spec = Arc::clone(tool.spec());
        self.tools.push((spec, BoxToolService::new(tool.into_inner())));
        self
    }

    /// Adds everything that another set has, with that set's layers around it.
    pub fn tools(mut self, set: &ToolSet) -> Self {
        let tools = set.specs.iter().map(|spec| (Arc::clone(spec), set.inner.clone()));
        self.tools.extend(tools);
        self
    }

    /// Wraps the set in a layer, outside those that were added before. To read a stack from the outside in,
    /// add one `ServiceBuilder`.
    pub fn layer<New>(self, layer: New) -> ToolSetBuilder<Stack<L, New>> {
        ToolSetBuilder { tools: self.tools, layers: Stack::new(self.layers, layer) }
    }

    /// Finishes the set.
    ///
    /// # Errors
    /// When a name is blank or occurs twice.
    pub fn build<S>(self) -> Result<ToolSet, BuildError>
    where
        L: Layer<ToolRouter, Service = S>,
        S: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
        S::Error: Into<Error>,
        S::Future: Send + 'static,
    {
        let specs: Tools = self.tools.iter().map(|(spec, _)| Arc::clone(spec)).collect();
        let routes = self.tools.into_iter().map(|(spec, tool)| (spec.name.clone(), tool)).collect();
        let router = ToolRouter::new(routes, specs.clone());
        ToolSet::from_service(specs, self.layers.layer(router))
    }
}

impl<L> fmt::Debug for ToolSetBuilder<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.tools.iter().map(|(spec, _)| &spec.name).collect();
        f.debug_struct("ToolSetBuilder").field("tools", &names).finish_non_exhaustive()
    }
}

/// Why a set of tools cannot be built.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A tool has no name.
    BlankName,
    /// Two tools have the same name.
    DuplicateName(Str),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlankName => f.write_str("a tool has no name"),
            Self::DuplicateName(name) => write!(f, "two tools are named \"{name}\""),
        }
    }
}

impl StdError for BuildError {}
