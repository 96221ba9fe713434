//! A text that comes in pieces, as it was written and as it is read.

use crate::{
    tail::Bytes,
    view::{self, View},
};

/// What has come and is not forgotten.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    text: String,
    /// How the text is read, where that differs from how it is written.
    view: Option<View>,
}

impl Buffer {
    /// Takes a piece as it is written, and says what it is made of.
    #[inline]
    pub(crate) fn push(&mut self, piece: &str) -> Bytes {
        match piece.as_bytes() {
            // To append a single byte takes less than to copy a text of any length.
            [byte] if byte.is_ascii() => {
                self.text.push(char::from(*byte));
                Bytes::one(*byte)
            }
            _ => {
                self.text.push_str(piece);
                Bytes::of(piece)
            }
        }
    }

    /// Takes the same piece as it is read.
    pub(crate) fn view(&mut self, piece: &str) {
        match &mut self.view {
            Some(view) => view.push(piece, self.text.len() - piece.len()),
            None if piece.is_ascii() || !view::differs(piece) => {}
            None => self.view = Some(View::of(&self.text)),
        }
    }

    pub(crate) const fn has_view(&self) -> bool {
        self.view.is_some()
    }

    /// The length of the text as it is written.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.text.len()
    }

    /// The text as it is written. What is given out are places of this one.
    #[inline]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text as it is read. What is searched is this one.
    #[inline]
    pub(crate) fn read(&self) -> &str {
        self.view.as_ref().map_or(&self.text, View::text)
    }

    /// Where a place of the text as it is read stands in the text as it is written.
    #[inline]
    pub(crate) fn written(&self, place: usize) -> usize {
        match &self.view {
            None => self.text.floor_char_boundary(place),
            Some(view) => view.original(view.text().floor_char_boundary(place), self.text.len()),
        }
    }

    /// The first place of the text as it is read that stands at, or behind, one of the text as it is written.
    pub(crate) fn read_place(&self, written: usize) -> usize {
        self.view.as_ref().map_or(written, |view| view.place_of(written))
    }

    /// A stretch of the text as it is written, without half a character at either end.
    pub(crate) fn stretch(&self, start: usize, end: usize) -> (usize, usize) {
        let read = self.read();
        let (start, end) = (read.floor_char_boundary(start), read.ceil_char_boundary(end));
        self.view.as_ref().map_or((start, end), |view| view.stretch(start, end))
    }

    /// Forgets the front, up to a place of the text as it is read. Gives how much of each text was forgotten: as it
    /// is read, and as it is written.
    pub(crate) fn forget(&mut self, to: usize) -> (usize, usize) {
        let read = self.read().floor_char_boundary(to);
        let written = self.written(read);
        self.text.drain(..written);
        if let Some(view) = &mut self.view {
            view.forget(read, written);
            self.view.take_if(|_| !view::differs(&self.text));
        }
        (read, written)
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.view = None;
    }
}
