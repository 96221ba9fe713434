//! Finds what is confidential in a text and masks it.

use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexSet};

use super::{
    canonical::View,
    pattern::{self, Pattern},
};
use crate::Str;

/// A list of patterns and what stands in the place of what they find.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    patterns: Vec<Pattern>,
    replacement: Str,
    /// All patterns in one, made when first used. Nothing is lost where it cannot be made but time.
    all: Arc<OnceLock<All>>,
}

/// All patterns in one, so that a clean text is read once.
#[derive(Clone, Debug)]
struct All {
    matching: Option<RegexSet>,
    unfinished: Option<Regex>,
}

/// Something found: a match, and the part of it that is confidential.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    at: (usize, usize),
    pub(super) secret: (usize, usize),
    /// Which pattern found it; none for a replacement that stands there already.
    pattern: Option<usize>,
}

/// A stretch of text to be masked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pattern: usize,
}

/// How much of what was masked.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(Vec<u32>);

impl Hit {
    pub(super) const fn with_secret(self, start: usize, end: usize) -> Self {
        Self { secret: (start, end), ..self }
    }
}

impl Engine {
    pub(super) fn new(patterns: impl IntoIterator<Item = Pattern>, replacement: Str) -> Self {
        Self { patterns: patterns.into_iter().collect(), replacement, all: Arc::default() }
    }

    pub(super) fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    pub(super) fn push(&mut self, pattern: Pattern) {
        self.patterns.push(pattern);
        self.all = Arc::default();
    }

    fn all(&self) -> &All {
        self.all.get_or_init(|| {
            let unfinished = self.patterns.iter().map(Pattern::unfinished);
            let unfinished: Vec<_> = unfinished.map(|regex| format!("(?:{regex})")).collect();
            All {
                matching: RegexSet::new(self.patterns.iter().map(Pattern::as_str)).ok(),
                unfinished: pattern::build(&unfinished.join("|")).ok(),
            }
        })
    }

    pub(super) fn set_replacement(&mut self, replacement: Str) {
        self.replacement = replacement;
    }

    pub(super) const fn replacement(&self) -> &Str {
        &self.replacement
    }

    /// Whether a part of a text may hold something that the text around it hides.
    pub(super) fn is_anchored(&self) -> bool {
        self.patterns.iter().any(Pattern::is_anchored)
    }

    /// The text with everything masked, if there is anything.
    ///
    /// It is searched twice: a replacement can close a gap, as in `token=[REDACTED]rest` after a key block between the
    /// two, and what comes of it must be what comes of masking it once more.
    pub(super) fn mask(&self, text: &str, tally: &mut Tally) -> Option<String> {
        let once = self.mask_once(text, tally)?;
        Some(self.mask_once(&once, &mut Tally::default()).unwrap_or(once))
    }

    fn mask_once(&self, text: &str, tally: &mut Tally) -> Option<String> {
        let mut hits = self.find(text, 0);
        if hits.is_empty() {
            return None;
        }
        hits.extend(self.replaced_already(text, 0));
        let spans = merge(hits);
        (!spans.is_empty()).then(|| self.apply(text, 0, text.len(), &spans, tally))
    }

    /// What the patterns find from `start` on.
    pub(super) fn find(&self, text: &str, start: usize) -> Vec<Hit> {
        let Some(view) = View::of(text) else { return self.hits(text, start) };
        let mut hits = self.hits(view.text(), view.to_canonical(start));
        for hit in &mut hits {
            (hit.at, hit.secret) = (view.to_original(hit.at), view.to_original(hit.secret));
        }
        hits
    }

    fn hits(&self, text: &str, start: usize) -> Vec<Hit> {
        let mut hits = Vec::new();
        // A clean text is the usual one, and one search for all is cheaper than many.
        let clean = |set: &RegexSet| !set.is_match_at(text, start);
        if self.all().matching.as_ref().is_some_and(clean) {
            return hits;
        }
        for (index, pattern) in self.patterns.iter().enumerate() {
            for found in pattern.matches(text, start) {
                let at = (found.start, found.end);
                // A match that is not accepted hides others all the same, so it counts with nothing to mask.
                let nothing = found.secrets.is_empty().then_some((found.start, found.start));
                let secrets = found.secrets.into_iter().chain(nothing);
                hits.extend(secrets.map(|secret| Hit { at, secret, pattern: Some(index) }));
            }
        }
        hits
    }

