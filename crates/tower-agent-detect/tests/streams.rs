//! A text that comes in pieces is masked as the whole is, byte for byte.
#![cfg(test)]

#[allow(dead_code, reason = "others use the rest of it")]
mod support;
#[allow(dead_code, reason = "others use the rest of it")]
#[path = "support/texts.rs"]
mod texts;

use std::sync::LazyLock;

use proptest::{prelude::*, sample::select};
use serde::Deserialize;
use tower_agent_detect::{Detector, Finding, Mask, Set, StreamRedactor};

use crate::{
    support::expand,
    texts::{cases, long_text, percent, pieces, sizes, text},
};

/// Masks, and whether masking what they wrote once more is known to change nothing.
static MASKS: LazyLock<Vec<(Mask, bool)>> = LazyLock::new(|| {
    let with = |found: &tower_agent_detect::Masked<'_>| format!("<{}>", found.value().len());
    vec![
        (Mask::label(), true),
        (Mask::label(), true),
        (Mask::text("[REDACTED]"), true),
        (Mask::text("***"), true),
        (Mask::text("[REDACTED:mine]"), true),
        // What stands beside letters may be there by chance.
        (Mask::text("XXXX"), false),
        (Mask::text("<masked>"), true),
        (Mask::hash("a key of our own"), true),
        (Mask::keep_last(4), false),
        (Mask::remove(), false),
        (Mask::with(with), false),
    ]
});

static DETECTORS: LazyLock<Vec<Detector>> = LazyLock::new(|| {
    let built = |builder: tower_agent_detect::Builder| builder.build().unwrap();
    vec![
        Detector::builtin(),
        Detector::builtin(),
        Detector::builtin(),
        built(Detector::builder().set(Set::Secrets)),
        built(Detector::builder().set(Set::Pii)),
        built(Detector::builder().rules_toml(include_str!("data/own-rules.toml"))),
        built(
            Detector::builder()
                .allow_values(["hunter2", "a@b.co", "p4ssw0rd", "192.0.2.17"])
                .allow_pattern("ghp_.*")
                .allow_pattern("[0-9 -]+"),
        ),
    ]
});

fn spans(findings: &[Finding]) -> Vec<(String, usize, usize)> {
    let span = |it: &Finding| (it.rule().id().to_owned(), it.span().start, it.span().end);
    findings.iter().map(span).collect()
}

/// How many bytes of a text are of characters that have a width.
fn seen(text: &str) -> usize {
    let is_seen = |character: &char| !matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    text.chars().filter(is_seen).map(char::len_utf8).sum()
}

/// Masks a text in pieces, and checks what must hold after each of them.
fn checked_stream(stream: &mut StreamRedactor, pieces: &[&str]) -> String {
    let mut out = String::new();
    let mut text = String::new();
    for piece in pieces {
        stream.push(piece, &mut out);
        text += piece;
        let held = stream.held();
        // What cannot be seen does not count, which is looked at only where it matters.
        assert!(
            held <= StreamRedactor::MOST_HELD
                || text
                    .get(text.len() - held..)
                    .is_some_and(|held| seen(held) <= StreamRedactor::MOST_HELD),
            "{held} held"
        );
    }
    stream.finish(&mut out);
    assert_eq!(stream.held(), 0);
    out
}

fn check(detector: &Detector, mask: &Mask, again: bool, text: &str, sizes: &[usize]) {
    let whole = detector.mask_with(text, mask);
    let mut stream = detector.stream(mask.clone());
    let pieces = pieces(text, sizes);
    let out = checked_stream(&mut stream, &pieces);
    assert_eq!(out, whole, "{mask:?} of {text:?} in {sizes:?}");
    // What is wrapped is read so much at once: of a longer word, a mask moves where the next part begins.
    if again && text.split_ascii_whitespace().all(|word| word.len() < 900) {
        let twice = detector.mask_with(&whole, mask);
        assert_eq!(twice, whole, "{mask:?} twice of {text:?}");
    }
    if format!("{mask:?}") == "Mask(label)" {
        let found = detector.find(text);
        assert_eq!(spans(&stream.take_findings()), spans(&found), "{text:?} in {sizes:?}");
        check_findings(text, &found, &whole);
    }
}

