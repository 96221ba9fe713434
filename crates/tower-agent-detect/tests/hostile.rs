//! Texts made to cost much, to be held for ever, or to break what is put together again.
#![cfg(test)]

#[allow(dead_code, reason = "others use the rest of it")]
mod support;
#[allow(dead_code, reason = "others use the rest of it")]
#[path = "support/texts.rs"]
mod texts;

use tower_agent_detect::{Detector, Mask, StreamRedactor, Vault};

use crate::support::expand;

/// Masks a text in pieces of so many bytes or a few less. Gives what came out, and the most that was held.
fn streamed(detector: &Detector, mask: &Mask, text: &str, size: usize) -> (String, usize) {
    let mut stream = detector.stream(mask.clone());
    let (mut out, mut most, mut rest) = (String::new(), 0, text);
    while !rest.is_empty() {
        let at = rest.floor_char_boundary(size).max(rest.chars().next().map_or(1, char::len_utf8));
        let (piece, after) = rest.split_at(at.min(rest.len()));
        stream.push(piece, &mut out);
        most = most.max(stream.held());
        rest = after;
    }
    stream.finish(&mut out);
    assert_eq!(stream.held(), 0);
    (out, most)
}

fn repeated(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len() + 1)
}

/// How long the texts are, in bytes.
const BYTES: usize = if cfg!(debug_assertions) { 20_000 } else { 200_000 };

#[rustfmt::skip]
const HOSTILE: &[&str] = &[
    "-----BEGIN RSA PRIVATE KEY-----\n", "-----BEGIN", "-", "-----BEGIN RSA PRIVATE KEY-----\n<base64:64>\n", "<base64:64>\n",
    "@", "a@", "a@b.", "a.", "a@b.co", "password=", "password=\"", "password: \"\\\"", "password=\"\\\\", "password=\"'", "token ", "key",
    "\"", "\\", "\\\"", "(", "((", "{\"a\":", "[", "[REDACTED", "[REDACTED:", "[REDACTED]", "[REDACTED:email", "<password>", "<password ",
    "%", "%4", "%41", "%25", "%2541", "eyJ", "eyJ.", "eyJ<alnum:30>.", "eyJ<url64:300>.", "ghp_", "ghp_a", "sk-", "AKIA", "0x", "bc1", "1", "12", "1 ",
    "1-", "(1", "+1 ", "1.", "1:", "::", "a:", "ab:", "aa-", "fe80::", "4111 ", "4111111111111111 ", "DE89 ", "a", "A1", "a\u{200b}",
    "\u{200b}", "\u{ff41}", "\u{ff10}", "\u{5bc6}", "\u{e9}", "\u{301}", "***", "*", "X", "https://a:", "https://a:b@", "://", "postgres://u:p@h/",
    "Authorization: Bearer ", "bearer ", "value", "is ", "long<", "long<a", "~mark~", "@@((", "@@((a", "locker code: 1111-1111-", "pin is ",
    "password=a1:", "token=aB3$x9:", "pwd=a1\\", "password=a1:<alnum:700>", "password='a1 token=\"b2 secret=`c3 ", "\"pwd\":\"a1\\\"pwd\\\":\\\"",
];

#[test]
fn what_is_repeated_without_end_is_masked_in_pieces_as_it_is_whole() {
    let own = include_str!("data/own-rules.toml");
    let detector = Detector::builder().rules_toml(own).build().unwrap();
    for piece in HOSTILE {
        let text = repeated(&expand(piece), BYTES);
        for mask in [Mask::label(), Mask::text("***"), Mask::hash("a key")] {
            let whole = detector.mask_with(&text, &mask);
            for size in [4_096, BYTES] {
                let (out, held) = streamed(&detector, &mask, &text, size);
                assert!(out == whole, "{piece}: {mask:?} in {size}");
                assert!(held <= StreamRedactor::MOST_HELD, "{piece}: {held} bytes held");
            }
        }
        assert_eq!(detector.mask(&detector.mask(&text)), detector.mask(&text), "{piece}");
    }
}

#[test]
fn a_word_in_front_of_it_and_an_end_behind_it_change_nothing_of_that() {
    let detector = Detector::builtin();
    let around = [
        ("password: \"", "\" "),
        ("-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----"),
        ("ghp_", " "),
        ("https://u:", "@h "),
    ];
    for piece in HOSTILE {
        for (before, after) in around {
            let text = format!("{before}{}{after}", repeated(&expand(piece), BYTES / 10));
            let whole = detector.mask(&text);
            let (out, held) = streamed(&detector, &Mask::label(), &text, 999);
            assert!(out == *whole, "{before}{piece}");
            assert!(held <= StreamRedactor::MOST_HELD, "{piece}: {held} bytes held");
        }
    }
}

