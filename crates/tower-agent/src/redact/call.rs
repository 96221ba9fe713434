//! One call, and what of its answer goes on.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use tower_agent_detect::Mask;

use super::{
    arguments::Opened,
    findings::{Report, Tally},
    policy::{LAYER, Policy},
    scrub::{Scrubbed, rebuilt},
    walk::Walk,
};
use crate::{
    Effect, Error, ErrorKind, Failure, Mark, Message, OperationKind, Outcome, Output, Reply,
    ToolOutput,
};

const RESULT_WITHHELD: &str = "The tool ran, but its result was withheld: it could not be checked for confidential values. Do not call it again with the same arguments.";
const TEXT_WITHHELD: &str =
    "This text was withheld: it could not be checked for confidential values.";

/// A call from its request to the end of its answer.
#[derive(Debug)]
pub(super) struct Call {
    policy: Arc<Policy>,
    /// The mask of what a model reads, where it is not the policy's.
    vault: Option<Mask>,
    pub(super) opened: Opened,
    pub(super) report: Report,
}

/// The search broke down, so nothing of what was searched may go on.
#[derive(Debug)]
pub(super) struct Broken;

impl Call {
    pub(super) fn new(policy: Arc<Policy>, kind: OperationKind, vault: Option<Mask>) -> Self {
        Self { policy, vault, opened: Opened::default(), report: Report::new(kind) }
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Runs a search through what a user or a program reads.
    pub(super) fn search<T>(
        &mut self,
        search: impl FnOnce(&mut Walk<'_>) -> T,
    ) -> Result<(T, Tally), Broken> {
        let found = run(&self.policy, &self.policy.mask, &self.opened, search)?;
        self.report.add(&found.1);
        Ok(found)
    }

    /// Runs a search through what a model reads.
    pub(super) fn search_input<T>(
        &mut self,
        search: impl FnOnce(&mut Walk<'_>) -> T,
    ) -> Result<(T, Tally), Broken> {
        let mask = self.vault.as_ref().unwrap_or(&self.policy.mask);
        let found = run(&self.policy, mask, &self.opened, search)?;
        self.report.add(&found.1);
        Ok(found)
    }

    /// Masks the result of a tool.
    pub(super) fn tool_output(&mut self, output: &mut ToolOutput) {
        if !self.policy.results {
            return;
        }
        let search = |walk: &mut Walk<'_>| {
            let outcome = walk.outcome(&output.outcome);
            let content = walk.contents(&output.content);
            let structured = walk.some_json(output.structured.as_ref());
            let meta = walk.some_json(output.meta.as_ref());
            (outcome, content, structured, meta, walk.some_json(output.extra.as_ref()))
        };
        let Ok(((outcome, content, structured, meta, extra), tally)) = self.search_input(search)
        else {
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
        output.extra = extra.unwrap_or_else(|| output.extra.take());
        mark(output, &tally);
    }

    /// The outcome that the head of an answer tells.
    pub(super) fn outcome(&mut self, outcome: &mut Outcome) {
        if !self.policy.results || outcome.is_success() {
            return;
        }
        match self.search(|walk| walk.outcome(outcome)) {
            Ok((masked, _)) => *outcome = masked.unwrap_or_else(|| std::mem::take(outcome)),
            Err(Broken) => *outcome = withheld(outcome),
        }
    }

    /// A whole reply. One that a layer made of a failure or a refusal is no model's text.
    pub(super) fn reply(&mut self, reply: &mut Reply, made_up: bool) -> Tally {
        let mut parts = self.policy.output_parts();
        parts.text |= made_up && self.policy.results;
        if !parts.text && !parts.arguments {
            return Tally::default();
        }
        let search = |walk: &mut Walk<'_>| {
            let message = walk.message(&reply.message, parts);
            let extra = reply.extra.as_ref().filter(|_| parts.text);
            let extra = extra.and_then(|extra| walk.extra(extra)).map(Some);
            let other =
                reply.other.iter().map(|json| if parts.text { walk.extra(json) } else { None });
            (message, extra, other.collect::<Vec<_>>())
        };
        let Ok(((message, extra, other), tally)) = self.search(search) else {
            reply.message = Message::assistant(TEXT_WITHHELD);
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

    /// The error without confidential text, in any form that it could be printed in.
    pub(super) fn error(&mut self, error: Error) -> Error {
        if !self.policy.results {
            return error;
        }
        match self.search(|walk| walk.error(&error)) {
            Ok((Some(masked), _)) => self.report.attach_to_error(masked),
            Ok((None, _)) => error,
            Err(Broken) => rebuilt(&error, TEXT_WITHHELD.to_owned(), TEXT_WITHHELD.to_owned())
                .with_source(Scrubbed::plain(TEXT_WITHHELD)),
        }
    }
}

/// A panic in a search, which only a function of the user can cause, is a [`Broken`] search.
fn run<T>(
    policy: &Policy,
    mask: &Mask,
    opened: &Opened,
    search: impl FnOnce(&mut Walk<'_>) -> T,
) -> Result<(T, Tally), Broken> {
    let mut walk = Walk { detector: &policy.detector, mask, opened, tally: Tally::default() };
    let found = catch_unwind(AssertUnwindSafe(|| search(&mut walk)));
    found.map(|found| (found, walk.tally)).map_err(|_| {
        tracing::warn!(
            layer = LAYER,
            "a check for confidential values panicked; what it looked at is withheld"
        );
        Broken
    })
}

/// Notes what was masked, by rule and number only.
pub(super) fn mark(output: &mut impl Output, tally: &Tally) {
    if !tally.is_empty() {
        output.provenance_mut().mark(Mark::new(LAYER, "masked").detail(tally.to_string()));
    }
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
