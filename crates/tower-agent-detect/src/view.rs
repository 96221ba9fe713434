//! A text as a reader sees it: without characters of no width, and with wide characters as plain ones. Both would
//! hide a value from a pattern, and neither from a person or a model.

use crate::bits::Places;

/// A text without such characters, and where its bytes stand in the original.
#[derive(Debug, Default)]
pub(crate) struct View {
    text: String,
    /// What differs, in its order.
    odd: Vec<Odd>,
    /// How many characters in a row at the end have no width.
    unseen: usize,
}

/// A character that is read otherwise than it is written: where it begins and ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Odd {
    read: (usize, usize),
    written: (usize, usize),
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
    odd(text).next().is_some()
}

/// The characters that are read as something else, and where they stand.
fn odd(text: &str) -> impl Iterator<Item = (usize, char)> {
    // The first bytes of all of them.
    let suspects = Places::of([0xc2, 0xe2, 0xe3, 0xef], text.as_bytes(), 0);
    suspects.filter_map(|at| {
        let character = text.get(at..)?.chars().next()?;
        (read(character) != Some(character)).then_some((at, character))
    })
}

impl View {
    pub(crate) fn of(text: &str) -> Self {
        let mut view = Self { text: String::with_capacity(text.len()), ..Self::default() };
        view.push(text, 0);
        view
    }

    /// Appends a piece that begins at a place of the original.
    pub(crate) fn push(&mut self, piece: &str, at: usize) {
        let mut done = 0;
        for (place, character) in odd(piece) {
            self.push_plain(piece.get(done..place).unwrap_or_default());
            self.push_odd(character, at + place);
            done = place + character.len_utf8();
        }
        self.push_plain(piece.get(done..).unwrap_or_default());
    }

    fn push_plain(&mut self, plain: &str) {
        if !plain.is_empty() {
            self.text.push_str(plain);
            self.unseen = 0;
        }
    }

    fn push_odd(&mut self, character: char, start: usize) {
        let read = read(character);
        self.unseen = if read.is_none() { self.unseen.saturating_add(1) } else { 0 };
        let begins = self.text.len();
        self.text.extend(read.or((self.unseen > MOST_UNSEEN).then_some(character)));
        let written = (start, start + character.len_utf8());
        self.odd.push(Odd { read: (begins, self.text.len()), written });
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The place in an original of the given length.
    pub(crate) fn original(&self, place: usize, length: usize) -> usize {
        if place < self.text.len() { self.character(place).0 } else { length }
    }

    /// Where the character is written to which a byte of the view belongs.
    fn character(&self, place: usize) -> (usize, usize) {
        let odd = self.last(|odd| odd.read.0 <= place);
        if place < odd.read.1 {
            return odd.written;
        }
        let start = self.text.floor_char_boundary(place);
        let end = self.text.ceil_char_boundary(place + 1);
        (odd.written.1 + start - odd.read.1, odd.written.1 + end - odd.read.1)
    }

    /// The last odd character of those, the first ones, of which something holds; or else what stands before the text.
    fn last(&self, such: impl Fn(&Odd) -> bool) -> Odd {
        let count = self.odd.partition_point(such);
        count.checked_sub(1).and_then(|last| self.odd.get(last)).copied().unwrap_or_default()
    }

    /// The first place whose character begins at, or behind, a place of the original.
    pub(crate) fn place_of(&self, original: usize) -> usize {
        let odd = self.last(|odd| odd.written.0 < original);
        let behind = original.saturating_sub(odd.written.1);
        self.text.ceil_char_boundary(odd.read.1 + behind)
    }

    /// The stretch of the original from the first to the last character of one of the view.
    pub(crate) fn stretch(&self, start: usize, end: usize) -> (usize, usize) {
        let is_in = |place: &usize| *place < self.text.len();
        let first = Some(start).filter(is_in).map_or(0, |start| self.character(start).0);
        let last = end.checked_sub(1).filter(is_in).map_or(first, |last| self.character(last).1);
        (first, last)
    }

    /// Forgets the front of the view, and as much of the original.
    pub(crate) fn forget(&mut self, by: usize, original: usize) {
        self.text.drain(..by);
        self.odd.retain(|odd| odd.written.0 >= original);
        for Odd { read, written } in &mut self.odd {
            *read = (read.0.saturating_sub(by), read.1.saturating_sub(by));
            *written = (written.0.saturating_sub(original), written.1.saturating_sub(original));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        assert_eq!((whole.text(), &whole.odd), (grown.text(), &grown.odd));
    }

    /// Where each byte of the view of a text is written.
    fn places(text: &str) -> Vec<(usize, usize)> {
        let (mut places, mut unseen) = (Vec::new(), 0);
        for (start, character) in text.char_indices() {
            unseen = if read(character).is_none() { unseen + 1 } else { 0 };
            if let Some(seen) = read(character).or((unseen > MOST_UNSEEN).then_some(character)) {
                let place = (start, start + character.len_utf8());
                places.extend(std::iter::repeat_n(place, seen.len_utf8()));
            }
        }
        places
    }

    proptest! {
        #[test]
        fn each_place_of_a_view_is_that_of_a_character(
            text in "(?:[aé\u{20ac}\u{200b}\u{ad}\u{ff21}\u{3000}]|\u{200b}{9,11}|[a-c]{3}){0,9}",
            cut in 0_usize..30,
        ) {
            let mut view = View::of(&text);
            let cut = view.text().floor_char_boundary(cut);
            let written = view.original(cut, text.len());
            view.forget(cut, written);
            let rest = text.get(written..).unwrap();
            let all = places(&text);
            let places: Vec<_> = all.iter().skip(cut).map(|(start, end)| (start - written, end - written)).collect();

            prop_assert_eq!(view.text().len(), places.len());
            for (place, (start, end)) in places.iter().enumerate() {
                prop_assert_eq!(view.original(place, rest.len()), *start);
                prop_assert_eq!(view.stretch(place, place + 1), (*start, *end));
            }
            prop_assert_eq!(view.original(places.len(), rest.len()), rest.len());
            for original in 0..=rest.len() {
                let first = places.partition_point(|(start, _)| *start < original);
                prop_assert_eq!(view.place_of(original), first, "{}", original);
            }
        }
    }
}
