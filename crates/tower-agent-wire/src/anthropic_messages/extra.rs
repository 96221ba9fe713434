//! Fields of this dialect in an `extra`.

use tower_agent_core::Json;

use crate::codec::{Losses, Space, raw::Fields};

pub(super) const SPACE: &str = "anthropic";
const OWN: Space = Space(SPACE);

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
