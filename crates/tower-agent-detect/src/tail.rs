//! How much of the end of a text that goes on may still become part of something.

/// Words of which the beginning may stand at the end of a text, though it is no word as such.
#[derive(Debug)]
pub(crate) struct Tail {
    odd: Vec<Vec<u8>>,
}

/// A run of these may turn out to be a value, or the beginning of one, by what follows it.
pub(crate) const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'~' | b'-')
}

/// A run of these may turn out to be Base64 of something.
pub(crate) const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Nothing looks further back than this from what makes a run a value, in bytes.
pub(crate) const LONGEST_RUN: usize = 64;

/// The longest keyword of a rule, in bytes: so much of it may have come behind such a run.
const LONGEST_WORD: usize = 64;

/// How much of a run is taken for Base64, in bytes.
pub(crate) const LONGEST_BASE64: usize = 4096;

impl Tail {
    /// For words that are themselves the beginning of what is masked.
    pub(crate) fn new<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let odd =
            words.filter(|word| !word.bytes().all(is_run)).map(|word| word.as_bytes().to_vec());
        Self { odd: odd.collect() }
    }

    /// The place from which the text has to be held back.
    pub(crate) fn hold(&self, text: &[u8]) -> usize {
        let odd =
            self.odd.iter().map(|word| beginning_at_end(text, word)).max().unwrap_or_default();
        run_at_end(text.get(..text.len() - odd).unwrap_or_default())
    }
}

/// Where the run that a text ends with begins.
fn run_at_end(text: &[u8]) -> usize {
    let longest = LONGEST_RUN + LONGEST_WORD;
    let run = text.iter().rev().take(longest).take_while(|byte| is_run(**byte)).count();
    let base64 =
        text.iter().rev().take(LONGEST_BASE64).take_while(|byte| is_base64(**byte)).count();
    text.len() - run.max(base64)
}

/// How much of the beginning of a word the text ends with.
fn beginning_at_end(text: &[u8], word: &[u8]) -> usize {
    let longest = text.len().min(word.len().saturating_sub(1));
    let ends = |length: &usize| {
        let beginning = word.get(..*length).unwrap_or_default();
        text.get(text.len() - length..).is_some_and(|end| end.eq_ignore_ascii_case(beginning))
    };
    (1..=longest).rev().find(ends).unwrap_or_default()
}
