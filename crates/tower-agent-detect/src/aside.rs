//! Patterns beside that of the value: what stands before its keyword, and what is no value after all.

use regex_automata::{
    Anchored, Input, MatchKind,
    dfa::{Automaton, dense},
    meta::Regex,
    nfa::thompson,
    util::syntax,
};
use regex_syntax::hir::Look;

use crate::{
    machine::{Dfa, Machine},
    matcher,
    trail::{Part, Trails},
};

/// Larger automata are not made for what a search of the usual kind does as well, in bytes.
const LARGEST: usize = 1 << 20;

/// What stands before a keyword.
#[derive(Debug)]
pub(crate) enum Before {
    /// Read from its end, since nothing else says where it begins.
    Backwards(Box<Dfa>),
    Any(Regex),
}

/// A pattern of values that are none.
#[derive(Debug)]
pub(crate) enum Allowed {
    /// One that says how the value begins.
    Beginning(Box<Machine>),
    Anywhere(Regex),
}

impl Before {
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        // The longest match from the end is the one that begins first.
        let config = matcher::config().match_kind(MatchKind::All);
        let nfa = thompson::Config::new().utf8(false).reverse(true);
        match automaton(pattern, config, nfa) {
            Some(backwards) => Ok(Self::Backwards(Box::new(backwards))),
            None => matcher::regex(&format!("(?:{pattern})\\z")).map(Self::Any),
        }
    }

    /// Where that begins which a text ends with.
    pub(crate) fn start(&self, text: &[u8]) -> Option<usize> {
        match self {
            Self::Backwards(automaton) => {
                let input = Input::new(text).anchored(Anchored::Yes);
                Some(automaton.try_search_rev(&input).ok()??.offset())
            }
            Self::Any(pattern) => Some(pattern.find(Input::new(text))?.start()),
        }
    }
}

impl Allowed {
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let anchored = syntax::parse_with(pattern, &matcher::ascii())
            .is_ok_and(|hir| hir.properties().look_set_prefix().contains(Look::Start));
        let nfa = thompson::Config::new().utf8(false);
        let built = anchored.then(|| automaton(pattern, matcher::config(), nfa)).flatten();
        match built {
            Some(built) => Ok(Self::Beginning(Box::new(Machine::new(built)))),
            None => matcher::regex(pattern).map(Self::Anywhere),
        }
    }

    /// Whether it stands in a value, from one place of the text to another.
    pub(crate) fn has(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        trails: (&mut Trails, Part),
    ) -> bool {
        match self {
            Self::Beginning(machine) => machine.is_match(text, (start, end), trails),
            Self::Anywhere(pattern) => {
                text.get(start..end).is_some_and(|value| pattern.is_match(Input::new(value)))
            }
        }
    }
}

fn automaton(pattern: &str, config: dense::Config, nfa: thompson::Config) -> Option<Dfa> {
    let config = config.dfa_size_limit(Some(LARGEST)).determinize_size_limit(Some(4 * LARGEST));
    let mut builder = dense::Builder::new();
    builder.configure(config).syntax(matcher::ascii()).thompson(nfa);
    builder.build(pattern).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_read_backwards_begins_where_a_search_finds_it(
            text in "[abx-]{0,30}|[ab]{20,64}|oaa[ab]{14}",
        ) {
            for pattern in ["[ab]{22}", "(?:x|ab)+", "[ab][ab-]{1,60}", "oaa[ab]{14}", r"\bx?a{1,3}"] {
                let before = Before::new(pattern).unwrap();
                prop_assert!(matches!(before, Before::Backwards(_)));
                let usual = matcher::regex(&format!("(?:{pattern})\\z")).unwrap();
                let start = usual.find(Input::new(&text)).map(|found| found.start());
                prop_assert_eq!(before.start(text.as_bytes()), start, "{}", pattern);
            }
        }

        #[test]
        fn a_value_is_allowed_as_if_it_stood_alone(
            text in "[a-c]{0,9}(?:your|[a-c]{1,200}|[._-]|x{3,}|[0-9]){0,9}",
            start in 0_usize..20,
            end in 0_usize..300,
        ) {
            let start = start.min(text.len());
            let end = end.clamp(start, text.len());
            let mut trails = Trails::default();
            for (at, pattern) in (0..).zip([
                "^[a-c]+(?:[._-][a-c]+[0-9]{0,2})*$",
                "(?i)^(?:YOUR|my)[._-]",
                "^x{3,}$",
                r"^\ba|^[a-z]{0,40}\b",
                "[0-9]$",
                "your",
            ]) {
                let usual = matcher::regex(pattern).unwrap();
                let alone = usual.is_match(Input::new(&text.as_bytes()[start..end]));
                let allowed = Allowed::new(pattern).unwrap();
                let trails = (&mut trails, Part::Allowed(0, at));
                let said = allowed.has(text.as_bytes(), (start, end), trails);
                prop_assert_eq!(said, alone, "{}", pattern);
            }
        }
    }
}
