//! Texts made of what the rules look for, whole and in pieces, and of what stands around it or hides it.

use std::sync::LazyLock;

use proptest::{prelude::*, sample::select, test_runner::Config};
use tower_agent_detect::Detector;

use crate::support::expand;

/// A configuration for so many cases, unless the environment asks for more.
pub(crate) fn cases(count: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok());
    Config { cases: asked.unwrap_or(count), failure_persistence: None, ..Config::default() }
}

/// All samples of all rules.
pub(crate) static SAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let rules = Detector::builtin();
    let samples = rules.rules().iter().flat_map(|rule| rule.samples_hit().iter());
    let misses = rules.rules().iter().flat_map(|rule| rule.samples_miss().iter());
    samples.chain(misses).map(|sample| expand(sample)).collect()
});

static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let names = "password passwd secret token api_key api-key access_key private key authorization \
                 bearer credential identified by card ssn mac phone call me on version jwt influx";
    Detector::builtin().words().into_iter().chain(names.split(' ').map(str::to_owned)).collect()
});

/// Operators, quotes, delimiters, marks, and characters that are no ASCII.
#[rustfmt::skip]
const GLUE: &[&str] = &[
    " ", " ", " ", "\n", "\n", "\r\n", "\t", "=", "=", ":", ": ", ": ", " = ", " := ", " => ", "==", "!=", "\"", "\"",
    "'", "`", "\\", "\\\"", "\\\\\"", "\\n", "\\r\\n", "\\u0022", "\"\"\"", "=\"", "\": \"", "':'", ",", ", ", ";", "&",
    "?", "|", "||", "(", ")", "[", "]", "{", "}", "<", ">", "</", "/>", "<password>", "</password>", "/", "//", "://",
    "@", "@", "@example.com", "a@b.co", "user:", "user:p@ss@host", "https://u:p4ssw0rd@host/", ".", ". ", "..", "-", "--",
    "-----", "-----BEGIN", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "_", "+", "%", "%4", "%41",
    "%3D", "%20", "%25", "%2", "%zz", "$", "#", "*", "****", "~", "^", "x", "0", "1", "7", "19", "0x", "::", "fe80::1%",
    "[REDACTED]", "[REDACTED]", "[REDACTED:github-pat]", "[REDACTED:email]", "[REDACTED:email:1f3a9c0e5b7d2468]", "[REDACTED",
    "[REDACTED:", "[RED", "[", "[REDACTED:no such]", "[REDACTED:x", "REDACTED]", "***", "XXXX", "<masked>", "<mas", "is",
    " is ", " value ", "\"value\": ", "Bearer ", "Basic ", "e", "\u{e9}", "\u{df}", "\u{301}", "\u{308}", "\u{200b}",
    "\u{200d}", "\u{feff}", "\u{ad}", "\u{2060}", "\u{3000}", "\u{3002}", "\u{ff1a}", "\u{ff1d}", "\u{ff20}", "\u{ff0e}",
    "\u{5bc6}\u{7801}", "\u{5bc6}\u{94a5}\u{ff1a}", "\u{0643}\u{0644}\u{0645}\u{0629}", "\u{1f511}",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", "\u{c4}", "\u{103ff}", "\0", "\u{7f}",
];

const RUNS: &str = "aA0=-_.%+/@:\\\"'([{< \n,;&|*#~eE1fx\u{e9}\u{200b}\u{ff21}\u{5bc6}";

/// A text of a few pieces.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14).prop_map(|pieces| pieces.concat())
}

/// A text of many pieces, a few of them long.
pub(crate) fn long_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![20 => piece(), 1 => run(select(vec![100, 700, 5_000, 20_000]))];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// One piece of a text.
pub(crate) fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => select(GLUE).prop_map(str::to_owned),
        6 => sample(),
        3 => (sample(), 0.0..1.0).prop_map(|(text, share)| cut(&text, share).0.to_owned()),
        3 => (sample(), 0.0..1.0).prop_map(|(text, share)| cut(&text, share).1.to_owned()),
        3 => select(&WORDS[..]),
        2 => "[a-zA-Z]{1,9}",
        2 => "[0-9]{1,20}",
        2 => "[0-9 .:/()+-]{1,24}",
        2 => "[0-9a-f:.-]{1,40}",
        1 => "[A-Za-z0-9+/_-]{1,90}={0,2}",
        1 => "\\PC{0,12}",
        1 => run(1..70_usize),
        1 => sample().prop_map(|text| base64(text.as_bytes())),
        1 => (sample(), 0..4_u8).prop_map(|(text, every)| percent(&text, every)),
        1 => (sample(), 0.0..1.0).prop_map(|(text, share)| {
            let (head, tail) = cut(&text, share);
            format!("{head}\u{200b}{tail}")
        }),
        1 => sample().prop_map(|text| wide(&text)),
    ]
}

/// How many characters come at once, again and again.
pub(crate) fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1]),
        prop::collection::vec(0..4_usize, 1..9).prop_map(some),
        prop::collection::vec(0..60_usize, 1..9).prop_map(some),
        prop::collection::vec(1..3_000_usize, 1..4),
    ]
}

fn some(mut sizes: Vec<usize>) -> Vec<usize> {
    if sizes.iter().all(|size| *size == 0) {
        sizes.push(1);
    }
    sizes
}

/// A text in pieces of such sizes, in characters.
pub(crate) fn pieces<'t>(text: &'t str, sizes: &[usize]) -> Vec<&'t str> {
    let mut rest = text;
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        let at = rest.char_indices().nth(*size).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(at);
        pieces.push(piece);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    pieces
}

fn sample() -> impl Strategy<Value = String> {
    select(&SAMPLES[..])
}

fn run(count: impl Strategy<Value = usize>) -> impl Strategy<Value = String> {
    let of = select(RUNS.chars().collect::<Vec<_>>());
    (of, count).prop_map(|(of, count)| of.to_string().repeat(count))
}

fn cut(text: &str, share: f64) -> (&str, &str) {
    let at = (text.len() as f64 * share) as usize;
    text.split_at(text.floor_char_boundary(at))
}

/// Some or all characters as percent escapes.
pub(crate) fn percent(text: &str, every: u8) -> String {
    let escape = |(at, byte): (usize, u8)| {
        let plain = byte.is_ascii_alphanumeric() && at % (usize::from(every) + 1) != 0;
        if plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().enumerate().map(escape).collect()
}

/// As full-width characters.
pub(crate) fn wide(text: &str) -> String {
    let widen = |plain| match plain {
        '!'..='~' => char::from_u32(u32::from(plain) + 0xfee0).unwrap_or(plain),
        other => other,
    };
    text.chars().map(widen).collect()
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}
