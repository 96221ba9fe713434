//! What the events of each kind of part are called.

use tower_agent_core::Json;

use super::extra;
use crate::codec::raw::string;

/// The events of a part, in their order, and the fields that say which part and what it holds.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) kind: &'static str,
    pub(super) index: &'static str,
    pub(super) text: &'static str,
    pub(super) added: &'static str,
    pub(super) delta: &'static str,
    pub(super) text_done: &'static str,
    pub(super) done: &'static str,
}

const PART_ADDED: &str = "response.content_part.added";
const PART_DONE: &str = "response.content_part.done";

pub(super) static TEXT: Form = Form {
    kind: "output_text",
    index: "content_index",
    text: "text",
    added: PART_ADDED,
    delta: "response.output_text.delta",
    text_done: "response.output_text.done",
    done: PART_DONE,
};

pub(super) static REFUSAL: Form = Form {
    kind: "refusal",
    index: "content_index",
    text: "refusal",
    added: PART_ADDED,
    delta: "response.refusal.delta",
    text_done: "response.refusal.done",
    done: PART_DONE,
};

pub(super) static SUMMARY: Form = Form {
    kind: "summary_text",
    index: "summary_index",
    text: "text",
    added: "response.reasoning_summary_part.added",
    delta: "response.reasoning_summary_text.delta",
    text_done: "response.reasoning_summary_text.done",
    done: "response.reasoning_summary_part.done",
};

pub(super) static THOUGHT: Form = Form {
    kind: "reasoning_text",
    index: "content_index",
    text: "text",
    added: PART_ADDED,
    delta: "response.reasoning_text.delta",
    text_done: "response.reasoning_text.done",
    done: PART_DONE,
};

/// The form of a text, by what its extra says of its kind.
pub(super) fn of_text(extra: Option<&Json>) -> &'static Form {
    match extra::peek(extra).get("type").and_then(string).as_deref() {
        Some("refusal") => &REFUSAL,
        _ => &TEXT,
    }
}

/// The form of a piece of reasoning.
pub(super) fn of_reasoning(extra: Option<&Json>) -> &'static Form {
    if super::reasoning::is_thought(extra) { &THOUGHT } else { &SUMMARY }
}
