//! Edits the strings of a JSON text and leaves everything else as it is written, byte for byte.

mod scan;
mod string;

use std::{borrow::Cow, ops::Range};

use self::scan::{Visit, scan};

/// What stands around a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf<'a> {
    /// The name of the nearest key above it: that of the object's member, or of the array that it lies in. For a key, that of
    /// the object which it is a key of.
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

/// Calls `mask` with the text of each leaf and each key, in their order; strings are decoded. What it returns stands there
/// instead, as a string. None when nothing was replaced, or when the text is no JSON, which only
/// [`is_document`] can tell.
///
/// Half a surrogate pair, which is JSON but no text, is given as U+FFFD.
pub(crate) fn edit(
    text: &str,
    mask: &mut impl FnMut(&Leaf<'_>, &str) -> Option<String>,
) -> Option<String> {
    let mut editor = Editor { text, mask, keys: Vec::new(), out: String::new(), done: 0 };
    if !scan(text, &mut editor) || editor.done == 0 {
        return None;
    }
    let mut out = editor.out;
    out.push_str(text.get(editor.done..).unwrap_or_default());
    Some(out)
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
    /// For each object that is open, the key that its next value belongs to.
    keys: Vec<Option<Cow<'t, str>>>,
    out: String,
    /// Up to where the text was copied.
    done: usize,
}

impl<'t, F: FnMut(&Leaf<'_>, &str) -> Option<String>> Editor<'t, '_, F> {
    fn decoded(&self, literal: &Range<usize>, escaped: bool) -> Cow<'t, str> {
        let inner = self.text.get(literal.start + 1..literal.end - 1).unwrap_or_default();
        if escaped { Cow::Owned(string::decode(inner)) } else { Cow::Borrowed(inner) }
    }

    fn replace(&mut self, leaf: Range<usize>, written: &str) {
        self.out.push_str(self.text.get(self.done..leaf.start).unwrap_or_default());
        self.out.push_str(written);
        self.done = leaf.end;
    }

    fn replace_string(&mut self, literal: Range<usize>, new: &str) {
        let old = self.text.get(literal.start + 1..literal.end - 1).unwrap_or_default();
        let written = string::encode(new, old);
        self.replace(literal, &written);
    }
}

impl<F: FnMut(&Leaf<'_>, &str) -> Option<String>> Visit for Editor<'_, '_, F> {
    fn object_begins(&mut self) {
        self.keys.push(None);
    }

    fn object_ends(&mut self) {
        self.keys.pop();
    }

    fn key(&mut self, literal: Range<usize>, escaped: bool) {
        let key = self.decoded(&literal, escaped);
        let above = self.keys.iter().rev().nth(1).and_then(Option::as_deref);
        let new = (self.mask)(&Leaf { key: above, kind: LeafKind::Key }, &key);
        if let Some(last) = self.keys.last_mut() {
            *last = Some(key);
        }
        if let Some(new) = new {
            self.replace_string(literal, &new);
        }
    }

    fn string(&mut self, literal: Range<usize>, escaped: bool) {
        let text = self.decoded(&literal, escaped);
        let key = self.keys.last().and_then(Option::as_deref);
        if let Some(new) = (self.mask)(&Leaf { key, kind: LeafKind::String }, &text) {
            self.replace_string(literal, &new);
        }
    }

    fn scalar(&mut self, literal: Range<usize>, kind: LeafKind) {
        let text = self.text.get(literal.clone()).unwrap_or_default();
        let key = self.keys.last().and_then(Option::as_deref);
        if let Some(new) = (self.mask)(&Leaf { key, kind }, text) {
            self.replace(literal, &string::encode(&new, ""));
        }
    }
}

#[cfg(test)]
mod tests;
