//! The patterns of a rule, compiled.

use regex_automata::{
    MatchKind,
    dfa::{Automaton, StartKind, dense},
    meta::Regex,
    util::{primitives::StateID, syntax},
};

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::{
    aside::{Allowed, Before},
    follow::Beginning,
    group::{self, Group},
    machine::{Dfa, Machine},
    rule::Spec,
    tail,
    text::{End, Stop, Text},
    trail::{Part, Reached, Trails},
};

/// The compiled patterns of one rule. Without any it finds nothing.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    machine: Option<Machine>,
    /// The same pattern once more, where only a group of it is the secret.
    group: Option<Group>,
    /// How far behind the beginning of the match the secret begins, at least.
    secret_from: usize,
    before: Option<Before>,
    allow: Vec<Allowed>,
    max: usize,
    /// How long a match is at most in which there is an `@` wherever it is found; zero, if it need not hold any.
    signed: usize,
}

/// What is known of a pattern before it is compiled.
#[derive(Debug)]
pub(crate) struct Pattern;

/// A compiled pattern is of this many bytes at most: no rule may cost more memory than all others together.
pub(crate) const LARGEST: usize = 4 << 20;
/// How long a match may be where the rule itself allows for any length.
const LONGEST: usize = 64 << 10;
/// How far before its keyword a match may begin, in bytes.
pub(crate) const BEFORE: usize = 64;

impl Pattern {
    pub(crate) fn check_syntax(pattern: &str) -> Result<(), String> {
        syntax::parse_with(pattern, &ascii()).map(drop).map_err(|error| error.to_string())
    }

    /// A pattern whose matches have an end.
    ///
    /// Gives how long they are at least, in bytes.
    pub(crate) fn check(pattern: &str, max: Option<usize>) -> Result<usize, String> {
        let hir = syntax::parse_with(pattern, &ascii()).map_err(|error| error.to_string())?;
        let properties = hir.properties();
        if properties.minimum_len() == Some(0) {
            return Err("the pattern matches an empty text".to_owned());
        }
        if max.is_some_and(|max| max == 0 || max > LONGEST) {
            return Err(format!("`max` is 1 to {LONGEST} bytes"));
        }
        match properties.maximum_len() {
            None if max.is_none() => {
                Err("the pattern has no longest match: bound it, or say `max = ` bytes".to_owned())
            }
            Some(longest) if longest > LONGEST => {
                Err(format!("a match of {longest} bytes is too long; the most is {LONGEST}"))
            }
            _ => Ok(properties.minimum_len().unwrap_or_default()),
        }
    }

    /// What the first bytes of a match may be.
    pub(crate) fn beginning(pattern: &str) -> Option<Beginning> {
        syntax::parse_with(pattern, &ascii()).ok().map(|hir| Beginning::of(&hir))
    }

    /// What stands before a keyword is short, and has no character at which a stream would let go of it.
    pub(crate) fn check_before(pattern: &str, grouped: bool) -> Result<(), String> {
        let hir = syntax::parse_with(pattern, &ascii()).map_err(|error| error.to_string())?;
        match hir.properties().maximum_len() {
            Some(longest) if longest <= BEFORE => {}
            _ => return Err(format!("`before` must be bounded, by {BEFORE} bytes at most")),
        }
        if !grouped && !is_held(&hir, tail::is_run) && !is_held(&hir, tail::is_base64) {
            let text = "`before` may hold letters, digits and either ._%+~- or +/-_ only, if it is part of the secret";
            return Err(text.to_owned());
        }
        Ok(())
    }
}

/// Whether a match may be longer than the text that led to a state.
fn may_go_on(machine: &Machine, state: StateID) -> bool {
    let automaton = machine.automaton();
    automaton.is_match_state(automaton.next_eoi_state(state))
        || (0..=u8::MAX).any(|byte| !machine.is_over(automaton.next_state(state, byte)))
}

