//! Fields of this dialect in an `extra`.

use std::borrow::Cow;

use tower_agent_core::Json;

use crate::codec::{Losses, Space, raw::Fields};

const OWN: Space = Space("gemini");

/// What is left of an object, as an `extra`.
pub(super) fn keep(fields: &Fields<'_>) -> Option<Json> {
    OWN.keep(fields, Fields::default())
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

/// What is left of the object under a key, to be written again around what the vocabulary has.
pub(super) fn rest<'a>(raw: Option<&'a Cow<'_, str>>) -> Fields<'a> {
    raw.and_then(|raw| Fields::parse(raw)).unwrap_or_default()
}
