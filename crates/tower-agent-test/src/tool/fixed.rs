use std::{
    fmt,
    future::{Ready, ready},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use tower_agent_core::{Error, Str, ToolCall, ToolOutput, ToolSpec};
use tower_service::Service;

/// A tool that answers at once, always in the same way, and remembers its calls.
///
/// ```
/// use tower_agent_core::ToolCall;
/// use tower_agent_test::StaticTool;
/// use tower_service::Service;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tower_agent_core::Error> {
/// let mut tool = StaticTool::text("now", "12:00");
/// let output = tool.call(ToolCall::new("now", r#"{"zone": "CET"}"#)).await?;
///
/// assert_eq!(output.joined_text(), "12:00");
/// assert_eq!(tool.calls()[0].arguments.as_str(), r#"{"zone": "CET"}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StaticTool {
    spec: Arc<ToolSpec>,
    answer: Arc<dyn Fn(&ToolCall) -> Result<ToolOutput, Error> + Send + Sync>,
    calls: Arc<Mutex<Vec<ToolCall>>>,
}

/// The answer of a [`StaticTool`].
pub type StaticFuture = Ready<Result<ToolOutput, Error>>;

impl StaticTool {
    /// A tool that computes its answer at once.
    pub fn new(
        spec: impl Into<Arc<ToolSpec>>,
        answer: impl Fn(&ToolCall) -> Result<ToolOutput, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { spec: spec.into(), answer: Arc::new(answer), calls: Arc::default() }
    }

    /// A tool that answers a text.
    pub fn text(name: impl Into<Str>, text: impl Into<Str>) -> Self {
        Self::output(name, ToolOutput::text(text))
    }

    /// A tool that answers an output.
    pub fn output(name: impl Into<Str>, output: ToolOutput) -> Self {
        Self::new(ToolSpec::new(name, "Answers always the same."), move |_| Ok(output.clone()))
    }

    /// A tool that answers with the text of its arguments, byte for byte.
    pub fn echo(name: impl Into<Str>) -> Self {
        Self::new(ToolSpec::new(name, "Answers with its arguments."), |call| {
            Ok(ToolOutput::text(call.arguments.as_str()))
        })
    }

    /// A tool that fails.
    pub fn error(name: impl Into<Str>, error: Error) -> Self {
        Self::new(ToolSpec::new(name, "Fails."), move |_| Err(error.clone()))
    }

    /// What the tool says of itself.
    #[must_use]
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// Every call so far, through whichever clone.
    #[must_use]
    pub fn calls(&self) -> Vec<ToolCall> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Service<ToolCall> for StaticTool {
    type Response = ToolOutput;
    type Error = Error;
    type Future = StaticFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> StaticFuture {
        let answer = (self.answer)(&call);
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        ready(answer)
    }
}

impl fmt::Debug for StaticTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticTool").field("name", &self.spec.name).finish_non_exhaustive()
    }
}
