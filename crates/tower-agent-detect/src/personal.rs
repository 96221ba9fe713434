//! The search for personal data, which begins at signs and digits and not at words.

use crate::{
    pii::{self, Found, Kind, Kinds, Progress},
    text::{Text, Verdict},
};

/// Which rule is behind each kind; none if nobody asks for the kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Personal {
    rules: [Option<u32>; Kind::ALL.len()],
    pub(crate) kinds: Kinds,
}

/// How far the search has come.
#[derive(Debug, Default)]
pub(crate) struct Progresses {
    at_signs_from: usize,
    pub(crate) numbers: Line,
    pub(crate) hexes: Line,
}

/// Numbers are looked at one after another: where the next one may begin, and where one stands that is undecided.
#[derive(Debug, Default)]
pub(crate) struct Line {
    from: usize,
    open: Option<usize>,
}

/// A look at what stands around a digit.
pub(crate) type Look = fn(&Text<'_>, usize, usize, &mut Vec<Found>) -> Progress;

impl Personal {
    pub(crate) fn add(&mut self, kind: Kind, rule: u32) {
        if let Some(place) = self.rules.get_mut(kind as usize) {
            *place = Some(rule);
            self.kinds = self.kinds.with(kind);
        }
    }

    pub(crate) fn rule(&self, kind: Kind) -> Option<u32> {
        self.rules.get(kind as usize).copied().flatten()
    }

    /// Looks at every `@` that has come. Gives how far the text is settled.
    pub(crate) fn at_signs(
        &self,
        text: &Text<'_>,
        progress: &mut Progresses,
        found: &mut Vec<Found>,
    ) -> usize {
        let rest = text.bytes().get(progress.at_signs_from..).unwrap_or_default();
        for at in memchr::memchr_iter(b'@', rest).map(|at| progress.at_signs_from + at) {
            match pii::email(text, at) {
                Verdict::Nothing => {}
                Verdict::Found(start, end) => {
                    found.push(Found { kind: Kind::Email, start, end, sure: true })
                }
                Verdict::Undecided(begins) => {
                    progress.at_signs_from = at;
                    return begins;
                }
            }
        }
        progress.at_signs_from = text.len();
        text.len()
    }
}

impl Line {
    /// Looks at a place where a number may begin, unless it has been looked at or waits for another one.
    pub(crate) fn seen(
        &mut self,
        text: &Text<'_>,
        at: usize,
        look: Look,
        found: &mut Vec<Found>,
    ) -> usize {
        if self.open.is_some() || at < self.from {
            return text.len();
        }
        match look(text, at, self.from, found) {
            Progress::Next(next) => {
                self.from = next;
                text.len()
            }
            Progress::Undecided(begins) => {
                self.open = Some(at);
                begins
            }
        }
    }

    /// Looks once more at what was undecided, and at all numbers that have come meanwhile, up to a place.
    pub(crate) fn again(
        &mut self,
        text: &Text<'_>,
        look: Look,
        found: &mut Vec<Found>,
        up_to: usize,
        places: &mut dyn FnMut(usize, &mut dyn FnMut(usize)),
    ) -> usize {
        let Some(at) = self.open.take() else { return text.len() };
        let mut settled = self.seen(text, at, look, found);
        if self.open.is_none() && self.from < up_to {
            let from = self.from;
            places(from, &mut |at| settled = settled.min(self.seen(text, at, look, found)));
        }
        settled
    }

    /// Where numbers are of interest again.
    #[inline]
    pub(crate) fn from(&self, text: &Text<'_>) -> usize {
        if self.open.is_some() { text.len() } else { self.from }
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(crate) fn shift(&mut self, by: usize) {
        self.from = self.from.saturating_sub(by);
        self.open = self.open.map(|at| at.saturating_sub(by));
    }
}

impl Progresses {
    /// Whether nothing before a place is to be looked at again.
    pub(crate) const fn is_at(&self, place: usize) -> bool {
        self.are_signs_at(place) && !self.is_number_open()
    }

    /// Whether no sign of an address before a place is to be looked at again.
    pub(crate) const fn are_signs_at(&self, place: usize) -> bool {
        self.at_signs_from >= place
    }

    pub(crate) const fn are_signs_just_at(&self, place: usize) -> bool {
        self.at_signs_from == place
    }

    pub(crate) const fn is_number_open(&self) -> bool {
        self.numbers.is_open() || self.hexes.is_open()
    }

    /// Nothing before a place is of interest any more.
    pub(crate) const fn pass(&mut self, place: usize) {
        self.at_signs_from = place;
    }

    pub(crate) fn shift(&mut self, by: usize) {
        self.at_signs_from = self.at_signs_from.saturating_sub(by);
        self.numbers.shift(by);
        self.hexes.shift(by);
    }

    /// The places that will be looked at again.
    pub(crate) fn needs(&self) -> impl Iterator<Item = usize> {
        [Some(self.at_signs_from), self.numbers.open, self.hexes.open].into_iter().flatten()
    }
}
