use tower_agent_core::Json;

use super::raw::{Fields, NULL};
use crate::{Loss, LossRule};

/// The keys under which dialects keep fields that mean nothing to the others.
const SPACES: [&str; 3] = ["anthropic", "gemini", "openai_responses"];

/// Types of texts and of tools, which other dialects have as well.
const TYPES: [&str; 9] = [
    "custom_tool_call_output",
    "text",
    "custom",
    "input_text",
    "output_text",
    "summary_text",
    "reasoning_text",
    "refusal",
    "message",
];

/// Losses at one place.
pub(crate) struct Losses<'a> {
    pub(crate) place: String,
    pub(crate) all: &'a mut Vec<Loss>,
}

impl Losses<'_> {
    pub(crate) fn note(&mut self, rule: LossRule) {
        self.all.push(Loss { rule, place: self.place.clone() });
    }

    /// A loss at a field of the place.
    pub(crate) fn note_at(&mut self, rule: LossRule, field: &str) {
        self.all.push(Loss { rule, place: format!("{}.{field}", self.place) });
    }

    /// The fields of an `extra` without those of other dialects, or none and a loss.
    pub(crate) fn fields<'a>(&mut self, extra: Option<&'a Json>) -> Fields<'a> {
        let Some(mut fields) = Fields::of(extra) else {
            self.note(LossRule::NotJson);
            return Fields::default();
        };
        for space in SPACES {
            if fields.take(space).is_some_and(|raw| says_something(&raw)) {
                self.note(LossRule::Foreign);
            }
        }
        fields
    }
}

/// Whether an `extra` has nothing but what other dialects keep in it.
pub(crate) fn is_foreign_alone(extra: Option<&Json>) -> bool {
    let fields = Fields::of(extra);
    fields.is_some_and(|fields| fields.iter().all(|(key, _)| SPACES.contains(&key)))
}

/// Whether a tool is one of another dialect's provider, which nobody else runs.
pub(crate) fn is_foreign_tool(extra: Option<&Json>, own: &str) -> bool {
    let fields = Fields::of(extra).unwrap_or_default();
    SPACES.iter().filter(|space| **space != own).any(|space| {
        let inner = fields.get(space).and_then(Fields::parse).unwrap_or_default();
        inner.get("type").is_some_and(|kind| kind != "\"custom\"")
    }) || is_gemini_tool(&fields)
}

/// Whether a tool is one of Gemini's own, which has no type but stands as it was in the request.
fn is_gemini_tool(fields: &Fields<'_>) -> bool {
    let inner = fields.get("gemini").and_then(Fields::parse).unwrap_or_default();
    inner.get("tools").is_some()
}

/// Whether fields say more than how something was spelt.
fn says_something(raw: &str) -> bool {
    let fields = Fields::parse(raw).unwrap_or_default();
    fields.iter().any(|(key, raw)| match key {
        // What an item was called, and how far it had come.
        "id" | "status" => false,
        "item" | "item_end" => says_something(raw),
        _ => !is_spelling(key, raw),
    })
}

fn is_object_of_spellings(raw: &str) -> bool {
    raw.starts_with('{')
        && Fields::parse(raw)
            .is_some_and(|fields| fields.iter().all(|(key, raw)| is_spelling(key, raw)))
}

/// Whether a field only marks how something was spelt: a null, an empty value, the type of a text or of a tool, or what
/// holds anyway.
pub(crate) fn is_spelling(key: &str, raw: &str) -> bool {
    let is_usual = match key {
        _ if SPACES.contains(&key) => !says_something(raw),
        "type" => TYPES.contains(&raw.trim_matches('"')),
        "stream" | "is_error" => raw == "false",
        "thought" => raw == "true",
        _ => false,
    };
    is_usual || [NULL, "\"\"", "[]"].contains(&raw) || is_object_of_spellings(raw)
}
