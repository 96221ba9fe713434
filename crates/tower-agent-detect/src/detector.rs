//! What a user holds: a choice of rules, and what they find.

mod data;

use std::{
    borrow::Cow,
    collections::HashSet,
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};

use serde::Deserialize;

use crate::{
    Confidence, Mask, Rule, RuleError, Set, StreamRedactor,
    engine::{Allow, Engine, Hit},
    matcher,
    rule::Spec,
    search::Search,
    span,
    view::{self, View},
};

const RULES: &str = include_str!("../rules.toml");

/// Finds secrets and personal data in texts. Clones share everything.
#[derive(Clone)]
pub struct Detector {
    engine: Arc<Engine>,
}

/// Something that was found: where, and by which rule. It does not hold the value.
#[derive(Clone)]
pub struct Finding {
    rule: Arc<Rule>,
    span: Range<usize>,
}

/// Chooses rules; see [`Detector::builder`].
#[derive(Debug)]
#[must_use = "a builder does nothing unless it is built"]
pub struct Builder {
    rules: Vec<Arc<Rule>>,
    allow: Allow,
    error: Option<RuleError>,
}

/// A file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Spec>,
}

impl Detector {
    /// All rules of this crate.
    pub fn builtin() -> Self {
        static ALL: OnceLock<Detector> = OnceLock::new();
        ALL.get_or_init(|| Self {
            engine: Arc::new(Engine::new(builtin().to_vec(), Allow::default())),
        })
        .clone()
    }

    /// A choice of rules; without a word, all that this crate has.
    pub fn builder() -> Builder {
        Builder { rules: builtin().to_vec(), allow: Allow::default(), error: None }
    }

    /// What the text holds, in order.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        let mut last = None;
        for hit in self.hits(text, &Mask::label()) {
            let Some(rule) = self.rules().get(hit.rule as usize) else { continue };
            let goes_on = last.is_some_and(|last| span::goes_on(last, hit));
            last = Some(hit);
            match findings.last_mut().filter(|_| goes_on) {
                Some(finding) => finding.extend(hit.end),
                None => findings.push(Finding::new(rule, hit)),
            }
        }
        findings
    }

    /// The text with everything masked by [labels](Mask::label); the very text if there is nothing.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.mask_with(text, &Mask::label())
    }

    /// The text with everything masked.
    pub fn mask_with<'t>(&self, text: &'t str, mask: &Mask) -> Cow<'t, str> {
        let hits = self.hits(text, mask);
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(self.replaced(text, &hits, mask, &mut |_| {}))
    }

    /// The text with its hits masked.
    fn replaced(
        &self,
        text: &str,
        hits: &[Hit],
        mask: &Mask,
        found: &mut dyn FnMut(&Rule),
    ) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let mut last = None;
        for &hit in hits {
            out.push_str(text.get(done..hit.start).unwrap_or_default());
            let goes_on = last.is_some_and(|last| span::goes_on(last, hit));
            if let Some(rule) = self.rules().get(hit.rule as usize).filter(|_| !goes_on) {
                let value = text.get(hit.start..hit.end).unwrap_or_default();
                mask.write(&rule.masked(value), &mut out);
                found(rule);
            }
            done = hit.end;
            last = Some(hit);
        }
        out.push_str(text.get(done..).unwrap_or_default());
        out
    }

    /// Masks a text that comes in pieces.
    pub fn stream(&self, mask: Mask) -> StreamRedactor {
        StreamRedactor::new(self.clone(), mask)
    }

    /// The rules that are looked for.
    pub fn rules(&self) -> &[Arc<Rule>] {
        self.engine.rules()
    }

    /// The words that the prefilter looks for.
    #[doc(hidden)]
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<_> = self.rules().iter().flat_map(|rule| rule.words()).collect();
        words.sort();
        words.dedup();
        words
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    fn hits(&self, text: &str, mask: &Mask) -> Vec<Hit> {
        if text.is_ascii() || !view::differs(text) {
            return self.hits_read(text, mask);
        }
        let view = View::of(text);
        let mut hits = self.hits_read(view.text(), mask);
        for hit in &mut hits {
            (hit.start, hit.end) = view.stretch(hit.start, hit.end);
        }
        hits
    }

    fn hits_read(&self, text: &str, mask: &Mask) -> Vec<Hit> {
        let mut search = Search::default();
        search.advance(&self.engine, mask, text.as_bytes(), true, true);
        if search.hits.is_empty() {
            return Vec::new();
        }
        let mut spans = span::merged(&mut search.hits, self.rules(), text.as_bytes());
        for span in &mut spans {
            span.start = text.floor_char_boundary(span.start);
            span.end = text.ceil_char_boundary(span.end);
        }
        spans
    }
}

