//! What a hook's decision or its failure means for a call: one set of rules for every kind of hook.

use std::{any::Any, error::Error as StdError, fmt};

use tower_agent_core::{
    BoxError, Denial, Error, Json, JsonError, Mark, Operation, Output, ToolCall,
};

use crate::{
    FailMode, IntoHookResult, IntoVerdict, Verdict,
    blame::{HOOK_FAILED, after_failed, answered, before_failed, deny, raised, warn_failed},
    contain::{HookName, Panic, caught, contain, panicked},
};

/// What a before-hook may have changed, kept while it runs.
pub(crate) struct Before<O> {
    mode: FailMode,
    /// Arguments that the hook replaces are checked, and what the model wrote itself is not.
    arguments: Option<Arguments>,
    /// A hook that fails open must leave no half-made edit behind.
    request: Option<O>,
}

/// What tells new arguments from those before: a clone would cost more than most hooks. An edit in place always
/// leaves valid JSON, so only its kind can be wrong.
#[derive(Eq, PartialEq)]
struct Arguments {
    handle: u64,
    is_object: bool,
}

impl Arguments {
    #[inline]
    fn of(arguments: &Json) -> Self {
        Self { handle: arguments.handle_id(), is_object: arguments.is_object() }
    }
}

impl<O: Operation> Before<O> {
    /// Notes how the request is before the hook sees it.
    #[inline]
    pub(crate) fn new(mode: FailMode, request: &O) -> Self {
        let arguments = tool_call(request).map(|call| Arguments::of(&call.arguments));
        let request = (mode == FailMode::Open).then(|| request.clone());
        Self { mode, arguments, request }
    }

    /// Whether there are no new arguments to check.
    #[inline]
    fn is_untouched(&self, request: &O) -> bool {
        self.arguments == tool_call(request).map(|call| Arguments::of(&call.arguments))
    }

    /// Carries out what the hook decided. `None`: the call goes on with `request` as it is now.
    pub(crate) fn enforce(
        self,
        name: &HookName,
        request: &mut O,
        verdict: Result<Verdict<O>, Error>,
    ) -> Option<Result<O::Output, Error>> {
        let verdict = verdict.and_then(|verdict| self.checked(name, request, verdict));
        match verdict {
            Ok(Verdict::Allow | Verdict::Modify(_)) => None,
            Ok(Verdict::Deny(denial)) => Some(Ok(deny(name, request, *denial))),
            Ok(Verdict::Answer(output)) => Some(Ok(answered(name, *output))),
            Err(error) => self.failed(name, request, error),
        }
    }

    fn checked(
        &self,
        name: &HookName,
        request: &mut O,
        verdict: Verdict<O>,
    ) -> Result<Verdict<O>, Error> {
        let verdict = match verdict {
            Verdict::Modify(modified) => {
                *request = *modified;
                Verdict::Allow
            }
            verdict => verdict,
        };
        if matches!(verdict, Verdict::Allow)
            && !self.is_untouched(request)
            && let Some(call) = tool_call(request)
        {
            check_arguments(&call.arguments).map_err(|error| raised(name, "before", error))?;
        }
        Ok(verdict)
    }

    fn failed(
        self,
        name: &HookName,
        request: &mut O,
        error: Error,
    ) -> Option<Result<O::Output, Error>> {
        let error = before_failed(name, error);
        match self.mode {
            FailMode::Split => Some(Err(error)),
            FailMode::Open => {
                warn_failed(&error, "the call goes on without it");
                if let Some(before) = self.request {
                    *request = before;
                }
                None
            }
            FailMode::Closed => {
                warn_failed(&error, "the call is denied");
                let denial = Denial::new(error.model_text()).code(HOOK_FAILED);
                Some(Ok(deny(name, request, denial)))
            }
        }
    }
}

