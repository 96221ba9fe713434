//! The order in which a text is looked at.

use super::{Engine, Scan};
use crate::{
    filter::{Filter, Kind},
    tail::News,
    text::Text,
};

impl Engine {
    /// Looks at more than can be looked at byte by byte.
    #[inline(never)]
    pub(super) fn look_back(&self, text: &Text<'_>, scan: &mut Scan) -> usize {
        scan.catch_up();
        scan.held.look_back(text.bytes(), &self.filter);
        let held = self.tail.hold(text.bytes(), &mut scan.held, self.personal.kinds);
        held.min(self.look(text, scan))
    }

    /// Looks at all that there is.
    #[inline(never)]
    pub(super) fn look(&self, text: &Text<'_>, scan: &mut Scan) -> usize {
        let from = std::mem::replace(&mut scan.words_from, text.len());
        let again = self.look_again(text, scan, from);
        // What waits for more, or has begun too early, is looked at by itself.
        let swept = !scan.inside
            && self.filter.is_sweeping(text.bytes(), from)
            && scan.base64.from >= Filter::swept_from(from);
        let settled =
            if swept { self.sweep(text, scan, from) } else { self.words(text, scan, from) };
        let settled = again.min(settled).min(self.signs(text, scan, from));
        self.personal_rest(scan);
        settled.min(self.rest(text, scan))
    }

    /// Looks at words and numbers, and at Base64 by itself.
    fn words(&self, text: &Text<'_>, scan: &mut Scan, from: usize) -> usize {
        let mut settled = text.len();
        self.filter.search(text.bytes(), from, &mut |seen| {
            let (begins, numbers_from) = self.seen(text, seen, scan);
            settled = settled.min(begins);
            numbers_from
        });
        if scan.inside { settled } else { settled.min(self.base64(text, scan)) }
    }

    /// Looks at words, numbers and Base64.
    fn sweep(&self, text: &Text<'_>, scan: &mut Scan, from: usize) -> usize {
        let (mut settled, mut is_open) = (text.len(), false);
        self.filter.search_long(text.bytes(), from, true, &mut |seen| {
            let (begins, numbers_from) = match seen.kind {
                Kind::Base64 if is_open => (text.len(), 0),
                Kind::Base64 => {
                    let (begins, more) = self.base64_in(text, (seen.start, seen.end), scan);
                    is_open = more;
                    (begins, 0)
                }
                _ => self.seen(text, seen, scan),
            };
            settled = settled.min(begins);
            numbers_from
        });
        if !is_open {
            scan.base64.from = scan.base64.from.max(scan.held.base64());
        }
        settled
    }

    /// Does the same where a few bytes have come of which more is known. `base64`: where the last Base64 before them began.
    #[inline(never)]
    pub(super) fn glance(
        &self,
        text: &Text<'_>,
        scan: &mut Scan,
        (mut news, base64): (News, usize),
    ) -> usize {
        scan.catch_up_with(base64);
        news.base64 |= !scan.base64.is_at(base64);
        let from = std::mem::replace(&mut scan.words_from, text.len());
        let mut settled = self.tail.hold(text.bytes(), &mut scan.held, self.personal.kinds);
        if !scan.is_calm {
            settled = settled.min(self.look_again(text, scan, from));
        }
        let mut hit = |seen| {
            let (begins, numbers_from) = self.seen(text, seen, scan);
            settled = settled.min(begins);
            numbers_from
        };
        self.filter.words(text.bytes(), news.ends, &mut hit);
        if news.numbers {
            self.filter.numbers(text.bytes(), from, &mut hit);
        }
        if news.has_at_sign() || !scan.personal.are_signs_at(from) {
            settled = settled.min(self.at_signs(text, scan));
        } else {
            scan.personal.pass(text.len());
        }
        self.personal_rest(scan);
        if news.has_percent() || !scan.percent.is_at(from) {
            settled = settled.min(self.percent(text, scan));
        } else {
            scan.percent.from = text.len();
        }
        if news.base64 {
            settled = settled.min(self.base64(text, scan));
        } else {
            scan.base64.from = scan.base64.from.max(scan.held.base64());
        }
        settled.min(self.rest(text, scan))
    }

    /// Looks again at what was undecided when the text ended at a place.
    fn look_again(&self, text: &Text<'_>, scan: &mut Scan, from: usize) -> usize {
        let mut settled = text.len();
        // What stays undecided goes to the end of the same list, which so keeps its room.
        let known = scan.open.len();
        for at in 0..known {
            if let Some(open) = scan.open.get(at).copied() {
                settled = settled.min(self.visit(text, open, scan));
            }
        }
        scan.open.drain(..known);
        if scan.personal.is_number_open() {
            settled = settled.min(self.numbers_again(text, scan, from));
        }
        settled
    }
}
