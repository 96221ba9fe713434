//! Edits the strings of a JSON text and leaves everything else as it is written, byte for byte.

mod members;
mod scan;
mod string;

use std::{borrow::Cow, ops::Range};

use self::{
    members::{Members, Place},
    scan::{Visit, scan},
};

/// What stands around a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf<'a> {
    /// The name that it is the value of: the nearest key above it, that is the one of the object's member or of the array that it
    /// lies in, unless another one says more, as that of a pair such as `{"name": .., "value": ..}` does. For a key, that of the
    /// object which it is a key of.
    pub(crate) key: Option<&'a str>,
    pub(crate) kind: LeafKind,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LeafKind {
    String,
    Number,
    /// `true`, `false` or `null`.
    Other,
    Key,
}

/// Calls `mask` with the text of each leaf and each key, in their order, but for values whose name may follow them; strings are
/// decoded. What it returns stands there instead, as a string. None when nothing was replaced, or when the text is no JSON, which
/// only [`is_document`] can tell.
///
/// Half a surrogate pair, which is JSON but no text, is given as U+FFFD.
pub(crate) fn edit(
    text: &str,
    mask: &mut impl FnMut(&Leaf<'_>, &str) -> Option<String>,
) -> Option<String> {
    let mut editor = Editor { text, mask, members: Members::default(), edits: Vec::new() };
    if !scan(text, &mut editor) || editor.edits.is_empty() {
        return None;
    }
    Some(edited(text, editor.edits))
}

/// A text with some of its places written anew.
fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_unstable_by_key(|(place, _)| place.start);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (place, written) in edits {
        out.push_str(text.get(done..place.start).unwrap_or_default());
        out.push_str(&written);
        done = place.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Whether a text is JSON as a whole: one value of any kind.
pub(crate) fn is_document(text: &str) -> bool {
    scan(text, &mut ())
}

/// Whether a text is, as a whole, a JSON object or array, of any depth.
#[cfg(test)]
pub(crate) fn is_json(text: &str) -> bool {
    let mut outermost = text.trim_ascii().bytes();
    matches!(
        (outermost.next(), outermost.next_back()),
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']'))
    ) && is_document(text)
}

struct Editor<'t, 'm, F> {
    text: &'t str,
    mask: &'m mut F,
    members: Members<'t>,
    edits: Vec<(Range<usize>, String)>,
}

impl<F: FnMut(&Leaf<'_>, &str) -> Option<String>> Editor<'_, '_, F> {
    fn leaf(&mut self, literal: Range<usize>, escaped: bool, kind: LeafKind) {
        let place = Place { literal, escaped, kind };
        if let Some(place) = self.members.take(self.text, place) {
            let key = self.members.name(place.kind);
            self.edits.extend(place.masked(self.text, key, self.mask));
        }
    }
}

impl<F: FnMut(&Leaf<'_>, &str) -> Option<String>> Visit for Editor<'_, '_, F> {
    fn object_begins(&mut self) {
        self.members.object_begins();
    }

    fn object_ends(&mut self) {
        while let Some(held) = self.members.next_held() {
            let key = self.members.name_of(&held);
            self.edits.extend(held.place.masked(self.text, key, self.mask));
        }
        self.members.object_ends();
    }

    fn array_begins(&mut self) {
        self.members.array_begins();
    }

    fn array_ends(&mut self) {
        self.members.array_ends();
    }

    fn key(&mut self, literal: Range<usize>, escaped: bool) {
        let place = Place { literal, escaped, kind: LeafKind::Key };
        self.members.key(place.text(self.text));
        self.edits.extend(place.masked(self.text, self.members.above(), self.mask));
    }

    fn string(&mut self, literal: Range<usize>, escaped: bool) {
        self.leaf(literal, escaped, LeafKind::String);
    }

    fn scalar(&mut self, literal: Range<usize>, kind: LeafKind) {
        self.leaf(literal, false, kind);
    }
}

impl Place {
    /// What stands there; strings are decoded.
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let written = self.written(text);
        if self.escaped { Cow::Owned(string::decode(written)) } else { Cow::Borrowed(written) }
    }

    /// What is written there, of a string what is between its quotes.
    fn written<'t>(&self, text: &'t str) -> &'t str {
        let Range { start, end } = self.literal;
        let inner = match self.kind {
            LeafKind::String | LeafKind::Key => start + 1..end - 1,
            LeafKind::Number | LeafKind::Other => start..end,
        };
        text.get(inner).unwrap_or_default()
    }

    /// What is to be written there instead.
    fn masked(
        &self,
        text: &str,
        key: Option<&str>,
        mask: &mut impl FnMut(&Leaf<'_>, &str) -> Option<String>,
    ) -> Option<(Range<usize>, String)> {
        let new = mask(&Leaf { key, kind: self.kind }, &self.text(text))?;
        let old = match self.kind {
            LeafKind::String | LeafKind::Key => self.written(text),
            LeafKind::Number | LeafKind::Other => "",
        };
        Some((self.literal.clone(), string::encode(&new, old)))
    }
}

#[cfg(test)]
mod tests;
