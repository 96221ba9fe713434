/// A word, or several between quotes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) quoted: bool,
    pub(super) ends_clause: bool,
}

impl Word {
    fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            quoted: false,
            ends_clause: text.ends_with([',', ';', '.', '?', '!', ':']),
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        !self.quoted
    }

    /// The word without the punctuation that follows it. A path of dots is no punctuation.
    pub(super) fn bare(&self) -> &str {
        if self.quoted || self.text.trim_matches(['.', '/']).is_empty() {
            return &self.text;
        }
        self.text.trim_end_matches([',', ';', '.', '?', '!', ':'])
    }
}

const QUOTES: [(char, char); 4] = [('"', '"'), ('`', '`'), ('“', '”'), ('„', '“')];

/// A sentence in words.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, after) = quoted(rest).unwrap_or_else(|| {
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            (Word::new(word), after)
        });
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// Text between quotes, and the punctuation behind it.
fn quoted(text: &str) -> Option<(Word, &str)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let (_, closing) = QUOTES.iter().find(|(opening, _)| *opening == first)?;
    let (inner, after) = chars.as_str().split_once(*closing)?;
    let ends = after.trim_start_matches([',', ';', '.', '?', '!', ':']);
    let ends_clause = ends.len() < after.len();
    Some((Word { text: inner.to_owned(), quoted: true, ends_clause }, ends))
}
