use proptest::prelude::*;

use super::{Mask, Masked, Standing};
use crate::vault::Vault;

fn written(mask: &Mask, value: &str) -> String {
    let mut out = String::from("<");
    mask.write(&Masked::new("api-key", "secrets", value), &mut out);
    out.push('>');
    out
}

fn standings(mask: &Mask, text: &str, last: bool) -> Vec<(usize, Standing)> {
    mask.standings(text.as_bytes(), 0, last).collect()
}

#[test]
fn a_mask_writes_what_it_says() {
    let with =
        Mask::with(|found| format!("{}/{}/{}", found.rule(), found.set(), found.value().len()));
    let cases = [
        (Mask::default(), "<[REDACTED:api-key]>"),
        (Mask::text("$1 \\0"), "<$1 \\0>"),
        (Mask::text(""), "<[REDACTED]>"),
        (Mask::remove(), "<>"),
        (with, "<api-key/secrets/16>"),
        (Mask::keep_last(4), "<****cdef>"),
        (Mask::keep_last(5), "<****>"),
        (Mask::keep_last(0), "<****>"),
        (Mask::hash("key"), "<[REDACTED:api-key:b0349a882ba44d37]>"),
        (Mask::hash(""), "<[REDACTED:api-key]>"),
    ];
    for (mask, expected) in cases {
        assert_eq!(written(&mask, "0123456789abcdef"), expected, "{mask:?}");
    }
    assert_eq!(written(&Mask::keep_last(2), "ключик 🗝"), "<**** 🗝>");
}

#[test]
fn equal_values_have_equal_hashes_only_under_the_same_key() {
    let hash = |key, value| written(&Mask::hash(key), value);
    assert_eq!(hash("a", "value"), hash("a", "value"));
    assert_ne!(hash("a", "value"), hash("a", "value."));
    assert_ne!(hash("a", "value"), hash("b", "value"));
}

#[test]
fn a_name_that_no_placeholder_may_hold_is_not_written() {
    let mut out = String::new();
    for mask in [Mask::label(), Mask::hash("key"), Mask::vault(&Vault::default())] {
        mask.write(&Masked::new("a rule]", "secrets", "value"), &mut out);
    }
    assert!(out.starts_with("[REDACTED:value][REDACTED:value:") && !out.contains("rule"), "{out}");
}

#[test]
fn debug_shows_no_key_and_no_value() {
    let vault = Vault::default();
    for mask in [Mask::hash("hunter2"), Mask::vault(&vault)] {
        written(&mask, "hunter2");
        let shown = format!("{mask:?}");
        assert!(!shown.contains("hunter2") && !shown.contains("104"), "{shown}");
    }
    assert_eq!(format!("{:?}", Mask::text("***")), "Mask(text \"***\")");
    let masked = format!("{:?}", Masked::new("api-key", "secrets", "hunter2"));
    assert_eq!(masked, "Masked { rule: \"api-key\", set: \"secrets\", .. }");
}

#[test]
fn placeholders_of_any_mask_are_barriers() {
    let long = "x".repeat(64);
    let whole = [
        "[REDACTED]".to_owned(),
        "[REDACTED:a]".to_owned(),
        "[REDACTED:aws-access-token:1f3a9c0e5b7d2468]".to_owned(),
        format!("[REDACTED:A.b_c-9{}:{long}]", "0".repeat(55)),
    ];
    for text in whole {
        let longer = format!("a{text}b");
        assert_eq!(
            standings(&Mask::label(), &longer, true),
            [(1, Standing::Ends(text.len() + 1))],
            "{text}"
        );
        for end in 1..text.len() {
            let part = text.get(..end).unwrap();
            assert_eq!(
                standings(&Mask::label(), part, false),
                [(0, Standing::Undecided)],
                "{part}"
            );
            assert_eq!(standings(&Mask::label(), part, true), [], "{part}");
        }
    }
    let other = [
        "[REDACTED",
        "[REDACTED ]",
        "[REDACTED:]",
        "[REDACTED::a]",
        "[REDACTED:a:]",
        "[REDACTED:a:b:c]",
        "[REDACTED:a b]",
        "[redacted]",
        "[REDACTED:é]",
        &format!("[REDACTED:{long}x]"),
        &format!("[REDACTED:a:{long}x]"),
        "REDACTED]",
    ];
    for text in other {
        assert_eq!(standings(&Mask::label(), &format!("{text}."), false), [], "{text}");
    }
}

