//! Masks the string values of JSON text and leaves everything else as it is written.

use std::ops::Range;

use super::engine::{Engine, Hit, Tally, merge};
use crate::json_text::{is_json, string_end};

impl Engine {
    /// Masks a text; where it is JSON as a whole, it stays the same JSON but for its string values.
    pub(super) fn mask_data(&self, text: &str, tally: &mut Tally) -> Option<String> {
        let hits = self.find(text, 0);
        // Only escapes and the borders of a string can hide something from a search of the whole text.
        if hits.is_empty() && !text.contains('\\') && !self.is_anchored() {
            return None;
        }
        if !is_json(text) {
            return self.mask(text, tally);
        }
        let once = self.mask_json(text, hits, tally)?;
        let hits = self.find(&once, 0);
        Some(self.mask_json(&once, hits, &mut Tally::default()).unwrap_or(once))
    }

    fn mask_json(&self, text: &str, mut hits: Vec<Hit>, tally: &mut Tally) -> Option<String> {
        hits.sort_by_key(|hit| hit.secret);
        let mut hits = hits.as_slice();
        let mut out = String::new();
        let mut done = 0;
        for range in string_values(text) {
            let before = hits.iter().take_while(|hit| hit.secret.1 <= range.start).count();
            hits = hits.get(before..).unwrap_or_default();
            let Some(literal) = text.get(range.clone()) else { continue };
            let inside = hits.iter().take_while(|hit| hit.secret.0 < range.end);
            if let Some(masked) = self.mask_literal(literal, range.start, inside, tally) {
                out.push_str(text.get(done..range.start).unwrap_or_default());
                out.push_str(&masked);
                done = range.end;
            }
        }
        out.push_str(text.get(done..).unwrap_or_default());
        (done > 0).then_some(out)
    }

    /// Masks a string with its quotes: what was found in it from outside, and what it holds by itself.
    fn mask_literal<'a>(
        &self,
        literal: &str,
        start: usize,
        outside: impl Iterator<Item = &'a Hit>,
        tally: &mut Tally,
    ) -> Option<String> {
        let text = Decoded::of(literal);
        let mut hits: Vec<_> = outside.filter_map(|hit| text.within(hit, start)).collect();
        if text.is_escaped() || self.is_anchored() {
            hits.extend(self.find(text.as_str(), 0));
        }
        if hits.is_empty() {
            return None;
        }
        hits.extend(self.replaced_already(text.as_str(), 0));
        let spans = merge(hits);
        if spans.is_empty() {
            return None;
        }
        let masked = self.apply(text.as_str(), 0, text.as_str().len(), &spans, tally);
        Some(serde_json::Value::from(masked).to_string())
    }
}

/// Where the strings of a JSON text stand that are values and not keys, their quotes included.
fn string_values(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text.get(from..)?.find('"')?;
            let end = start + string_end(text.get(start..)?)?;
            from = end;
            if !text.get(end..)?.trim_ascii_start().starts_with(':') {
                return Some(start..end);
            }
        }
    })
}

/// The text of a JSON string.
struct Decoded<'a> {
    literal: &'a str,
    decoded: Option<String>,
    /// For each byte of the text, where it stands in the literal.
    places: Vec<usize>,
}

impl<'a> Decoded<'a> {
    fn of(literal: &'a str) -> Self {
        if !literal.contains('\\') {
            return Self { literal, decoded: None, places: Vec::new() };
        }
        let (decoded, places) = match serde_json::from_str::<String>(literal) {
            Ok(decoded) => {
                let places = places(literal, &decoded);
                (decoded, places)
            }
            // Half a surrogate pair is JSON, but no text; then the literal is searched as it is.
            Err(_) => (inner(literal).to_owned(), (1..literal.len()).collect()),
        };
        Self { literal, decoded: Some(decoded), places }
    }

    const fn is_escaped(&self) -> bool {
        self.decoded.is_some()
    }

    fn as_str(&self) -> &str {
        self.decoded.as_deref().unwrap_or_else(|| inner(self.literal))
    }

    /// The part of something found in the whole text that lies in this string, which starts there.
    fn within(&self, hit: &Hit, start: usize) -> Option<Hit> {
        let length = self.literal.len();
        let from = hit.secret.0.saturating_sub(start).clamp(1, length - 1);
        let to = hit.secret.1.saturating_sub(start).clamp(1, length - 1);
        if from >= to {
            return None;
        }
        let (from, to) = if self.is_escaped() {
            let place = |raw| self.places.partition_point(|place| *place < raw);
            // The first byte at or after a place; half an escape is masked as a whole.
            (self.places.partition_point(|place| *place <= from).saturating_sub(1), place(to))
        } else {
            (from - 1, to - 1)
        };
        let text = self.as_str();
        let (from, to) = (text.floor_char_boundary(from), text.ceil_char_boundary(to));
        (from < to).then(|| hit.with_secret(from, to))
    }
}

fn inner(literal: &str) -> &str {
    literal.get(1..literal.len() - 1).unwrap_or_default()
}

/// Walks a literal and its text side by side.
fn places(literal: &str, decoded: &str) -> Vec<usize> {
    let mut places = Vec::with_capacity(decoded.len());
    let mut raw = 1;
    for character in decoded.chars() {
        places.extend(std::iter::repeat_n(raw, character.len_utf8()));
        let rest = literal.get(raw..).unwrap_or_default().as_bytes();
        raw += match rest {
            [b'\\', b'u', ..] if character.len_utf16() == 2 => 12,
            [b'\\', b'u', ..] => 6,
            [b'\\', ..] => 2,
            _ => character.len_utf8(),
        };
    }
    places
}