impl Default for Detector {
    fn default() -> Self {
        Self::builtin()
    }
}

impl fmt::Debug for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detector").field("rules", &self.rules().len()).finish_non_exhaustive()
    }
}

impl Finding {
    pub(crate) fn new(rule: &Arc<Rule>, hit: Hit) -> Self {
        Self { rule: Arc::clone(rule), span: hit.start..hit.end }
    }

    /// Takes in what goes on behind it, up to a place.
    pub(crate) const fn extend(&mut self, end: usize) {
        self.span.end = end;
    }

    /// What found it.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Where it stands, in bytes.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// How sure it is.
    pub fn confidence(&self) -> Confidence {
        self.rule.confidence()
    }
}

impl fmt::Debug for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finding").field("rule", &self.rule.id()).field("span", &self.span).finish()
    }
}

/// The rules of this crate, read once.
fn builtin() -> &'static [Arc<Rule>] {
    static RULES_READ: OnceLock<Vec<Arc<Rule>>> = OnceLock::new();
    RULES_READ.get_or_init(|| read(RULES).unwrap_or_default())
}

/// Whether a rule of this crate has the id, chosen or not.
pub(crate) fn is_built_in(id: &str) -> bool {
    static IDS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    IDS.get_or_init(|| builtin().iter().map(|rule| rule.id()).collect()).contains(id)
}

fn read(toml: &str) -> Result<Vec<Arc<Rule>>, RuleError> {
    let file: File = toml::from_str(toml).map_err(|error| RuleError::of("", error.to_string()))?;
    file.rule.into_iter().map(|spec| Rule::new(spec).map(Arc::new)).collect()
}

impl Builder {
    /// Keeps the rules of one set only.
    pub fn set(self, set: Set) -> Self {
        self.keep(|rule| rule.set() == set)
    }