/// The verdict where the text ends.
fn past_end(
    machine: &Machine,
    text: &Text<'_>,
    Reached { at, state, found }: Reached,
) -> Result<usize, Stop> {
    match text.end() {
        End::More => Err(Stop::Undecided),
        // What comes of it depends on what was masked.
        End::Masked if may_go_on(machine, state) => Err(Stop::Nothing),
        End::Masked => found.ok_or(Stop::Nothing),
        End::Final => at_cap(machine, Reached { at, state, found }),
    }
}

/// At its cap a match ends, whatever follows.
fn at_cap(machine: &Machine, Reached { at, state, found }: Reached) -> Result<usize, Stop> {
    let automaton = machine.automaton();
    let ends = automaton.is_match_state(automaton.next_eoi_state(state));
    ends.then_some(at).or(found).ok_or(Stop::Nothing)
}

/// How many bytes stand before the group that is the secret, at least. None, if all of the match is the secret.
fn secret_from(pattern: &str) -> usize {
    let hir = syntax::parse_with(pattern, &ascii());
    hir.ok().and_then(|hir| before_secret(&hir)).unwrap_or_default()
}

fn before_secret(hir: &Hir) -> Option<usize> {
    match hir.kind() {
        HirKind::Capture(capture) if capture.name.as_deref() == Some(group::NAME) => Some(0),
        HirKind::Capture(capture) => before_secret(&capture.sub),
        HirKind::Repetition(repetition) => before_secret(&repetition.sub),
        HirKind::Alternation(parts) => parts.iter().filter_map(before_secret).min(),
        HirKind::Concat(parts) => {
            let at = parts.iter().position(|part| before_secret(part).is_some())?;
            let (before, rest) = parts.split_at_checked(at)?;
            let least = before.iter().filter_map(|part| part.properties().minimum_len());
            Some(least.sum::<usize>() + rest.first().and_then(before_secret)?)
        }
        _ => None,
    }
}

/// How long a match is at most, if every one holds an `@`.
fn signed(pattern: &str) -> Option<usize> {
    let hir = syntax::parse_with(pattern, &ascii()).ok()?;
    has_sign(&hir).then(|| hir.properties().maximum_len().unwrap_or(usize::MAX))
}

fn has_sign(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.contains(&b'@'),
        HirKind::Class(_) | HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Repetition(repetition) => repetition.min > 0 && has_sign(&repetition.sub),
        HirKind::Capture(capture) => has_sign(&capture.sub),
        HirKind::Concat(parts) => parts.iter().any(has_sign),
        HirKind::Alternation(parts) => parts.iter().all(has_sign),
    }
}

/// Whether an expression matches only what a stream holds back at its end.
fn is_held(hir: &Hir, held: fn(u8) -> bool) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.iter().copied().all(held),
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().all(|range| (range.start()..=range.end()).all(held))
        }
        HirKind::Class(Class::Unicode(class)) => class
            .ranges()
            .iter()
            .all(|range| (range.start()..=range.end()).all(|it| u8::try_from(it).is_ok_and(held))),
        HirKind::Repetition(repetition) => is_held(&repetition.sub, held),
        HirKind::Capture(capture) => is_held(&capture.sub, held),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().all(|part| is_held(part, held))
        }
        HirKind::Empty | HirKind::Look(_) => true,
    }
}

pub(crate) fn ascii() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

pub(crate) fn regex(pattern: &str) -> Result<Regex, String> {
    let config = Regex::config().nfa_size_limit(Some(LARGEST)).utf8_empty(false);
    let built = Regex::builder().configure(config).syntax(ascii()).build(pattern);
    built.map_err(|error| cause(&error))
}

fn automaton(pattern: &str) -> Result<Dfa, String> {
    let built = dense::Builder::new().configure(config()).syntax(ascii()).build(pattern);
    built.map_err(|error| cause(&error))
}

pub(crate) fn config() -> dense::Config {
    dense::Config::new()
        .match_kind(MatchKind::LeftmostFirst)
        .start_kind(StartKind::Anchored)
        .dfa_size_limit(Some(LARGEST))
        .determinize_size_limit(Some(4 * LARGEST))
}

