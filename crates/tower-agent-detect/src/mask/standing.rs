//! What was masked before: such a text is a barrier, which no match may touch, so that masking twice is masking once.

use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use super::Mask;
use crate::text::is_word;

/// How each of our own placeholders begins.
pub(crate) const OPENING: &str = "[REDACTED";

/// How long the parts of a placeholder are at most, in bytes.
const NAME: usize = 64;

/// The shortest fixed text that counts as masked, in bytes.
const SHORTEST: usize = 3;

/// The longest run of one byte that counts as masked, in bytes.
const LONGEST_RUN: usize = 4 << 10;

static OURS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(OPENING));

/// Whether something that was masked stands at a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Standing {
    No,
    /// What follows the text decides.
    Undecided,
    /// It stands there, up to, but without, this place.
    Ends(usize),
}

/// The text that stands for everything.
pub(super) struct Fixed {
    text: Arc<str>,
    /// None where the text does not count as masked.
    finder: Option<Finder<'static>>,
    /// Whether it is one byte again and again: then it may stand within a longer line of them, and two of it are such a line.
    run: bool,
}

impl Mask {
    /// Whether a text that stands already there is one that this mask or another one wrote. `last`: nothing follows the text.
    pub(crate) fn standing_at(&self, text: &[u8], at: usize, last: bool) -> Standing {
        let ours = placeholder_at(text, at, last);
        match (ours, self.fixed().map_or(Standing::No, |fixed| fixed.standing_at(text, at, last))) {
            (standing, Standing::No) | (Standing::No, standing) => standing,
            (Standing::Ends(ours), Standing::Ends(fixed)) => Standing::Ends(ours.max(fixed)),
            _ => Standing::Undecided,
        }
    }

    /// Whether nothing was masked before but what our own placeholders stand for.
    pub(crate) fn is_only_ours(&self) -> bool {
        self.fixed().is_none()
    }

    /// Whether anything that was masked before may begin in a text, if one of our own placeholders may.
    #[inline]
    pub(crate) fn may_begin(&self, text: &[u8], ours: bool) -> bool {
        let first = self.fixed().and_then(|fixed| fixed.text.as_bytes().first());
        let ours = ours && find(&OURS, text, 0).is_some();
        ours || first.is_some_and(|first| text.contains(first))
    }

    /// All that was masked before, from a place on, each with the place it begins at. Nothing follows what is undecided.
    /// `last`: nothing follows the text.
    pub(crate) fn standings<'a>(
        &'a self,
        text: &'a [u8],
        mut from: usize,
        last: bool,
    ) -> impl Iterator<Item = (usize, Standing)> + use<'a> {
        std::iter::from_fn(move || {
            loop {
                let at = self.find(text, from)?;
                let standing = self.standing_at(text, at, last);
                from = match standing {
                    Standing::No => at + 1,
                    Standing::Undecided => text.len(),
                    Standing::Ends(end) => end,
                };
                if standing != Standing::No {
                    return Some((at, standing));
                }
            }
        })
    }

    /// The first place, from a place on, at which something that was masked may stand, even if it has not come completely.
    ///
    /// Takes time linear in how far that is, so that all of them together take time linear in the text.
    fn find(&self, text: &[u8], mut from: usize) -> Option<usize> {
        let Some(fixed) = self.fixed().and_then(|fixed| fixed.finder.as_ref()) else {
            return find(&OURS, text, from);
        };
        // Neither search may run far past what the other one finds.
        let mut width = 256;
        loop {
            let end = text.len().min(from + width);
            let window = text.get(..end)?;
            let found = find(&OURS, window, from).into_iter().chain(find(fixed, window, from));
            match found.min() {
                Some(found) => return Some(found),
                None if end == text.len() => return None,
                None => (from, width) = (end, 2 * width),
            }
        }
    }
}

