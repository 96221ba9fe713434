//! The engine under test, as those who measure it use it.

use std::ops::Range;

use tower_agent_detect::{Detector, Set};

use crate::Result;

/// The detectors: of secrets, of personal data, and of all that comes with the engine.
#[derive(Debug)]
pub struct Engine {
    secrets: Detector,
    personal: Detector,
    all: Detector,
}

/// Something that was found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Find {
    /// The rule's id.
    pub rule: String,
    /// Where, in bytes.
    pub span: Range<usize>,
}

impl Find {
    /// Whether the two have a byte in common.
    #[must_use]
    pub fn overlaps(&self, span: &Range<usize>) -> bool {
        overlap(&self.span, span)
    }
}

/// Whether the two have a byte in common.
pub(crate) fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

impl Engine {
    /// The engine with the rules that come with it.
    ///
    /// # Errors
    ///
    /// If its own rules are no rules.
    pub fn new() -> Result<Self> {
        Ok(Self {
            secrets: Detector::builder().set(Set::Secrets).build()?,
            personal: Detector::builder().set(Set::Pii).build()?,
            all: Detector::builtin(),
        })
    }

    /// Whether there is a rule of that name.
    #[must_use]
    pub fn has_rule(&self, id: &str) -> bool {
        self.all.rules().iter().any(|rule| rule.id() == id)
    }

    /// The secrets in a text.
    #[must_use]
    pub fn secrets(&self, text: &str) -> Vec<Find> {
        finds(&self.secrets, text)
    }

    /// The personal data in a text.
    #[must_use]
    pub fn personal(&self, text: &str) -> Vec<Find> {
        finds(&self.personal, text)
    }

    /// The text with all that is found in it masked.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        self.all.mask(text).into_owned()
    }
}

fn finds(detector: &Detector, text: &str) -> Vec<Find> {
    let findings = detector.find(text);
    findings.iter().map(|one| Find { rule: one.rule().id().to_owned(), span: one.span() }).collect()
}