/// Findings are whole characters, in order; and what is written in their places is their label and nothing else.
fn check_findings(text: &str, found: &[Finding], masked: &str) {
    let mut expected = String::new();
    let mut done = 0;
    for (rule, start, end) in spans(found) {
        assert!(done <= start && start < end, "{found:?} in {text:?}");
        expected += text.get(done..start).unwrap();
        expected += &format!("[REDACTED:{rule}]");
        done = end;
    }
    expected += text.get(done..).unwrap();
    assert_eq!(masked, expected, "{found:?} in {text:?}");
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn any_pieces_of_a_text_give_what_the_whole_gives(
        text in text(),
        sizes in sizes(),
        mask in select(&MASKS[..]),
        detector in select(&DETECTORS[..]),
    ) {
        check(&detector, &mask.0, mask.1, &text, &sizes);
    }
}

#[test]
fn characters_of_no_width_are_not_held_without_end() {
    let mut stream = Detector::builtin().stream(Mask::label());
    let mut out = String::new();
    for beginning in ["password: \"P", "key = ", "-----BEGIN PRIVATE KEY-----\nMII", "eyJ", ""] {
        stream.push(beginning, &mut out);
        for _ in 0..100_000 {
            stream.push("\u{200b}", &mut out);
            assert!(
                stream.held() <= StreamRedactor::MOST_HELD,
                "{} held behind {beginning}",
                stream.held()
            );
        }
        stream.finish(&mut out);
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn any_pieces_of_a_long_text_give_what_the_whole_gives(
        text in long_text(),
        sizes in sizes(),
        mask in select(&MASKS[..]),
        detector in select(&DETECTORS[..]),
    ) {
        check(&detector, &mask.0, mask.1, &text, &sizes);
    }
}

/// Values beside each other, with masks and signs between them that are easily missed.
fn touching() -> impl Strategy<Value = String> {
    #[rustfmt::skip]
    let pieces = [
        "infura.io/v3/<hex:32>", "npm_<alnum:36>", "hf_<alnum:34>", "AKIA<base32:16>", "ghp_<alnum:36>", "AIza<url64:35>", "x",
        "_", "1", " ", "%41", "n", "npm_", "[REDACTED]", "[REDACTED:email]", "***", "<masked>", "@@((a))", "u:p4ss@h ",
        "password=", "'", "\u{200b}", "\u{e9}", ".", "-", "fe80::1", "a@b.co", "4111111111111111", "512-34-6789", "512 34 6789", "+44 20 7946 0958", "192.0.2.17",
        "hunter2", "password=hunter2 ", "phone ", ", ", ":",
    ];
    prop::collection::vec(select(pieces.to_vec()), 1..7)
        .prop_map(|pieces| pieces.into_iter().map(expand).collect())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn what_touches_a_mask_is_masked_alike_in_pieces_and_once_more(
        text in touching(),
        sizes in sizes(),
        mask in select(&MASKS[..]),
        detector in select(&DETECTORS[..]),
    ) {
        check(&detector, &mask.0, mask.1, &text, &sizes);
    }
}

/// Names and values that stand in one another, without anything that ends them.
fn names_without_end() -> impl Strategy<Value = String> {
    #[rustfmt::skip]
    let pieces = [
        "password=", "pwd=", "passwd:", "token=", "secret=", "DB_PASSWORD=", "api_key=", "Authorization:", "a1B2c3D4", "hunter2",
        "Zq7-Xk2_Vw9.Pb4", "x", "-", "_", "/", "+", "é", "AKIA<base32:16>", "npm_<alnum:36>", "192.0.2.17", "%41",
    ];
    let once = prop::collection::vec(select(pieces.to_vec()), 1..8);
    let end = select(vec!["", " ", "\n", "\"", ";", ", token=a1B2c3D4e5", "é b"]);
    (once, 12_000..50_000_usize, end).prop_map(|(once, length, end)| {
        let once: String = once.into_iter().map(expand).collect();
        format!("{}{end} and so on", once.repeat(length / once.len()))
    })
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn values_in_one_another_may_be_longer_than_what_is_found_at_once(
        text in names_without_end(),
        sizes in prop_oneof![sizes(), prop::collection::vec(300_usize..9000, 1..4)],
        mask in select(&MASKS[..]),
        detector in select(&DETECTORS[..]),
    ) {
        check(&detector, &mask.0, mask.1, &text, &sizes);
    }
}

#[test]
fn a_number_is_found_wherever_long_pieces_end() {
    let numbers = [
        "mac 001b.4411.3ab7",
        "00-1b-44-11-3a-b7",
        "00:1b:44:11:3a:b7",
        "fe80::1b2c:3",
        "2001:db8::8a2e:370:7334",
        "192.0.2.17",
        "4111 1111 1111 1111",
        "+44 20 7946 0958",
        "DE89370400440532013000",
        "GB29 NWBK 6016 1331 9268 19",
    ];
    for number in numbers {
        for end in 0..=number.len() {
            for before in [40, 41, 63, 64, 100] {
                let text = format!("{} {number} and so on", "w".repeat(before));
                check(&DETECTORS[0], &MASKS[0].0, true, &text, &[before + 1 + end, 50]);
            }
        }
    }
}

/// Numbers, words that say what they are, and values that may end with such a word or be one.
fn told() -> impl Strategy<Value = String> {
    #[rustfmt::skip]
    let pieces = [
        " ", " ", ".", "-", ":", "/", ",", "=", "@", "\"", "'", "(", ")", "+", "%", "_", "\\n", "\n", ": ", ", ", " - ", "&", "version", "v",
        "section", "oid", "ip", "host", "card", "ssn", "mac", "phone", "call me on", "iban", "build", "Name/", "ethernet", "number", "192.0.2.17",
        "1.2.3.4", "10.0.0.1:80", "127.0.0.1", "2.5.4.3", "fe80::1", "2001:db8::17", "::1", "4111111111111111", "4111 1111 1111 1111",
        "378282246310005", "+44 20 7946 0958", "(020) 7946 0958", "020 7946 0958", "512-34-6789", "512 34 6789", "GB29NWBK60161331926819",
        "00:1b:44:11:3a:b7", "001b.4411.3ab7", "00-1b-44-11-3a-b7", "212-555-0123", "12", "1234", "1b", "password=hunter2", "password=",
        "password: \"", "token=9aaaaaaD0", "secret: ", "Bearer ", "pwd=p4ss", "a@b.co", "https://u:p4ssw0rd@host/", "--password ",
        "AKIA<base32:16>", "npm_<alnum:36>",
    ];
    let text = prop::collection::vec(select(pieces.to_vec()), 2..10);
    let text = text.prop_map(|pieces| pieces.into_iter().map(expand).collect::<String>());
    let escaped = |text: String| text.replace(' ', "%20").replace('\n', "%0A").replace('"', "%22");
    (text, 0..4_u8).prop_map(move |(text, way)| match way {
        0 => percent(&text, 9),
        1 => escaped(text),
        _ => text,
    })
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn what_says_that_a_number_is_none_may_itself_be_masked(
        text in told(),
        sizes in sizes(),
        mask in select(&MASKS[..]),
        detector in select(&DETECTORS[..]),
    ) {
        check(&detector, &mask.0, mask.1, &text, &sizes);
    }
}

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    text: String,
    #[serde(default = "once")]
    times: usize,
}

