//! What one call leaves behind on its way down, so that the way up finds it.

use tower_agent_core::{
    Context, Error, ModelRequest, Operation, RunEvent, RunRequest, Str, ToolCall,
};

use super::stack::hook_failed;
use crate::FailMode;

/// The plugins that a call has entered, and the request as each of them saw it.
#[derive(Debug)]
pub struct Trail<O> {
    base: O,
    entered: usize,
    /// The request from a plugin on; only where it differs from what was before.
    edits: Vec<(usize, O)>,
    /// Whether a plugin that was entered edits replies.
    pub(super) gathers: bool,
}

impl<O: Snapshot> Trail<O> {
    pub(super) fn new(base: O) -> Self {
        Self { base, entered: 0, edits: Vec::new(), gathers: false }
    }

    /// How many plugins have been entered and not yet left.
    pub(super) const fn entered(&self) -> usize {
        self.entered
    }

    pub(super) fn enter(&mut self, request: &O) {
        if !request.is_untouched(self.last()) {
            self.edits.push((self.entered, request.clone()));
        }
        self.entered += 1;
    }

    /// Leaves a plugin and everything inside it.
    pub(super) fn leave(&mut self, index: usize) {
        self.entered = self.entered.min(index);
    }

    /// Goes back to a plugin that was left already: an answer inside it is yet to be shown to it.
    pub(super) fn enter_again(&mut self, entered: usize) {
        self.entered = entered;
    }

    pub(super) fn last(&self) -> &O {
        self.edits.last().map_or(&self.base, |(_, request)| request)
    }

    /// The request as a plugin saw it.
    pub(super) fn seen(&self, index: usize) -> &O {
        let edit = self.edits.iter().rev().find(|(from, _)| *from <= index);
        edit.map_or(&self.base, |(_, request)| request)
    }
}

/// What tells whether a hook changed a request, without comparing its text.
pub trait Snapshot: Operation {
    /// Whether no hook changed it since.
    fn is_untouched(&self, before: &Self) -> bool;

    /// Why a change cannot stand, if it cannot.
    fn fault(&self, _before: &Self) -> Option<String> {
        None
    }
}

impl Snapshot for ToolCall {
    fn is_untouched(&self, before: &Self) -> bool {
        Self::is_untouched(self, before)
    }

    fn fault(&self, before: &Self) -> Option<String> {
        if self.arguments.ptr_eq(&before.arguments) {
            return None;
        }
        match self.arguments.check() {
            Ok(()) if self.arguments.is_object() => None,
            Ok(()) => Some("it made arguments that are not a JSON object".to_owned()),
            Err(fault) => Some(format!("it made arguments that are not valid JSON: {fault}")),
        }
    }
}

impl Snapshot for ModelRequest {
    fn is_untouched(&self, before: &Self) -> bool {
        self.messages.ptr_eq(&before.messages)
            && self.tools.ptr_eq(&before.tools)
            && self.model.ptr_eq(&before.model)
            && same_text(self.instructions.as_ref(), before.instructions.as_ref())
            && self.tool_choice == before.tool_choice
            && self.sampling == before.sampling
            && self.output == before.output
            && self.extra == before.extra
            && self.stream == before.stream
    }
}

impl Snapshot for RunRequest {
    fn is_untouched(&self, before: &Self) -> bool {
        self.input.ptr_eq(&before.input)
            && self.conversation.ptr_eq(&before.conversation)
            && same_text(self.instructions.as_ref(), before.instructions.as_ref())
            && same_text(self.model.as_ref(), before.model.as_ref())
            && self.limits == before.limits
            && self.sampling == before.sampling
            && self.output == before.output
            && self.extra == before.extra
            && self.stream == before.stream
    }
}

fn same_text(now: Option<&Str>, before: Option<&Str>) -> bool {
    match (now, before) {
        (Some(now), Some(before)) => now.ptr_eq(before),
        (now, before) => now.is_none() && before.is_none(),
    }
}

/// An event on its way up through the plugins that its run entered.
#[derive(Debug)]
pub struct Observe<'a, E> {
    pub(super) names: &'a [Str],
    pub(super) entered: usize,
    pub(super) index: usize,
    pub(super) ctx: &'a Context,
    pub(super) event: &'a mut E,
    /// Why the stream has to end.
    pub(super) error: Option<Error>,
}

impl Observe<'_, RunEvent> {
    pub(super) fn enter(&mut self) -> bool {
        self.index = self.index.saturating_sub(1);
        self.index < self.entered && self.error.is_none()
    }

    pub(super) fn settle(&mut self, mode: FailMode, hook: &str, done: Result<(), Error>) {
        if let Err(error) = done {
            let error = hook_failed(self.names, self.index, hook, error);
            if mode == FailMode::Closed {
                self.error = Some(error);
            }
        }
    }
}
