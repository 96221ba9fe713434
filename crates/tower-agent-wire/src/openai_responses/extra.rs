//! Fields of this dialect in an `extra`.

use std::borrow::Cow;

use tower_agent_core::Json;

use crate::{
    LossRule,
    codec::{Losses, is_spelling, raw::Fields},
};

/// The key under which they stand, so that no other dialect takes them for its own.
pub(super) const SPACE: &str = "openai_responses";

/// What is left of an object, as an `extra`.
pub(super) fn keep(fields: &Fields<'_>) -> Option<Json> {
    keep_beside(fields, Fields::default())
}

/// The same, beside fields that chat completions know as well.
pub(super) fn keep_beside(fields: &Fields<'_>, mut shared: Fields<'_>) -> Option<Json> {
    if !fields.is_empty() {
        shared.set(SPACE, fields.to_text());
    }
    shared.to_extra()
}

/// Takes fields with the same name and meaning in chat completions out of their own.
pub(super) fn take_shared<'a>(fields: &mut Fields<'a>, names: &[&'static str]) -> Fields<'a> {
    let mut shared = Fields::default();
    for name in names {
        if let Some(raw) = fields.take(name) {
            shared.set(*name, raw);
        }
    }
    shared
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
            losses.note_at(LossRule::Foreign, &key);
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
