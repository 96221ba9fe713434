//! Where a part of a streamed reply stands.

use std::ops::RangeInclusive;

use crate::codec::{
    Flaw,
    raw::{Fields, NULL},
};

/// How many parts an item may have in each of its lists.
const PARTS: u64 = 1 << 10;
/// An item has a list of content, and one of summaries before it.
const SLOTS: u64 = 2 * PARTS;

/// The part of an item, in the order of a whole reply.
///
/// Its index is made of those of the item and of the part, so that items which come interleaved end up in order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Place {
    pub(super) item: u64,
    slot: u64,
}

impl Place {
    /// The place that an event names; what it leaves out is 0.
    pub(super) fn named(fields: &mut Fields<'_>) -> Result<Self, Flaw> {
        let item = item(fields)?;
        let summary = index(fields, "summary_index")?;
        let content = index(fields, "content_index")?;
        Self::new(item, summary, content)
    }

    pub(super) fn new(item: u64, summary: Option<u64>, content: Option<u64>) -> Result<Self, Flaw> {
        let (start, at) = match (summary, content) {
            (Some(at), _) => (0, at),
            (None, at) => (PARTS, at.unwrap_or(0)),
        };
        if at >= PARTS || item >= u64::from(u32::MAX) / SLOTS {
            return Err(Flaw::new("output", "has too many parts"));
        }
        Ok(Self { item, slot: start + at })
    }

    /// The places of an item.
    pub(super) fn all_of(item: u64) -> RangeInclusive<Self> {
        Self { item, slot: 0 }..=Self { item, slot: SLOTS }
    }

    pub(super) fn index(self) -> u32 {
        u32::try_from(self.item * SLOTS + self.slot).unwrap_or(u32::MAX)
    }
}

/// The item that an event names.
pub(super) fn item(fields: &mut Fields<'_>) -> Result<u64, Flaw> {
    Ok(index(fields, "output_index")?.unwrap_or(0))
}

fn index(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<u64>, Flaw> {
    match fields.take(key).filter(|raw| raw != NULL) {
        None => Ok(None),
        Some(raw) => match raw.parse() {
            Ok(index) => Ok(Some(index)),
            Err(_) => Err(Flaw::new(key, "must be a whole number")),
        },
    }
}
