//! Rules: what they say, and what is wrong with one that is refused.

use std::{
    fmt,
    sync::{LazyLock, OnceLock},
};

use serde::Deserialize;

use crate::{
    decode::SHORTEST_BASE64 as SHORTEST_RUN,
    filter::{Around, Classes, class_of},
    follow::Beginning,
    mask::Masked,
    matcher::{Matcher, Pattern},
    recogniser::Recogniser,
    text::is_word,
};

/// Which set a rule belongs to.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Set {
    /// Credentials: whoever holds one can do something.
    #[default]
    Secrets,
    /// Personal data: it says something about a person.
    Pii,
}

/// How sure it is that what a rule found is what the rule says.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Confidence {
    /// The words around it say so.
    Low,
    /// The words around it say so, and its form fits.
    Medium,
    /// Its form or its check digits alone say so.
    High,
}

/// One kind of secret or personal data, and how it is recognised.
///
/// Rules are written in TOML; see [`Builder::rules_toml`](crate::Builder::rules_toml) for the fields.
pub struct Rule {
    pub(crate) spec: Spec,
    pub(crate) way: Way,
    matcher: OnceLock<Matcher>,
}

/// How a rule recognises what it is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Way {
    /// By the beginning of the value itself.
    Token,
    /// By the name that the value is given to.
    Key,
    /// By code of this crate.
    BuiltIn(Recogniser),
}

/// Which neighbours of a match must not be letters, digits or underscores.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Border {
    #[default]
    Word,
    Start,
    End,
    None,
}

/// Check digits.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Checksum {
    /// ISO/IEC 7812-1, as on cards.
    Luhn,
    /// ISO 7064, as in IBANs.
    Mod97,
}

/// A rule as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    pub(crate) id: String,
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) set: Set,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) confidence: Option<Confidence>,
    #[serde(default)]
    pub(crate) keywords: Vec<String>,
    pub(crate) pattern: Option<String>,
    pub(crate) before: Option<String>,
    #[serde(default)]
    pub(crate) border: Border,
    #[serde(default)]
    pub(crate) key: Vec<String>,
    #[serde(default)]
    pub(crate) also: Vec<String>,
    #[serde(default)]
    pub(crate) any: Vec<String>,
    pub(crate) value: Option<String>,
    pub(crate) recogniser: Option<Recogniser>,
    pub(crate) max: Option<usize>,
    pub(crate) entropy: Option<f32>,
    pub(crate) checksum: Option<Checksum>,
    #[serde(default)]
    pub(crate) context: Vec<String>,
    #[serde(default)]
    pub(crate) allow: Vec<String>,
    #[serde(default)]
    pub(crate) hit: Vec<String>,
    #[serde(default)]
    pub(crate) miss: Vec<String>,
}

/// Why a rule, or a file of rules, was refused.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.describe())]
pub struct RuleError {
    rule: Option<String>,
    cause: String,
}

impl Rule {
    /// What the rule is called in labels and reports, such as `aws-access-token`.
    pub fn id(&self) -> &str {
        &self.spec.id
    }

    /// What it finds, in words.
    pub fn description(&self) -> &str {
        &self.spec.description
    }

    /// The public page that says what the value looks like; empty where there is none.
    pub fn source(&self) -> &str {
        &self.spec.source
    }

    /// The set that it belongs to.
    pub fn set(&self) -> Set {
        self.spec.set
    }