#[test]
fn the_fixed_text_is_a_barrier_where_it_stands_by_itself() {
    let at = |mask: &str, text: &str| -> Vec<_> {
        let places = standings(&Mask::text(mask), text, true).into_iter();
        places
            .map(|(at, standing)| (at, if let Standing::Ends(end) = standing { end } else { 0 }))
            .collect()
    };
    assert_eq!(at("***", "a *** b ***"), [(2, 5), (8, 11)]);
    assert_eq!(at("***", "a*** ***** ***"), [(1, 4), (11, 14)]);
    // Two of it, side by side.
    assert_eq!(at("***", "a****** *********"), [(1, 7), (8, 17)]);
    assert_eq!(at("***", &"*".repeat(6000)), []);
    assert_eq!(at("XXXX", "k=XXXX aXXXX XXXXb XXXXX XXXX-1"), [(2, 6), (25, 29)]);
    assert_eq!(at("<gone>", "<<gone>> a<gone>b"), [(1, 7), (10, 16)]);
    // What may stand within a secret by chance would be a hole.
    for short in ["x", "-", " ", "  \n ", "--"] {
        assert_eq!(at(short, "a - x -- b   \n"), [], "{short:?}");
    }
    assert_eq!(at("---", "-----BEGIN KEY-----"), []);
    // The longer of two is meant.
    assert_eq!(at("[REDACTED] (ask ops)", "[REDACTED] (ask ops) [REDACTED]"), [(0, 20), (21, 31)]);
}

#[test]
fn what_a_text_that_goes_on_may_still_become_is_undecided() {
    let cases = [("***", "a **", 2), ("***", "a ***", 2), ("XXXX", "aX X", 3), ("***", "a[RED", 1)];
    for (mask, text, at) in cases {
        assert_eq!(
            standings(&Mask::text(mask), text, false),
            [(at, Standing::Undecided)],
            "{text}"
        );
    }
    assert_eq!(standings(&Mask::text("<gone>"), "a <gone>", false).len(), 1);
    assert_eq!(
        standings(&Mask::text("[REDACTED]!"), "[REDACTED]", false),
        [(0, Standing::Undecided)]
    );
    assert_eq!(
        standings(&Mask::text("[REDACTED]!"), "[REDACTED]", true),
        [(0, Standing::Ends(10))]
    );
}

#[test]
fn what_stands_far_away_is_found() {
    for distance in [0, 200, 255, 256, 257, 5_000, 100_000] {
        let text = format!("{}[REDACTED:a]{}***", " ".repeat(distance), " ".repeat(distance));
        let places = [
            (distance, Standing::Ends(distance + 12)),
            (2 * distance + 12, Standing::Ends(text.len())),
        ];
        assert_eq!(standings(&Mask::text("***"), &text, true), places);
        assert_eq!(standings(&Mask::label(), &text, true), places[..1]);
    }
}

#[test]
fn what_a_mask_wrote_is_known_as_masked() {
    let masks = [
        Mask::label(),
        Mask::hash("key"),
        Mask::vault(&Vault::default()),
        Mask::text("<hidden>"),
        Mask::text("XXX"),
        Mask::text(""),
    ];
    for mask in masks {
        let text = written(&mask, "0123456789abcdef");
        assert_eq!(standings(&mask, &text, true), [(1, Standing::Ends(text.len() - 1))], "{text}");
    }
}

proptest! {
    #[test]
    fn all_that_stands_is_found_as_if_each_place_were_asked(text in "(x|XX|\\*|\\[RED|ACTED|:|\\]|a|\\[REDACTED\\]){0,20}", last: bool) {
        for mask in [Mask::label(), Mask::text("XXX"), Mask::text("***"), Mask::text("[REDACTED]x")] {
            let bytes = text.as_bytes();
            let mut expected = Vec::new();
            let mut at = 0;
            while at < bytes.len() {
                let standing = mask.standing_at(bytes, at, last);
                if standing != Standing::No {
                    expected.push((at, standing));
                }
                at = match standing {
                    Standing::No => at + 1,
                    Standing::Ends(end) => end,
                    Standing::Undecided => bytes.len(),
                };
            }
            prop_assert_eq!(standings(&mask, &text, last), expected);
        }
    }

    #[test]
    fn what_is_decided_of_a_beginning_holds_for_the_whole(text in "(X|XXX|\\*\\*\\*|\\[RED|ACTED|:|\\]| |\\[REDACTED:a:b\\]){0,16}", cut: prop::sample::Index) {
        for mask in [Mask::label(), Mask::text("XXX"), Mask::text("***"), Mask::text("[REDACTED]x")] {
            let cut = cut.index(text.len() + 1);
            let whole = standings(&mask, &text, true);
            let part = standings(&mask, text.get(..cut).unwrap(), false);
            let undecided = part.iter().find(|(_, standing)| *standing == Standing::Undecided).map_or(cut, |(at, _)| *at);
            let decided: Vec<_> = part.into_iter().filter(|(at, _)| *at < undecided).collect();
            let expected: Vec<_> = whole.into_iter().filter(|(at, _)| *at < undecided).collect();
            prop_assert_eq!(decided, expected);
        }
    }
}
