//! What a search remembers of a text that goes on.

use super::Scan;
use crate::text::Text;

impl Scan {
    /// Notes whether nothing that has been looked at is to be looked at again.
    pub(super) fn calm_down(&mut self) {
        let from = self.words_from;
        self.is_calm = self.open.is_empty()
            && self.percent.is_at(from)
            && self.personal.is_at(from)
            && self.base64.is_at(self.held.base64());
    }

    /// As long as it is calm, only words have gone on.
    pub(crate) fn catch_up(&mut self) {
        self.catch_up_with(self.held.base64());
    }

    /// The same, with the place where the last Base64 began.
    pub(super) fn catch_up_with(&mut self, base64: usize) {
        if self.is_calm {
            self.percent.from = self.words_from;
            self.personal.pass(self.words_from);
            self.base64.from = self.base64.from.max(base64);
        }
    }

    /// Whether a number is held until it ends.
    pub(crate) const fn is_number_open(&self) -> bool {
        self.personal.is_number_open()
    }

    /// Forgets the front of the text.
    pub(crate) fn shift(&mut self, by: usize) {
        for place in [
            &mut self.words_from,
            &mut self.percent.from,
            &mut self.percent.floor,
            &mut self.base64.from,
            &mut self.base64.floor,
        ] {
            *place = place.saturating_sub(by);
        }
        self.personal.shift(by);
        self.held.shift(by);
        self.trails.clear();
        self.touched.clear();
        if let Some(gone) = &mut self.gone {
            gone.shift(by);
        }
        for open in &mut self.open {
            open.start = open.start.saturating_sub(by);
            open.end = open.end.saturating_sub(by);
        }
        for hit in &mut self.hits {
            hit.start = hit.start.saturating_sub(by);
            hit.end = hit.end.saturating_sub(by);
        }
    }

    /// The first place that a later search may still look at.
    pub(crate) fn needs(&self) -> usize {
        let open = self.open.iter().map(|open| open.start);
        let from = [self.words_from, self.percent.from, self.base64.from];
        open.chain(from)
            .chain(self.personal.needs())
            .min()
            .unwrap_or_default()
            .saturating_sub(Text::BEHIND)
    }
}