    /// Where the replacement stands: what is found around one of them must not become a second one.
    pub(super) fn replaced_already(&self, text: &str, start: usize) -> impl Iterator<Item = Hit> {
        let rest = text.get(start..).unwrap_or_default();
        rest.match_indices(&*self.replacement).map(move |(index, found)| {
            let at = (start + index, start + index + found.len());
            Hit { at, secret: at, pattern: None }
        })
    }

    /// How far a text that goes on is settled: whatever follows, nothing before that place is found any more than is
    /// found now, and nothing that is found reaches over it.
    pub(super) fn settled(&self, text: &str, start: usize, hits: &[Hit]) -> usize {
        let unfinished = match View::of(text) {
            None => self.unfinished_from(text, start),
            Some(view) => {
                let from = self.unfinished_from(view.text(), view.to_canonical(start));
                view.place(from, text.len())
            }
        };
        let mut settled = unfinished.min(self.unfinished_replacement(text, start));
        // Neighbours that touch become one, so something found right before is not settled either.
        let open = |hit: &&Hit, settled: usize| {
            hit.at.0 < settled
                && (hit.at.1 > settled || (hit.secret.1 == settled && settled < text.len()))
        };
        while let Some(hit) = hits.iter().find(|hit| open(hit, settled)) {
            settled = hit.at.0;
        }
        settled
    }

    fn unfinished_from(&self, text: &str, start: usize) -> usize {
        if self.patterns.is_empty() {
            return text.len();
        }
        if let Some(all) = &self.all().unfinished {
            return all.find_at(text, start).map_or(start, |found| found.start());
        }
        let from = self.patterns.iter().map(|pattern| pattern.unfinished_from(text, start));
        from.min().unwrap_or(text.len())
    }

    fn unfinished_replacement(&self, text: &str, start: usize) -> usize {
        let longest = self.replacement.len().min(text.len() - start);
        let beginnings = (1..=longest).rev().filter_map(|length| self.replacement.get(..length));
        let held = beginnings.into_iter().find(|beginning| text.ends_with(beginning));
        text.len() - held.map_or(0, str::len)
    }

    /// The text between two places with the spans masked.
    pub(super) fn apply(
        &self,
        text: &str,
        from: usize,
        to: usize,
        spans: &[Span],
        tally: &mut Tally,
    ) -> String {
        let mut out = String::with_capacity(to - from);
        let mut done = from;
        for span in spans {
            out.push_str(text.get(done..span.start).unwrap_or_default());
            out.push_str(&self.replacement);
            tally.count(span.pattern);
            done = span.end;
        }
        out.push_str(text.get(done..to).unwrap_or_default());
        out
    }

    /// What was masked, in words: `2 password, 1 jwt`.
    pub(super) fn describe(&self, tally: &Tally) -> Option<String> {
        let counted = self.patterns.iter().zip(&tally.0).filter(|(_, count)| **count > 0);
        let mut kinds: Vec<(&Str, u32)> = Vec::new();
        for (pattern, count) in counted {
            match kinds.iter_mut().find(|(kind, _)| *kind == pattern.kind()) {
                Some((_, all)) => *all += count,
                None => kinds.push((pattern.kind(), *count)),
            }
        }
        let words: Vec<_> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Makes one span of whatever overlaps or touches; what is masked already needs none.
pub(super) fn merge(mut hits: Vec<Hit>) -> Vec<Span> {
    hits.retain(|hit| hit.secret.0 < hit.secret.1);
    hits.sort_by_key(|hit| hit.secret);
    let mut spans = Vec::new();
    let mut hits = hits.into_iter().peekable();
    while let Some(first) = hits.next() {
        let (start, mut end) = first.secret;
        let mut pattern = first.pattern;
        let mut masked = if first.pattern.is_none() { Some(first.secret) } else { None };
        while let Some(hit) = hits.next_if(|hit| hit.secret.0 <= end) {
            end = end.max(hit.secret.1);
            pattern = pattern.or(hit.pattern);
            if hit.pattern.is_none() && masked.is_none_or(|(start, end)| hit.secret == (start, end))
            {
                masked = Some(hit.secret);
            }
        }
        if let Some(pattern) = pattern.filter(|_| masked != Some((start, end))) {
            spans.push(Span { start, end, pattern });
        }
    }
    spans
}

impl Tally {
    pub(super) fn count(&mut self, pattern: usize) {
        if self.0.len() <= pattern {
            self.0.resize(pattern + 1, 0);
        }
        if let Some(count) = self.0.get_mut(pattern) {
            *count += 1;
        }
    }
}
