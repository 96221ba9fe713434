//! Values that are longer than what is found at once.

use super::{Engine, Hit, Open, Scan, Target};
use crate::{
    assign::Closing,
    judge,
    text::{Text, Verdict},
};

/// Where the latest value without quotes has gone on. Whatever else ends with white space or a delimiter and goes on within it
/// ends with it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gone {
    from: usize,
    /// None as long as it goes on.
    to: Option<usize>,
}

impl Gone {
    fn covers(&self, place: usize) -> bool {
        self.from <= place && self.to.is_none_or(|to| place < to)
    }

    pub(super) fn shift(&mut self, by: usize) {
        self.from = self.from.saturating_sub(by);
        self.to = self.to.map(|to| to.saturating_sub(by));
    }
}

impl Engine {
    /// Finds the rest of a value of a name, if what was found of it is as long as a part may be.
    pub(super) fn rest_of_name(
        &self,
        text: &Text<'_>,
        (name, place): (u32, (usize, usize)),
        hit: Hit,
        scan: &mut Scan,
    ) -> usize {
        if !judge::is_part(hit.end - hit.start) {
            return text.len();
        }
        match judge::closing(text, name as usize, place) {
            Some(Closing::Sign) if scan.gone.is_some_and(|gone| gone.covers(hit.end)) => text.len(),
            Some(closing) => self.rest_of_value(text, (hit.rule, closing), hit.end, scan),
            None => text.len(),
        }
    }

    /// Finds what goes on of a value, part by part.
    pub(super) fn rest_of_value(
        &self,
        text: &Text<'_>,
        (rule, closing): (u32, Closing),
        mut start: usize,
        scan: &mut Scan,
    ) -> usize {
        let (from, mut settled, mut to) = (start, text.len(), None);
        loop {
            match judge::rest(text, start, closing, scan.trails.runs()) {
                Verdict::Found(_, end) => {
                    scan.hits.push(Hit { rule, start, end });
                    if judge::is_part(end - start) {
                        start = end;
                        continue;
                    }
                    to = Some(end);
                }
                Verdict::Nothing => to = Some(start),
                Verdict::Undecided(begins) => {
                    let target = Target::Rest(rule, closing);
                    scan.open.push(Open { target, start, end: start });
                    settled = begins;
                }
            }
            break;
        }
        if closing == Closing::Sign {
            scan.gone = Some(Gone { from, to });
        }
        settled
    }
}
