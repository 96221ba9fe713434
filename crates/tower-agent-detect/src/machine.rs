//! The automaton of a pattern, and how it gets through long stretches without a step for each byte.

use std::sync::OnceLock;

use regex_automata::{
    Anchored,
    dfa::{Automaton, dense},
    util::{primitives::StateID, start},
};

use crate::{
    runs::{Class, Runs},
    trail::{Part, Reached, Trail, Trails},
};

/// An automaton as it is built.
pub(crate) type Dfa = dense::DFA<Vec<u32>>;

/// A searched pattern.
#[derive(Debug)]
pub(crate) struct Machine {
    automaton: Dfa,
    rows: OnceLock<Rows>,
}

/// States that lead to each other by any byte of a class, as those of `[a-z]{40}` do.
#[derive(Debug)]
struct Row {
    class: Class,
    /// If the last one is the first one, it leads to itself.
    states: Vec<StateID>,
    /// Whether a match ends before the byte that leads to a state behind the first one.
    matches: bool,
}

/// The rows of an automaton.
#[derive(Debug, Default)]
struct Rows {
    rows: Vec<Row>,
    /// For each state the row in which it leads to another one, and its place there.
    places: Vec<Option<(u32, u32)>>,
    shift: usize,
}

/// Where a state leads to by most bytes.
#[derive(Clone, Copy, Debug)]
struct Link {
    class: Class,
    to: StateID,
    matches: bool,
}

/// So many bytes are walked one by one before rows are looked for, since most searches end before.
const PLAIN: usize = 16;
/// Fewer bytes than this at once are not worth it.
const LEAST: usize = 8;
/// A class of fewer bytes than this makes no row.
const NARROW: u32 = 8;

impl Machine {
    pub(crate) const fn new(automaton: Dfa) -> Self {
        Self { automaton, rows: OnceLock::new() }
    }

    pub(crate) const fn automaton(&self) -> &Dfa {
        &self.automaton
    }

    /// The state in which a search begins at a place.
    #[inline]
    pub(crate) fn start(&self, bytes: &[u8], from: usize) -> Option<StateID> {
        // Few patterns ask what stands before them.
        if let Some(state) = self.automaton.universal_start_state(Anchored::Yes) {
            return Some(state);
        }
        let look = from.checked_sub(1).and_then(|before| bytes.get(before)).copied();
        let config = start::Config::new().anchored(Anchored::Yes).look_behind(look);
        self.automaton.start_state(&config).ok()
    }

    /// Whether nothing more can be found.
    #[inline]
    pub(crate) fn is_over(&self, state: StateID) -> bool {
        is_over(&self.automaton, state)
    }

    /// Goes on byte by byte to a place, or until there is nothing more to find.
    #[inline]
    fn step(&self, bytes: &[u8], from: Reached, stop: usize) -> Reached {
        let automaton = &self.automaton;
        let Reached { at, mut state, mut found } = from;
        let rest = bytes.get(at..stop.min(bytes.len())).unwrap_or_default();
        for (at, byte) in (at..).zip(rest) {
            state = automaton.next_state(state, *byte);
            if automaton.is_special_state(state) {
                if automaton.is_match_state(state) {
                    found = Some(at);
                } else if self.is_over(state) {
                    return Reached { at: at + 1, state, found };
                }
            }
        }
        Reached { at: at + rest.len(), state, found }
    }

    /// As [`step`](Self::step), of a search that began at `begin`.
    #[inline]
    fn walk(
        &self,
        bytes: &[u8],
        (begin, from): (usize, Reached),
        stop: usize,
        runs: &mut Runs,
    ) -> Reached {
        let stop = stop.min(bytes.len());
        let plain = begin.saturating_add(PLAIN);
        let mut here = from;
        if here.at < plain {
            here = self.step(bytes, here, stop.min(plain));
        }
        while here.at < stop && !self.is_over(here.state) {
            here = match self.leap(bytes, here, stop, runs) {
                Some(next) => next,
                None => self.step(bytes, here, stop.min(here.at + LEAST)),
            };
        }
        here
    }

