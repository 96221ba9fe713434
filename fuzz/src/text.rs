//! Texts, as a fuzzer can write them: plain text, in which bytes that no text has stand for whole samples and words.
//!
//! So one byte more or less makes a text that has to do with the rules, and a seed holds no secret.

use std::sync::LazyLock;

use tower_agent_detect::Detector;

use crate::support::expand;

/// Stands for a sample of a rule, whose number follows in two bytes.
pub const SAMPLE: u8 = 0xf8;
/// Stands for a word of the prefilter, whose number follows in two bytes.
pub const WORD: u8 = 0xf9;
/// Stands for a [bit](BITS), whose number follows in one byte.
pub const BIT: u8 = 0xfa;
/// Ends a piece of the text.
pub const CUT: u8 = 0xfb;
/// Stands for a run of characters: a class, a count and a seed follow in one byte each.
pub const RUN: u8 = 0xfc;
/// Writes what was written last once more, as often as the next byte says.
pub const AGAIN: u8 = 0xfd;
/// Stands for the first characters of a sample: its number in two bytes, and how many in one.
pub const HEAD: u8 = 0xfe;
/// Stands for a sample in characters of full width, whose number follows in two bytes.
pub const WIDE: u8 = 0xff;

/// No text is longer, in bytes.
const LONGEST: usize = 160 << 10;

/// What stands around values, and what a detector reads over.
pub const BITS: &[&str] = &[
    "=",
    ": ",
    ":=",
    "=>",
    " = \"",
    "\": \"",
    "\", \"",
    "'",
    "\"",
    "`",
    "<",
    ">",
    "</",
    "/>",
    "<password>",
    "</password>",
    "--token ",
    "&",
    "?",
    "%20",
    "%3D",
    "%2e",
    "\\n",
    "\\\"",
    "\\u0041",
    "\\",
    "\n",
    "\r\n",
    "\t",
    " ",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ";",
    "|",
    "@",
    "#",
    "//",
    "://",
    "/",
    "-",
    "--",
    "_",
    ".",
    "..",
    "+",
    "*",
    "***",
    "****",
    "[REDACTED]",
    "[REDACTED",
    "[REDACTED:",
    "[REDACTED:a]",
    "[REDACTED:a:0123456789abcdef]",
    "[REDACTED:a:vault-0123456789abcdef]",
    "XXXX",
    "\u{200b}",
    "\u{200d}",
    "\u{feff}",
    "\u{ad}",
    "\u{2060}",
    "\u{202e}",
    "\u{3000}",
    "\u{a0}",
    "＝",
    "：",
    "＠",
    "．",
    "－",
    "，",
    "。",
    "「",
    "密码",
    "é",
    "ß",
    "İ",
    "ſ",
    "K",
    "😀",
    "\u{301}",
    "\u{fffd}",
    "０",
    "９",
    "Ａ",
    "ｚ",
    "password",
    "secret",
    "token",
    "api_key",
    "Authorization: Bearer ",
    "Basic ",
    "Cookie: ",
    "Set-Cookie: ",
    "user:",
    "eyJ",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "-----BEGIN ",
    "-----",
    "PRIVATE KEY",
    "==",
    "AKIA",
    "0x",
    "bc1",
    "+44 (",
    "+1 ",
    "::",
    "ssn ",
    "card ",
    "phone: ",
    "mac ",
    "GB82 ",
    "null",
    "true",
    "1e9",
    "-0",
    "process.env.",
    "${",
    "}}",
    "{{",
    "$(",
    "xxxx",
    "example",
];

const CLASSES: &[&str] = &[
    "0123456789",
    "0123456789abcdef",
    "0123456789ABCDEF",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    "a",
    ".:-/ 0123456789",
    "abcdefghijklmnopqrstuvwxyz     \n",
    "!#$%&*+-./:;<=>?@^_|~aA0",
    "０１２３４５６７８９",
    "\u{200b}a\u{ad}0",
];

/// What all rules say they find, and what they say they do not.
pub static SAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let detector = Detector::builtin();
    let both = |rule: &std::sync::Arc<tower_agent_detect::Rule>| {
        rule.samples_hit()
            .iter()
            .chain(rule.samples_miss())
            .map(|it| expand(it))
            .collect::<Vec<_>>()
    };
    detector.rules().iter().flat_map(both).collect()
});

/// The words that the prefilter looks for.
pub static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| Detector::builtin().words());

/// The pieces of the text that an input stands for; they are cut where the input says so. What stands for something longer is
/// passed through `quote`.
pub fn pieces(input: &[u8], quote: impl Fn(&str) -> String) -> Vec<String> {
    let mut rest = input;
    let mut pieces = vec![String::new()];
    let (mut last, mut length) = (String::new(), 0);
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let written = match first {
            CUT => {
                pieces.push(String::new());
                continue;
            }
            AGAIN => last
                .repeat(usize::from(byte(&mut rest)).min((LONGEST - length) / last.len().max(1))),
            SAMPLE..=u8::MAX => {
                last = long(first, &mut rest);
                quote(&last)
            }
            _ => {
                let end = rest.iter().position(|byte| *byte >= SAMPLE).unwrap_or(rest.len());
                let plain = &input[input.len() - rest.len() - 1..input.len() - rest.len() + end];
                rest = &rest[end..];
                last = String::from_utf8_lossy(plain).into_owned();
                last.clone()
            }
        };
        if length + written.len() > LONGEST {
            break;
        }
        length += written.len();
        pieces.last_mut().expect("there is always one").push_str(&written);
    }
    pieces
}

/// The text that an input stands for.
pub fn text(input: &[u8]) -> String {
    pieces(input, str::to_owned).concat()
}

fn long(what: u8, rest: &mut &[u8]) -> String {
    match what {
        SAMPLE => pick(&SAMPLES, number(rest)),
        WORD => pick(&WORDS, number(rest)),
        BIT => BITS[usize::from(byte(rest)) % BITS.len()].to_owned(),
        RUN => run(byte(rest), byte(rest), byte(rest)),
        HEAD => {
            let sample = pick(&SAMPLES, number(rest));
            sample.chars().take(usize::from(byte(rest))).collect()
        }
        _ => pick(&SAMPLES, number(rest)).chars().map(wide).collect(),
    }
}

fn wide(letter: char) -> char {
    match letter {
        '!'..='~' => char::from_u32(letter as u32 - 0x21 + 0xff01).unwrap_or(letter),
        _ => letter,
    }
}

fn run(class: u8, count: u8, seed: u8) -> String {
    let letters: Vec<char> = CLASSES[usize::from(class) % CLASSES.len()].chars().collect();
    let mut state = u64::from(seed) + 1;
    let next = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        letters[(state >> 33) as usize % letters.len()]
    };
    (0..count).map(next).collect()
}

fn pick(all: &[String], number: usize) -> String {
    all[number % all.len()].clone()
}

fn number(rest: &mut &[u8]) -> usize {
    usize::from(byte(rest)) << 8 | usize::from(byte(rest))
}

/// The next byte; zero at the end, so that every input stands for a text.
fn byte(rest: &mut &[u8]) -> u8 {
    let Some((first, after)) = rest.split_first() else { return 0 };
    *rest = after;
    *first
}
