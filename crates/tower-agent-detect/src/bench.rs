//! What the benches need of the inside. No part of the interface.

use crate::filter::{Around, Filter, Kind};

/// A search for words and numbers.
#[derive(Debug)]
pub struct WordFilter(Filter);

impl WordFilter {
    /// A search for words in lower case, and for numbers if these are asked for.
    #[must_use]
    pub fn new(words: &[String], numbers: bool) -> Self {
        let words: Vec<_> = words.iter().map(|word| (word.clone(), Around::ANYTHING)).collect();
        Self(Filter::new(&words, numbers))
    }

    /// How many words and how many numbers end behind `from`. A number is over where its digits and separators are.
    pub fn count(&self, text: &[u8], from: usize) -> (usize, usize) {
        let (mut words, mut numbers) = (0, 0);
        self.0.search(text, from, &mut |occurrence| match occurrence.kind {
            Kind::Word(_) => {
                words += 1;
                0
            }
            Kind::Base64 => 0,
            Kind::Digits | Kind::Hex => {
                numbers += 1;
                let rest = text.get(occurrence.end..).unwrap_or(&[]);
                let number = rest.iter().take_while(
                    |byte| matches!(byte, b'0'..=b':' | b'(' | b')' | b'-'..=b'/' | b' '),
                );
                occurrence.end + number.count()
            }
        });
        (words, numbers)
    }
}
