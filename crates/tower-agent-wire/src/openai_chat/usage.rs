//! What a reply used.

use std::borrow::Cow;

use tower_agent_core::Usage;

use crate::codec::{
    number::{count, take_count, take_positive, take_usage, write_count},
    raw::{Fields, Object},
};

const INPUT_DETAILS: &str = "prompt_tokens_details";
const OUTPUT_DETAILS: &str = "completion_tokens_details";

/// Takes the usage of a reply or a chunk; what has no name in the vocabulary stays under the same key.
pub(super) fn take(fields: &mut Fields<'_>) -> Option<Usage> {
    take_usage(fields, "usage", read)
}

/// Reads a usage and leaves in the fields what has no name in the vocabulary.
fn read(fields: &mut Fields<'_>) -> Usage {
    let (input, output) =
        (take_count(fields, "prompt_tokens"), take_count(fields, "completion_tokens"));
    let mut usage = Usage::new(input, output);
    fields.take_if("total_tokens", |raw| (count(raw)? == usage.total()).then_some(()));
    in_details(fields, INPUT_DETAILS, |details| {
        usage.cached_read = take_positive(details, "cached_tokens");
        usage.cached_write = take_positive(details, "cache_write_tokens");
    });
    in_details(fields, OUTPUT_DETAILS, |details| {
        usage.reasoning = take_positive(details, "reasoning_tokens");
    });
    usage
}

fn in_details(fields: &mut Fields<'_>, key: &'static str, read: impl FnOnce(&mut Fields<'_>)) {
    let Some(raw) = fields.take(key) else { return };
    match Fields::parse(&raw) {
        Some(mut details) => {
            let was_empty = details.is_empty();
            read(&mut details);
            if was_empty {
                fields.set(key, "{}");
            } else {
                fields.set_rest(key, &details);
            }
        }
        None => fields.set(key, raw.into_owned()),
    }
}

pub(super) fn write(out: &mut Vec<u8>, usage: &Usage, rest: Fields<'_>) {
    let mut object = Object::new(out, rest);
    write_count(&mut object, "prompt_tokens", usage.input);
    write_count(&mut object, "completion_tokens", usage.output);
    if object.extra().get("total_tokens").is_none() {
        object.number("total_tokens", usage.total());
    }
    let input = [("cached_tokens", usage.cached_read), ("cache_write_tokens", usage.cached_write)];
    write_details(&mut object, INPUT_DETAILS, &input);
    write_details(&mut object, OUTPUT_DETAILS, &[("reasoning_tokens", usage.reasoning)]);
    object.end();
}

fn write_details(object: &mut Object<'_, '_>, key: &str, counts: &[(&str, u64)]) {
    if counts.iter().all(|(_, count)| *count == 0) {
        return;
    }
    let rest = object.take(key).unwrap_or(Cow::Borrowed("{}"));
    let mut details = Object::new(object.field(key), Fields::parse(&rest).unwrap_or_default());
    for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
        details.number(name, *count);
    }
    details.end();
}