    /// Keeps the rules with one of these tags only.
    pub fn tags<'a>(self, tags: impl IntoIterator<Item = &'a str>) -> Self {
        let tags: Vec<_> = tags.into_iter().collect();
        self.keep(|rule| rule.tags().any(|tag| tags.contains(&tag)))
    }

    /// Keeps these rules only. An id that no rule has is an error.
    pub fn only<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Self {
        let ids = self.known(ids);
        self.keep(|rule| ids.iter().any(|id| *id == rule.id()))
    }

    /// Drops these rules. An id that no rule has is an error.
    pub fn without<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Self {
        let ids = self.known(ids);
        self.keep(|rule| !ids.iter().any(|id| *id == rule.id()))
    }

    /// Drops every rule, so that only rules of one's own are left.
    pub fn none(self) -> Self {
        self.keep(|_| false)
    }

    /// Adds rules of one's own, written in TOML.
    ///
    /// ```
    /// use tower_agent_detect::Detector;
    ///
    /// let detector = Detector::builder().rules_toml(r#"
    ///     [[rule]]
    ///     id = "badge"
    ///     description = "Number of a badge"
    ///     keywords = ["badge-"]         # how a match begins, in any case; 3 bytes or more
    ///     pattern = 'badge-[0-9]{6}'    # matches from there on; decides about the case
    ///
    ///     [[rule]]
    ///     id = "locker-code"
    ///     description = "Code of a locker"
    ///     key = ["locker"]              # stands in the name that the value is given to
    ///     value = '[0-9]{4}'
    /// "#).build()?;
    /// assert_eq!(detector.mask("badge-123456, locker: 4711"), "[REDACTED:badge], locker: [REDACTED:locker-code]");
    /// # Ok::<_, tower_agent_detect::RuleError>(())
    /// ```
    ///
    /// | field | of | meaning |
    /// | --- | --- | --- |
    /// | `id`, `description` | both | needed; an id has letters, digits, `.`, `_` and `-` |
    /// | `source`, `tags`, `set` | both | where the format is documented; what it has to do with; `secrets` (default) or `pii` |
    /// | `confidence` | both | `low`, `medium` or `high` |
    /// | `keywords`, `pattern` | tokens | as above; without keywords, a match begins where a run of 24 or more of `A-Za-z0-9+/=_-` does; `(?<secret>..)` marks what is masked if it is only a part; a class as in `SK[0-9a-f]` stands for all its words |
    /// | `before` | tokens | a pattern of 64 bytes at most that stands right before the keyword |
    /// | `border` | tokens | where no letter, digit or `_` may touch the match: `word` (both ends, default), `start`, `end`, `none` |
    /// | `key`, `value` | names | as above; the engine finds operators, quotes and tags |
    /// | `also`, `any` | names | words that must all stand in the name, too; words of which one must |
    /// | `max` | both | the longest match in bytes; needed if the pattern itself has none |
    /// | `entropy` | both | the least Shannon entropy of the value, in bits per byte |
    /// | `checksum` | both | `luhn` or `mod97` |
    /// | `context` | both | one of these words must stand within 100 bytes before the match |
    /// | `allow` | both | patterns of values that are none |
    /// | `hit`, `miss` | both | samples, for whoever tests the rules |
    ///
    /// Patterns are those of the [`regex`](https://docs.rs/regex/latest/regex/#syntax) crate, of ASCII. A rule with the id
    /// of an earlier one takes its place.
    pub fn rules_toml(mut self, toml: &str) -> Self {
        match read(toml)
            .and_then(|rules| rules.iter().try_for_each(|rule| rule.compile()).map(|()| rules))
        {
            Ok(rules) => {
                self.rules.retain(|old| rules.iter().all(|rule| rule.id() != old.id()));
                self.rules.extend(rules);
            }
            Err(error) => self.fail(error),
        }
        self
    }

    /// Values that are never masked, whatever rule finds them, such as well-known samples.
    pub fn allow_values<'a>(mut self, values: impl IntoIterator<Item = &'a str>) -> Self {
        self.allow.values.extend(values.into_iter().map(|value| value.as_bytes().to_vec()));
        self
    }

    /// A pattern of values that are never masked. It has to match the whole value.
    pub fn allow_pattern(mut self, pattern: &str) -> Self {
        match matcher::regex(&format!("\\A(?:{pattern})\\z")) {
            Ok(pattern) => self.allow.patterns.push(pattern),
            Err(cause) => {
                self.fail(RuleError::of("", format!("a pattern of allowed values: {cause}")))
            }
        }
        self
    }

    fn known<'a>(&mut self, ids: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let ids: Vec<_> = ids.into_iter().collect();
        let unknown = ids.iter().find(|id| self.rules.iter().all(|rule| rule.id() != **id));
        if let Some(id) = unknown {
            self.fail(RuleError::of(id, "there is no such rule"));
        }
        ids
    }

    fn fail(&mut self, error: RuleError) {
        self.error.get_or_insert(error);
    }

    fn keep(mut self, keep: impl Fn(&Rule) -> bool) -> Self {
        self.rules.retain(|rule| keep(rule));
        self
    }

    /// The choice, ready to search.
    ///
    /// # Errors
    ///
    /// The first rule or choice that makes no sense, and why.
    pub fn build(self) -> Result<Detector, RuleError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Detector { engine: Arc::new(Engine::new(self.rules, self.allow)) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_this_crate_make_sense() {
        let file: File = toml::from_str(RULES).unwrap();
        let wrong = file.rule.into_iter().filter_map(|spec| Rule::new(spec).err());
        let wrong: Vec<_> = wrong.map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