/// The message of the innermost error, which is the one that tells something.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let last = std::iter::successors(Some(error), |error| error.source()).last();
    last.map_or_else(String::new, ToString::to_string)
}

impl Matcher {
    pub(crate) fn new(spec: &Spec) -> Result<Self, String> {
        let Some(pattern) = spec.pattern.as_ref().or(spec.value.as_ref()) else {
            return Ok(Self::default());
        };
        let grouped = pattern.contains("(?<secret") || pattern.contains("(?P<secret");
        let before = spec.before.as_ref().map(|before| Before::new(before));
        let allow = spec.allow.iter().map(|allowed| Allowed::new(allowed));
        Ok(Self {
            machine: Some(Machine::new(automaton(pattern)?)),
            secret_from: secret_from(pattern),
            group: grouped.then(|| Group::new(pattern)).transpose()?,
            before: before.transpose()?,
            allow: allow.collect::<Result<_, _>>()?,
            max: spec.max.unwrap_or(LONGEST),
            signed: signed(pattern).unwrap_or_default().min(spec.max.unwrap_or(LONGEST)),
        })
    }

    /// Whether what is masked begins behind the beginning of the match.
    pub(crate) const fn is_grouped(&self) -> bool {
        self.group.is_some()
    }

    /// How far behind the beginning of the match what is masked begins, at least, in bytes.
    pub(crate) const fn secret_from(&self) -> usize {
        self.secret_from
    }

    /// Where the match that begins at a place ends.
    pub(crate) fn end(
        &self,
        text: &Text<'_>,
        from: usize,
        (trails, rule): (&mut Trails, u32),
    ) -> Result<usize, Stop> {
        let machine = self.machine.as_ref().ok_or(Stop::Nothing)?;
        let state = machine.start(text.bytes(), from).ok_or(Stop::Nothing)?;
        let cap = from.saturating_add(self.max);
        let here = machine.search(text.bytes(), (from, state), cap, (trails, Part::Match(rule)));
        if machine.is_over(here.state) {
            here.found.ok_or(Stop::Nothing)
        } else if here.at < cap {
            past_end(machine, text, here)
        } else {
            at_cap(machine, here)
        }
    }

    /// Whether there is no `@` where every match would have one, as behind most addresses of the web.
    #[inline]
    pub(crate) fn misses_sign(&self, text: &Text<'_>, from: usize, trails: &mut Trails) -> bool {
        let to = from.saturating_add(self.signed);
        let is_there = to <= text.len() || text.end() == End::Final;
        self.signed > 0 && is_there && trails.runs().has_no_sign(text.bytes(), from, to)
    }

    /// Where what belongs to the match before a keyword begins.
    pub(crate) fn begin(&self, text: &Text<'_>, keyword: usize) -> Option<usize> {
        let Some(before) = &self.before else { return Some(keyword) };
        let window = text.bytes().get(keyword.saturating_sub(BEFORE)..keyword)?;
        Some(keyword - window.len() + before.start(window)?)
    }

    /// The part of a match that is the secret.
    pub(crate) fn secret(
        &self,
        text: &Text<'_>,
        start: usize,
        end: usize,
        trails: (&mut Trails, u32),
    ) -> Option<(usize, usize)> {
        match &self.group {
            Some(group) => group.secret(text.bytes(), (start, end), trails),
            None => Some((start, end)),
        }
    }

    /// Whether something must stand before the keyword.
    pub(crate) const fn has_before(&self) -> bool {
        self.before.is_some()
    }

    /// Whether the secret ends with the match.
    pub(crate) fn ends_secret(&self) -> bool {
        self.group.as_ref().is_none_or(Group::is_last)
    }

    /// Whether a value, from one place of the text to another, is on the rule's own list of values that are no secrets.
    pub(crate) fn allows(
        &self,
        text: &[u8],
        value: (usize, usize),
        (trails, rule): (&mut Trails, u32),
    ) -> bool {
        (0..)
            .zip(&self.allow)
            .any(|(at, allowed)| allowed.has(text, value, (trails, Part::Allowed(rule, at))))
    }
}
