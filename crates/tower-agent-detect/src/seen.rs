//! What was seen of the text at earlier words, so that it is not looked at again for each word that stands near it.

use crate::{
    assign::{Operator, Value},
    check, judge,
    text::{End, Text, Verdict},
};

/// What was seen, for the rules that were asked about last.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    contexts: [Context; 4],
    next_context: usize,
    /// None before the first one is found.
    values: Vec<Found>,
    next_value: usize,
    judged: Option<Judged>,
    swallowing: Option<Judged>,
    name: Option<Named>,
    counts: Option<Box<Counts>>,
}

/// So many rules have a last value.
const MOST_VALUES: usize = 8;

/// How many of each byte there are in a long stretch.
#[derive(Debug)]
struct Counts {
    start: usize,
    end: usize,
    counts: [u32; 256],
}

/// How much more than asked for is looked at for the words of a context, at most, in bytes.
const AHEAD: usize = 512;

/// The bytes of shorter stretches are counted anew.
const LONG: usize = 256;

/// Where the words of a rule's context stand, and where not.
#[derive(Clone, Copy, Debug, Default)]
struct Context {
    /// The rule, counted from one; zero is none.
    rule: usize,
    /// Nothing of it stands from here to there.
    from: usize,
    to: usize,
    /// One stands here.
    found: Option<(usize, usize)>,
    /// One stands before this place that is not the one.
    near: usize,
}

/// What was said of the value of a name, when so much of the text was known.
#[derive(Clone, Copy, Debug)]
struct Judged {
    value: Value,
    text: (usize, End),
    verdict: (Verdict, &'static str),
}

/// What the last name is the name of.
#[derive(Clone, Copy, Debug)]
struct Named {
    name: (usize, usize),
    kind: Option<judge::Kind>,
}

/// The last value of a rule.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    rule: usize,
    start: usize,
    end: usize,
}

impl Seen {
    /// Whether one of the words of a rule stands in a stretch of the text.
    pub(crate) fn context(
        &mut self,
        bytes: &[u8],
        (start, end): (usize, usize),
        (rule, words): (u32, &[String]),
    ) -> bool {
        let rule = rule as usize + 1;
        let known = self.contexts.iter().position(|context| context.rule == rule);
        let place = known.unwrap_or_else(|| {
            self.next_context = (self.next_context + 1) % self.contexts.len();
            self.next_context
        });
        let Some(context) = self.contexts.get_mut(place) else { return false };
        if known.is_none() || !(context.from..=context.to).contains(&start) {
            *context = Context { rule, from: start, to: start, ..Context::default() };
        }
        context.has(bytes, (start, end), words)
    }

    /// Whether a rule has found a value that begins at a place or before it, and ends at another one.
    pub(crate) fn covers(&self, rule: u32, start: usize, end: usize) -> bool {
        let rule = rule as usize + 1;
        let known = self.values.iter().find(|value| value.rule == rule);
        known.is_some_and(|value| value.start <= start && value.end == end)
    }

    /// Notes a value that a rule has found.
    pub(crate) fn value(&mut self, rule: u32, start: usize, end: usize) {
        let rule = rule as usize + 1;
        let known = self.values.iter().position(|value| value.rule == rule);
        let place = known.unwrap_or_else(|| {
            self.next_value = (self.next_value + 1) % MOST_VALUES;
            if self.values.len() < MOST_VALUES {
                self.next_value = self.values.len();
                self.values.push(Found::default());
            }
            self.next_value
        });
        if let Some(value) = self.values.get_mut(place) {
            *value = Found { rule, start, end };
        }
    }

    /// What was said of the value of a name, if it was the last one.
    pub(crate) fn judged(&self, text: &Text<'_>, value: &Value) -> Option<(Verdict, &'static str)> {
        let known = (text.len(), text.end());
        let last = self.judged.filter(|last| last.value == *value && last.text == known)?;
        Some(last.verdict)
    }

