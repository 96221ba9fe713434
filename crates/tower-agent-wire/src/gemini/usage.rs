//! What a reply used.

use tower_agent_core::Usage;

use super::spelling::in_camel_case;
use crate::codec::{
    number::{count, take_positive},
    raw::{Fields, NULL, Object},
};

pub(super) const FIELD: &str = "usageMetadata";
const NAMES: [&str; 6] = [PROMPT, ANSWER, THOUGHTS, CACHED, TOOLS, TOTAL];
const PROMPT: &str = "promptTokenCount";
const ANSWER: &str = "candidatesTokenCount";
const THOUGHTS: &str = "thoughtsTokenCount";
const CACHED: &str = "cachedContentTokenCount";
/// Tokens of what the provider's own tools found; they are a part of the input that stays under its name.
const TOOLS: &str = "toolUsePromptTokenCount";
const TOTAL: &str = "totalTokenCount";

/// Takes the usage of a reply or an event; what has no name in the vocabulary stays under the same key.
pub(super) fn take(fields: &mut Fields<'_>) -> Option<Usage> {
    let raw = fields.get(FIELD)?.to_owned();
    let mut inner = Fields::parse(&raw)?;
    in_camel_case(&mut inner, &NAMES);
    let usage = read(&mut inner);
    fields.take(FIELD);
    fields.set_rest(FIELD, &inner);
    Some(usage)
}

fn read(fields: &mut Fields<'_>) -> Usage {
    let (prompt, answer) = (take_positive(fields, PROMPT), take_positive(fields, ANSWER));
    let mut usage = Usage::new(prompt.saturating_add(of_tools(fields)), answer);
    usage.cached_read = take_positive(fields, CACHED);
    usage.reasoning = take_positive(fields, THOUGHTS);
    usage.output = answer.saturating_add(usage.reasoning);
    match fields.get(TOTAL) {
        None => fields.set(TOTAL, NULL),
        Some(raw) if count(raw) == Some(usage.total()) => drop(fields.take(TOTAL)),
        Some(_) => {}
    }
    usage
}

fn of_tools(fields: &Fields<'_>) -> u64 {
    fields.get(TOOLS).and_then(count).unwrap_or(0)
}

pub(super) fn write(out: &mut Vec<u8>, usage: &Usage, mut rest: Fields<'_>) {
    let has_total = rest.get(TOTAL).is_none();
    rest.retain(|key, raw| key != TOTAL || raw != NULL);
    let counts = [
        (PROMPT, usage.input.saturating_sub(of_tools(&rest))),
        (ANSWER, usage.output.saturating_sub(usage.reasoning)),
        (THOUGHTS, usage.reasoning),
        (CACHED, usage.cached_read),
    ];
    let mut object = Object::new(out, rest);
    for (key, count) in counts {
        if count > 0 {
            object.number(key, count);
        }
    }
    if has_total {
        object.number(TOTAL, usage.total());
    }
    object.end();
}