    /// Goes on from a place to another one, or until there is nothing more to find. Where an earlier search of the same
    /// part of a rule came by in the same state, it is not walked again.
    pub(crate) fn search(
        &self,
        bytes: &[u8],
        (from, state): (usize, StateID),
        stop: usize,
        (trails, part): (&mut Trails, Part),
    ) -> Reached {
        let mut here = Reached { at: from, state, found: None };
        let last = stop.min(bytes.len());
        loop {
            let mark = Trail::next_mark(from, here.at).min(stop);
            here = self.walk(bytes, (from, here), mark, trails.runs());
            if here.at < mark || here.at == stop {
                break;
            }
            let met = trails.of(part).map(|trail| trail.meet(from, here));
            let next = match met {
                Some(met) if met.at > here.at && met.at <= last => met,
                _ => self.step(bytes, here, here.at + 1),
            };
            if next.at == std::mem::replace(&mut here, next).at {
                break;
            }
        }
        if Trail::is_long(from, here.at) {
            trails.of(part).into_iter().for_each(|trail| trail.end(from, here));
        }
        here
    }

    /// Whether a search that begins at the beginning of a value finds anything in it, as if nothing stood around it.
    pub(crate) fn is_match(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        trails: (&mut Trails, Part),
    ) -> bool {
        let Some(state) = self.start(&[], 0) else { return false };
        let here = self.search(text, (start, state), end, trails);
        let last = self.automaton.next_eoi_state(here.state);
        here.found.is_some() || self.automaton.is_match_state(last)
    }

    fn leap(&self, bytes: &[u8], here: Reached, stop: usize, runs: &mut Runs) -> Option<Reached> {
        let rows = self.rows.get_or_init(|| Rows::of(&self.automaton));
        let (row, place) = rows.place(here.state)?;
        let end = runs.end(bytes, &row.class, here.at, stop);
        let most = if row.is_loop() { usize::MAX } else { row.states.len() - 1 - place };
        let steps = (end - here.at).min(most);
        if steps < LEAST {
            return None;
        }
        let at = here.at + steps;
        let state = if row.is_loop() { here.state } else { *row.states.get(place + steps)? };
        Some(Reached { at, state, found: if row.matches { Some(at - 1) } else { here.found } })
    }
}

impl Row {
    fn is_loop(&self) -> bool {
        matches!(self.states.as_slice(), [first, second] if first == second)
    }
}

impl Rows {
    fn of(automaton: &Dfa) -> Self {
        let mut rows = Self { shift: automaton.stride2(), ..Self::default() };
        let mut queue = starts(automaton);
        let mut links = vec![None; 0];
        let mut at = 0;
        let mut seen = vec![false; 0];
        while let Some(state) = queue.get(at).copied() {
            at += 1;
            if std::mem::replace(slot(&mut seen, rows.index(state)), true) {
                continue;
            }
            *slot(&mut links, rows.index(state)) = link(automaton, state, &mut queue);
        }
        queue.iter().for_each(|state| rows.add(*state, &mut links));
        rows
    }

    const fn index(&self, state: StateID) -> usize {
        state.as_usize() >> self.shift
    }

    #[inline]
    fn place(&self, state: StateID) -> Option<(&Row, usize)> {
        let (row, place) = self.places.get(self.index(state)).copied()??;
        Some((self.rows.get(row as usize)?, place as usize))
    }

    fn put(&mut self, state: StateID, place: (u32, u32)) {
        let at = self.index(state);
        *slot(&mut self.places, at) = Some(place);
    }

    /// Adds the row that begins with a state, as far as it is not part of another one.
    fn add(&mut self, first: StateID, links: &mut Vec<Option<Link>>) {
        let Some(Link { class, to, matches }) = slot(links, self.index(first)).take() else {
            return;
        };
        let number = self.rows.len() as u32;
        self.put(first, (number, 0));
        let mut states = vec![first, to];
        let mut last = to;
        while let Some(link) = *slot(links, self.index(last)) {
            // What leads to itself is a row of its own.
            if link.class != class || link.matches != matches || link.to == last {
                break;
            }
            *slot(links, self.index(last)) = None;
            self.put(last, (number, states.len() as u32 - 1));
            states.push(link.to);
            last = link.to;
        }
        self.rows.push(Row { class, states, matches });
    }
}