    /// What it has to do with, such as `cloud` or `payment`.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.spec.tags.iter().map(String::as_str)
    }

    /// How sure it is that something that was found is what the rule says.
    pub fn confidence(&self) -> Confidence {
        self.spec.confidence.unwrap_or(match self.way {
            Way::Token => Confidence::High,
            Way::Key => Confidence::Medium,
            Way::BuiltIn(ref recogniser) => recogniser.confidence(),
        })
    }

    /// Texts in which the rule finds something. `<alnum:36>` stands for 36 letters and digits, and so on.
    #[doc(hidden)]
    pub fn samples_hit(&self) -> &[String] {
        &self.spec.hit
    }

    /// Texts in which the rule finds nothing.
    #[doc(hidden)]
    pub fn samples_miss(&self) -> &[String] {
        &self.spec.miss
    }

    /// Compiles the patterns of the rule, which else happens when they are first needed.
    ///
    /// # Errors
    ///
    /// What is wrong with them. Of a rule that a [`Detector`](crate::Detector) was built with, nothing is.
    pub fn check(&self) -> Result<(), RuleError> {
        self.compile()
    }

    /// A value of this rule, for a mask.
    pub(crate) fn masked<'a>(&'a self, value: &'a str) -> Masked<'a> {
        let set = match self.spec.set {
            Set::Secrets => "secrets",
            Set::Pii => "pii",
        };
        Masked::new(&self.spec.id, set, value)
    }

    /// Takes a rule as it is written, if it makes sense. Its patterns are compiled when they are first needed.
    pub(crate) fn new(spec: Spec) -> Result<Self, RuleError> {
        let way = check(&spec).map_err(|cause| RuleError::of(&spec.id, cause))?;
        Ok(Self { spec, way, matcher: OnceLock::new() })
    }

    /// Compiles the patterns now, so that what is wrong with them is an error and no rule that never matches.
    pub(crate) fn compile(&self) -> Result<(), RuleError> {
        let matcher =
            Matcher::new(&self.spec).map_err(|cause| RuleError::of(&self.spec.id, cause))?;
        // Another thread may have been first; its result is the same.
        let _ = self.matcher.set(matcher);
        Ok(())
    }

    /// The compiled patterns. Rules of this crate are known to compile, and those of others have been compiled by now.
    pub(crate) fn matcher(&self) -> &Matcher {
        self.matcher.get_or_init(|| Matcher::new(&self.spec).unwrap_or_default())
    }

    /// What the first bytes of a match may be.
    pub(crate) fn beginning(&self) -> Option<Beginning> {
        self.spec.pattern.as_ref().and_then(|pattern| Pattern::beginning(pattern))
    }

    /// What may stand around a keyword of so many bytes, which a match begins with.
    pub(crate) fn around(&self, begins: Option<Beginning>, word: usize) -> Around {
        let mut around = Around::ANYTHING;
        let spec = &self.spec;
        if matches!(spec.border, Border::Word | Border::Start) && spec.before.is_none() {
            around.before = *BORDERS;
        }
        if let Some(begins) = begins {
            around.behind = [0, 1].map(|behind| begins.at(word + behind).unwrap_or(Classes::MAX));
        }
        around
    }

    /// The words that the prefilter looks for, in lower case.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = if self.spec.key.is_empty() { &self.spec.keywords } else { &self.spec.key };
        words.iter().flat_map(|word| expand(&word.to_ascii_lowercase())).collect()
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("id", &self.spec.id)
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}

impl RuleError {
    pub(crate) fn of(rule: &str, cause: impl Into<String>) -> Self {
        let rule = (!rule.is_empty()).then(|| rule.to_owned());
        Self { rule, cause: cause.into() }
    }

    /// The rule that is wrong; none if the file cannot be read at all.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    fn describe(&self) -> String {
        match &self.rule {
            Some(rule) => format!("rule `{rule}`: {}", self.cause),
            None => self.cause.clone(),
        }
    }
}

/// What stands before a word. Of what is no ASCII, that is the last byte of a character.
static BORDERS: LazyLock<Classes> = LazyLock::new(|| {
    (0..0xc0).filter(|byte| !is_word(*byte)).fold(0, |set, byte| set | class_of(byte))
});

/// The most words that the keywords of one rule stand for, with their classes written out.
const MOST_WORDS: usize = 4096;
/// The longest keyword as it is written, classes and all, in bytes.
const LONGEST_WORD: usize = 512;

