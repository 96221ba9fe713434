//! Fields of this dialect in an `extra`.

use std::borrow::Cow;

use tower_agent_core::Json;

use crate::{
    LossRule,
    codec::{Losses, is_spelling, raw::Fields},
};

/// The key under which they stand, so that no other dialect takes them for its own.
const SPACE: &str = "gemini";

/// What is left of an object, as an `extra`.
pub(super) fn keep(fields: &Fields<'_>) -> Option<Json> {
    if fields.is_empty() {
        return None;
    }
    let mut outer = Fields::default();
    outer.set(SPACE, fields.to_text());
    outer.to_extra()
}

/// The fields of an `extra` for this dialect: all that stand under its key, and of those beside it the known ones.
pub(super) fn open<'a>(
    extra: Option<&'a Json>,
    known: &[&str],
    losses: &mut Losses<'_>,
) -> Fields<'a> {
    let Some(mut outer) = Fields::of(extra) else {
        losses.note(LossRule::NotJson);
        return Fields::default();
    };
    let mut fields = inner(&mut outer);
    for (key, raw) in outer.into_pairs() {
        if known.contains(&&*key) {
            if fields.get(&key).is_none() {
                fields.set(key, raw);
            }
        } else if !is_spelling(&key, &raw) {
            losses.note(LossRule::Foreign);
        }
    }
    fields
}

/// The fields under the key of this dialect alone.
pub(super) fn peek(extra: Option<&Json>) -> Fields<'_> {
    Fields::of(extra).map(|mut outer| inner(&mut outer)).unwrap_or_default()
}

fn inner<'a>(outer: &mut Fields<'a>) -> Fields<'a> {
    match outer.take(SPACE) {
        Some(Cow::Borrowed(raw)) => Fields::parse(raw).unwrap_or_default(),
        _ => Fields::default(),
    }
}

/// What is left of the object under a key, to be written again around what the vocabulary has.
pub(super) fn rest<'a>(raw: Option<&'a Cow<'_, str>>) -> Fields<'a> {
    raw.and_then(|raw| Fields::parse(raw)).unwrap_or_default()
}
