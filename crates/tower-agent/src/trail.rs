//! What one call leaves behind on its way down, so that the way up finds it.

use tower_agent_core::{ModelRequest, Operation, RunRequest, Str, ToolCall};

/// The hooks that a call has entered, and the request as each of them saw it.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "plugin"),
    expect(unreachable_pub, reason = "the hidden methods of plugins name it")
)]
pub struct Trail<O> {
    base: O,
    entered: usize,
    /// The request from a hook on; only where it differs from what was before.
    edits: Vec<(usize, O)>,
    /// Whether a hook that was entered edits replies.
    #[cfg(feature = "plugin")]
    pub(crate) gathers: bool,
}

impl<O: Snapshot> Trail<O> {
    pub(crate) fn new(base: O) -> Self {
        Self {
            base,
            entered: 0,
            edits: Vec::new(),
            #[cfg(feature = "plugin")]
            gathers: false,
        }
    }

    /// How many hooks have been entered and not yet left.
    pub(crate) const fn entered(&self) -> usize {
        self.entered
    }

    pub(crate) fn enter(&mut self, request: &O) {
        if !request.is_untouched(self.last()) {
            self.edits.push((self.entered, request.clone()));
        }
        self.entered += 1;
    }

    /// Enters a hook that is known to have changed nothing.
    pub(crate) const fn enter_untouched(&mut self) {
        self.entered += 1;
    }

    /// Leaves a hook and everything inside it.
    pub(crate) fn leave(&mut self, index: usize) {
        self.entered = self.entered.min(index);
    }

    /// Goes back to a hook that was left already: an answer inside it is yet to be shown to it.
    #[cfg(feature = "plugin")]
    pub(crate) fn enter_again(&mut self, entered: usize) {
        self.entered = entered;
    }

    pub(crate) fn last(&self) -> &O {
        self.edits.last().map_or(&self.base, |(_, request)| request)
    }

    /// The request as a hook saw it, with its own edits.
    pub(crate) fn seen(&self, index: usize) -> &O {
        let edit = self.edits.iter().rev().find(|(from, _)| *from <= index);
        edit.map_or(&self.base, |(_, request)| request)
    }
}

/// What tells whether a hook changed a request, without comparing its text.
#[cfg_attr(
    not(feature = "plugin"),
    expect(unnameable_types, reason = "every operation has it, so nobody needs to name it")
)]
pub trait Snapshot: Operation {
    /// Whether no hook changed it since.
    fn is_untouched(&self, before: &Self) -> bool;

    /// Why a change cannot stand, if it cannot.
    fn fault(&self, _before: &Self) -> Option<String> {
        None
    }
}

impl Snapshot for ToolCall {
    #[inline]
    fn is_untouched(&self, before: &Self) -> bool {
        Self::is_untouched(self, before) && self.ctx.is_untouched(&before.ctx)
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
            && self.ctx.is_untouched(&before.ctx)
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
            && self.ctx.is_untouched(&before.ctx)
    }
}

fn same_text(now: Option<&Str>, before: Option<&Str>) -> bool {
    match (now, before) {
        (Some(now), Some(before)) => now.ptr_eq(before),
        (now, before) => now.is_none() && before.is_none(),
    }
}
