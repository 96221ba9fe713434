//! The search for personal data, as a part of the whole.

use super::{Engine, Hit, Scan};
use crate::{
    bits::Places,
    decode::{self, Unwrapped},
    filter::Kind,
    pii,
    text::Text,
};

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

    /// Looks at the signs of addresses and at percent escapes, in one look for both where neither waits for more.
    pub(super) fn signs(&self, text: &Text<'_>, scan: &mut Scan, from: usize) -> usize {
        if scan.percent.from != from || !scan.personal.are_signs_just_at(from) {
            return self.at_signs(text, scan).min(self.percent(text, scan));
        }
        let (mut begins, mut open) = (text.len(), None);
        let (emails, mut escapes) = (self.personal.kinds.contains(pii::Kind::Email), !scan.inside);
        for at in Places::of([b'@', b'%'], text.bytes(), from) {
            if text.bytes().get(at) == Some(&b'@') {
                if emails && open.is_none() {
                    let undecided = self.personal.at_sign(text, at, &mut scan.found);
                    open = undecided.map(|_| at);
                    begins = begins.min(undecided.unwrap_or(begins));
                }
            } else if escapes && at >= scan.percent.from {
                match decode::percent_at(text, at, &mut scan.percent) {
                    Unwrapped::Nothing => {}
                    Unwrapped::Undecided(start) => (begins, escapes) = (begins.min(start), false),
                    Unwrapped::Found(stretch) => self.escaped(text, stretch, scan),
                }
            }
        }
        scan.personal.pass(open.unwrap_or(text.len()));
        if escapes {
            scan.percent.from = text.len();
        }
        begins
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