#[test]
fn a_key_of_many_kilobytes_is_one_finding_and_nothing_of_it_is_left() {
    let detector = Detector::builtin();
    let line = expand("<base64:64>\n");
    for lines in [200, 252, 253, 400, 600, 2_000] {
        for last in ["", "abcdefgh\n", "abc=\n", "x==\n"] {
            let key = format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{}{last}-----END RSA PRIVATE KEY-----",
                line.repeat(lines)
            );
            let text = format!("before\n{key}\nafter");
            assert_eq!(
                detector.mask(&text),
                "before\n[REDACTED:private-key]\nafter",
                "{lines} and {last}"
            );
            assert_eq!(detector.find(&text).len(), 1);
            for mask in [Mask::label(), Mask::hash("a key"), Mask::keep_last(4), Mask::remove()] {
                let whole = detector.mask_with(&text, &mask);
                let (out, held) = streamed(&detector, &mask, &text, 100);
                assert_eq!(out, whole, "{lines} and {last}");
                assert!(held < 32 << 10, "{held}");
            }
        }
    }
}

#[test]
fn a_key_that_ends_a_little_behind_a_part_of_it_is_masked_to_its_end() {
    let detector = Detector::builtin();
    let head = "-----BEGIN RSA PRIVATE KEY-----\n";
    let body = expand("<base64:64>\n").repeat(600);
    for length in (16_384 - 40..16_384 + 40).chain(32_768 - 40..32_768 + 40) {
        let key = format!("{head}{body}");
        let key = key.get(..length).unwrap().trim_end();
        for (end, rest) in [("\n-----END RSA PRIVATE KEY-----", ""), ("", "\nand so on"), ("", "")]
        {
            // A short last line may be a word of what follows, unless the end of the block or of the text says that it is not.
            if end.is_empty()
                && !rest.is_empty()
                && key.lines().last().is_some_and(|line| line.len() < 20)
            {
                continue;
            }
            let text = format!("{key}{end}{rest}");
            let masked = detector.mask(&text);
            // Where a part ends, a few words behind the key may go with it.
            let left = masked.strip_prefix("[REDACTED:private-key]").unwrap();
            assert!(rest.ends_with(left), "{length} and {end}{rest}: {left}");
            assert_eq!(streamed(&detector, &Mask::label(), &text, 1_000).0, detector.mask(&text));
        }
    }
}

#[test]
fn a_long_value_under_a_telling_name_is_masked_to_its_end() {
    let detector = Detector::builder().only(NAMED).build().unwrap();
    let around = [
        ("password=", "\n"),
        ("password=", ""),
        ("password: \"", "\", \"user\": 1"),
        ("{\"client_secret\":\"", "\"}"),
        ("{\\\"client_secret\\\":\\\"", "\\\"}"),
        ("<password>", "</password>"),
        ("Authorization: Bearer ", "\r\nAccept: text/html"),
        ("--token ", " --verbose"),
        ("Set-Cookie: sessionid=", "; Path=/"),
    ];
    for length in [120, 126, 130, 512, 513, 600, 4_000, 16_380, 16_384, 16_390, 20_000, 40_000] {
        let value = expand(&format!("<alnum:{length}>"));
        for (before, after) in around {
            let text = format!("{before}{value}{after}");
            let mask = Mask::text("#");
            let whole = detector.mask_with(&text, &mask);
            assert_eq!(whole, format!("{before}#{after}"), "{length}");
            for size in [1, 100, 7_000] {
                let (out, held) = streamed(&detector, &mask, &text, size);
                assert_eq!(out, whole, "{length}");
                assert!(held < 33 << 10, "{held} of {length}");
            }
        }
    }
}

const NAMED: [&str; 5] = [
    "generic-password",
    "generic-secret",
    "generic-token",
    "generic-authorization",
    "generic-credential",
];

#[test]
fn a_vault_gives_back_all_of_a_value_or_none_of_it() {
    let detector = Detector::builtin();
    let line = expand("<base64:64>\n");
    for lines in [10, 100, 250, 251, 252, 253, 400, 1_000] {
        let text = format!(
            "before\n-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----\nafter",
            line.repeat(lines)
        );
        let vault = Vault::default();
        let masked = detector.mask_with(&text, &Mask::vault(&vault));
        let opened = vault.open(&masked).unwrap();
        assert!(
            opened == text || opened == "before\n[REDACTED:private-key]\nafter",
            "{lines}: {masked}"
        );
    }
}

#[test]
fn a_vault_takes_no_part_of_a_value() {
    let detector = Detector::builtin();
    for length in [16_000, 16_381, 16_383, 16_384, 16_385, 16_388, 20_000, 40_000] {
        for before in ["password=\"", "password=\"\u{ff21}\u{5bc6}"] {
            let text = format!(
                "{before}{}\" end",
                expand("<alnum:1000>").repeat(41).get(..length).unwrap()
            );
            let vault = Vault::default();
            let masked = detector.mask_with(&text, &Mask::vault(&vault));
            let opened = vault.open(&masked).unwrap();
            assert!(
                opened == text || opened == "password=\"[REDACTED:generic-password]\" end",
                "{length}: {opened}"
            );
        }
    }
}