const fn once() -> usize {
    1
}

#[test]
fn what_was_wrong_once_stays_right() {
    let cases: Cases = toml::from_str(include_str!("data/streams.toml")).unwrap();
    for case in cases.case {
        let text = expand(&case.text).repeat(case.times);
        println!("{}", case.name);
        let short = text.len() < 1_000;
        let own = DETECTORS.iter().skip(if short { 2 } else { 5 });
        for detector in own {
            for (mask, again) in MASKS.iter().step_by(if short { 1 } else { 3 }) {
                check(detector, mask, *again, &text, &[4_097, 0, 3]);
                if short {
                    check(detector, mask, *again, &text, &[1]);
                }
            }
        }
    }
}

/// The words of the rules.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| Detector::builtin().words());

/// Words of which none begins anything.
fn plain() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        select(vec![
            "the", "house", "Of", "glass", "stood", "there", "for", "years", "and", "nobody",
            "lived", "in", "it"
        ])
        .prop_map(str::to_owned),
        "[g-zG-Z]{1,12}".prop_filter("begins nothing", |word| {
            let word = word.to_ascii_lowercase();
            let begins =
                |known: &String| known.split(' ').next().is_some_and(|it| word.ends_with(it));
            !WORDS.iter().any(begins)
        }),
        Just("\u{5bc6}\u{5bc6}".to_owned()),
        Just("\u{e9}t\u{e9}".to_owned()),
    ];
    prop::collection::vec(word, 1..30).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn nothing_is_held_of_a_sentence_that_has_ended(text in plain(), sizes in sizes(), end in select(vec![". ", "\n", ".\n", "! ", "? ", ", ", " "])) {
        let text = text + end;
        let mut stream = Detector::builtin().stream(Mask::label());
        let mut out = String::new();
        for piece in pieces(&text, &sizes) {
            stream.push(piece, &mut out);
            // Half a word may become something, a few words may not.
            prop_assert!(stream.held() <= 14, "{} of {text:?}", stream.held());
        }
        prop_assert_eq!(stream.held(), 0, "{:?}", text);
        prop_assert_eq!(&out, &text);
    }

    #[test]
    fn what_is_masked_goes_out_as_soon_as_a_line_has_ended(text in text()) {
        let detector = Detector::builtin();
        // Neither quotes nor blocks, which may go on in the next line.
        let text: String = text.chars().filter(|letter| letter.is_ascii_alphanumeric() || " =:_".contains(*letter)).collect();
        let text = format!("{text}\nand then\n");
        let mut stream = detector.stream(Mask::label());
        let mut out = String::new();
        stream.push(&text, &mut out);
        prop_assert_eq!(stream.held(), 0, "{:?}", text);
        stream.finish(&mut out);
        prop_assert_eq!(out, detector.mask(&text));
    }

    #[test]
    fn the_next_text_of_a_stream_begins_anew(texts in prop::collection::vec(text(), 1..5), sizes in sizes()) {
        let detector = Detector::builtin();
        let mut stream = detector.stream(Mask::label());
        let mut before = 0;
        for text in &texts {
            let out = checked_stream(&mut stream, &pieces(text, &sizes));
            prop_assert_eq!(out, detector.mask(text));
            let found = spans(&stream.take_findings());
            let expected = spans(&detector.find(text));
            let moved: Vec<_> = expected.into_iter().map(|(rule, start, end)| (rule, start + before, end + before)).collect();
            prop_assert_eq!(found, moved);
            before += text.len();
        }
        let mut nothing = String::new();
        stream.finish(&mut nothing);
        prop_assert_eq!(nothing, "");
    }

    #[test]
    fn any_bytes_and_any_characters_are_masked_alike(bytes in prop::collection::vec(any::<u8>(), 0..600), text in any::<String>(), sizes in sizes()) {
        for text in [String::from_utf8_lossy(&bytes).into_owned(), text] {
            check(&Detector::builtin(), &Mask::label(), true, &text, &sizes);
        }
    }
}