/// The first place at which a text, or the beginning of it at the end of the other text, stands.
fn find(finder: &Finder<'_>, text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    if let Some(found) = finder.find(rest) {
        return Some(from + found);
    }
    let wanted = finder.needle();
    let tail = rest.len().saturating_sub(wanted.len().saturating_sub(1));
    let begins = |at: &usize| {
        rest.get(*at) == wanted.first()
            && rest.get(*at..).is_some_and(|rest| wanted.starts_with(rest))
    };
    (tail..rest.len()).find(begins).map(|found| from + found)
}

impl Fixed {
    pub(super) fn new(text: Arc<str>) -> Self {
        let text = if text.is_empty() { Arc::from("[REDACTED]") } else { text };
        let counts = text.trim().len() >= SHORTEST;
        let run = text.as_bytes().windows(2).all(|pair| pair.first() == pair.last());
        Self { finder: counts.then(|| Finder::new(text.as_bytes()).into_owned()), text, run }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    fn standing_at(&self, text: &[u8], at: usize, last: bool) -> Standing {
        let wanted = self.text.as_bytes();
        let rest = text.get(at..).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        if self.finder.is_none() || self.goes_on(before, wanted.first()) {
            return Standing::No;
        }
        if self.run {
            return self.run_at(rest, at, last);
        }
        match rest.strip_prefix(wanted) {
            Some([]) if !last => Standing::Undecided,
            Some(after) if self.goes_on(after.first(), wanted.last()) => Standing::No,
            Some(_) => Standing::Ends(at + wanted.len()),
            None if wanted.starts_with(rest) => unfinished(rest, last),
            None => Standing::No,
        }
    }

    /// A run of one byte is the text once, or as often as it was written side by side.
    fn run_at(&self, rest: &[u8], at: usize, last: bool) -> Standing {
        let Some(wanted) = self.text.bytes().next() else { return Standing::No };
        let run = rest.iter().take(LONGEST_RUN + 1).take_while(|byte| **byte == wanted).count();
        let after = rest.get(run);
        match run {
            0 => Standing::No,
            _ if run > LONGEST_RUN || self.goes_on(after, Some(&wanted)) => Standing::No,
            _ if after.is_none() && !last => Standing::Undecided,
            _ if run.is_multiple_of(self.text.len()) => Standing::Ends(at + run),
            _ => Standing::No,
        }
    }

    /// Whether what stands beside the text belongs to the same word or line as its outermost byte, so that it is there by chance.
    fn goes_on(&self, beside: Option<&u8>, outermost: Option<&u8>) -> bool {
        let (Some(beside), Some(outermost)) = (beside, outermost) else { return false };
        (is_word(*beside) && is_word(*outermost)) || (self.run && beside == outermost)
    }
}

/// Whether one of our own placeholders stands at a place: `[REDACTED]`, `[REDACTED:id]` or `[REDACTED:id:extra]`.
pub(crate) fn placeholder_at(text: &[u8], at: usize, last: bool) -> Standing {
    let rest = text.get(at..).unwrap_or_default();
    if !rest.starts_with(OPENING.as_bytes()) {
        let begins = OPENING.as_bytes().starts_with(rest);
        return if begins { unfinished(rest, last) } else { Standing::No };
    }
    let mut place = OPENING.len();
    for names in 0..=2 {
        match rest.get(place) {
            Some(b']') => return Standing::Ends(at + place + 1),
            Some(b':') if names < 2 => {
                let after = rest.get(place + 1..).unwrap_or_default();
                let name =
                    after.iter().take(NAME + 1).take_while(|byte| is_name_byte(**byte)).count();
                if name > NAME || (name == 0 && !after.is_empty()) {
                    return Standing::No;
                }
                place += 1 + name;
            }
            Some(_) => return Standing::No,
            None => return unfinished(rest, last),
        }
    }
    Standing::No
}

const fn unfinished(rest: &[u8], last: bool) -> Standing {
    if last || rest.is_empty() { Standing::No } else { Standing::Undecided }
}

/// Whether a placeholder may hold a text as one of its parts.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=NAME).contains(&text.len()) && text.bytes().all(is_name_byte)
}

const fn is_name_byte(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'-')
}
