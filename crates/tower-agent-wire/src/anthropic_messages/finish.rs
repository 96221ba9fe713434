//! Why a model stopped.

use tower_agent_core::{FinishReason, Str};

use crate::codec::raw::{Fields, NULL, string};

/// Takes the reason; one that the vocabulary would name otherwise stays in the fields.
pub(super) fn take(fields: &mut Fields<'_>) -> FinishReason {
    let Some(name) = fields.get("stop_reason").and_then(string) else {
        return FinishReason::Unspecified;
    };
    let reason = of(&name);
    if *usual(&reason, fields) == *name {
        fields.take("stop_reason");
    }
    reason
}

fn of(name: &str) -> FinishReason {
    match name {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        name => name.into(),
    }
}

/// The name of a reason: the one in the fields where it means the same.
pub(super) fn name(reason: &FinishReason, fields: &Fields<'_>) -> Str {
    let kept = fields.get("stop_reason").and_then(string);
    kept.filter(|name| of(name) == *reason).unwrap_or_else(|| usual(reason, fields))
}

fn usual(reason: &FinishReason, fields: &Fields<'_>) -> Str {
    let is_at_sequence = fields.get("stop_sequence").is_some_and(|raw| raw != NULL);
    let name = match reason {
        FinishReason::Stop if is_at_sequence => "stop_sequence",
        FinishReason::Stop | FinishReason::Unspecified => "end_turn",
        FinishReason::Length => "max_tokens",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::ContentFilter => "refusal",
        reason => reason.as_str(),
    };
    name.into()
}
