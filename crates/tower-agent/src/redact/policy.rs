//! What of a call is looked at, and what goes on when that cannot be done.

use std::{
    error::Error as StdError,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{
    engine::{Engine, Tally},
    walk::{Parts, Walk},
};
use crate::{
    Denial, Effect, Error, ErrorKind, Failure, Mark, ModelRequest, Outcome, Output, Reply,
    RunRequest, ToolCall, ToolOutput,
};

pub(super) const LAYER: &str = "redact";
const RESULT_WITHHELD: &str = "The tool ran, but its result was withheld: it could not be checked for confidential values. Do not call it again with the same arguments.";
const REQUEST_WITHHELD: &str =
    "The request could not be checked for confidential values, so it was not sent on; nothing ran.";
const TEXT_WITHHELD: &str =
    "This text was withheld: it could not be checked for confidential values.";

/// An engine and the surfaces that it is applied to.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) engine: Engine,
    pub(super) results: bool,
    pub(super) arguments: bool,
    pub(super) model_input: bool,
    pub(super) model_output: bool,
}

/// The search broke down, so nothing of what was searched may go on.
#[derive(Debug)]
pub(super) struct Broken;

impl Policy {
    /// Runs a search. A panic in it, which only a function of the user can cause, is a [`Broken`] search.
    pub(super) fn search<T>(
        &self,
        search: impl FnOnce(&mut Walk<'_>) -> T,
    ) -> Result<(T, Tally), Broken> {
        let mut walk = Walk { engine: &self.engine, tally: Tally::default() };
        let found = catch_unwind(AssertUnwindSafe(|| search(&mut walk)));
        found.map(|found| (found, walk.tally)).map_err(|_| {
            tracing::warn!(
                layer = LAYER,
                "a check for confidential values panicked; what it looked at is withheld"
            );
            Broken
        })
    }

    pub(super) const fn input_parts(&self) -> Parts {
        Parts { text: true, arguments: true, results: true, signed: false }
    }

    pub(super) const fn output_parts(&self) -> Parts {
        Parts {
            text: self.model_output,
            arguments: self.arguments,
            results: self.model_output || self.results,
            signed: true,
        }
    }

    /// Masks the arguments; a refusal if they cannot be checked.
    pub(super) fn tool_call(&self, call: &mut ToolCall) -> Result<(), Denial> {
        if self.arguments {
            let (masked, _) = self.search(|walk| walk.json(&call.arguments)).map_err(refusal)?;
            call.arguments = masked.unwrap_or_else(|| call.arguments.clone());
        }
        Ok(())
    }

    /// Masks what a model is told; a refusal if it cannot be checked.
    pub(super) fn model_request(&self, request: &mut ModelRequest) -> Result<(), Denial> {
        if !self.model_input {
            return Ok(());
        }
        let search = |walk: &mut Walk<'_>| {
            let instructions = request.instructions.as_ref().and_then(|text| walk.text(text));
            (instructions, walk.conversation(&request.messages, self.input_parts()))
        };
        let ((instructions, messages), _) = self.search(search).map_err(refusal)?;
        request.instructions = instructions.or(request.instructions.take());
        if let Some(messages) = messages {
            request.messages = messages;
        }
        Ok(())
    }

