//! What is found in percent escapes and in Base64.

use super::{Engine, Hit, Open, Scan, Target};
use crate::{
    decode::{self, Inside, Unwrapped, Wrapped},
    filter::Around,
    pii,
    text::{End, Text, Verdict},
};

impl Engine {
    /// Looks into what is wrapped in percent escapes.
    pub(super) fn percent(&self, text: &Text<'_>, scan: &mut Scan) -> usize {
        loop {
            match decode::percent(text, &mut scan.percent) {
                Unwrapped::Nothing => return text.len(),
                Unwrapped::Undecided(begins) => return begins,
                Unwrapped::Found(stretch) => self.escaped(text, stretch, scan),
            }
        }
    }

    /// Looks into what is wrapped in Base64.
    pub(super) fn base64(&self, text: &Text<'_>, scan: &mut Scan) -> usize {
        let mut settled = text.len();
        loop {
            match decode::base64(text, &mut scan.base64) {
                Unwrapped::Nothing => {
                    scan.base64.from = scan.base64.from.max(scan.held.base64());
                    return settled;
                }
                Unwrapped::Undecided(begins) => return settled.min(begins),
                Unwrapped::Found(run) => settled = settled.min(self.wrapped(text, run, scan)),
            }
        }
    }

    /// The same of a run from one place to another, where it ends or the text does. Says, too, whether more decides.
    pub(super) fn base64_in(
        &self,
        text: &Text<'_>,
        run: (usize, usize),
        scan: &mut Scan,
    ) -> (usize, bool) {
        let mut settled = text.len();
        loop {
            match decode::base64_in(text, run, &mut scan.base64) {
                Unwrapped::Nothing => return (settled, false),
                Unwrapped::Undecided(begins) => return (settled.min(begins), true),
                Unwrapped::Found(run) => settled = settled.min(self.wrapped(text, run, scan)),
            }
        }
    }

    fn wrapped(&self, text: &Text<'_>, run: Wrapped, scan: &mut Scan) -> usize {
        let settled = self.runs(text, run, scan);
        self.encoded(text, run, scan);
        settled
    }

    /// Tries what has no words to be known by.
    fn runs(&self, text: &Text<'_>, run: Wrapped, scan: &mut Scan) -> usize {
        let start = run.start;
        let may_be = |around: &Around| around.fits(text.bytes(), start, start);
        let rules = self.runs.iter().filter(|(_, around)| may_be(around));
        let try_one = |(rule, _): &(u32, Around)| {
            self.visit(text, Open { target: Target::Token(*rule), start, end: start }, scan)
        };
        rules.map(try_one).min().unwrap_or(text.len())
    }

    #[inline(never)]
    pub(super) fn escaped(&self, text: &Text<'_>, stretch: Wrapped, scan: &mut Scan) {
        let mut inside = Inside::new();
        let address = stretch.with_beginning(text);
        inside.unescape(text, address);
        let after_mask = text.before(address.start).is_err();
        for hit in self.inside(&Text::new(inside.bytes(), after_mask, End::Final)) {
            let (start, end) = inside.written(address, hit.start, hit.end);
            // What stands before the stretch may have been let go.
            let start = start.max(stretch.start);
            if start < end {
                scan.hits.push(Hit { start, end, ..hit });
            }
        }
    }

    /// Half a run of Base64 would be of no use to anybody, so all of it is masked.
    #[inline(never)]
    fn encoded(&self, text: &Text<'_>, run: Wrapped, scan: &mut Scan) {
        let Wrapped { start, end } = run;
        self.base58(text, run, scan);
        let written = text.bytes().get(start..end).unwrap_or_default();
        if !decode::holds_text(written) {
            return;
        }
        let mut inside = Inside::new();
        // What touches a mask may be half of a run.
        let whole = text.before(start).is_ok();
        if whole && inside.decode(written) {
            let hits = self.inside(&Text::whole(inside.bytes()));
            scan.hits.extend(hits.first().map(|hit| Hit { start, end, ..*hit }));
        }
    }

    /// Addresses of wallets that have no mark but their length.
    fn base58(&self, text: &Text<'_>, run: Wrapped, scan: &mut Scan) {
        let Some(rule) = self.personal.rule(pii::Kind::Wallet) else { return };
        let bytes = text.bytes().get(run.start..run.end).unwrap_or_default();
        for word in pii::base58_words(bytes) {
            if let Verdict::Found(start, end) = pii::wallet(text, run.start + word) {
                scan.hits.push(Hit { rule, start, end });
            }
        }
    }

    fn inside(&self, text: &Text<'_>) -> Vec<Hit> {
        let mut scan = Scan { inside: true, ..Scan::default() };
        self.advance(text, &mut scan);
        scan.hits
    }
}