/// Runs a sync before-hook and carries out what it decided. `None`: the call goes on with `request` as it is now.
#[inline]
pub(crate) fn run_before<O: Operation, V: IntoVerdict<O>>(
    name: &HookName,
    mode: FailMode,
    request: &mut O,
    hook: impl FnOnce(&mut O) -> V,
) -> Option<Result<O::Output, Error>> {
    let before = Before::new(mode, request);
    // Most hooks allow, and a verdict is large: only one that decides is handed on.
    let mut decided = Ok(None);
    let done = caught(|| match hook(request).into_verdict() {
        Ok(Verdict::Allow) => {}
        Ok(verdict) => decided = Ok(Some(verdict)),
        Err(error) => decided = Err(error),
    });
    if done.is_ok() && matches!(decided, Ok(None)) && before.is_untouched(request) {
        return None;
    }
    conclude(name, before, request, done, decided)
}

#[cold]
fn conclude<O: Operation>(
    name: &HookName,
    before: Before<O>,
    request: &mut O,
    done: Result<(), Panic>,
    decided: Result<Option<Verdict<O>>, BoxError>,
) -> Option<Result<O::Output, Error>> {
    let verdict = match done {
        Ok(()) => decided.map_err(|error| raised(name, "before", error)),
        Err(panic) => Err(panicked(name, "before", &*panic)),
    };
    before.enforce(name, request, verdict.map(Option::unwrap_or_default))
}

/// Runs a sync after-hook. If it fails, its result is withheld from the caller of `withhold`, or kept if there is none.
#[inline]
pub(crate) fn run_after<O: Operation, R: IntoHookResult>(
    name: &HookName,
    withhold: Option<&O>,
    output: &mut O::Output,
    hook: impl FnOnce(&mut O::Output) -> R,
) {
    match caught(|| hook(output).into_hook_result()) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => failed_after(name, withhold, output, raised(name, "after", error)),
        Err(panic) => failed_after(name, withhold, output, panicked(name, "after", &*panic)),
    }
}

/// Runs a sync error-hook. `None`: it did not handle the error.
pub(crate) fn run_on_error<T: Output>(
    name: &HookName,
    hook: impl FnOnce() -> Option<T>,
) -> Option<T> {
    settle_on_error(name, contain(name, "on_error", hook))
}

/// An error-hook that failed has handled nothing.
pub(crate) fn settle_on_error<T: Output>(
    name: &HookName,
    handled: Result<Option<T>, Error>,
) -> Option<T> {
    match handled {
        Ok(output) => output.map(|output| answered(name, output)),
        Err(failure) => {
            warn_failed(&failure, "the error that it was asked about goes on");
            None
        }
    }
}

/// Joins a panic and a returned error.
pub(crate) fn flatten<T>(
    name: &str,
    hook: &str,
    result: Result<Result<T, BoxError>, Error>,
) -> Result<T, Error> {
    result?.map_err(|error| raised(name, hook, error))
}

/// What an after-hook that failed leads to: a fixed text replaces the output, or it stays if there is no request to
/// answer, which is how every mode but [`Closed`](FailMode::Closed) has it.
#[cold]
pub(crate) fn failed_after<O: Operation>(
    name: &HookName,
    withhold: Option<&O>,
    output: &mut O::Output,
    error: Error,
) {
    let error = after_failed(name, error);
    match withhold {
        Some(request) => {
            warn_failed(&error, "the result is withheld");
            replace(name, &error, request, output);
        }
        None => warn_failed(&error, "the result is kept"),
    }
}

/// Replaces an output by the text of an error; what layers noted on its way stays, what it carried does not.
fn replace<O: Operation>(name: &HookName, error: &Error, request: &O, output: &mut O::Output) {
    let mut safe = request.failed(error);
    let mut provenance = output.provenance().clone();
    provenance.mark(Mark::new(name.to_cow(), "withheld"));
    *safe.provenance_mut() = provenance;
    *output = safe;
}

fn check_arguments(arguments: &Json) -> Result<(), BoxError> {
    arguments.check().map_err(|error: JsonError| BoxError::from(BrokenArguments(error)))?;
    if arguments.is_object() {
        return Ok(());
    }
    Err("it replaced the arguments by something that is no JSON object".into())
}

/// Tells that a hook and not the model wrote arguments that cannot be read.
#[derive(Debug)]
struct BrokenArguments(JsonError);

impl fmt::Display for BrokenArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it replaced the arguments by something that is no JSON: {}", self.0)
    }
}

impl StdError for BrokenArguments {}

fn tool_call<O: Operation>(request: &O) -> Option<&ToolCall> {
    (request as &dyn Any).downcast_ref()
}