/// Values of many forms, and what stands before and behind them.
#[rustfmt::skip]
const LONG: &[(&str, &str, &str)] = &[
    ("password=\"", "aB3x9Qz7/", "\" and more"),
    ("password=", "aB3x9Qz7+", " and more"),
    ("{\"password\": \"", "aB3x \\\"9Qz7\\\\", "\", \"a\": 1}"),
    ("{\\\"password\\\": \\\"", "aB3x9Qz7", "\\\", \\\"a\\\": 1}"),
    ("password='", "aB3''x9Qz7", "' and more"),
    ("password='a\\'", "\\'''", "' and more"),
    ("password=\"\"\"", "aB3x\n\"9Qz7", "\"\"\" and more"),
    ("<password>", "aB3x9 Qz7", "</password> and more"),
    ("my password is ", "aB3x9Qz7", " and more"),
    ("password: ", "\u{e9}aB3x9\u{5bc6}Qz7", "\nand more"),
    ("client_secret=", "a=b?token=aB3x9Qz7password=", " and more"),
    ("password=", "password=", " and more"),
];

#[test]
fn no_part_of_a_long_value_is_left() {
    let detector = Detector::builder().set(Set::Secrets).build().unwrap();
    for (before, value, behind) in LONG {
        for length in [16_370_usize, 16_380, 16_384, 32_760, 70_000] {
            for shift in ["", "x", "xx", "xxx"] {
                let value = "aB3x9Qz7".to_owned() + shift + &value.repeat(length / value.len());
                let text = format!("{before}{value}{behind}");
                let masked = detector.mask(&text);
                let left = masked.rsplit(']').next();
                assert_eq!(
                    left,
                    Some(*behind),
                    "{length} of {before}{:.20}..: {masked:.200}",
                    value
                );
                assert!(masked.len() < before.len() + behind.len() + 300, "{masked}");
                for size in [997, 20_011] {
                    check(&detector, &Mask::label(), true, &text, &[size]);
                }
            }
        }
    }
}
