//! Fields of this dialect in an `extra`.

use tower_agent_core::Json;

use crate::codec::{Losses, Space, raw::Fields};

pub(super) const SPACE: &str = "openai_responses";
const OWN: Space = Space(SPACE);

/// What is left of an object, as an `extra`.
pub(super) fn keep(fields: &Fields<'_>) -> Option<Json> {
    OWN.keep(fields, Fields::default())
}

/// The same, beside fields that chat completions know as well.
pub(super) fn keep_beside(fields: &Fields<'_>, shared: Fields<'_>) -> Option<Json> {
    OWN.keep(fields, shared)
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

/// The fields of an `extra` for this dialect; see [`Space::open`].
pub(super) fn open<'a>(
    extra: Option<&'a Json>,
    known: &[&str],
    losses: &mut Losses<'_>,
) -> Fields<'a> {
    OWN.open(extra, known, losses)
}

/// The fields under the key of this dialect alone.
pub(super) fn peek(extra: Option<&Json>) -> Fields<'_> {
    OWN.peek(extra)
}
