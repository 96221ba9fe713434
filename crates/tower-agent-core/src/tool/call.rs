use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    CallId, Context, Denial, Error, Failure, Json, Operation, OperationKind, Origin, Provenance,
    Str, ToolOutput, ToolSpec,
};

/// A call of a tool.
///
/// It is at most 96 bytes and all handles, so moving or cloning it through a stack costs next to nothing.
///
/// ```
/// use tower_agent_core::ToolCall;
///
/// let call = ToolCall::new("search", r#"{"query": "tower"}"#);
/// assert_eq!(call.arguments.value().unwrap()["query"], "tower");
/// assert_eq!(ToolCall::new("now", "").arguments.as_str(), "{}");
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id that the output must answer; empty when nobody gave one.
    #[serde(default)]
    pub id: CallId,
    /// The tool's name as the model wrote it.
    pub name: Str,
    /// The arguments as the model wrote them, which need not be JSON. No text at all means `{}`.
    pub arguments: Json,
    /// What the tool says of itself; attached by the tool set, absent for a tool that it does not know.
    #[serde(skip)]
    pub spec: Option<Arc<ToolSpec>>,
    /// The run that the call belongs to.
    #[serde(skip)]
    pub ctx: Context,
}

impl ToolCall {
    /// A call outside any run, without an id.
    pub fn new(name: impl Into<Str>, arguments: impl Into<Json>) -> Self {
        Self::in_context(Context::default(), name, arguments)
    }

    /// A call that belongs to a run, without an id.
    pub fn in_context(ctx: Context, name: impl Into<Str>, arguments: impl Into<Json>) -> Self {
        let mut arguments = arguments.into();
        if arguments.is_blank() {
            arguments = Json::object();
        }
        Self { id: CallId::default(), name: name.into(), arguments, spec: None, ctx }
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<CallId>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the run that the call belongs to.
    #[must_use]
    pub fn with_context(mut self, ctx: Context) -> Self {
        self.ctx = ctx;
        self
    }

    /// Attaches what the tool says of itself.
    #[must_use]
    pub fn with_spec(mut self, spec: Arc<ToolSpec>) -> Self {
        self.spec = Some(spec);
        self
    }

    /// Whether nothing that a reader of the call can see was changed between two handles of it.
    #[inline]
    #[must_use]
    pub fn is_untouched(&self, before: &Self) -> bool {
        self.arguments.ptr_eq(&before.arguments)
            && self.name.ptr_eq(&before.name)
            && self.id.ptr_eq(&before.id)
    }
}

impl Operation for ToolCall {
    type Output = ToolOutput;

    const KIND: OperationKind = OperationKind::Tool;

    fn name(&self) -> &str {
        &self.name
    }

    fn context(&self) -> &Context {
        &self.ctx
    }

    fn context_mut(&mut self) -> &mut Context {
        &mut self.ctx
    }

    fn denied(&self, denial: Denial) -> ToolOutput {
        ToolOutput {
            provenance: Provenance::made(Origin::Denied, denial.layer.clone()),
            ..ToolOutput::text(denial.message.clone()).with_outcome(denial)
        }
    }

    fn failed(&self, error: &Error) -> ToolOutput {
        ToolOutput::text(error.model_text()).with_outcome(Failure::from(error))
    }
}
