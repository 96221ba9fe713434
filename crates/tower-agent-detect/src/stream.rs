//! Masks a text that comes in pieces.

use std::fmt;

use crate::{
    Detector, Finding,
    buffer::Buffer,
    engine::Hit,
    mask::Mask,
    search::Search,
    span,
    tail::{Bytes, Waits},
};

/// Takes a text in pieces of any size and gives out, byte for byte, what masking the whole text gives.
///
/// The end of the text is held back for exactly as long as it may still become part of something that is masked: a
/// few characters of a word that has not ended, a value until its quotes close, a key block until it ends. Everything
/// else goes out at once. At most [`MOST_HELD`](Self::MOST_HELD) bytes are held.
///
/// ```
/// use tower_agent_detect::{Detector, Mask};
///
/// let mut stream = Detector::builtin().stream(Mask::label());
/// let mut out = String::new();
/// for piece in ["the key is AKI", "AIOSFODNN7EXAMP", "LE, keep it"] {
///     stream.push(piece, &mut out);
/// }
/// stream.finish(&mut out);
/// assert_eq!(out, "the key is [REDACTED:aws-access-key-id], keep it");
/// ```
pub struct StreamRedactor {
    detector: Detector,
    mask: Mask,
    search: Search,
    /// What has come, but for a front that nobody needs any more.
    text: Buffer,
    /// How much of that has been let go.
    done: usize,
    /// How much of the text was forgotten.
    forgotten: usize,
    /// Up to which length a text waits that grows by more of what is held.
    waits_to: usize,
    waits: Waits,
    /// Whether all that has come was searched, and what is read is what was written.
    is_plain: bool,
    /// Whether a placeholder may begin in what has not been looked at.
    placeholder: bool,
    /// How long the text must be before another search is worth it.
    search_at: usize,
    /// What was masked last, with places that count from the beginning of the stream: a further part of it gets no mask of
    /// its own.
    last: Option<Hit>,
    findings: Vec<Finding>,
}

impl StreamRedactor {
    /// The most that is ever held back, in bytes, not counting characters of no width: of these there may be eight for each other
    /// one.
    pub const MOST_HELD: usize = 96 << 10;
    /// How much may go unlooked at while a word goes on.
    const UNLOOKED: usize = 48;
    /// How much is kept in front of what is needed before it is worth moving the rest.
    const SLACK: usize = 4 << 10;

    pub(crate) fn new(detector: Detector, mask: Mask) -> Self {
        Self {
            detector,
            mask,
            search: Search::default(),
            text: Buffer::default(),
            done: 0,
            forgotten: 0,
            waits_to: 0,
            waits: Waits::default(),
            is_plain: false,
            placeholder: false,
            search_at: 0,
            last: None,
            findings: Vec::new(),
        }
    }

    /// Takes the next piece, and appends to `out` what is settled by now.
    #[inline]
    pub fn push(&mut self, piece: &str, out: &mut String) {
        let bytes = self.text.push(piece);
        // A piece settles nothing if it goes on with what is held, which is looked at as a whole when it ends.
        if !(bytes.go_on(self.waits) && self.text.len() <= self.waits_to) {
            self.pushed(piece, bytes, out);
        }
    }

    #[inline(never)]
    fn pushed(&mut self, piece: &str, bytes: Bytes, out: &mut String) {
        if !self.is_plain || !bytes.are_plain() {
            return self.look(piece, bytes, out);
        }
        let settled = self.search.go_on(self.detector.engine(), self.text.text().as_bytes());
        if settled == self.text.len() && self.search.hits.is_empty() {
            append(self.text.text().get(self.done..).unwrap_or_default(), out);
            self.done = settled;
        } else {
            self.settle(settled, false, out);
        }
        self.rest();
    }

    /// Takes a piece that may be read in another way than it is written, or be a part of something that was masked.
    #[inline(never)]
    fn look(&mut self, piece: &str, bytes: Bytes, out: &mut String) {
        if self.is_plain {
            self.search.has_no_masks(self.text.len() - piece.len());
        }
        self.placeholder |= bytes.may_begin_placeholder();
        if !bytes.are_ascii() || self.text.has_view() {
            self.text.view(piece);
            // Every piece must come here from now on, as what is read grows here.
            self.waits_to = 0;
        }
        if self.text.len() < self.search_at {
            return;
        }
        self.search_at = 0;
        self.release(false, out);
        self.is_plain = self.search.is_plain() && !self.text.has_view() && self.mask.is_only_ours();
        self.rest();
        if self.text.has_view() {
            self.waits_to = 0;
        }
    }

