use std::{error::Error as StdError, fmt, sync::Arc};

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::Hir;

use super::prefix;
use crate::Str;

type Accept = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What to look for: a regular expression with a name for what it finds.
///
/// What is masked is the whole match or, where the expression has groups whose names begin with `secret`, what those groups
/// matched: keys, quotes and delimiters around them stay.
///
/// Names of word borders are best ASCII: `(?-u:\b)` also sees the border in `ключsk-..`, where `\b` sees none.
///
/// ```
/// use tower_agent::redact::Pattern;
///
/// let badge = Pattern::new("badge", r"(?-u:\b)badge no\. (?<secret>[0-9]{6})")?;
/// assert_eq!(badge.kind(), "badge");
///
/// let error = Pattern::new("badge", "(").unwrap_err();
/// assert!(error.to_string().starts_with("the pattern badge "));
/// # Ok::<(), tower_agent::redact::PatternError>(())
/// ```
#[derive(Clone)]
pub struct Pattern {
    kind: Str,
    regex: Regex,
    /// Finds where the earliest match begins that more text could complete.
    unfinished: Regex,
    secrets: Arc<[usize]>,
    accept: Option<Accept>,
    anchored: bool,
}

/// Why an expression is no pattern.
#[derive(Clone, Debug)]
pub struct PatternError {
    kind: Str,
    reason: Reason,
}

#[derive(Clone, Debug)]
enum Reason {
    Syntax(Box<regex_syntax::Error>),
    Compile(regex::Error),
    TooLong,
    MatchesNothing,
}

/// One match of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
    /// What of it is confidential; nothing if the match was not accepted.
    pub(super) secrets: Vec<(usize, usize)>,
}

impl Pattern {
    /// The longest expression that is taken.
    const MAX_LENGTH: usize = 4_096;

    /// A pattern with a name for what it finds, which is shown to operators and users.
    ///
    /// # Errors
    /// When the expression is malformed, too long or too big, or could match the empty text.
    pub fn new(kind: impl Into<Str>, regex: &str) -> Result<Self, PatternError> {
        let kind = kind.into();
        Self::compile(kind.clone(), regex).map_err(|reason| PatternError { kind, reason })
    }

    fn compile(kind: Str, pattern: &str) -> Result<Self, Reason> {
        if pattern.len() > Self::MAX_LENGTH {
            return Err(Reason::TooLong);
        }
        let hir = regex_syntax::parse(pattern).map_err(|error| Reason::Syntax(Box::new(error)))?;
        if hir.properties().minimum_len() == Some(0) {
            return Err(Reason::MatchesNothing);
        }
        let regex = Regex::new(pattern).map_err(Reason::Compile)?;
        let unfinished = build(&prefix::unfinished(&hir)).map_err(Reason::Compile)?;
        let named = regex.capture_names().enumerate();
        let secrets = named.filter(|(_, name)| name.is_some_and(|name| name.starts_with("secret")));
        let secrets = secrets.map(|(group, _)| group).collect();
        Ok(Self { kind, unfinished, secrets, accept: None, anchored: is_anchored(&hir), regex })
    }

    /// Masks only what a function accepts: a check digit, a length, a list of harmless values.
    ///
    /// Where the function panics, nothing of the text goes on.
    #[must_use]
    pub fn accept(mut self, accept: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.accept = Some(Arc::new(accept));
        self
    }

    /// The name of what it finds.
    #[must_use]
    pub fn kind(&self) -> &Str {
        &self.kind
    }

    pub(super) fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    pub(super) fn unfinished(&self) -> &str {
        self.unfinished.as_str()
    }

    /// Whether a border of the text makes a difference.
    pub(super) const fn is_anchored(&self) -> bool {
        self.anchored
    }

    /// All matches from `start` on, none of which overlap.
    pub(super) fn matches<'a>(
        &'a self,
        text: &'a str,
        start: usize,
    ) -> impl Iterator<Item = Match> + 'a {
        let mut next = start;
        std::iter::from_fn(move || {
            let found = self.regex.find_at(text, next)?;
            next = found.end();
            let secrets = self.secrets_of(text, found.start(), found.end());
            Some(Match { start: found.start(), end: found.end(), secrets })
        })
    }

    fn secrets_of(&self, text: &str, start: usize, end: usize) -> Vec<(usize, usize)> {
        let mut secrets = Vec::new();
        if self.secrets.is_empty() {
            secrets.push((start, end));
        } else if let Some(groups) = self.regex.captures_at(text, start) {
            let groups = self.secrets.iter().filter_map(|group| groups.get(*group));
            secrets.extend(groups.map(|group| (group.start(), group.end())));
        }
        secrets.retain(|(start, end)| start < end && self.accepts(text, *start, *end));
        secrets
    }

    fn accepts(&self, text: &str, start: usize, end: usize) -> bool {
        let secret = text.get(start..end).unwrap_or_default();
        self.accept.as_ref().is_none_or(|accept| accept(secret))
    }

    /// Where the earliest match begins that more text could complete or change; the end if there is none.
    pub(super) fn unfinished_from(&self, text: &str, start: usize) -> usize {
        self.unfinished.find_at(text, start).map_or(start, |found| found.start())
    }
}

/// Compiles an expression made out of others, which is nested more deeply than one written by hand.
pub(super) fn build(regex: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(regex).nest_limit(1_000).build()
}

fn is_anchored(hir: &Hir) -> bool {
    hir.properties().look_set().contains_anchor()
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern")
            .field("kind", &self.kind)
            .field("regex", &self.regex.as_str())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pattern {} ", self.kind)?;
        match &self.reason {
            Reason::Syntax(error) => write!(f, "is malformed: {error}"),
            Reason::Compile(error) => write!(f, "does not compile: {error}"),
            Reason::TooLong => write!(f, "is longer than {} bytes", Pattern::MAX_LENGTH),
            Reason::MatchesNothing => f.write_str("matches the empty text"),
        }
    }
}

impl StdError for PatternError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.reason {
            Reason::Syntax(error) => Some(error),
            Reason::Compile(error) => Some(error),
            Reason::TooLong | Reason::MatchesNothing => None,
        }
    }
}
