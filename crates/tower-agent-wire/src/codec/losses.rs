use tower_agent_core::Json;

use super::raw::Fields;
use crate::{Loss, LossRule};

/// Losses at one place.
pub(crate) struct Losses<'a> {
    pub(crate) place: String,
    pub(crate) all: &'a mut Vec<Loss>,
}

impl Losses<'_> {
    pub(crate) fn note(&mut self, rule: LossRule) {
        self.all.push(Loss { rule, place: self.place.clone() });
    }

    /// The fields of an `extra`, or none and a loss.
    pub(crate) fn fields<'a>(&mut self, extra: Option<&'a Json>) -> Fields<'a> {
        Fields::of(extra).unwrap_or_else(|| {
            self.note(LossRule::NotJson);
            Fields::default()
        })
    }
}
