//! What a reply used.

use tower_agent_core::Usage;

use crate::codec::{
    number::{take_count, take_positive, take_usage, write_count},
    raw::{Fields, Object},
};

const READ: &str = "cache_read_input_tokens";
const WRITTEN: &str = "cache_creation_input_tokens";

/// Takes the usage of a reply; what has no name in the vocabulary stays under the same key.
pub(super) fn take(fields: &mut Fields<'_>) -> Option<Usage> {
    take_usage(fields, "usage", read)
}

/// Here the cached tokens stand beside the input, in the vocabulary they are part of it.
pub(super) fn read(fields: &mut Fields<'_>) -> Usage {
    let (input, output) = (take_count(fields, "input_tokens"), take_count(fields, "output_tokens"));
    let mut usage = Usage::new(input, output);
    usage.cached_read = take_positive(fields, READ);
    usage.cached_write = take_positive(fields, WRITTEN);
    usage.input = input.saturating_add(usage.cached_read).saturating_add(usage.cached_write);
    usage
}

pub(super) fn write(out: &mut Vec<u8>, usage: &Usage, rest: Fields<'_>) {
    let mut object = Object::new(out, rest);
    let fresh = usage.input.saturating_sub(usage.cached_read).saturating_sub(usage.cached_write);
    write_count(&mut object, "input_tokens", fresh);
    write_count(&mut object, "output_tokens", usage.output);
    for (key, count) in [(READ, usage.cached_read), (WRITTEN, usage.cached_write)] {
        if count > 0 {
            object.number(key, count);
        }
    }
    object.end();
}
