//! A text that comes in pieces, as it was written and as it is read.

use crate::view::{self, View};

/// What has come and is not forgotten.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    text: String,
    /// How the text is read, where that differs from how it is written.
    view: Option<View>,
}

impl Buffer {
    pub(crate) fn push(&mut self, piece: &str) {
        let at = self.text.len();
        self.text.push_str(piece);
        match &mut self.view {
            Some(view) => view.push(piece, at),
            None if piece.is_ascii() || !view::differs(piece) => {}
            None => self.view = Some(View::of(&self.text)),
        }
    }

    /// The text as it is written. What is given out are places of this one.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text as it is read. What is searched is this one.
    pub(crate) fn read(&self) -> &str {
        self.view.as_ref().map_or(&self.text, View::text)
    }

    /// Where a place of the text as it is read stands in the text as it is written.
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
