//! The part of a match that is the secret.

use std::sync::OnceLock;

use regex_automata::{
    Anchored, Input,
    dfa::{Automaton, dense},
    meta::Regex,
    nfa::thompson,
    util::syntax,
};
use regex_syntax::hir::{Hir, HirKind};

use crate::{
    machine::Machine,
    matcher,
    trail::{Part, Trails},
};

/// The name of the group.
pub(crate) const NAME: &str = "secret";

/// Where the secret stands in a match.
#[derive(Debug)]
pub(crate) struct Group {
    whole: Regex,
    pattern: String,
    halves: OnceLock<Option<Halves>>,
}

/// A pattern that ends with the secret, cut before it. It says the same as a search with groups, many times faster, unless
/// what comes first has to give something back.
#[derive(Debug)]
struct Halves {
    before: Machine,
    secret: Machine,
}

impl Group {
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let whole = matcher::regex(pattern)?;
        Ok(Self { whole, pattern: pattern.to_owned(), halves: OnceLock::new() })
    }

    /// The secret of a match.
    pub(crate) fn secret(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        trails: (&mut Trails, u32),
    ) -> Option<(usize, usize)> {
        if let Some(from) = self.halves().and_then(|it| it.cut(text, (start, end), trails)) {
            return Some((from, end));
        }
        let mut captures = self.whole.create_captures();
        let input = Input::new(text).range(start..end).anchored(Anchored::Yes);
        self.whole.search_captures(&input, &mut captures);
        let span = captures.get_group_by_name(NAME)?;
        Some((span.start, span.end))
    }

    /// Whether nothing of a match stands behind the secret.
    pub(crate) fn is_last(&self) -> bool {
        self.halves().is_some()
    }

    fn halves(&self) -> Option<&Halves> {
        self.halves.get_or_init(|| Halves::of(&self.pattern)).as_ref()
    }
}

impl Halves {
    fn of(pattern: &str) -> Option<Self> {
        let hir = syntax::parse_with(pattern, &matcher::ascii()).ok()?;
        let HirKind::Concat(parts) = hir.kind() else { return None };
        let (last, before) = parts.split_last()?;
        let HirKind::Capture(secret) = last.kind() else { return None };
        if secret.name.as_deref() != Some(NAME) {
            return None;
        }
        let before = automaton(&Hir::concat(before.to_vec()))?;
        Some(Self { before, secret: automaton(&secret.sub)? })
    }

    /// Where the secret begins. The first choice of what comes before it is the one that counts, if the rest fits there.
    fn cut(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        (trails, rule): (&mut Trails, u32),
    ) -> Option<usize> {
        let from = reach(&self.before, text, (start, end), (trails, Part::Before(rule)))?;
        let reached = reach(&self.secret, text, (from, end), (trails, Part::Secret(rule)))?;
        (reached == end).then_some(from)
    }
}

fn automaton(hir: &Hir) -> Option<Machine> {
    let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(matcher::LARGEST));
    let nfa = thompson::Compiler::new().configure(config).build_from_hir(hir).ok()?;
    let built = dense::Builder::new().configure(matcher::config()).build_from_nfa(&nfa);
    built.ok().map(Machine::new)
}

/// Where the match ends that begins at a place, and is over at another one.
fn reach(
    machine: &Machine,
    text: &[u8],
    (start, end): (usize, usize),
    trails: (&mut Trails, Part),
) -> Option<usize> {
    let state = machine.start(text, start)?;
    let here = machine.search(text, (start, state), end, trails);
    if machine.is_over(here.state) {
        return here.found;
    }
    let automaton = machine.automaton();
    let last = match text.get(end) {
        Some(next) => automaton.next_state(here.state, *next),
        None => automaton.next_eoi_state(here.state),
    };
    automaton.is_match_state(last).then_some(end).or(here.found)
}
