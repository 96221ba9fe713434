//! The search for personal data, as a part of the whole.

use super::{Engine, Hit, Scan};
use crate::{filter::Kind, pii, text::Text};

impl Engine {
    /// Looks once more at the numbers that were undecided, and at those up to a place that waited for them.
    pub(super) fn numbers_again(&self, text: &Text<'_>, scan: &mut Scan, up_to: usize) -> usize {
        let Scan { personal, found, .. } = scan;
        let looked = text.bytes().get(..up_to).unwrap_or_default();
        let places = |kind: Kind, from: usize, look: &mut dyn FnMut(usize)| {
            self.filter.search(looked, from, &mut |seen| {
                if seen.kind == kind && seen.start >= from {
                    look(seen.start);
                }
                0
            });
        };
        let numbers = personal.numbers.again(text, pii::number, found, up_to, &mut |from, look| {
            places(Kind::Digits, from, look);
        });
        let hexes = personal.hexes.again(text, pii::hex, found, up_to, &mut |from, look| {
            places(Kind::Hex, from, look);
        });
        numbers.min(hexes)
    }

    /// Looks at the signs of addresses.
    pub(super) fn at_signs(&self, text: &Text<'_>, scan: &mut Scan) -> usize {
        if self.personal.kinds.contains(pii::Kind::Email) {
            return self.personal.at_signs(text, &mut scan.personal, &mut scan.found);
        }
        scan.personal.pass(text.len());
        text.len()
    }

    /// Gives everything personal its rule.
    pub(super) fn personal_rest(&self, scan: &mut Scan) {
        for found in scan.found.drain(..) {
            if let Some(rule) = self.personal.rule(found.kind) {
                scan.hits.push(Hit { rule, start: found.start, end: found.end });
            }
        }
    }
}

impl Scan {
    /// Passes over all that holds neither a sign of an address nor an escape, in one look for both. Says whether there are
    /// any.
    #[inline]
    pub(super) fn pass_signs(&mut self, bytes: &[u8], from: usize) -> bool {
        if self.percent.from != from || !self.personal.are_signs_just_at(from) {
            return true;
        }
        let rest = bytes.get(from..).unwrap_or_default();
        let first = memchr::memchr2(b'@', b'%', rest);
        let passed = from + first.unwrap_or(rest.len());
        self.percent.from = passed;
        self.personal.pass(passed);
        first.is_some()
    }
}
