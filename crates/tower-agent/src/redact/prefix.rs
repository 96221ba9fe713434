//! From an expression, the expression of everything that could still become a match of it.

use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

/// An expression that matches, at the end of a text, whatever a match could begin with. Its leftmost match begins where
/// the earliest unfinished match does; it always matches, if only nothing at the very end.
pub(super) fn unfinished(hir: &Hir) -> String {
    Hir::concat(vec![prefixes(&without_groups(hir)), Hir::look(Look::End)]).to_string()
}

/// The same language; what follows repeats parts of it, and the name of a group may stand only once.
fn without_groups(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Capture(capture) => without_groups(&capture.sub),
        HirKind::Repetition(repetition) => {
            Hir::repetition(repetition.with(without_groups(&repetition.sub)))
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_groups).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_groups).collect()),
        _ => hir.clone(),
    }
}

/// All prefixes of all texts of a language.
fn prefixes(hir: &Hir) -> Hir {
    match hir.kind() {
        // What stands around the end of the text is not known yet, so a condition about it may come true.
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Class(_) => optional(hir.clone()),
        HirKind::Literal(literal) => of_literal(&literal.0),
        HirKind::Capture(capture) => prefixes(&capture.sub),
        HirKind::Repetition(repetition) => of_repetition(repetition),
        HirKind::Concat(parts) => of_concat(parts),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(prefixes).collect()),
    }
}

fn of_literal(bytes: &[u8]) -> Hir {
    let text = String::from_utf8_lossy(bytes);
    let literal = |character: char| Hir::literal(character.to_string().as_bytes());
    let mut characters: Vec<_> = text.chars().map(literal).collect();
    match characters.pop() {
        Some(only) if characters.is_empty() => optional(only),
        Some(last) => {
            characters.push(last);
            of_concat(&characters)
        }
        None => Hir::empty(),
    }
}

/// `x{2,5}` becomes `x{0,4}` and a prefix of `x`.
fn of_repetition(repetition: &Repetition) -> Hir {
    if repetition.max == Some(0) {
        return Hir::empty();
    }
    let whole = Hir::repetition(Repetition {
        min: 0,
        max: repetition.max.map(|max| max - 1),
        greedy: true,
        sub: repetition.sub.clone(),
    });
    Hir::concat(vec![whole, prefixes(&repetition.sub)])
}

/// `xy` becomes a prefix of `x`, or `x` and a prefix of `y`. Halves keep the nesting shallow.
fn of_concat(parts: &[Hir]) -> Hir {
    match parts {
        [] => Hir::empty(),
        [part] => prefixes(part),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            let gone_on = left.iter().cloned().chain([of_concat(right)]).collect();
            Hir::alternation(vec![of_concat(left), Hir::concat(gone_on)])
        }
    }
}

fn optional(sub: Hir) -> Hir {
    Hir::repetition(Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(sub) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    fn unfinished_from(pattern: &str, text: &str) -> usize {
        let hir = regex_syntax::parse(pattern).unwrap();
        Regex::new(&unfinished(&hir)).unwrap().find(text).unwrap().start()
    }

    #[test]
    fn the_end_of_a_text_is_held_from_where_a_match_may_have_begun() {
        let table = [
            ("abc", "xxab", 2),
            ("abc", "xxabx", 5),
            ("abc", "xxabc", 2),
            ("a{2,3}b", "xaaa", 1),
            ("a{2,3}b", "xaaaa", 2),
            ("a+", "xaaa", 1),
            ("(?:ab|ba)c", "xba", 1),
            (r"key=(\w+)\b", "a key=va", 2),
            (r"key=(\w+)\b", "a key=va ", 9),
            (r"(?<secret>a)b(?<secret_b>c)de", "xabcd", 1),
            (r"(?-u:\b)sk-[a-z]{3}", "desk-", 5),
            (r"(?-u:\b)sk-[a-z]{3}", "a sk-", 2),
            ("BEGIN.*?END", "x BEGIN a b c", 2),
            ("日本", "x日", 1),
            ("^a", "ba", 2),
            ("a$", "ba", 1),
        ];
        for (pattern, text, from) in table {
            assert_eq!(unfinished_from(pattern, text), from, "{pattern} in {text}");
        }
    }

    proptest! {
        #[test]
        fn every_beginning_of_a_match_is_held(
            (pattern, text) in prop_oneof![
                Just(r"ab{2,4}(?:c|de)+f?"), Just(r"x[a-c]*y|za{3}"), Just(r"(?i)key[ ]?=[ ]?\w{2,5};"),
            ].prop_flat_map(|pattern| (Just(pattern), proptest::string::string_regex(&pattern.replace("(?i)", "")).unwrap())),
            before in "[^a-z]{0,5}",
            keep in 0.0..1.0_f64,
        ) {
            let cut = (text.len() as f64 * keep) as usize;
            let start = text.floor_char_boundary(cut);
            let held = unfinished_from(pattern, &format!("{before}{}", text.split_at(start).0));
            prop_assert!(held <= before.len());
        }
    }
}