/// Finds what is wrong with a rule, or says how it works.
fn check(spec: &Spec) -> Result<Way, String> {
    let id = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if spec.id.is_empty() || spec.id.len() > 64 || !spec.id.bytes().all(id) {
        return Err("an id has 1 to 64 letters, digits, `.`, `_` or `-`".to_owned());
    }
    check_words(spec)?;
    let given = (&spec.pattern, &spec.value, &spec.recogniser);
    let way = match given {
        (Some(_), None, None) if spec.key.is_empty() => Way::Token,
        (None, Some(_), None) if !spec.key.is_empty() && spec.keywords.is_empty() => Way::Key,
        (None, None, Some(recogniser)) => return Ok(Way::BuiltIn(*recogniser)),
        _ => return Err("needs either `pattern`, or `key` with `value`".to_owned()),
    };
    let pattern = spec.pattern.as_ref().or(spec.value.as_ref()).map_or("", String::as_str);
    let least = Pattern::check(pattern, spec.max)?;
    if way == Way::Token && spec.keywords.is_empty() && least < SHORTEST_RUN {
        return Err(format!(
            "without `keywords`, the pattern matches {SHORTEST_RUN} bytes or more"
        ));
    }
    if let Some(before) = &spec.before {
        if way == Way::Key {
            return Err("`before` goes with `keywords` only".to_owned());
        }
        let grouped = pattern.contains("(?<secret") || pattern.contains("(?P<secret");
        Pattern::check_before(before, grouped)?;
    }
    for allowed in &spec.allow {
        Pattern::check_syntax(allowed).map_err(|cause| format!("in `allow`: {cause}"))?;
    }
    Ok(way)
}

fn check_words(spec: &Spec) -> Result<(), String> {
    let mut count = 0_usize;
    for word in spec.keywords.iter().chain(&spec.key) {
        // Counted before they are written out, since a few classes side by side are more words than there is memory for.
        count = count.saturating_add(count_words(word)?);
        if count > MOST_WORDS {
            return Err(format!("the keywords stand for more than {MOST_WORDS} words"));
        }
        check_word(word)?;
    }
    Ok(())
}

/// How many words a keyword stands for.
fn count_words(word: &str) -> Result<usize, String> {
    if word.len() > LONGEST_WORD {
        return Err(format!("a keyword is longer than {LONGEST_WORD} bytes"));
    }
    let mut count = 1_usize;
    let mut rest = word;
    while let Some((class, after)) = rest.split_once('[').and_then(|(_, rest)| rest.split_once(']'))
    {
        count = count.saturating_mul(letters_of(class.as_bytes()).len());
        rest = after;
    }
    Ok(count)
}

fn check_word(word: &str) -> Result<(), String> {
    let words = expand(word);
    if words.is_empty() {
        return Err(format!("keyword `{word}` has a class that cannot be read"));
    }
    match words.iter().find(|word| !word.is_ascii() || !(3..=64).contains(&word.len())) {
        Some(bad) => Err(format!("keyword `{bad}` must be of 3 to 64 ASCII characters")),
        None => Ok(()),
    }
}

/// Writes a keyword with a class out: `SK[0-9a-f]` is sixteen words. Nothing if the class makes no sense.
fn expand(word: &str) -> Vec<String> {
    let Some((head, rest)) = word.split_once('[') else { return vec![word.to_owned()] };
    let Some((class, tail)) = rest.split_once(']') else { return vec![word.to_owned()] };
    let letters = letters_of(class.as_bytes());
    let tails = expand(tail);
    let join = |letter: &u8| {
        let head = format!("{head}{}", char::from(*letter));
        tails.iter().map(move |tail| format!("{head}{tail}")).collect::<Vec<_>>()
    };
    letters.iter().flat_map(join).collect()
}

fn letters_of(class: &[u8]) -> Vec<u8> {
    match class {
        [first, b'-', last, rest @ ..] if first.is_ascii() && last.is_ascii() => {
            (*first..=*last).chain(letters_of(rest)).collect()
        }
        [one, rest @ ..] if one.is_ascii() => {
            std::iter::once(*one).chain(letters_of(rest)).collect()
        }
        _ => Vec::new(),
    }
}
