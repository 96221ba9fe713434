//! What earlier searches of long stretches came by, so that none is walked again and again.
//!
//! Where keywords stand close together, each begins a search that may go on for kilobytes, and most soon reach a state in
//! which an earlier one was at the same place. From there on both are the same.

use regex_automata::util::primitives::StateID;

use crate::{runs::Runs, seen::Seen};

/// How far apart the places are at which states are kept, in bytes.
const STEP: usize = 64;
/// Shorter searches leave nothing behind, in bytes.
const SHORT: usize = 32;

/// So many parts of rules have a trail.
const MOST: usize = 16;

/// The latest searches for some parts of rules, and what else was seen of the text.
#[derive(Debug, Default)]
pub(crate) struct Trails {
    /// None before the first long search, of which most texts have none.
    trails: Vec<Trail>,
    next: usize,
    runs: Runs,
    seen: Seen,
}

/// One search.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    part: Option<Part>,
    /// Where it began, the place of the first state that is kept, and the first one in which the search was.
    from: usize,
    first: usize,
    known: usize,
    states: Vec<StateID>,
    /// How it came out, as far as it went.
    reached: Reached,
}

/// What of a rule is searched for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    Match(u32),
    /// What stands before the secret, in the match.
    Before(u32),
    Secret(u32),
    /// A pattern of values that are no secrets, by its number.
    Allowed(u32, u32),
}

/// How far a search has come: where, in which state, and where the last match ended that it passed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reached {
    pub(crate) at: usize,
    pub(crate) state: StateID,
    pub(crate) found: Option<usize>,
}

impl Trails {
    /// The trail of a part of a rule; that of another one is given up for it.
    pub(crate) fn of(&mut self, part: Part) -> Option<&mut Trail> {
        let known = self.trails.iter().position(|trail| trail.part == Some(part));
        let at = known.unwrap_or_else(|| {
            self.next = (self.next + 1) % MOST;
            if self.trails.len() < MOST {
                self.next = self.trails.len();
                self.trails.push(Trail::default());
            }
            self.next
        });
        let trail = self.trails.get_mut(at)?;
        if known.is_none() {
            trail.clear();
            trail.part = Some(part);
        }
        Some(trail)
    }

    pub(crate) const fn runs(&mut self) -> &mut Runs {
        &mut self.runs
    }

    pub(crate) const fn seen(&mut self) -> &mut Seen {
        &mut self.seen
    }

    /// Places have moved.
    pub(crate) fn clear(&mut self) {
        self.trails.iter_mut().for_each(Trail::clear);
        self.runs.clear();
        self.seen.clear();
    }
}

impl Trail {
    fn clear(&mut self) {
        self.part = None;
        self.states.clear();
    }

    /// Whether a search that ends here has left marks.
    #[inline]
    pub(crate) const fn is_long(from: usize, at: usize) -> bool {
        at - from >= SHORT
    }

    /// The next place at which the state of a search is kept that began at `from`.
    #[inline]
    pub(crate) const fn next_mark(from: usize, at: usize) -> usize {
        let long = from.saturating_add(SHORT);
        (if at < long { long } else { at }).next_multiple_of(STEP)
    }

    /// What a search comes to that is in this state at a marked place; itself, if none came by there in this state.
    pub(crate) fn meet(&mut self, from: usize, here: Reached) -> Reached {
        let kept = here.at.checked_sub(self.first).map_or(usize::MAX, |behind| behind / STEP);
        // What began later may have gone further than this one may.
        if from >= self.from && here.at >= self.known && self.states.get(kept) == Some(&here.state)
        {
            // The two have not been one before.
            (self.from, self.known) = (from, here.at);
            self.forget(kept);
            let later = self.reached.found.filter(|found| *found >= here.at);
            return Reached { found: later.or(here.found), ..self.reached };
        }
        if from != self.from || kept != self.states.len() {
            self.states.clear();
            (self.from, self.first, self.known) = (from, here.at, here.at);
        }
        self.states.push(here.state);
        self.reached = here;
        here
    }

    /// Forgets the states before one of them, once they are most.
    fn forget(&mut self, kept: usize) {
        if kept > self.states.len() / 2 {
            self.states.drain(..kept);
            self.first = self.known;
        }
    }

    /// Notes how far a search came that left marks.
    pub(crate) fn end(&mut self, from: usize, reached: Reached) {
        if from == self.from && !self.states.is_empty() {
            self.reached = reached;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{
        matcher::Matcher,
        rule::Spec,
        text::{End, Text},
    };

    fn matcher(pattern: &str, max: usize) -> Matcher {
        let rule = format!("id = 'x'\ndescription = 'x'\npattern = '{pattern}'\nmax = {max}");
        Matcher::new(&toml::from_str::<Spec>(&rule).unwrap()).unwrap()
    }

    /// Patterns that walk far, over beginnings of themselves.
    fn matchers() -> Vec<Matcher> {
        vec![
            matcher("ab[ab]{0,600}c", 700),
            matcher("a(?:b|aa)*?d", 400),
            matcher("a(?:[ab]{3}|c)*", 300),
            matcher("[ab]+b(?:[abc]*d)?", 1000),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        let long = "[ab]{100,700}";
        let few = prop_oneof![Just("c"), Just("d"), Just("aac"), Just(" ")];
        vec((long, few), 1..4)
            .prop_map(|parts| parts.into_iter().map(|(long, few)| long + few).collect::<String>())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_search_that_meets_an_earlier_one_ends_as_if_alone(
            text in text(),
            rounds in vec((0_usize..2000, prop_oneof![Just(End::More), Just(End::Final)]), 1..4),
        ) {
            for (rule, matcher) in (0..).zip(matchers()) {
                let mut trails = Trails::default();
                for (skip, end) in &rounds {
                    // Searches come back to earlier places, of a text that has grown.
                    let len = text.len().saturating_sub(2000 - skip).max(text.len() / 2);
                    let text = Text::new(&text.as_bytes()[..len], false, *end);
                    for from in 0..len {
                        let alone = matcher.end(&text, from, (&mut Trails::default(), rule));
                        let met = matcher.end(&text, from, (&mut trails, rule));
                        prop_assert_eq!(met, alone, "from {}", from);
                    }
                }
            }
        }
    }
}
