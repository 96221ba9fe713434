//! How fast text is searched for words, beside the automaton one would use instead: `cargo bench --bench detect`.
//!
//! Compare rows of one run with each other, by their fastest samples; the machine is never quiet.

mod corpora;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use corpora::{CORPORA, corpus};
use divan::{Bencher, counter::BytesCount};
use tower_agent_detect::bench::WordFilter;

/// Bytes of a corpus, which are searched in pieces.
const BYTES: usize = 1_000_000;
const LARGE: usize = 100_000;
const SMALL: usize = 200;

fn main() {
    divan::main();
}

fn words() -> Vec<String> {
    let text = include_str!("keywords.txt").to_ascii_lowercase();
    let mut words: Vec<String> =
        text.split_whitespace().filter(|word| word.len() >= 3).map(String::from).collect();
    words.sort();
    words.dedup();
    words
}

/// The automaton alone, which counts its matches.
#[divan::bench(args = CORPORA)]
fn automaton(bencher: Bencher<'_, '_>, name: &str) {
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .ascii_case_insensitive(true)
        .build(words())
        .expect("a few hundred words fit into an automaton");
    pieces(bencher, name, LARGE, |piece| automaton.find_iter(piece).count());
}

/// Words.
#[divan::bench(args = CORPORA, consts = [LARGE, SMALL])]
fn filter<const PIECE: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let filter = WordFilter::new(&words(), false);
    pieces(bencher, name, PIECE, |piece| filter.count(piece, 0).0);
}

/// Words and numbers.
#[divan::bench(args = CORPORA, consts = [LARGE, SMALL])]
fn filter_with_numbers<const PIECE: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let filter = WordFilter::new(&words(), true);
    pieces(bencher, name, PIECE, |piece| filter.count(piece, 0).1);
}

/// Words and numbers in an answer of 16 KB that grows by a few bytes each time.
#[divan::bench(args = CORPORA, consts = [1, 4, 16, 64, 256])]
fn stream<const CHUNK: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let filter = WordFilter::new(&words(), true);
    pieces(bencher, name, 16 << 10, |piece| {
        let ends = (CHUNK..=piece.len()).step_by(CHUNK);
        ends.map(|end| filter.count(&piece[..end], end - CHUNK).1).sum()
    });
}

fn pieces(
    bencher: Bencher<'_, '_>,
    name: &str,
    piece: usize,
    search: impl Fn(&[u8]) -> usize + Sync,
) {
    let text = corpus(name, BYTES);
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| text.chunks(piece).map(|piece| search(divan::black_box(piece))).sum::<usize>());
}
