//! Why a model stopped.

use tower_agent_core::{FinishReason, Str};

use crate::codec::raw::{Fields, NULL, string};

const FIELD: &str = "finishReason";

/// Takes the reason; one that the vocabulary would name otherwise stays in the fields, and so does that there was none.
pub(super) fn take(fields: &mut Fields<'_>, has_calls: bool) -> FinishReason {
    let Some(name) = fields.get(FIELD).and_then(string) else {
        fields.set(FIELD, NULL);
        return FinishReason::Unspecified;
    };
    let reason = of(&name, has_calls);
    if usual(&reason).as_str() == name.as_str() {
        fields.take(FIELD);
    }
    reason
}

fn of(name: &str, has_calls: bool) -> FinishReason {
    match name {
        "STOP" if has_calls => FinishReason::ToolCalls,
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "FINISH_REASON_UNSPECIFIED" => FinishReason::Unspecified,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        name => FinishReason::Other(name.into()),
    }
}

/// The name of a reason: the one in the fields where it means the same; `None` where none was given.
pub(super) fn name(reason: &FinishReason, fields: &Fields<'_>) -> Option<Str> {
    if *reason == FinishReason::Unspecified && fields.is_null(FIELD) {
        return None;
    }
    let has_calls = *reason == FinishReason::ToolCalls;
    let kept = fields.get(FIELD).and_then(string);
    Some(kept.filter(|name| of(name, has_calls) == *reason).unwrap_or_else(|| usual(reason)))
}

fn usual(reason: &FinishReason) -> Str {
    match reason {
        FinishReason::Length => "MAX_TOKENS".into(),
        FinishReason::ContentFilter => "SAFETY".into(),
        FinishReason::Error => "OTHER".into(),
        FinishReason::Other(name) if is_own(name) => name.clone(),
        FinishReason::Other(_) => "OTHER".into(),
        _ => "STOP".into(),
    }
}

/// Whether the dialect can say a reason; names of its own are in capitals.
pub(super) fn is_known(reason: &FinishReason) -> bool {
    !matches!(reason, FinishReason::Other(name) if !is_own(name))
}

fn is_own(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}
