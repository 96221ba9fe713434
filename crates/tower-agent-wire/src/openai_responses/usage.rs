//! What a reply used.

use std::borrow::Cow;

use tower_agent_core::Usage;

use crate::codec::raw::{Fields, NULL, Object};

const INPUT_DETAILS: &str = "input_tokens_details";
const OUTPUT_DETAILS: &str = "output_tokens_details";
const CACHED: &str = "cached_tokens";
const WRITTEN: &str = "cache_write_tokens";
const REASONING: &str = "reasoning_tokens";

/// Takes the usage of a reply; what has no name in the vocabulary stays under the same key.
pub(super) fn take(fields: &mut Fields<'_>) -> Option<Usage> {
    let raw = fields.get("usage")?.to_owned();
    let mut inner = Fields::parse(&raw)?;
    let usage = read(&mut inner);
    fields.take("usage");
    fields.set_rest("usage", &inner);
    Some(usage)
}

fn read(fields: &mut Fields<'_>) -> Usage {
    let (input, output) = (count(fields, "input_tokens"), count(fields, "output_tokens"));
    let mut usage = Usage::new(input, output);
    fields.take_if("total_tokens", |raw| (raw.parse() == Ok(usage.total())).then_some(()));
    in_details(fields, INPUT_DETAILS, |details| {
        usage.cached_read = count(details, CACHED);
        usage.cached_write = details.take_as(WRITTEN).unwrap_or(0);
    });
    in_details(fields, OUTPUT_DETAILS, |details| usage.reasoning = count(details, REASONING));
    usage
}

/// A count that is always written; that it was missing is marked by `null`.
fn count(fields: &mut Fields<'_>, key: &'static str) -> u64 {
    fields.take_as(key).unwrap_or_else(|| {
        if fields.get(key).is_none() {
            fields.set(key, NULL);
        }
        0
    })
}

fn in_details(fields: &mut Fields<'_>, key: &'static str, read: impl FnOnce(&mut Fields<'_>)) {
    let raw = fields.take(key).unwrap_or(Cow::Borrowed(NULL));
    match Fields::parse(&raw) {
        Some(mut details) => {
            read(&mut details);
            fields.set_rest(key, &details);
        }
        None => fields.set(key, raw.into_owned()),
    }
}

/// Writes the usage. Clients read the details without asking whether they are there.
pub(super) fn write(out: &mut Vec<u8>, usage: &Usage, rest: Fields<'_>) {
    let mut object = Object::new(out, rest);
    write_count(&mut object, "input_tokens", usage.input);
    let input = [(CACHED, usage.cached_read), (WRITTEN, usage.cached_write)];
    write_details(&mut object, INPUT_DETAILS, &input);
    write_count(&mut object, "output_tokens", usage.output);
    write_details(&mut object, OUTPUT_DETAILS, &[(REASONING, usage.reasoning)]);
    if object.extra().get("total_tokens").is_none() {
        object.number("total_tokens", usage.total());
    }
    object.end();
}

fn write_count(object: &mut Object<'_, '_>, key: &str, count: u64) {
    match object.extra().get(key) {
        Some(NULL) if count == 0 => drop(object.take(key)),
        Some(_) if count == 0 => {}
        _ => object.number(key, count),
    }
}

fn write_details(object: &mut Object<'_, '_>, key: &str, counts: &[(&str, u64)]) {
    if object.extra().is_null(key) && counts.iter().all(|(_, count)| *count == 0) {
        object.take(key);
        return;
    }
    let rest = object.take(key).unwrap_or(Cow::Borrowed("{}"));
    let mut details = Object::new(object.field(key), Fields::parse(&rest).unwrap_or_default());
    for (name, count) in counts.iter().filter(|(name, count)| *name != WRITTEN || *count > 0) {
        write_count(&mut details, name, *count);
    }
    details.end();
}