fn slot<T: Clone + Default>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
    #[expect(clippy::indexing_slicing, reason = "it was made long enough")]
    &mut list[at]
}

fn starts(automaton: &Dfa) -> Vec<StateID> {
    let looks = std::iter::once(None).chain((0..=u8::MAX).map(Some));
    let start = |look| {
        let config = start::Config::new().anchored(Anchored::Yes).look_behind(look);
        automaton.start_state(&config).ok()
    };
    let mut starts: Vec<_> = looks.filter_map(start).collect();
    starts.dedup();
    starts
}

/// Where a state leads to by most bytes, if these are many; notes all states that it leads to.
fn link(automaton: &Dfa, state: StateID, queue: &mut Vec<StateID>) -> Option<Link> {
    let mut targets: Vec<(StateID, Class)> = Vec::new();
    for byte in 0..=u8::MAX {
        let to = automaton.next_state(state, byte);
        if is_over(automaton, to) {
            continue;
        }
        match targets.iter_mut().find(|(known, _)| *known == to) {
            Some((_, class)) => class.put(byte),
            None => {
                let mut class = Class::default();
                class.put(byte);
                targets.push((to, class));
            }
        }
    }
    queue.extend(targets.iter().map(|(to, _)| *to));
    // Behind the last byte of a match one more is read, whatever it is.
    targets.retain(|(to, _)| {
        (0..=u8::MAX).any(|byte| !is_over(automaton, automaton.next_state(*to, byte)))
    });
    let (to, class) = targets.into_iter().max_by_key(|(to, class)| (*to == state, class.len()))?;
    (class.len() >= NARROW).then(|| Link { class, to, matches: automaton.is_match_state(to) })
}

fn is_over(automaton: &Dfa, state: StateID) -> bool {
    automaton.is_dead_state(state) || automaton.is_quit_state(state)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::matcher;

    fn machine(pattern: &str) -> Machine {
        let mut builder = dense::Builder::new();
        builder.configure(matcher::config()).syntax(matcher::ascii());
        Machine::new(builder.build(pattern).unwrap())
    }

    /// Patterns that go through classes in rows, in circles and in both.
    static MACHINES: LazyLock<Vec<Machine>> = LazyLock::new(|| {
        let patterns = [
            "[a-z]{40}",
            "a[a-z0-9]{20,300}x",
            "[a-z.]{23,}[a-z]",
            "(?:[a-z]{9}[0-9]{9}){2,}",
            "[^ ]+ b?[a-z]{0,90}",
            r"\b[a-z]+(?:-[a-z0-9]{3,})*?0",
            "(?:abc|[a-z]{8,70}z)+",
        ];
        patterns.map(machine).into()
    });

    proptest! {
        #[test]
        fn a_search_that_leaps_reaches_what_one_does_that_steps(
            text in "(?:[a-z]{1,50}|[a-z0-9.]{1,90}|[0-9]{9}|-|[ .]|z|0){1,12}",
            from in 0_usize..60,
            stop in 0_usize..700,
        ) {
            let bytes = text.as_bytes();
            let from = from.min(bytes.len());
            let mut runs = Runs::default();
            for machine in MACHINES.iter() {
                let state = machine.start(bytes, from).unwrap();
                let begin = Reached { at: from, state, found: None };
                let stop = stop.clamp(from, bytes.len());
                let stepped = machine.step(bytes, begin, stop);
                // Without the bytes that are walked one by one in any case.
                for origin in [from, from.saturating_sub(PLAIN)] {
                    let leapt = machine.walk(bytes, (origin, begin), stop, &mut runs);
                    let told = |it: Reached| (it.at, it.state, it.found);
                    prop_assert_eq!(told(leapt), told(stepped));
                }
            }
        }
    }
}
