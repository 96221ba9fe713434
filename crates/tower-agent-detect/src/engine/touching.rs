//! Tokens that touch what stands before them and is masked, and numbers that would be none only because of it.
//!
//! Behind a mask that was there before, a token may begin, as behind any sign. What is masked now will be such a mask when the text
//! is masked once more. So that masking twice is masking once, what touches its end is looked for right away, in the text from there
//! on, as it will be then. So are numbers near it, since what is masked no longer says that they count something else.

use super::{Engine, Hit, Open, Scan, Target, judged::AfterMask};
use crate::{
    pii,
    runs::Class,
    text::{Stop, Text, Verdict, is_word},
    trail::Trails,
};

/// Words that tokens begin with, sorted, and their places in the list of targets.
#[derive(Debug)]
pub(super) struct Beginnings {
    words: Vec<(Box<[u8]>, usize)>,
    /// What any of them begins with.
    first: Class,
}

/// What a text begins with.
struct Begun {
    /// The places of the words.
    words: Vec<usize>,
    /// Whether a longer one may yet come.
    undecided: bool,
}

impl Beginnings {
    /// Words in lower case.
    pub(super) fn new<'a>(words: impl Iterator<Item = (&'a str, usize)>) -> Self {
        let mut words: Vec<(Box<[u8]>, usize)> =
            words.map(|(word, place)| (word.as_bytes().into(), place)).collect();
        words.sort_unstable();
        let first = words.iter().filter_map(|(word, _)| word.first().copied()).collect();
        Self { words, first }
    }

    /// The words that a text begins with, in any case.
    fn of(&self, text: &Text<'_>) -> Begun {
        let mut begun = Begun { words: Vec::new(), undecided: false };
        let first = text.bytes().first().map(u8::to_ascii_lowercase);
        if first.is_some_and(|first| !self.first.has(first)) {
            return begun;
        }
        let mut rest = self.words.as_slice();
        let mut at = 0;
        while !rest.is_empty() {
            let ended = rest.iter().take_while(|(word, _)| word.len() == at).count();
            let (ended, longer) = rest.split_at_checked(ended).unwrap_or_default();
            begun.words.extend(ended.iter().map(|(_, place)| *place));
            let Some(byte) = text.bytes().get(at).map(u8::to_ascii_lowercase) else {
                begun.undecided = !longer.is_empty() && text.past_end() == Err(Stop::Undecided);
                break;
            };
            let next = |(word, _): &(Box<[u8]>, usize)| word.get(at).copied();
            let from = longer.partition_point(|word| next(word) < Some(byte));
            let to = longer.partition_point(|word| next(word) <= Some(byte));
            rest = longer.get(from..to).unwrap_or_default();
            at += 1;
        }
        begun
    }
}

impl Engine {
    /// Looks for what touches anything that has just been found, and for what touches that.
    pub(super) fn touching(&self, text: &Text<'_>, scan: &mut Scan) -> usize {
        let mut settled = text.len();
        let mut next = 0;
        while let Some(end) = scan.hits.get(next).map(|hit| hit.end) {
            if !scan.touched.contains(&end) {
                settled = settled.min(self.behind(text, end, scan));
                if !scan.inside {
                    settled = settled.min(self.touch(text, end, scan));
                }
            }
            next += 1;
        }
        settled
    }

    /// Looks for tokens that begin at the end of something.
    pub(super) fn touch(&self, text: &Text<'_>, place: usize, scan: &mut Scan) -> usize {
        // Behind a sign they are found anyway.
        if !matches!(text.before(place), Ok(Some(before)) if is_word(before)) {
            return text.len();
        }
        let rest = Text::new(text.bytes().get(place..).unwrap_or_default(), true, text.end());
        let Begun { words, mut undecided } = self.beginnings.of(&rest);
        for word in words {
            for (target, _) in self.targets.get(word).into_iter().flatten() {
                let Target::Token(rule) = *target else { continue };
                match self.token(&rest, rule, (0, AfterMask::Border), &mut Trails::default()) {
                    Verdict::Found(start, end) if end <= rest.len() => {
                        scan.touched.insert(place);
                        scan.hits.push(Hit { rule, start, end }.moved(place));
                    }
                    Verdict::Undecided(_) => undecided = true,
                    _ => {}
                }
            }
        }
        if !undecided {
            return text.len();
        }
        scan.touched.insert(place);
        scan.open.push(Open { target: Target::Touching, start: place, end: place });
        place
    }

    /// Looks for numbers behind the end of something, which says that they are none.
    pub(super) fn behind(&self, text: &Text<'_>, place: usize, scan: &mut Scan) -> usize {
        if !self.personal.kinds.hex() {
            return text.len();
        }
        let progress = pii::behind(text, place, &mut scan.found);
        for found in scan.found.drain(..) {
            if let Some(rule) = self.personal.rule(found.kind) {
                scan.touched.insert(place);
                scan.hits.push(Hit { rule, start: found.start, end: found.end }.moved(place));
            }
        }
        match progress {
            pii::Progress::Next(_) => text.len(),
            pii::Progress::Undecided(begins) => {
                scan.touched.insert(place);
                scan.open.push(Open { target: Target::Behind, start: place, end: place });
                begins
            }
        }
    }
}
