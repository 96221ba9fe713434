use std::{any::Any, fmt};

use tokio::time::Instant;
use tower_agent_core::{
    Class, Content, End, EndReason, Error, Json, ModelRequest, Operation, OperationKind, Outcome,
    RunRequest, ToolCall, ToolOutput, Usage,
};
use tracing::Span;

use super::layer::Show;

const TARGET: &str = "tower_agent::log";

/// A call that is in the log without its end; whatever becomes of it, one end follows.
pub(super) struct Entry {
    span: Span,
    began: Instant,
    open: bool,
    on_drop: Class,
}

/// How a call ended.
pub(super) struct Report {
    pub(super) class: Class,
    pub(super) reason: Option<String>,
    pub(super) size: Option<usize>,
    pub(super) result: Option<String>,
    pub(super) usage: Option<Usage>,
}

impl Entry {
    /// Opens an entry, unless nobody would read it.
    pub(super) fn begin<O: Operation>(request: &O, show: Option<&Show<Json>>) -> Option<Self> {
        let span = span(request);
        if span.is_disabled() {
            return None;
        }
        if tracing::enabled!(target: TARGET, tracing::Level::DEBUG) {
            let arguments =
                show.zip(as_tool(request)).map(|(show, call)| show.text(&call.arguments));
            tracing::debug!(
                target: TARGET, parent: &span, size = size(request), arguments, "started"
            );
        }
        Some(Self { span, began: Instant::now(), open: true, on_drop: Class::Cancelled })
    }

    pub(super) const fn span(&self) -> &Span {
        &self.span
    }

    /// Runs a part of the call inside its span. If that panics, the call has failed.
    pub(super) fn watch<R>(&mut self, run: impl FnOnce() -> R) -> R {
        let on_drop = std::mem::replace(&mut self.on_drop, Class::Failed);
        let result = self.span.in_scope(run);
        self.on_drop = on_drop;
        result
    }

    pub(super) fn end(mut self, report: &Report) {
        self.settle(report);
    }

    fn settle(&mut self, report: &Report) {
        macro_rules! finished {
            ($level:ident) => {
                tracing::$level!(
                    target: TARGET,
                    parent: &self.span,
                    outcome = report.class.as_str(),
                    took_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
                    reason = report.reason.as_deref(),
                    size = report.size,
                    input_tokens = report.usage.map(|usage| usage.input),
                    output_tokens = report.usage.map(|usage| usage.output),
                    result = report.result.as_deref(),
                    "finished"
                )
            };
        }
        if !std::mem::take(&mut self.open) {
            return;
        }
        if report.class.is_failure() { finished!(warn) } else { finished!(info) }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.settle(&Report::new(self.on_drop));
    }
}

impl Report {
    pub(super) const fn new(class: Class) -> Self {
        Self { class, reason: None, size: None, result: None, usage: None }
    }

    pub(super) fn of_error(error: &Error) -> Self {
        Self { reason: Some(error.to_string()), ..Self::new(error.kind().into()) }
    }

    /// How a call ended whose head was Ok: by the head, if that tells of a failure or refusal already.
    pub(super) fn of_end(head: Class, end: &End) -> Self {
        let class = if head == Class::Ok { end.into() } else { head };
        let reason = match &end.reason {
            EndReason::Complete(outcome) => reason(outcome),
            EndReason::Failed(kind) => Some(kind.as_str().to_owned()),
            EndReason::CutOff => Some("cut off".to_owned()),
            _ => None,
        };
        Self { reason, usage: end.usage, ..Self::new(class) }
    }
}

/// Who failed, refused or suspended a call, and why, without any text that is meant for a model.
fn reason(outcome: &Outcome) -> Option<String> {
    let (layer, what) = match outcome {
        Outcome::Failed(failure) => (failure.layer.as_deref().unwrap_or(""), failure.kind.as_str()),
        Outcome::Denied(denial) => (&*denial.layer, &*denial.code),
        Outcome::Suspended(suspension) => (&*suspension.layer, "suspended"),
        _ => return None,
    };
    Some(if layer.is_empty() { what.to_owned() } else { format!("{layer}: {what}") })
}

fn as_tool<O: Operation>(request: &O) -> Option<&ToolCall> {
    (request as &dyn Any).downcast_ref()
}

/// The span has the level of the most severe record in it, so that no filter takes the one without the other.
fn span<O: Operation>(request: &O) -> Span {
    macro_rules! span {
        ($name:literal) => {{
            let (ctx, run) = (request.context(), request.context().run());
            tracing::warn_span!(
                target: TARGET,
                $name,
                name = request.name(),
                id = as_tool(request).map(|call| call.id.as_str()).filter(|id| !id.is_empty()),
                run = given(run.id()),
                agent = given(run.agent()),
                turn = ctx.turn,
                attempt = ctx.attempt,
            )
        }};
    }
    match O::KIND {
        OperationKind::Tool => span!("tool_call"),
        OperationKind::Model => span!("model_call"),
        OperationKind::Run => span!("agent_run"),
    }
}

fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn size<O: Operation>(request: &O) -> Option<usize> {
    let any = request as &dyn Any;
    let tool = || any.downcast_ref().map(|call: &ToolCall| call.arguments.as_str().len());
    let model = || any.downcast_ref().map(|request: &ModelRequest| request.messages.len());
    let run =
        || any.downcast_ref().map(|run: &RunRequest| run.conversation.len() + run.input.len());
    tool().or_else(model).or_else(run)
}

/// The length of a tool's text in bytes.
pub(super) fn size_of_output(output: &ToolOutput) -> usize {
    output.content.iter().filter_map(Content::as_text).map(str::len).sum()
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.span).finish()
    }
}
