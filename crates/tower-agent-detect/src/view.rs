//! A text as a reader sees it: without characters of no width, and with wide characters as plain ones. Both would
//! hide a value from a pattern, and neither from a person or a model.

use crate::bits::Places;

/// A text without such characters, and where its bytes stand in the original.
#[derive(Debug, Default)]
pub(crate) struct View {
    text: String,
    /// For each byte of the view, where the character that it comes from begins and ends.
    places: Vec<(u32, u32)>,
    /// How many characters in a row at the end have no width.
    unseen: usize,
}

/// How many characters of no width in a row hide nothing: more of them do, so that nothing is held without end while they go
/// on. Nobody writes so many by mistake.
const MOST_UNSEEN: usize = 8;

/// What a character is read as; nothing if it cannot be seen.
const fn read(character: char) -> Option<char> {
    match character {
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => None,
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(character as u32 - 0xfee0),
        '\u{3000}' => Some(' '),
        plain => Some(plain),
    }
}

/// Whether the view of a text differs from the text.
pub(crate) fn differs(text: &str) -> bool {
    // The first bytes of all characters that are read as something else.
    let mut suspects = Places::of([0xc2, 0xe2, 0xe3, 0xef], text.as_bytes(), 0);
    suspects.any(|at| {
        let character = text.get(at..).and_then(|rest| rest.chars().next());
        character.is_some_and(|character| read(character) != Some(character))
    })
}

impl View {
    pub(crate) fn of(text: &str) -> Self {
        let mut view = Self::default();
        view.push(text, 0);
        view
    }

    /// Appends a piece that begins at a place of the original.
    pub(crate) fn push(&mut self, piece: &str, at: usize) {
        let (mut rest, mut at) = (piece, at);
        while !rest.is_empty() {
            let plain = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            let (plain, others) = rest.split_at_checked(plain).unwrap_or((rest, ""));
            let start = at as u32;
            self.text.push_str(plain);
            self.places.extend((start..start + plain.len() as u32).map(|at| (at, at + 1)));
            at += plain.len();
            if !plain.is_empty() {
                self.unseen = 0;
            }
            rest = others.trim_start_matches(|character: char| {
                let wide = !character.is_ascii();
                if wide {
                    self.push_character(character, at);
                    at += character.len_utf8();
                }
                wide
            });
        }
    }

    fn push_character(&mut self, character: char, start: usize) {
        let read = read(character);
        self.unseen = if read.is_none() { self.unseen.saturating_add(1) } else { 0 };
        if let Some(seen) = read.or((self.unseen > MOST_UNSEEN).then_some(character)) {
            let place = (start as u32, (start + character.len_utf8()) as u32);
            self.text.push(seen);
            self.places.extend(std::iter::repeat_n(place, seen.len_utf8()));
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The place in an original of the given length.
    pub(crate) fn original(&self, place: usize, length: usize) -> usize {
        self.places.get(place).map_or(length, |(start, _)| *start as usize)
    }

    /// The first place whose character begins at, or behind, a place of the original.
    pub(crate) fn place_of(&self, original: usize) -> usize {
        self.places.partition_point(|(start, _)| (*start as usize) < original)
    }

    /// The stretch of the original from the first to the last character of one of the view.
    pub(crate) fn stretch(&self, start: usize, end: usize) -> (usize, usize) {
        let first = self.places.get(start).map_or(0, |(start, _)| *start as usize);
        let last = self.places.get(end.wrapping_sub(1)).map_or(first, |(_, end)| *end as usize);
        (first, last)
    }

    /// Forgets the front of the view, and as much of the original.
    pub(crate) fn forget(&mut self, by: usize, original: usize) {
        self.text.drain(..by);
        self.places.drain(..by);
        for (start, end) in &mut self.places {
            (*start, *end) =
                (start.saturating_sub(original as u32), end.saturating_sub(original as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_characters_of_no_width_are_not_seen_and_many_are() {
        let hidden = |count: usize| format!("a{}b", "\u{200b}".repeat(count));
        assert_eq!(View::of(&hidden(MOST_UNSEEN)).text(), "ab");
        assert_eq!(View::of(&hidden(MOST_UNSEEN + 2)).text(), hidden(2));
    }

    #[test]
    fn a_view_is_the_same_however_the_text_comes() {
        let text =
            format!("p\u{2060}a{}\u{ff21}ss{}\u{ad}", "\u{200b}".repeat(11), "\u{feff}".repeat(3));
        let whole = View::of(&text);
        let mut grown = View::default();
        for (at, character) in text.char_indices() {
            grown.push(character.encode_utf8(&mut [0; 4]), at);
        }
        assert_eq!((whole.text(), &whole.places), (grown.text(), &grown.places));
    }
}
