//! How fast secrets and personal data are found, beside the automaton that would look for the words of the rules alone:
//! `cargo bench --bench detect-engine`.
//!
//! All figures are of one run, of the fastest of some samples, in time of the thread. Compare ratios; the machine is never
//! quiet. Words after `--` choose tables: `whole`, `secrets`, `streamed`, `hostile`.

mod corpora;
#[path = "../../crates/tower-agent-detect/tests/support/mod.rs"]
#[expect(missing_docs, reason = "it is a module of tests")]
mod support;

use std::{env, hint::black_box, time::Duration};

use aho_corasick::{
    AhoCorasick, AhoCorasickKind, Anchored,
    automaton::Automaton as _,
    dfa::DFA,
};
use corpora::{CORPORA, corpus};
use cpu_time::ThreadTime;
use tower_agent_detect::{Detector, Mask, Set};

/// Bytes of a corpus, of a piece, and of a short piece.
const BYTES: usize = 2_000_000;
const LARGE: usize = 100_000;
const SMALL: usize = 200;
/// Bytes of an answer that is streamed.
const ANSWER: usize = 16 << 10;
/// Bytes of text made to be slow.
const HOSTILE: usize = 10_000_000;
const HOSTILE_SMALL: usize = 20_000;

/// Text made to be slow: this again and again.
const AGAIN: [&str; 40] = [
    "eyJ", "-----BEGIN", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "AKIA",
    "sk-ant-", "key=key=", "token: token: ", "password\"", "password=", "password = \"",
    "\"password\": \"", "secret ", "://a:", "https://", "a:b@c://", "@a@a@", "a@b.", "a.b@c.d ",
    "%41%41", "%", "A", "QUJDREVG", "QUJDREVGQUJDREVGQUJDREVGQUJDREVG ", "1", "12 ", "1 2 3 4 ",
    "1-2-3-4-", "1.1.1.1.", "(1) ", "+1 ", "a:b:c:", "::", "ab-", "00-11-", "\\", "\\\"", "[",
    "[REDACTED:", "GB29 ",
];

/// What stands between a word and itself.
const BETWEEN: [&str; 12] = ["", " ", "-", "_", ".", "/", ":", "=", "'", "\"", "\n", "=\""];

struct Engines {
    all: Detector,
    secrets: Detector,
    automaton: AhoCorasick,
    dfa: DFA,
}

fn main() {
    let chosen: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_chosen = |table: &str| chosen.is_empty() || chosen.iter().any(|word| word == table);
    let engines = Engines::new();
    if is_chosen("whole") {
        whole(&engines);
    }
    if is_chosen("secrets") {
        with_secrets(&engines);
    }
    if is_chosen("streamed") {
        streamed(&engines);
    }
    if is_chosen("hostile") {
        hostile(&engines);
    }
}

impl Engines {
    fn new() -> Self {
        let all = Detector::builtin();
        let words = all.words();
        println!("{} rules, {} words", all.rules().len(), words.len());
        for rule in all.rules() {
            rule.check().expect("the rules of the crate compile");
        }
        Self {
            secrets: Detector::builder().set(Set::Secrets).build().expect("a set is a choice"),
            automaton: AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::DFA))
                .ascii_case_insensitive(true)
                .build(&words)
                .expect("some thousand words fit into an automaton"),
            dfa: DFA::builder()
                .ascii_case_insensitive(true)
                .build(&words)
                .expect("some thousand words fit into an automaton"),
            all,
        }
    }

    fn automaton(&self, pieces: &[&str]) -> Duration {
        best(|| pieces.iter().map(|piece| self.automaton.find_iter(piece).count()).sum())
    }
}

/// The least time of a few samples.
fn best(mut sample: impl FnMut() -> usize) -> Duration {
    let sample = |_| {
        let start = ThreadTime::now();
        black_box(sample());
        start.elapsed()
    };
    (0..9).map(sample).min().unwrap_or_default()
}

fn find(detector: &Detector, pieces: &[&str]) -> Duration {
    best(|| pieces.iter().map(|piece| detector.find(black_box(piece)).len()).sum())
}

/// A corpus in which nothing is found.
fn clean(engines: &Engines, name: &str) -> String {
    let text = String::from_utf8_lossy(&corpus(name, BYTES)).into_owned();
    let mut clean = String::with_capacity(text.len());
    for piece in text.split_inclusive('\n') {
        if engines.all.find(piece).is_empty() {
            clean.push_str(piece);
        }
    }
    clean
}

fn pieces(text: &str, length: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(length));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// Megabytes in a second.
fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn whole(engines: &Engines) {
    println!("\n| clean text | piece | automaton MB/s | secrets MB/s | of it | all MB/s | of it |");
    println!("|---|---|---|---|---|---|---|");
    for name in CORPORA {
        let text = clean(engines, name);
        for length in [LARGE, SMALL] {
            let pieces = pieces(&text, length);
            let automaton = engines.automaton(&pieces);
            let (secrets, all) = (find(&engines.secrets, &pieces), find(&engines.all, &pieces));
            println!(
                "| {name} | {length} | {:.0} | {:.0} | {:.2} | {:.0} | {:.2} |",
                rate(text.len(), automaton),
                rate(text.len(), secrets),
                ratio(automaton, secrets),
                rate(text.len(), all),
                ratio(automaton, all),
            );
        }
    }
}

