//! A text without its invisible characters, which would hide a match from a pattern.

/// Characters of no width that people never notice inside a word.
const INVISIBLE: [char; 6] = ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];

/// A text without invisible characters, and where its bytes stand in the original.
#[derive(Debug)]
pub(super) struct View {
    text: String,
    places: Vec<usize>,
}

pub(super) fn is_invisible(character: char) -> bool {
    INVISIBLE.contains(&character)
}

impl View {
    /// The view of a text that has invisible characters.
    pub(super) fn of(text: &str) -> Option<Self> {
        if text.is_ascii() || !text.contains(INVISIBLE) {
            return None;
        }
        let mut view = Self { text: String::new(), places: Vec::new() };
        for (place, character) in text.char_indices().filter(|(_, it)| !is_invisible(*it)) {
            view.text.push(character);
            view.places.extend(place..place + character.len_utf8());
        }
        Some(view)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The place in the view of a place in the original, or of the next visible one.
    pub(super) fn to_canonical(&self, place: usize) -> usize {
        self.places.partition_point(|original| *original < place)
    }

    /// The stretch of the original from the first to the last byte of one of the view.
    pub(super) fn to_original(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let first = self.places.get(start).copied().unwrap_or_default();
        let last = self.places.get(end.wrapping_sub(1)).map_or(first, |last| last + 1);
        (first, last)
    }

    /// The place in an original of the given length.
    pub(super) fn place(&self, place: usize, length: usize) -> usize {
        self.places.get(place).copied().unwrap_or(length)
    }
}
