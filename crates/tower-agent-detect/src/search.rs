//! The search of one text, at once or piece by piece. What stands in it masked already divides it into texts of
//! their own, so that masking twice is masking once.

use crate::{
    engine::{Engine, Hit, Scan},
    mask::{Mask, Standing},
    tail::Waits,
    text::{End, Text},
};

/// How far a text has been searched, and what was found and not yet taken.
#[derive(Debug, Default)]
pub(crate) struct Search {
    scan: Scan,
    /// Where the text after the last standing mask begins.
    segment: usize,
    after_mask: bool,
    /// Up to where there is no standing mask that has not been seen.
    masks_from: usize,
    /// Up to where there is no beginning of one, either.
    masks_seen: usize,
    pub(crate) hits: Vec<Hit>,
}

impl Search {
    /// Looks at what has come since the last time, in which a placeholder may begin. Gives how far the text is settled.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        engine: &Engine,
        mask: &Mask,
        bytes: &[u8],
        last: bool,
        placeholder: bool,
    ) -> usize {
        let new = bytes.get(self.masks_from..).unwrap_or_default();
        if self.masks_seen == self.masks_from && !mask.may_begin(new, placeholder) {
            (self.masks_from, self.masks_seen) = (bytes.len(), bytes.len());
            let end = if last { End::Final } else { End::More };
            return self.segment(engine, bytes, bytes.len(), end);
        }
        self.divide(engine, mask, bytes, last)
    }

    /// Looks at what stands between masks.
    #[inline(never)]
    fn divide(&mut self, engine: &Engine, mask: &Mask, bytes: &[u8], last: bool) -> usize {
        let mut to = bytes.len();
        let mut end = if last { End::Final } else { End::More };
        for (at, standing) in mask.standings(bytes, self.masks_from, last) {
            match standing {
                // Whoever writes a value of his own in this form does not get it past.
                Standing::Ends(after) if !engine.wrote(mask, bytes.get(at..after)) => {}
                Standing::Ends(after) => {
                    self.segment(engine, bytes, at, End::Masked);
                    self.scan = Scan::default();
                    (self.segment, self.after_mask) = (after, true);
                }
                _ => (to, end) = (at, End::More),
            }
        }
        (self.masks_from, self.masks_seen) = (to, bytes.len());
        self.segment(engine, bytes, to, end)
    }

    #[inline]
    fn segment(&mut self, engine: &Engine, bytes: &[u8], to: usize, end: End) -> usize {
        let segment = bytes.get(self.segment..to).unwrap_or_default();
        let text = Text::new(segment, self.after_mask, end);
        let settled = engine.advance(&text, &mut self.scan);
        self.take_hits();
        self.segment + settled
    }

    /// Does the same as [`advance`](Self::advance) for a text that goes on, if this [can tell](Self::is_plain). Before any other
    /// search, it must be said that there are [no masks](Self::has_no_masks) up to here.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, engine: &Engine, bytes: &[u8]) -> usize {
        let segment = bytes.get(self.segment..).unwrap_or_default();
        let text = Text::new(segment, self.after_mask, End::More);
        let settled = engine.go_on(&text, &mut self.scan);
        self.take_hits();
        self.segment + settled
    }

    /// Notes that there is nothing of a mask up to a place.
    pub(crate) const fn has_no_masks(&mut self, to: usize) {
        (self.masks_from, self.masks_seen) = (to, to);
    }

    /// Whether nothing has come of a mask that may yet go on.
    pub(crate) const fn is_plain(&self) -> bool {
        self.masks_from == self.masks_seen
    }

    #[inline]
    fn take_hits(&mut self) {
        if !self.scan.hits.is_empty() {
            let segment = self.segment;
            self.hits.extend(self.scan.hits.drain(..).map(|hit| hit.moved(segment)));
        }
    }

    /// What only goes on with what is held.
    pub(crate) const fn waits(&self) -> Waits {
        Waits::new(self.scan.is_number_open())
    }

    /// Must come before what follows.
    pub(crate) fn catch_up(&mut self) {
        self.scan.catch_up();
    }

    /// The first place that may still be looked at.
    pub(crate) fn needs(&self) -> usize {
        self.segment + self.scan.needs()
    }

    /// Forgets the front of the text, which nobody [needs](Self::needs).
    pub(crate) fn forget(&mut self, by: usize) {
        if by > self.segment {
            self.scan.shift(by - self.segment);
            (self.segment, self.after_mask) = (0, false);
        } else {
            self.segment -= by;
        }
        self.masks_from = self.masks_from.saturating_sub(by);
        self.masks_seen = self.masks_seen.saturating_sub(by);
        for hit in &mut self.hits {
            (hit.start, hit.end) = (hit.start.saturating_sub(by), hit.end.saturating_sub(by));
        }
    }
}
