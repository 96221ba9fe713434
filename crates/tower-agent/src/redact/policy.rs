//! What is looked at, and what of a request goes on.

use std::sync::Arc;

use tower_agent_detect::{Detector, Mask};

use super::{
    arguments::{self, Arguments, blocked, is_of_a_run, vault_of},
    call::{Broken, Call},
    walk::{Parts, Walk},
};
use crate::{Context, Conversation, Denial, ModelRequest, Operation, RunRequest, Str, ToolCall};

pub(super) const LAYER: &str = "redact";
/// What stands for a text that could not be checked, in the middle of others.
pub(super) const WITHHELD: &str = "[REDACTED]";
const REQUEST_WITHHELD: &str =
    "The request could not be checked for confidential values, so it was not sent on; nothing ran.";

/// What is looked for, where, and what stands in its place.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) detector: Detector,
    pub(super) mask: Mask,
    pub(super) results: bool,
    pub(super) arguments: Arguments,
    pub(super) trusted: Vec<Str>,
    pub(super) model_input: bool,
    pub(super) model_output: bool,
}

/// An operation whose requests can be masked.
pub(super) trait Request: Operation {
    /// Masks the request, or says why it may not go on.
    fn mask(&mut self, call: &mut Call) -> Result<(), Denial>;

    /// The mask of what the model reads of it, where that is another one than the user's.
    fn vault_mask(&self) -> Option<Mask>;
}

impl Policy {
    pub(super) const fn input_parts() -> Parts {
        Parts { text: true, arguments: true, results: true, signed: false }
    }

    pub(super) fn output_parts(&self) -> Parts {
        Parts {
            text: self.model_output,
            arguments: self.arguments == Arguments::Mask,
            results: self.model_output || self.results,
            signed: true,
        }
    }

    /// Begins a call: masks its request, or refuses it.
    pub(super) fn begin<O: Request>(self: &Arc<Self>, request: &mut O) -> (Call, Option<Denial>) {
        let vault = self.arguments == Arguments::Vault;
        let mask = if vault { request.vault_mask() } else { None };
        let mut call = Call::new(Arc::clone(self), O::KIND, mask);
        let refused = request.mask(&mut call).err();
        (call, refused)
    }

    fn trusts(&self, name: &str) -> bool {
        self.trusted.iter().any(|trusted| &**trusted == name)
    }
}

fn mask_of(context: &Context) -> Mask {
    Mask::vault(&vault_of(context))
}

impl Request for ToolCall {
    fn mask(&mut self, call: &mut Call) -> Result<(), Denial> {
        match call.policy().arguments {
            Arguments::Keep => {}
            Arguments::Mask => {
                let (masked, _) =
                    call.search(|walk| walk.json(&self.arguments)).map_err(refusal)?;
                self.arguments = masked.unwrap_or_else(|| self.arguments.clone());
            }
            Arguments::Block => {
                let (_, tally) = call.search(|walk| walk.json(&self.arguments)).map_err(refusal)?;
                if !tally.is_empty() {
                    return Err(blocked(self, &tally));
                }
            }
            Arguments::Vault if call.policy().trusts(&self.name) => {
                call.opened = arguments::open(self)?;
            }
            Arguments::Vault => {}
        }
        Ok(())
    }

    fn vault_mask(&self) -> Option<Mask> {
        is_of_a_run(&self.ctx).then(|| mask_of(&self.ctx))
    }
}

impl Request for ModelRequest {
    fn mask(&mut self, call: &mut Call) -> Result<(), Denial> {
        if !call.policy().model_input {
            return Ok(());
        }
        let search = |walk: &mut Walk<'_>| {
            let instructions = self.instructions.as_ref().and_then(|text| walk.text(text));
            (instructions, walk.conversation(&self.messages, Policy::input_parts()))
        };
        let ((instructions, messages), _) = call.search_input(search).map_err(refusal)?;
        self.instructions = instructions.or(self.instructions.take());
        replace(&mut self.messages, messages);
        Ok(())
    }

    fn vault_mask(&self) -> Option<Mask> {
        is_of_a_run(self.context()).then(|| mask_of(self.context()))
    }
}

impl Request for RunRequest {
    fn mask(&mut self, call: &mut Call) -> Result<(), Denial> {
        if !call.policy().model_input {
            return Ok(());
        }
        let search = |walk: &mut Walk<'_>| {
            let parts = Policy::input_parts();
            let instructions = self.instructions.as_ref().and_then(|text| walk.text(text));
            let conversation = walk.conversation(&self.conversation, parts);
            (instructions, conversation, walk.conversation(&self.input, parts))
        };
        let ((instructions, conversation, input), _) =
            call.search_input(search).map_err(refusal)?;
        self.instructions = instructions.or(self.instructions.take());
        replace(&mut self.conversation, conversation);
        replace(&mut self.input, input);
        Ok(())
    }

    /// The request begins a run, so its state is the run's also where it has no id yet.
    fn vault_mask(&self) -> Option<Mask> {
        Some(mask_of(self.context()))
    }
}

fn replace(messages: &mut Conversation, masked: Option<Conversation>) {
    if let Some(masked) = masked {
        *messages = masked;
    }
}

fn refusal(_: Broken) -> Denial {
    Denial::new(REQUEST_WITHHELD).by(LAYER).code("unchecked")
}