/// One secret in 10 KB, of different rules.
fn with_secrets(engines: &Engines) {
    println!("\n| one secret in 10 KB | automaton MB/s | secrets MB/s | of it | all MB/s | of it |");
    println!("|---|---|---|---|---|---|");
    let samples: Vec<String> = engines
        .secrets
        .rules()
        .iter()
        .filter_map(|rule| Some(support::expand(rule.samples_hit().first()?)))
        .collect();
    for name in CORPORA {
        let clean = clean(engines, name);
        let mut text = String::new();
        for (piece, sample) in pieces(&clean, 10_000).into_iter().zip(samples.iter().cycle().step_by(7)) {
            text.push_str(piece);
            text.push_str(&format!("\n{sample}\n"));
        }
        let pieces = pieces(&text, LARGE);
        let automaton = engines.automaton(&pieces);
        let (secrets, all) = (find(&engines.secrets, &pieces), find(&engines.all, &pieces));
        println!(
            "| {name} | {:.0} | {:.0} | {:.2} | {:.0} | {:.2} |",
            rate(text.len(), automaton),
            rate(text.len(), secrets),
            ratio(automaton, secrets),
            rate(text.len(), all),
            ratio(automaton, all),
        );
    }
}

/// Answers in chunks, each of which gives out what is settled.
fn streamed(engines: &Engines) {
    println!("\n| streamed | chunk | carried automaton ns/B | all ns/B | of it |");
    println!("|---|---|---|---|---|");
    for name in CORPORA {
        let text = clean(engines, name);
        let text = &text[..text.floor_char_boundary(1 << 20)];
        for chunk in [1, 4, 16, 64, 1024] {
            let answers: Vec<_> =
                pieces(text, ANSWER).into_iter().map(|answer| pieces(answer, chunk)).collect();
            let automaton = best(|| answers.iter().map(|answer| carried(&engines.dfa, answer)).sum());
            let all = best(|| answers.iter().map(|answer| pushed(&engines.all, answer)).sum());
            let per_byte = |time: Duration| time.as_secs_f64() * 1e9 / text.len() as f64;
            println!(
                "| {name} | {chunk} | {:.1} | {:.1} | {:.2} |",
                per_byte(automaton),
                per_byte(all),
                ratio(all, automaton),
            );
        }
    }
}

/// Words by an automaton whose state goes from chunk to chunk.
fn carried(dfa: &DFA, chunks: &[&str]) -> usize {
    let mut state = dfa.start_state(Anchored::No).expect("it is built for searches anywhere");
    let mut found = 0;
    for byte in chunks.iter().flat_map(|chunk| chunk.bytes()) {
        state = dfa.next_state(Anchored::No, state, byte);
        found += usize::from(dfa.is_special(state) && dfa.is_match(state));
    }
    found
}

fn pushed(detector: &Detector, chunks: &[&str]) -> usize {
    let mut stream = detector.stream(Mask::label());
    let mut out = String::with_capacity(2 * ANSWER);
    for chunk in chunks {
        stream.push(chunk, &mut out);
    }
    stream.finish(&mut out);
    out.len()
}

/// Text made to be slow, the slowest first.
fn hostile(engines: &Engines) {
    let code = clean(engines, "code");
    let code = rate(code.len(), find(&engines.all, &pieces(&code, LARGE)));
    let once = |text: &str| {
        let sample = |_| {
            let start = ThreadTime::now();
            black_box(engines.all.find(black_box(text)).len());
            start.elapsed()
        };
        rate(text.len(), (0..3).map(sample).min().unwrap_or_default())
    };
    let streamed = |text: &str| {
        let chunks = pieces(text, 16);
        let start = ThreadTime::now();
        black_box(pushed(&engines.all, &chunks));
        rate(text.len(), start.elapsed())
    };
    let mut rates = Vec::new();
    for again in AGAIN {
        rates.push((once(&again.repeat(HOSTILE / again.len())), format!("{again:?}")));
    }
    print_slowest(rates, code, "whole, 10 MB");
    let mut rates = Vec::new();
    for rule in engines.all.rules() {
        let one = Detector::builder().only([rule.id()]).build().expect("the rule is there");
        for word in one.words() {
            for between in BETWEEN {
                let text = format!("{word}{between}").repeat(HOSTILE_SMALL / word.len());
                rates.push((once(&text), format!("{}: {word:?}, {between:?}", rule.id())));
            }
        }
        for sample in rule.samples_hit() {
            let again = format!("{}\n", support::expand(sample));
            let text = again.repeat(HOSTILE_SMALL / again.len() + 1);
            rates.push((once(&text), format!("{}: a hit, {sample:?}", rule.id())));
        }
    }
    print_slowest(rates, code, "whole, 20 KB");
    let again = AGAIN.map(|again| {
        (streamed(&again.repeat(HOSTILE / 10 / again.len())), format!("{again:?}"))
    });
    print_slowest(again.to_vec(), code, "in chunks of 16 bytes, 1 MB");
}

fn print_slowest(mut rates: Vec<(f64, String)>, code: f64, how: &str) {
    let most = env::var("SLOWEST").ok().and_then(|most| most.parse().ok()).unwrap_or(10);
    rates.sort_by(|one, other| one.0.total_cmp(&other.0));
    println!("\n| slowest of {} texts, {how} | MB/s | of clean code |\n|---|---|---|", rates.len());
    for (rate, text) in rates.iter().take(most) {
        println!("| `{text}` | {rate:.0} | {:.2} |", rate / code);
    }
}