    /// Masks what an agent is told; a refusal if it cannot be checked.
    pub(super) fn run_request(&self, request: &mut RunRequest) -> Result<(), Denial> {
        if !self.model_input {
            return Ok(());
        }
        let search = |walk: &mut Walk<'_>| {
            let instructions = request.instructions.as_ref().and_then(|text| walk.text(text));
            let conversation = walk.conversation(&request.conversation, self.input_parts());
            (instructions, conversation, walk.conversation(&request.input, self.input_parts()))
        };
        let ((instructions, conversation, input), _) = self.search(search).map_err(refusal)?;
        request.instructions = instructions.or(request.instructions.take());
        if let Some(conversation) = conversation {
            request.conversation = conversation;
        }
        if let Some(input) = input {
            request.input = input;
        }
        Ok(())
    }

    pub(super) fn tool_output(&self, output: &mut ToolOutput) {
        if !self.results {
            return;
        }
        let search = |walk: &mut Walk<'_>| {
            let outcome = walk.outcome(&output.outcome);
            let content = walk.contents(&output.content);
            let structured = walk.some_json(output.structured.as_ref());
            (outcome, content, structured, walk.some_json(output.meta.as_ref()))
        };
        let Ok(((outcome, content, structured, meta), tally)) = self.search(search) else {
            return withhold(output);
        };
        if let Some(outcome) = outcome {
            output.outcome = outcome;
        }
        if let Some(content) = content {
            output.content = content;
        }
        output.structured = structured.unwrap_or_else(|| output.structured.take());
        output.meta = meta.unwrap_or_else(|| output.meta.take());
        self.mark(output, &tally);
    }

    /// The outcome that the head of an answer tells.
    pub(super) fn outcome(&self, outcome: &mut Outcome) {
        if !self.results || outcome.is_success() {
            return;
        }
        match self.search(|walk| walk.outcome(outcome)) {
            Ok((masked, _)) => *outcome = masked.unwrap_or_else(|| std::mem::take(outcome)),
            Err(Broken) => *outcome = withheld(outcome),
        }
    }

    /// A whole reply. One that a layer made of a failure or a refusal is no model's text.
    pub(super) fn reply(&self, reply: &mut Reply, made_up: bool) -> Tally {
        let mut parts = self.output_parts();
        parts.text |= made_up && self.results;
        if !parts.text && !parts.arguments {
            return Tally::default();
        }
        let search = |walk: &mut Walk<'_>| {
            let message = walk.message(&reply.message, parts);
            let extra = parts.text.then(|| walk.some_json(reply.extra.as_ref())).flatten();
            let other =
                reply.other.iter().map(|json| if parts.text { walk.json(json) } else { None });
            (message, extra, other.collect::<Vec<_>>())
        };
        let Ok(((message, extra, other), tally)) = self.search(search) else {
            reply.message = crate::Message::assistant(TEXT_WITHHELD);
            (reply.extra, reply.other) = (None, Vec::new());
            return Tally::default();
        };
        if let Some(message) = message {
            reply.message = message;
        }
        reply.extra = extra.unwrap_or_else(|| reply.extra.take());
        for (old, new) in reply.other.iter_mut().zip(other) {
            *old = new.unwrap_or_else(|| std::mem::take(old));
        }
        tally
    }

    /// Notes what was masked, by kind and number only.
    pub(super) fn mark(&self, output: &mut impl Output, tally: &Tally) {
        if let Some(detail) = self.engine.describe(tally) {
            output.provenance_mut().mark(Mark::new(LAYER, "masked").detail(detail));
        }
    }

    /// The error without confidential text, in any form that it could be printed in.
    pub(super) fn error(&self, error: Error) -> Error {
        if !self.results {
            return error;
        }
        match self.search(|walk| walk.error(&error)) {
            Ok((masked, _)) => masked.unwrap_or(error),
            Err(Broken) => rebuilt(&error, TEXT_WITHHELD.to_owned(), TEXT_WITHHELD.to_owned())
                .with_source(Scrubbed::plain(TEXT_WITHHELD)),
        }
    }
}

fn refusal(_: Broken) -> Denial {
    Denial::new(REQUEST_WITHHELD).by(LAYER).code("unchecked")
}

fn withhold(output: &mut ToolOutput) {
    let outcome = withheld(&output.outcome);
    let text = match &outcome {
        Outcome::Failed(failure) if failure.effect == Effect::Completed => RESULT_WITHHELD,
        _ => TEXT_WITHHELD,
    };
    let provenance = std::mem::take(&mut output.provenance);
    let extensions = std::mem::take(&mut output.extensions);
    *output = ToolOutput::text(text).with_outcome(outcome);
    (output.provenance, output.extensions) = (provenance, extensions);
    output.provenance.mark(Mark::new(LAYER, "withheld"));
}

/// The same outcome without any text; a success that nobody can see is a failure.
fn withheld(outcome: &Outcome) -> Outcome {
    match outcome {
        Outcome::Denied(denial) => {
            let mut denial = denial.clone();
            denial.message = TEXT_WITHHELD.into();
            Outcome::Denied(denial)
        }
        Outcome::Suspended(suspension) => {
            let mut suspension = suspension.clone();
            suspension.reason = TEXT_WITHHELD.into();
            suspension.request = None;
            Outcome::Suspended(suspension)
        }
        Outcome::Failed(failure) => Outcome::Failed(failure.clone()),
        _ => {
            let mut failure = Failure::new(ErrorKind::Hook, Effect::Completed);
            failure.layer = Some(LAYER.into());
            failure.into()
        }
    }
}

impl Walk<'_> {
    fn outcome(&mut self, outcome: &Outcome) -> Option<Outcome> {
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

    fn error(&mut self, error: &Error) -> Option<Error> {
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

fn rebuilt(error: &Error, message: String, text: String) -> Error {
    error.clone().with_message(message).with_model_text(text)
}

/// What is left of an error that showed something confidential: its text, masked. Its type is gone, because whoever
/// got hold of the value could print it.
struct Scrubbed {
    text: String,
    source: Option<Box<Self>>,
}

impl Scrubbed {
    fn plain(text: &str) -> Self {
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
