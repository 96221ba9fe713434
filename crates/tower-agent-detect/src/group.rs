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

use crate::matcher;

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
    before: dense::DFA<Vec<u32>>,
    secret: dense::DFA<Vec<u32>>,
}

impl Group {
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let whole = matcher::regex(pattern)?;
        Ok(Self { whole, pattern: pattern.to_owned(), halves: OnceLock::new() })
    }

    /// The secret of a match.
    pub(crate) fn secret(&self, text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
        let halves = self.halves.get_or_init(|| Halves::of(&self.pattern));
        if let Some(from) = halves.as_ref().and_then(|halves| halves.cut(text, start, end)) {
            return Some((from, end));
        }
        let mut captures = self.whole.create_captures();
        let input = Input::new(text).range(start..end).anchored(Anchored::Yes);
        self.whole.search_captures(&input, &mut captures);
        let span = captures.get_group_by_name(NAME)?;
        Some((span.start, span.end))
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
    fn cut(&self, text: &[u8], start: usize, end: usize) -> Option<usize> {
        let from = reach(&self.before, text, start, end)?;
        (reach(&self.secret, text, from, end)? == end).then_some(from)
    }
}

fn automaton(hir: &Hir) -> Option<dense::DFA<Vec<u32>>> {
    let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(matcher::LARGEST));
    let nfa = thompson::Compiler::new().configure(config).build_from_hir(hir).ok()?;
    dense::Builder::new().configure(matcher::config()).build_from_nfa(&nfa).ok()
}

fn reach(automaton: &dense::DFA<Vec<u32>>, text: &[u8], start: usize, end: usize) -> Option<usize> {
    let input = Input::new(text).range(start..end).anchored(Anchored::Yes);
    Some(automaton.try_search_fwd(&input).ok()??.offset())
}
