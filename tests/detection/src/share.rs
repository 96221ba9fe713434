//! Parts of a whole.

use std::fmt;

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Share {
    /// How many are counted.
    pub part: usize,
    /// How many there are.
    pub whole: usize,
}

impl Share {
    /// How many of these fulfil the condition.
    pub fn of<T>(all: impl IntoIterator<Item = T>, mut counts: impl FnMut(T) -> bool) -> Self {
        let mut share = Self::default();
        all.into_iter().for_each(|one| share.add(counts(one)));
        share
    }

    /// One more, which is counted or not.
    pub fn add(&mut self, counts: bool) {
        self.whole += 1;
        self.part += usize::from(counts);
    }

    /// The part of the whole in per cent; of nothing, it is all.
    #[expect(clippy::cast_precision_loss, reason = "counts of samples are small")]
    #[must_use]
    pub fn percent(&self) -> f64 {
        if self.whole == 0 { 100.0 } else { 100.0 * self.part as f64 / self.whole as f64 }
    }
}

/// Such as `97.5 % (195 of 200)`. What is not all is never rounded to it, nor what is something to nothing.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.percent() * 10.0).floor() / 10.0;
        let below =
            if tenths == 0.0 && self.part > 0 { "< 0.1".into() } else { format!("{tenths:.1}") };
        write!(f, "{below} % ({} of {})", self.part, self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_never_rounded_away() {
        assert_eq!(Share { part: 1999, whole: 2000 }.to_string(), "99.9 % (1999 of 2000)");
        assert_eq!(Share { part: 2000, whole: 2000 }.to_string(), "100.0 % (2000 of 2000)");
        assert_eq!(Share { part: 1, whole: 2000 }.to_string(), "< 0.1 % (1 of 2000)");
    }

    #[test]
    fn of_nothing_everything_is_met() {
        assert_eq!(Share::of([0; 0], |_| false).percent(), 100.0);
    }
}
