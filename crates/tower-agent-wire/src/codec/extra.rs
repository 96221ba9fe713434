//! Fields of one dialect in an `extra`.

use std::borrow::Cow;

use tower_agent_core::Json;

use super::{Losses, is_spelling, raw::Fields};
use crate::LossRule;

/// The key under which the fields of a dialect stand, so that no other dialect takes them for its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space(pub(crate) &'static str);

impl Space {
    /// What is left of an object, as an `extra`, beside fields that other dialects know as well.
    pub(crate) fn keep(self, fields: &Fields<'_>, mut shared: Fields<'_>) -> Option<Json> {
        shared.set_rest(self.0, fields);
        shared.to_extra()
    }

    /// The fields of an `extra` for this dialect: all that stand under its key, and of those beside it the known ones.
    pub(crate) fn open<'a>(
        self,
        extra: Option<&'a Json>,
        known: &[&str],
        losses: &mut Losses<'_>,
    ) -> Fields<'a> {
        let Some(mut outer) = Fields::of(extra) else {
            losses.note(LossRule::NotJson);
            return Fields::default();
        };
        let mut fields = self.take(&mut outer);
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
    pub(crate) fn peek(self, extra: Option<&Json>) -> Fields<'_> {
        Fields::of(extra).map(|mut outer| self.take(&mut outer)).unwrap_or_default()
    }

    fn take<'a>(self, outer: &mut Fields<'a>) -> Fields<'a> {
        match outer.take(self.0) {
            Some(Cow::Borrowed(raw)) => Fields::parse(raw).unwrap_or_default(),
            _ => Fields::default(),
        }
    }
}