    /// Says how long what is held may grow before it is searched, and forgets what nobody needs.
    #[inline(always)]
    fn rest(&mut self) {
        let (length, held) = (self.text.len(), self.held());
        self.waits = self.search.waits();
        self.waits_to = length + Self::UNLOOKED;
        if held >= 256 {
            // A long hold is searched again only when it grew by a quarter, so that the work stays linear.
            self.search_at = length + held / 4;
            self.is_plain = false;
        }
        if self.done >= Self::SLACK {
            self.forget();
        }
    }

    /// Appends the rest. The next piece begins another text.
    pub fn finish(&mut self, out: &mut String) {
        self.release(true, out);
        self.forgotten += self.text.len();
        self.text.clear();
        (self.done, self.waits_to, self.search_at, self.last) = (0, 0, 0, None);
        self.is_plain = false;
        self.search = Search::default();
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.text.len() - self.done
    }

    /// What was found since this was last asked, in order. Places count from the beginning of the stream.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    #[inline(never)]
    fn release(&mut self, last: bool, out: &mut String) {
        let read = self.text.read().as_bytes();
        let placeholder = std::mem::take(&mut self.placeholder);
        let engine = self.detector.engine();
        let settled = self.search.advance(engine, &self.mask, read, last, placeholder);
        self.settle(settled, last, out);
    }

    /// Masks and appends what is settled, up to a place of the text as it is read.
    #[inline(always)]
    fn settle(&mut self, settled: usize, last: bool, out: &mut String) {
        let mut to = settled;
        if !self.search.hits.is_empty() {
            to = self.mask_to(to, out);
        }
        let to = if last && to == settled { self.text.len() } else { self.text.written(to) };
        if to > self.done {
            append(self.text.text().get(self.done..to).unwrap_or_default(), out);
            self.done = to;
        }
    }

    /// Masks what ends before a place of the text as it is read. Gives the place itself, or the beginning of what
    /// reaches over it.
    fn mask_to(&mut self, to: usize, out: &mut String) -> usize {
        let spans =
            span::merged(&mut self.search.hits, self.detector.rules(), self.text.read().as_bytes());
        let settled = spans.iter().take_while(|span| span.end <= to).count();
        let (settled, open) = spans.split_at_checked(settled).unwrap_or_default();
        if let Some(last) = settled.last() {
            span::take(&mut self.search.hits, *last);
        }
        for span in settled {
            self.mask(*span, out);
        }
        open.first().map_or(to, |span| span.start.min(to))
    }

    fn mask(&mut self, hit: Hit, out: &mut String) {
        let (start, end) = self.text.stretch(hit.start, hit.end);
        let text = self.text.text();
        out.push_str(text.get(self.done..start).unwrap_or_default());
        let value = text.get(start..end).unwrap_or_default();
        let hit = Hit { start, end, ..hit }.moved(self.forgotten);
        let again = self.last.is_some_and(|last| span::goes_on(last, hit));
        if let Some(rule) = self.detector.rules().get(hit.rule as usize) {
            match self.findings.last_mut().filter(|_| again) {
                Some(finding) => finding.extend(hit.end),
                None => self.findings.push(Finding::new(rule, hit)),
            }
            if !again {
                self.mask.write(&rule.masked(value), out);
            }
        }
        self.done = end;
        self.last = Some(hit);
    }

    fn forget(&mut self) {
        self.search.catch_up();
        let needed = self.search.needs().min(self.text.read_place(self.done));
        if needed < Self::SLACK / 2 {
            return;
        }
        let (read, written) = self.text.forget(needed);
        self.search.forget(read);
        self.done -= written;
        self.forgotten += written;
        self.waits_to = self.waits_to.saturating_sub(written);
        self.search_at = self.search_at.saturating_sub(written);
    }
}

/// Appends a text. To append a single byte takes less than to copy a text of any length.
#[inline]
fn append(text: &str, out: &mut String) {
    match text.as_bytes() {
        [byte] if byte.is_ascii() => out.push(char::from(*byte)),
        _ => out.push_str(text),
    }
}

impl fmt::Debug for StreamRedactor {
    /// Shows no text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamRedactor")
            .field("held", &self.held())
            .field("findings", &self.findings)
            .finish_non_exhaustive()
    }
}