    /// Notes what is said of the value of a name.
    pub(crate) const fn judge(
        &mut self,
        text: &Text<'_>,
        value: Value,
        verdict: (Verdict, &'static str),
    ) {
        self.judged = Some(Judged { value, text: (text.len(), text.end()), verdict });
    }

    /// What a name is the name of, which is told once where the same one follows itself.
    pub(crate) fn kind(
        &mut self,
        bytes: &[u8],
        name: (usize, usize),
        tell: fn(&[u8]) -> Option<judge::Kind>,
    ) -> Option<judge::Kind> {
        let of = |(start, end): (usize, usize)| bytes.get(start..end).unwrap_or_default();
        if let Some(last) = self.name.filter(|last| of(last.name) == of(name)) {
            return last.kind;
        }
        let kind = tell(of(name));
        self.name = Some(Named { name, kind });
        kind
    }

    /// Notes that the last value of a name was found, if all others that begin in it end with it.
    pub(crate) fn keep_judged(&mut self) {
        let swallows = |judged: &Judged| match judged.verdict.0 {
            Verdict::Found(start, end) => {
                judged.value.is_bare()
                    && judged.value.operator != Operator::Is
                    && judge::is_whole(end - start)
            }
            _ => false,
        };
        self.swallowing = self.judged.filter(swallows).or(self.swallowing);
    }

    /// Whether the value of a name changes nothing: it stands in one that the same rule has found, and ends with it.
    pub(crate) fn swallows(&self, value: &Value, rule: &str) -> bool {
        self.swallowing.is_some_and(|Judged { verdict, .. }| match verdict {
            (Verdict::Found(start, end), known) => {
                value.is_bare()
                    && (start..end).contains(&value.operator_at)
                    && value.start < end
                    && known == rule
            }
            _ => false,
        })
    }

    /// The entropy of a stretch of the text.
    pub(crate) fn entropy(&mut self, bytes: &[u8], (start, end): (usize, usize)) -> f32 {
        let length = end.saturating_sub(start);
        if length < LONG {
            return check::entropy(bytes.get(start..end).unwrap_or_default());
        }
        let counts = self.counts.get_or_insert_with(|| Box::new(Counts::at(start)));
        if start.abs_diff(counts.start) + end.abs_diff(counts.end) >= length {
            **counts = Counts::at(start);
        }
        counts.become_those(bytes, start, end);
        check::entropy_of(&counts.counts, length)
    }

    /// Places have moved.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Counts {
    /// Those of nothing.
    const fn at(place: usize) -> Self {
        Self { start: place, end: place, counts: [0; 256] }
    }

    /// Takes in what a stretch has more than the one before, and takes back what it has less.
    fn become_those(&mut self, bytes: &[u8], start: usize, end: usize) {
        let counts = &mut self.counts;
        let between = |from: usize, to: usize| bytes.get(from..to).unwrap_or_default();
        check::count(counts, between(start, self.start), 1);
        check::count(counts, between(self.start, start), -1);
        check::count(counts, between(self.end, end), 1);
        check::count(counts, between(end, self.end), -1);
        (self.start, self.end) = (start, end);
    }
}

impl Context {
    fn has(&mut self, bytes: &[u8], (start, end): (usize, usize), words: &[String]) -> bool {
        if self.found.is_some_and(|(from, to)| start <= from && to <= end) {
            return true;
        }
        if end <= self.to {
            return false;
        }
        let longest = words.iter().map(String::len).max().unwrap_or_default();
        // A word may have begun before what was not seen yet.
        let begun = self.to.saturating_sub(longest.saturating_sub(1));
        let from = start.max(begun);
        if begun < start {
            // One that begins between the two was not looked for.
            self.from = start;
        }
        let last = |end: usize| {
            let stretch = bytes.get(from..end).unwrap_or_default();
            let last = |word: &String| {
                let at = from + check::last(stretch, word.as_bytes())?;
                Some((at, at + word.len()))
            };
            words.iter().filter_map(last).max()
        };
        // Who has asked for many stretches in a row will ask for more.
        let far = end.saturating_add(self.to - self.from).min(bytes.len()).min(end + AHEAD);
        if far > end && end >= self.near {
            match last(far) {
                None => {
                    self.to = far;
                    return false;
                }
                Some((_, behind)) => self.near = behind,
            }
        }
        self.found = last(end);
        if self.found.is_none() {
            self.to = end;
        }
        self.found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn a_word_over_the_end_of_what_was_seen_is_seen_by_whoever_asks_later() {
        let words = ["three".to_owned()];
        let mut seen = Seen::default();
        let mut ask = |start, end| seen.context(b"oneonethree", (start, end), (3, &words));
        assert_eq!([ask(4, 10), ask(7, 11), ask(4, 11)], [false, false, true]);
    }

    proptest! {
        #[test]
        fn the_entropy_of_a_stretch_is_that_of_its_bytes(
            text in "(?:[ab]{1,90}|[a-z0-9]{1,90}){20}",
            asked in vec((0_usize..900, 200_usize..700), 1..40),
        ) {
            let bytes = text.as_bytes();
            let mut seen = Seen::default();
            for (start, length) in asked {
                let start = start.min(bytes.len());
                let end = (start + length).min(bytes.len());
                let alone = check::entropy(&bytes[start..end]);
                let said = seen.entropy(bytes, (start, end));
                prop_assert!(said.to_bits() == alone.to_bits(), "{} {}", said, alone);
            }
        }

        #[test]
        fn a_context_is_what_one_would_see_in_the_stretch(
            text in "(?:[ab]{1,9}|one|three|onethree){0,20}",
            asked in vec((0_usize..100, 0_usize..30, 0_u32..6), 1..60),
        ) {
            let words = ["one".to_owned(), "three".to_owned()];
            let mut seen = Seen::default();
            for (start, length, rule) in asked {
                let start = start.min(text.len());
                let end = (start + length).min(text.len());
                let stretch = text.get(start..end).unwrap();
                let there = words.iter().any(|word| stretch.contains(word.as_str()));
                let said = seen.context(text.as_bytes(), (start, end), (rule, &words));
                prop_assert_eq!(said, there, "{}..{}", start, end);
            }
        }
    }
}
