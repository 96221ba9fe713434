//! Errors and outcomes without confidential text, in any form that they could be printed in.

use std::{error::Error as StdError, fmt};

use super::walk::Walk;
use crate::{Error, Outcome};

impl Walk<'_> {
    pub(super) fn outcome(&mut self, outcome: &Outcome) -> Option<Outcome> {
        match outcome {
            Outcome::Denied(denial) => {
                let message = self.text(&denial.message)?;
                let mut denial = denial.clone();
                denial.message = message;
                Some(Outcome::Denied(denial))
            }
            Outcome::Suspended(suspension) => {
                let reason = self.text(&suspension.reason);
                let request = self.some_json(suspension.request.as_ref());
                if reason.is_none() && request.is_none() {
                    return None;
                }
                let mut copy = suspension.clone();
                copy.reason = reason.unwrap_or(copy.reason);
                copy.request = request.unwrap_or(copy.request);
                Some(Outcome::Suspended(copy))
            }
            _ => None,
        }
    }

    pub(super) fn error(&mut self, error: &Error) -> Option<Error> {
        let message = message_of(error);
        let masked_message = self.text(&message);
        let masked_text = self.text(error.model_text());
        let source = error.source().and_then(|source| self.scrubbed(source));
        if masked_message.is_none() && masked_text.is_none() && source.is_none() {
            return None;
        }
        let message = masked_message.map_or(message, String::from);
        let text = masked_text.map_or_else(|| error.model_text().to_owned(), String::from);
        let copy = rebuilt(error, message, text);
        Some(match source {
            Some(source) => copy.with_source(source),
            None => copy,
        })
    }

    /// The chain of causes as plain texts, if one of them shows something in any form.
    fn scrubbed(&mut self, source: &(dyn StdError + 'static)) -> Option<Scrubbed> {
        let links: Vec<_> = std::iter::successors(Some(source), |&link| link.source()).collect();
        let mut dirty = false;
        let mut texts = Vec::new();
        for link in &links {
            let shown = link.to_string();
            let masked = self.text(&shown);
            dirty |= masked.is_some() || self.text(&format!("{link:?}")).is_some();
            texts.push(masked.map_or(shown, String::from));
        }
        let chain = texts
            .into_iter()
            .rev()
            .fold(None, |source, text| Some(Scrubbed { text, source: source.map(Box::new) }));
        chain.filter(|_| dirty)
    }
}

/// The operator's text without the layer's name, which `Display` puts before it.
fn message_of(error: &Error) -> String {
    let shown = error.to_string();
    let layer = error.layer().map(|layer| format!("{layer}: ")).unwrap_or_default();
    shown.strip_prefix(&layer).unwrap_or(&shown).to_owned()
}

pub(super) fn rebuilt(error: &Error, message: String, text: String) -> Error {
    error.clone().with_message(message).with_model_text(text)
}

/// What is left of an error that showed something confidential: its text, masked. Its type is gone, because whoever
/// got hold of the value could print it.
pub(super) struct Scrubbed {
    text: String,
    source: Option<Box<Self>>,
}

impl Scrubbed {
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), source: None }
    }
}

impl fmt::Display for Scrubbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Scrubbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scrubbed").field(&self.text).field(&self.source).finish()
    }
}

impl StdError for Scrubbed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
